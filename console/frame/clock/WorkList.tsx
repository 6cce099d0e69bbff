import { List } from '@mantine/core'

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

/** Jobs by kind and count. */
export function WorkList({ jobs }: { jobs: readonly { kind: string; count: number }[] }) {
  const counts = new Map<string, number>()
  for (const { kind, count } of jobs) counts.set(kind, (counts.get(kind) ?? 0) + count)
  return (
    <List size="sm">
      {[...counts].map(([kind, count]) => (
        <List.Item key={kind}>{countInWords(kind, count)}</List.Item>
      ))}
    </List>
  )
}

function countInWords(kind: string, count: number): string {
  const [one, several] = WORDS[kind] ?? [kind, kind]
  return `${count.toLocaleString()} ${count === 1 ? one : several}`
}
