import { Group, Text, Tooltip } from '@mantine/core'
import type { Tone } from '../../theme.ts'
import classes from './DailyBars.module.css'

/** A part of each bar. */
export interface Part<Name extends string> {
  name: Name
  label: string
  tone: Tone
}

export interface DayCounts<Name extends string> {
  /** `YYYY-MM-DD`. */
  date: string
  counts: Record<Name, number>
}

interface DailyBarsProps<Name extends string> {
  /** What is counted, for screen readers. */
  label: string
  /** From the bottom of a bar to its top. */
  parts: readonly Part<Name>[]
  /** Oldest first, without gaps. */
  days: readonly DayCounts<Name>[]
  /** Stands in place of bars if nothing was counted. */
  emptyText: string
}

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** A bar for each day, with its parts one on the other. */
export function DailyBars<Name extends string>({ label, parts, days, emptyText }: DailyBarsProps<Name>) {
  const totalOf = ({ counts }: DayCounts<Name>): number => parts.reduce((sum, { name }) => sum + counts[name], 0)
  const max = Math.max(1, ...days.map(totalOf))
  const used = parts.filter(({ name }) => days.some(({ counts }) => counts[name] > 0))
  if (!used.length)
    return (
      <div className={classes.figure}>
        <Text className={classes.empty}>{emptyText}</Text>
      </div>
    )
  return (
    <figure className={classes.figure}>
      <div className={classes.bars} role="img" aria-label={summaryOf(label, used, days)}>
        {days.map((one) => (
          <Tooltip key={one.date} label={`${day.format(new Date(one.date))}: ${wordsOf(used, one) || 'none'}`}>
            <div className={classes.day}>
              {used.map(({ name, tone }) => (
                <div key={name} data-tone={tone} style={{ height: `${(one.counts[name] / max) * 100}%` }} />
              ))}
            </div>
          </Tooltip>
        ))}
      </div>
      <Group justify="space-between" className={classes.scale}>
        <Text span size="xs">
          {days[0] && day.format(new Date(days[0].date))}
        </Text>
        <Text span size="xs">
          most in a day: {days.length ? Math.max(...days.map(totalOf)).toLocaleString() : 0}
        </Text>
      </Group>
      <figcaption>
        <ul className={classes.legend}>
          {used.map(({ name, label: partLabel, tone }) => (
            <li key={name}>
              <span className={classes.swatch} data-tone={tone} aria-hidden="true" />
              {partLabel} {days.reduce((sum, { counts }) => sum + counts[name], 0).toLocaleString()}
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  )
}

const wordsOf = <Name extends string>(parts: readonly Part<Name>[], { counts }: DayCounts<Name>): string =>
  parts
    .filter(({ name }) => counts[name] > 0)
    .map(({ name, label }) => `${counts[name].toLocaleString()} ${label.toLowerCase()}`)
    .join(', ')

const summaryOf = <Name extends string>(label: string, parts: readonly Part<Name>[], days: readonly DayCounts<Name>[]): string =>
  `${label} of ${days.length} days: ${days
    .filter((one) => wordsOf(parts, one))
    .map((one) => `${day.format(new Date(one.date))} ${wordsOf(parts, one)}`)
    .join('; ')}`
