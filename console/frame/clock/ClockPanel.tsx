import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useNow } from '../../components/now.ts'
import { formatExact, localInput } from '../../components/times.ts'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { ClockPreview } from './ClockPreview.tsx'
import { useAdvanceClock, useClockPreview, type ClockTarget } from './team-clock.ts'
import { MovedClock } from './MovedClock.tsx'

const HOUR_S = 3600
const STEPS: readonly (readonly [label: string, seconds: number])[] = [
  ['+1 hour', HOUR_S],
  ['+1 day', 24 * HOUR_S],
  ['+1 week', 7 * 24 * HOUR_S],
]

/** Moves the clock: first a target, then what will happen until it, then what has happened. */
export function ClockPanel() {
  const [target, setTarget] = useState<ClockTarget>()
  const next = useClockPreview(undefined)
  const advance = useAdvanceClock()
  if (advance.data) return <MovedClock move={advance.data} onAgain={() => (advance.reset(), setTarget(undefined))} />
  if (target) return <ClockPreview target={target} advance={advance} onBack={() => (advance.reset(), setTarget(undefined))} />
  const nextAt = next.data?.next_at ?? undefined
  return (
    <Stack gap="md">
      <Text fw={600}>Move the clock of this sandbox</Text>
      <Group gap="sm">
        {STEPS.map(([label, seconds]) => (
          <Button key={label} size="xs" variant="default" onClick={() => setTarget({ seconds })}>
            {label}
          </Button>
        ))}
      </Group>
      {next.error && <ErrorNotice error={next.error} />}
      <Button
        size="xs"
        variant="default"
        disabled={nextAt === undefined}
        onClick={() => nextAt !== undefined && setTarget({ to: nextAt })}
      >
        {next.data && nextAt === undefined ? 'Nothing is scheduled' : 'To the next deadline'}
      </Button>
      {nextAt !== undefined && (
        <Text size="xs" c="dimmed">
          Next: {formatExact(new Date(nextAt))}
        </Text>
      )}
      <DateTarget onChoose={setTarget} />
    </Stack>
  )
}

/** A date and time in the viewer's zone. */
function DateTarget({ onChoose }: { onChoose: (target: ClockTarget) => void }) {
  const now_ms = useNow()
  const [text, setText] = useState('')
  const instant = new Date(text)
  const isAhead = instant.getTime() > now_ms
  return (
    <Group gap="sm" align="flex-end">
      <TextInput
        size="xs"
        type="datetime-local"
        label="To a date"
        flex={1}
        value={text}
        min={localInput(new Date(now_ms))}
        onChange={(event) => setText(event.currentTarget.value)}
        error={text !== '' && !isAhead ? 'The clock moves forward only' : undefined}
      />
      <Button size="xs" variant="default" disabled={!isAhead} onClick={() => onChoose({ to: instant.toISOString() })}>
        Preview
      </Button>
    </Group>
  )
}
