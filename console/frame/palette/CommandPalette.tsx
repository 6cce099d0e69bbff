import { Spotlight } from '@mantine/spotlight'
import { useState } from 'react'
import { Icon } from '../../components/Icon.tsx'
import { useCommands } from './commands.ts'

const PLACEHOLDER = 'Go to a page, or run an action'

/** Goes to a page, or runs an action. Ctrl+K opens it on every page. */
export function CommandPalette() {
  const [text, setText] = useState('')
  const commands = useCommands().filter(({ label }) => label.toLowerCase().includes(text.trim().toLowerCase()))
  return (
    <Spotlight.Root query={text} onQueryChange={setText} shortcut="mod + K" tagsToIgnore={[]} scrollable maxHeight="60vh">
      <Spotlight.Search placeholder={PLACEHOLDER} aria-label={PLACEHOLDER} leftSection={<Icon name="search" />} />
      <Spotlight.ActionsList>
        {[...new Set(commands.map(({ group }) => group))].map((group) => (
          <Spotlight.ActionsGroup key={group} label={group}>
            {commands
              .filter((command) => command.group === group)
              .map(({ id, label, icon, run }) => (
                <Spotlight.Action key={id} label={label} leftSection={<Icon name={icon} />} onClick={run} />
              ))}
          </Spotlight.ActionsGroup>
        ))}
        {!commands.length && <Spotlight.Empty>Nothing has this name.</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}
