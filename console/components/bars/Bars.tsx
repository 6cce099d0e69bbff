import { Anchor, Group, Text, Tooltip } from '@mantine/core'
import type { ReactNode, Ref } from 'react'
import { Link } from 'react-router'
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
  /** The list of what it counts. */
  path?: string | undefined
}

export interface BarsProps<Name extends string> {
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
  /** The list of what a part counts. */
  partPath?: ((name: Name) => string) | undefined
}

/** A bar for each time, with its parts one on the other. */
export function Bars<Name extends string>({ label, parts, bars, mostText, emptyText, partPath }: BarsProps<Name>) {
  const max = findMaxHeight(parts, bars)
  const used = parts.filter(({ name }) => bars.some(({ counts }) => counts[name] > 0))
  if (!used.length)
    return (
      <div className={classes.figure}>
        <Text className={classes.empty}>{emptyText}</Text>
      </div>
    )
  return (
    <figure className={classes.figure}>
      <div className={classes.bars} role="img" aria-label={summarize(label, used, bars)}>
        {bars.map((bar) => (
          <Tooltip key={bar.label} label={`${bar.label}: ${countWords(used, bar) || 'none'}`}>
            <BarArea path={countWords(used, bar) ? bar.path : undefined}>
              <BarParts parts={used} counts={bar.counts} max={max} />
            </BarArea>
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
        <BarLegend parts={used} bars={bars} partPath={partPath} />
      </figcaption>
    </figure>
  )
}

interface BarAreaProps {
  path: string | undefined
  ref?: Ref<HTMLDivElement & HTMLAnchorElement>
  children: ReactNode
}

/** Opens the list of its bar by a press. The keyboard reaches the lists by the legend: a stop at each bar would be in its way. */
const BarArea = ({ path, ...props }: BarAreaProps) =>
  path === undefined ? (
    <div {...props} className={classes.bar} />
  ) : (
    <Link {...props} to={path} tabIndex={-1} className={classes.bar} />
  )

/** The same as a line of a list: without scale and legend, which the words for screen readers stand for. */
export const SmallBars = <Name extends string>({ label, parts, bars }: Pick<BarsProps<Name>, 'label' | 'parts' | 'bars'>) => (
  <div className={classes.small} role="img" aria-label={summarize(label, parts, bars)} title={totalWords(parts, bars)}>
    {bars.map((bar) => (
      <div key={bar.label} className={classes.bar}>
        <BarParts parts={parts} counts={bar.counts} max={findMaxHeight(parts, bars)} />
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
export const BarLegend = <Name extends string>({
  parts,
  bars,
  partPath,
}: Pick<BarsProps<Name>, 'parts' | 'bars' | 'partPath'>) => (
  <ul className={classes.legend}>
    {parts.map((part) => (
      <li key={part.name}>
        <span className={classes.swatch} data-tone={part.tone} aria-hidden="true" />
        {partPath ? (
          <Anchor component={Link} to={partPath(part.name)} size="xs">
            {totalText(part, bars)}
          </Anchor>
        ) : (
          totalText(part, bars)
        )}
      </li>
    ))}
  </ul>
)

const totalText = <Name extends string>({ name, label }: Part<Name>, bars: readonly Bar<Name>[]): string =>
  `${label} ${bars.reduce((sum, { counts }) => sum + counts[name], 0).toLocaleString()}`

/** The height of the highest bar, at least 1. */
export const findMaxHeight = <Name extends string>(parts: readonly Part<Name>[], bars: readonly Bar<Name>[]): number =>
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

const summarize = <Name extends string>(label: string, parts: readonly Part<Name>[], bars: readonly Bar<Name>[]): string => {
  const counted = bars.filter((bar) => countWords(parts, bar)).map((bar) => `${bar.label} ${countWords(parts, bar)}`)
  return `${label}: ${counted.join('; ') || 'none'}`
}
