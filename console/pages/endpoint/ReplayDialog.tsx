import { Button, Group, Modal, Progress, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { useNow } from '../../components/now.ts'
import { localInput } from '../../components/times.ts'
import { useEventCounts, useReplay, type EventCounts, type ReplayKind } from './endpoint-actions.ts'

interface ReplayDialogProps {
  webhook_id: string
  isOpen: boolean
  onClose: () => void
  /** How many hours back it starts with. */
  hours?: number
}

const HOUR_MS = 3_600_000
const PROGRESS_MS = 1000

/** Sends the events of a span to the endpoint again: how many before, and what came of them after. */
export const ReplayDialog = ({ webhook_id, isOpen, onClose, hours = 168 }: ReplayDialogProps) => (
  <Modal opened={isOpen} onClose={onClose} title="Replay events" closeButtonProps={{ 'aria-label': 'Close' }} size="lg">
    <Replay webhook_id={webhook_id} onClose={onClose} hours={hours} />
  </Modal>
)

type ReplayProps = Required<Omit<ReplayDialogProps, 'isOpen'>>

function Replay({ webhook_id, onClose, hours }: ReplayProps) {
  const [now_ms] = useState(useNow())
  const [since, setSince] = useState(() => new Date(now_ms - hours * HOUR_MS).toISOString())
  const [kind, setKind] = useState<ReplayKind>('failed')
  const counts = useEventCounts(webhook_id, { since })
  const replay = useReplay(webhook_id)
  if (replay.data) return <ReplayProgress webhook_id={webhook_id} {...replay.data} onClose={onClose} />
  const count = counts.data && countEvents(kind, counts.data)
  return (
    <Stack gap="md">
      <SinceField now_ms={now_ms} initialHours={hours} onChange={setSince} />
      <Radio.Group label="Events" value={kind} onChange={(value) => setKind(value as ReplayKind)}>
        <Stack gap="xs" mt="xs">
          {KINDS.map(({ kind: choice, label }) => (
            <Radio
              key={choice}
              value={choice}
              label={counts.data ? `${label}: ${countText(countEvents(choice, counts.data), counts.data)}` : label}
            />
          ))}
        </Stack>
      </Radio.Group>
      {counts.error && <ErrorNotice error={counts.error} onRetry={() => void counts.refetch()} />}
      <Text size="sm" aria-live="polite">
        {count === undefined
          ? 'Counting…'
          : count === 0
            ? 'No event of this time is to be sent.'
            : `Sends ${countText(count, counts.data)} to this endpoint, with the same ids as before.`}
      </Text>
      {replay.error && <ErrorNotice error={replay.error} />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          disabled={!count}
          loading={replay.isPending}
          onClick={() => counts.data && replay.mutate({ kind, counts: counts.data })}
        >
          Replay events
        </Button>
      </Group>
    </Stack>
  )
}

const KINDS: readonly { kind: ReplayKind; label: string }[] = [
  { kind: 'failed', label: 'Failed or stopped' },
  { kind: 'missing_and_failed', label: 'Failed, stopped or never sent here' },
  { kind: 'all', label: 'All, also delivered ones' },
]

function countEvents(kind: ReplayKind, { failed, stopped, missing, delivered }: EventCounts): number {
  const undelivered = failed + stopped
  if (kind === 'failed') return undelivered
  return kind === 'all' ? undelivered + missing + delivered : undelivered + missing
}

function countText(count: number, counts: EventCounts | undefined): string {
  const number = `${count.toLocaleString()}${counts?.is_complete === false ? ' or more' : ''}`
  return count === 1 ? `${number} event` : `${number} events`
}

const CHOICES = [
  { value: '1', label: 'The last hour' },
  { value: '24', label: 'The last 24 hours' },
  { value: '168', label: 'The last 7 days' },
  { value: '720', label: 'The last 30 days' },
  { value: 'date', label: 'A date and time' },
]

interface SinceFieldProps {
  now_ms: number
  initialHours: number
  onChange: (start: string) => void
}

/** Since when, by the clock of the team. */
function SinceField({ now_ms, initialHours, onChange }: SinceFieldProps) {
  const [choice, setChoice] = useState(String(initialHours))
  const [text, setText] = useState(() => localInput(new Date(now_ms - initialHours * HOUR_MS)))
  const chooseText = (next: string): void => {
    setText(next)
    if (!Number.isNaN(Date.parse(next))) onChange(new Date(next).toISOString())
  }
  return (
    <Group gap="sm" align="flex-end">
      <Select
        label="Since"
        data={CHOICES}
        value={choice}
        allowDeselect={false}
        onChange={(next) => {
          if (!next) return
          setChoice(next)
          if (next === 'date') chooseText(text)
          else onChange(new Date(now_ms - Number(next) * HOUR_MS).toISOString())
        }}
      />
      {choice === 'date' && (
        <TextInput
          type="datetime-local"
          label="Date and time"
          value={text}
          max={localInput(new Date(now_ms))}
          onChange={(event) => chooseText(event.currentTarget.value)}
        />
      )}
    </Group>
  )
}

interface ReplayProgressProps {
  webhook_id: string
  kind: ReplayKind
  initialCounts: EventCounts
  onClose: () => void
}

/** How far the replay is: it goes on when the dialog is closed. */
function ReplayProgress({ webhook_id, kind, initialCounts, onClose }: ReplayProgressProps) {
  const counts = useEventCounts(webhook_id, { since: initialCounts.since, until: initialCounts.until }, PROGRESS_MS)
  const total = countEvents(kind, initialCounts)
  const undelivered = counts.data ? countEvents(kind === 'all' ? 'missing_and_failed' : kind, counts.data) : total
  const waiting = counts.data ? Math.max(0, counts.data.pending - initialCounts.pending) : 0
  const delivered = Math.max(0, total - undelivered - waiting)
  return (
    <Stack gap="md">
      <Text>The events follow in the background, also when this is closed.</Text>
      <Progress value={(100 * delivered) / total} aria-label="Events that are delivered" />
      <Text component="output">
        {delivered.toLocaleString()} of {total.toLocaleString()} delivered, {waiting.toLocaleString()} waiting,{' '}
        {undelivered.toLocaleString()} not delivered
      </Text>
      {counts.error && <ErrorNotice error={counts.error} />}
      <Group justify="flex-end">
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Stack>
  )
}
