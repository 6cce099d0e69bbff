import { Button, Group, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { CopyTextButton } from './CopyTextButton.tsx'
import classes from './JsonView.module.css'

/** Deeper values are folded at first. */
const OPEN_DEPTH = 2
/** Entries of one value that are shown at first; more come with a press. */
const ENTRIES_MAX = 100

/** A JSON document whose objects and arrays fold. All of it is text, wherever it comes from. */
export const JsonView = ({ value, label }: { value: unknown; label: string }) => (
  <section className={classes.view} aria-label={label}>
    <Group justify="flex-end">
      <CopyTextButton text={JSON.stringify(value, null, 2)} label={`Copy ${label}`} />
    </Group>
    <div className={classes.text}>
      <JsonNode value={value} depth={0} />
    </div>
  </section>
)

function JsonNode({ value, depth }: { value: unknown; depth: number }) {
  if (Array.isArray(value))
    return <JsonEntries entries={value.map((entry, index) => [String(index), entry])} brackets="[]" depth={depth} />
  if (typeof value === 'object' && value !== null)
    return <JsonEntries entries={Object.entries(value)} brackets="{}" depth={depth} />
  return <span className={classes[typeof value] ?? classes.null}>{JSON.stringify(value) ?? 'undefined'}</span>
}

interface JsonEntriesProps {
  entries: [name: string, value: unknown][]
  brackets: '[]' | '{}'
  depth: number
}

function JsonEntries({ entries, brackets, depth }: JsonEntriesProps) {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH)
  const [shown, setShown] = useState(ENTRIES_MAX)
  const [open, close] = brackets
  if (!entries.length) return brackets
  const summary = `${open} ${entries.length} ${entries.length === 1 ? 'entry' : 'entries'} ${close}`
  return (
    <>
      <UnstyledButton className={classes.fold} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? `▾ ${open}` : `▸ ${summary}`}
      </UnstyledButton>
      {isOpen && (
        <>
          <ul className={classes.entries}>
            {entries.slice(0, shown).map(([name, entry]) => (
              <li key={name}>
                {brackets === '{}' && <span className={classes.name}>{JSON.stringify(name)}: </span>}
                <JsonNode value={entry} depth={depth + 1} />
              </li>
            ))}
          </ul>
          {entries.length > shown && (
            <Button size="compact-xs" variant="subtle" onClick={() => setShown(shown + ENTRIES_MAX)}>
              {entries.length - shown} more
            </Button>
          )}
          {close}
        </>
      )}
    </>
  )
}
