import { Loader } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight } from '@mantine/spotlight'
import { useState, type KeyboardEvent } from 'react'
import { useNavigate } from 'react-router'
import { Icon } from '../../components/Icon.tsx'
import { shortId } from '../../components/IdText.tsx'
import { useTeam } from '../../session/team.ts'
import { useCommands } from './commands.ts'
import { describeObject, kindInWords, pathOfObject } from './found-object.ts'
import { useObjectSearch, type FoundObject } from './object-search.ts'

const DEBOUNCE_MS = 150
const PLACEHOLDER = 'Search, jump to an id, or run an action'

/** Goes to a page, runs an action, or finds an object by its id or a part of it. Ctrl+K opens it on every page. */
export function CommandPalette() {
  const [text, setText] = useState('')
  const [searchText] = useDebouncedValue(text.trim(), DEBOUNCE_MS)
  const search = useObjectSearch(searchText)
  const { objects } = search
  const commands = useCommands().filter(({ label }) => label.toLowerCase().includes(text.trim().toLowerCase()))
  const isEmpty = !commands.length && !objects.length && !search.isSearching
  return (
    <Spotlight.Root query={text} onQueryChange={setText} shortcut="mod + K" tagsToIgnore={[]} scrollable maxHeight="60vh">
      <Spotlight.Search
        placeholder={PLACEHOLDER}
        aria-label={PLACEHOLDER}
        leftSection={<Icon name="search" />}
        rightSection={search.isSearching && <Loader size="xs" />}
        onKeyDown={runFirstIfNoneIsSelected}
      />
      <Spotlight.ActionsList>
        {objects.length > 0 && <FoundObjects objects={objects} />}
        {[...new Set(commands.map(({ group }) => group))].map((group) => (
          <Spotlight.ActionsGroup key={group} label={group}>
            {commands
              .filter((command) => command.group === group)
              .map(({ id, label, icon, run }) => (
                <Spotlight.Action key={id} label={label} leftSection={<Icon name={icon} />} onClick={run} />
              ))}
          </Spotlight.ActionsGroup>
        ))}
        {isEmpty && (
          <Spotlight.Empty>{search.error ? 'The search failed. Try again.' : 'Nothing has this name or id.'}</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}

/** Mantine selects the first line when the text changes, not when the server's answer arrives later: Enter then runs the first line. */
function runFirstIfNoneIsSelected({ key, currentTarget }: KeyboardEvent<HTMLInputElement>): void {
  const lines = currentTarget.closest('[role="dialog"]')?.querySelectorAll<HTMLElement>('[data-action]') ?? []
  if (key === 'Enter' && ![...lines].some((line) => line.hasAttribute('data-selected'))) lines[0]?.click()
}

function FoundObjects({ objects }: { objects: readonly FoundObject[] }) {
  const { pathTo } = useTeam()
  const navigate = useNavigate()
  const open = (object: FoundObject): void => {
    const path = pathOfObject(object)
    void (path === undefined ? navigator.clipboard.writeText(object.id) : navigate(pathTo(path)))
  }
  return (
    <Spotlight.ActionsGroup label="Found">
      {objects.map((object) => (
        <Spotlight.Action
          key={`${object.kind} ${object.id}`}
          label={`${kindInWords(object)} ${object.label ?? shortId(object.id)}`}
          description={describeObject(object)}
          onClick={() => open(object)}
        />
      ))}
    </Spotlight.ActionsGroup>
  )
}
