import { Avatar, Menu, Text, UnstyledButton, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Icon } from '../components/Icon.tsx'
import { signOut, useSession } from '../session/session.ts'

const SCHEMES: readonly (readonly [MantineColorScheme, label: string])[] = [
  ['auto', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

/** The member, the color scheme, and signing out. */
export function AccountMenu() {
  const { member, org } = useSession()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const leave = useMutation({ mutationFn: signOut })
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton aria-label={`Account of ${member.name}`}>
          <Avatar size={30} radius="xl" color="accent" aria-hidden="true">
            {initialsOf(member.name)}
          </Avatar>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text span fw={600} size="sm" c="var(--mantine-color-text)">
            {member.name}
          </Text>
          <br />
          {member.email}
          <br />
          {org.name}
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>Colors</Menu.Label>
        {SCHEMES.map(([scheme, label]) => (
          <Menu.Item
            key={scheme}
            role="menuitemradio"
            aria-checked={scheme === colorScheme}
            rightSection={scheme === colorScheme && <Icon name="check" size={16} />}
            onClick={() => setColorScheme(scheme)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => leave.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .map((word) => word.charAt(0))
    .slice(0, 2)
    .join('')
    .toUpperCase()
