import { ActionIcon, Kbd, Menu } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { Icon } from '../components/Icon.tsx'
import { basePath } from '../page-context.ts'
import { KeyboardHelp } from './KeyboardHelp.tsx'

/** The documentation of this release, and the keys. */
export function HelpMenu() {
  const [areKeysShown, keys] = useDisclosure()
  useHotkeys([['shift+?', keys.open]])
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Help">
            <Icon name="help" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component="a" href={`${basePath}/docs`}>
            API reference
          </Menu.Item>
          <Menu.Item component="a" href={`${basePath}/guides`}>
            Guides
          </Menu.Item>
          <Menu.Item onClick={keys.open} rightSection={<Kbd>?</Kbd>}>
            Keys
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <KeyboardHelp isOpen={areKeysShown} onClose={keys.close} />
    </>
  )
}
