import { Group, Text, Tooltip } from '@mantine/core'
import { formatBytes } from './bytes.ts'
import classes from './GrowthChart.module.css'
import type { ServerHealth } from './health-queries.ts'

type Sizes = ServerHealth['database']['growth']

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** The size of the database on each day that a worker noted it. */
export function GrowthChart({ sizes }: { sizes: Sizes }) {
  const [first, last] = [sizes[0], sizes.at(-1)]
  if (!first || !last)
    return (
      <Text size="sm" c="dimmed">
        No size is noted yet. A worker notes it once a day.
      </Text>
    )
  if (sizes.length === 1)
    return (
      <Text size="sm" c="dimmed">
        {formatBytes(last.bytes)} on {day.format(new Date(last.date))}. Growth is shown from the second day on: a worker notes the
        size once a day.
      </Text>
    )
  const max = Math.max(...sizes.map(({ bytes }) => bytes))
  const summary = `${formatBytes(first.bytes)} on ${day.format(new Date(first.date))}, ${formatBytes(last.bytes)} on ${day.format(new Date(last.date))}`
  return (
    <figure className={classes.figure}>
      <div className={classes.bars} role="img" aria-label={`Size of the database: ${summary}`}>
        {sizes.map(({ date, bytes }) => (
          <Tooltip key={date} label={`${day.format(new Date(date))}: ${formatBytes(bytes)}`}>
            <div className={classes.day}>
              <div className={classes.bar} style={{ height: `${(bytes / max) * 100}%` }} />
            </div>
          </Tooltip>
        ))}
      </div>
      <Group justify="space-between" className={classes.scale}>
        <Text span size="xs">
          {day.format(new Date(first.date))}
        </Text>
        <Text span size="xs">
          {growthText(first, last)}
        </Text>
        <Text span size="xs">
          {day.format(new Date(last.date))}
        </Text>
      </Group>
    </figure>
  )
}

function growthText(first: Sizes[number], last: Sizes[number]): string {
  const grown = last.bytes - first.bytes
  return grown < 0 ? `${formatBytes(-grown)} smaller` : `${formatBytes(grown)} larger`
}
