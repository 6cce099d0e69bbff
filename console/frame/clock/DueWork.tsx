import { List, Text } from '@mantine/core'
import type { components } from '../../api/schema.d.ts'

type Preview = components['schemas']['ClockPreview']

/** Kinds of work in words: one, and several. */
const WORDS: Record<string, readonly [one: string, several: string]> = {
  simulated_step: ['simulated step of an order', 'simulated steps of orders'],
  order_dispatch: ['order is sent to its laboratory', 'orders are sent to their laboratories'],
  deadline: ['deadline', 'deadlines'],
  reminder: ['reminder to a patient', 'reminders to patients'],
  health_data: ['piece of health data arrives', 'pieces of health data arrive'],
  retry: ['repeated attempt', 'repeated attempts'],
  other: ['other job', 'other jobs'],
}

/** What becomes due, by kind and count. */
export function DueWork({ preview }: { preview: Preview }) {
  if (!preview.data.length) return <Text>Nothing becomes due until then.</Text>
  const counts = new Map<string, number>()
  for (const { kind, count } of preview.data) counts.set(kind, (counts.get(kind) ?? 0) + count)
  return (
    <>
      <List size="sm">
        {[...counts].map(([kind, count]) => (
          <List.Item key={kind}>{countInWords(kind, count)}</List.Item>
        ))}
      </List>
      <Text size="xs" c="dimmed">
        {preview.is_complete
          ? 'These jobs may create further jobs before the target.'
          : 'There is more; only the first are counted.'}
      </Text>
    </>
  )
}

function countInWords(kind: string, count: number): string {
  const [one, several] = WORDS[kind] ?? [kind, kind]
  return `${count.toLocaleString()} ${count === 1 ? one : several}`
}
