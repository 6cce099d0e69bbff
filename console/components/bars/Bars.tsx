import { Group, Text, Tooltip } from '@mantine/core'
import type { Tone } from '../../theme.ts'
import classes from './Bars.module.css'

/** A part of each bar. */
export interface Part<Name extends string> {
  name: Name
  label: string
  tone: Tone
}

export interface Bar<Name extends string> {
  /** Names the time that it counts, for example `28 Nov`. */
  label: string
  counts: Record<Name, number>
}

interface BarsProps<Name extends string> {
  /** What is counted, for screen readers. */
  label: string
  /** From the bottom of a bar to its top. */
  parts: readonly Part<Name>[]
  /** Oldest first, without gaps. */
  bars: readonly Bar<Name>[]
  /** Stands before the largest number, for example "most in a day". */
  mostText: string
  /** Stands in place of bars if nothing was counted. */
  emptyText: string
}

/** A bar for each time, with its parts one on the other. */
export function Bars<Name extends string>({ label, parts, bars, mostText, emptyText }: BarsProps<Name>) {
  const max = highestOf(parts, bars)
  const used = parts.filter(({ name }) => bars.some(({ counts }) => counts[name] > 0))
  if (!used.length)
    return (
      <div className={classes.figure}>
        <Text className={classes.empty}>{emptyText}</Text>
      </div>
    )
  return (
    <figure className={classes.figure}>
      <div className={classes.bars} role="img" aria-label={summaryOf(label, used, bars)}>
        {bars.map((bar) => (
          <Tooltip key={bar.label} label={`${bar.label}: ${countWords(used, bar) || 'none'}`}>
            <div className={classes.bar}>
              <BarParts parts={used} counts={bar.counts} max={max} />
            </div>
          </Tooltip>
        ))}
      </div>
      <Group justify="space-between" className={classes.scale}>
        <Text span size="xs">
          {bars[0]?.label}
        </Text>
        <Text span size="xs">
          {mostText}: {max.toLocaleString()}
        </Text>
      </Group>
      <figcaption>
        <BarLegend parts={used} bars={bars} />
      </figcaption>
    </figure>
  )
}

/** The same as a line of a list: without scale and legend, which the words for screen readers stand for. */
export const SmallBars = <Name extends string>({ label, parts, bars }: Pick<BarsProps<Name>, 'label' | 'parts' | 'bars'>) => (
  <div className={classes.small} role="img" aria-label={summaryOf(label, parts, bars)} title={totalWords(parts, bars)}>
    {bars.map((bar) => (
      <div key={bar.label} className={classes.bar}>
        <BarParts parts={parts} counts={bar.counts} max={highestOf(parts, bars)} />
      </div>
    ))}
  </div>
)

interface BarPartsProps<Name extends string> {
  parts: readonly Part<Name>[]
  counts: Record<Name, number>
  max: number
}

/** The parts of one bar. */
export const BarParts = <Name extends string>({ parts, counts, max }: BarPartsProps<Name>) =>
  parts.map(({ name, tone }) => (
    <div key={name} className={classes.part} data-tone={tone} style={{ height: `${(counts[name] / max) * 100}%` }} />
  ))

/** What the colors mean, with totals. */
export const BarLegend = <Name extends string>({ parts, bars }: Pick<BarsProps<Name>, 'parts' | 'bars'>) => (
  <ul className={classes.legend}>
    {parts.map(({ name, label, tone }) => (
      <li key={name}>
        <span className={classes.swatch} data-tone={tone} aria-hidden="true" />
        {label} {bars.reduce((sum, { counts }) => sum + counts[name], 0).toLocaleString()}
      </li>
    ))}
  </ul>
)

/** The height of the highest bar, at least 1. */
export const highestOf = <Name extends string>(parts: readonly Part<Name>[], bars: readonly Bar<Name>[]): number =>
  Math.max(1, ...bars.map(({ counts }) => parts.reduce((sum, { name }) => sum + counts[name], 0)))

/** The counts of a bar in words; empty if there are none. */
export const countWords = <Name extends string>(parts: readonly Part<Name>[], { counts }: Pick<Bar<Name>, 'counts'>): string =>
  parts
    .filter(({ name }) => counts[name] > 0)
    .map(({ name, label }) => `${counts[name].toLocaleString()} ${label.toLowerCase()}`)
    .join(', ')

const totalWords = <Name extends string>(parts: readonly Part<Name>[], bars: readonly Bar<Name>[]): string =>
  parts
    .map(
      ({ name, label }) => `${bars.reduce((sum, { counts }) => sum + counts[name], 0).toLocaleString()} ${label.toLowerCase()}`,
    )
    .join(', ')

const summaryOf = <Name extends string>(label: string, parts: readonly Part<Name>[], bars: readonly Bar<Name>[]): string => {
  const counted = bars.filter((bar) => countWords(parts, bar)).map((bar) => `${bar.label} ${countWords(parts, bar)}`)
  return `${label}: ${counted.join('; ') || 'none'}`
}
