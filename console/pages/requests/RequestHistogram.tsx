import { Group, Text } from '@mantine/core'
import { useState, type KeyboardEvent, type PointerEvent } from 'react'
import { BarLegend, BarParts, countWords, findMaxHeight, type Bar, type Part } from '../../components/bars/Bars.tsx'
import { formatMinute } from '../../components/times.ts'
import type { RequestCounts, TimeSpan } from './requests-query.ts'
import classes from './RequestHistogram.module.css'

type Outcome = 'success' | 'client_error' | 'server_error'

const PARTS: readonly Part<Outcome>[] = [
  { name: 'success', label: 'Succeeded', tone: 'good' },
  { name: 'client_error', label: 'Refused', tone: 'attention' },
  { name: 'server_error', label: 'Failed', tone: 'failed' },
]

/** The places of the first and the last bar. While they are chosen, the end may come before the start. */
interface BarRange {
  start: number
  end: number
}

interface RequestHistogramProps {
  counts: RequestCounts
  /** Shows a part of the time in place of all of it. */
  onZoom: (span: TimeSpan) => void
}

/**
 * Requests over time. Dragging over bars zooms to their time. By keys: the arrows choose a bar, with Shift several, Enter zooms to them.
 */
export function RequestHistogram({ counts: { step_s, data }, onZoom }: RequestHistogramProps) {
  const [range, setRange] = useState<BarRange>()
  const [isDragging, setDragging] = useState(false)
  const bars: Bar<Outcome>[] = data.map(({ at, success, client_error, server_error }) => ({
    label: formatMinute(new Date(at)),
    counts: { success, client_error, server_error },
  }))
  const shown = range && limitRange(range, bars.length)
  const zoom = (target: BarRange): void => {
    const { start, end } = sortRange(limitRange(target, bars.length))
    setRange(undefined)
    onZoom({ since: data[start]!.at, until: addStep(data[end]!.at, step_s) })
  }
  const moveTo = (event: PointerEvent<HTMLDivElement>): void => {
    const end = barAt(event, bars.length)
    setRange((previous) => (isDragging && previous ? { ...previous, end } : { start: end, end }))
  }
  const endDrag = (): void => {
    setDragging(false)
    if (shown && isDragging) zoom(shown)
  }
  const max = findMaxHeight(PARTS, bars)
  return (
    <figure className={classes.figure}>
      <Group justify="space-between" gap="sm" mih={20}>
        <Text size="sm" aria-live="polite">
          {shown ? rangeWords(bars, sortRange(shown), step_s, data) : 'Drag over bars to see their time alone.'}
        </Text>
        <MaxText max={max} step_s={step_s} />
      </Group>
      <div
        className={classes.bars}
        role="slider"
        tabIndex={0}
        aria-label="Requests over time"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, bars.length - 1)}
        aria-valuenow={shown?.end ?? Math.max(0, bars.length - 1)}
        aria-valuetext={shown ? rangeWords(bars, sortRange(shown), step_s, data) : 'No time is chosen'}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          const start = barAt(event, bars.length)
          setRange({ start, end: start })
          setDragging(true)
        }}
        onPointerMove={moveTo}
        onPointerUp={endDrag}
        onPointerCancel={() => setDragging(false)}
        onPointerLeave={() => !isDragging && setRange(undefined)}
        onKeyDown={(event) => {
          const next = rangeOfKey(event, shown, bars.length)
          if (next === 'zoom') {
            if (shown) zoom(shown)
          } else if (next) setRange(next.range)
        }}
      >
        {bars.map((bar, index) => (
          <div key={data[index]!.at} className={classes.bar} data-chosen={isChosen(shown, index)}>
            <BarParts parts={PARTS} counts={bar.counts} max={max} />
          </div>
        ))}
      </div>
      <TimeScale data={data} step_s={step_s} />
      <figcaption>
        <BarLegend parts={PARTS} bars={bars} />
      </figcaption>
    </figure>
  )
}

const MaxText = ({ max, step_s }: { max: number; step_s: number }) => (
  <Text size="xs" c="dimmed">
    most in {stepWords(step_s)}: {max.toLocaleString()}
  </Text>
)

const TimeScale = ({ data, step_s }: RequestCounts) => (
  <Group justify="space-between" c="dimmed" mt={4}>
    <Text span size="xs">
      {data[0] && formatMinute(new Date(data[0].at))}
    </Text>
    <Text span size="xs">
      {data.length > 0 && formatMinute(new Date(addStep(data.at(-1)!.at, step_s)))}
    </Text>
  </Group>
)

const addStep = (time: string, step_s: number): string => new Date(Date.parse(time) + step_s * 1000).toISOString()

const sortRange = ({ start, end }: BarRange): BarRange => ({ start: Math.min(start, end), end: Math.max(start, end) })

/** There may be fewer bars than when they were chosen. */
const limitRange = ({ start, end }: BarRange, count: number): BarRange => ({
  start: Math.min(start, count - 1),
  end: Math.min(end, count - 1),
})

const isChosen = (range: BarRange | undefined, index: number): boolean =>
  range !== undefined && index >= Math.min(range.start, range.end) && index <= Math.max(range.start, range.end)

/** The bar under the pointer. */
function barAt({ currentTarget, clientX }: PointerEvent<HTMLDivElement>, count: number): number {
  const { left, width } = currentTarget.getBoundingClientRect()
  return Math.max(0, Math.min(count - 1, Math.floor(((clientX - left) / width) * count)))
}

/** What a key does with the chosen bars; undefined: nothing. */
function rangeOfKey(
  event: KeyboardEvent,
  range: BarRange | undefined,
  count: number,
): { range: BarRange | undefined } | 'zoom' | undefined {
  if (event.key === 'Enter') return 'zoom'
  if (event.key === 'Escape') return { range: undefined }
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -count, End: count }[event.key]
  if (step === undefined || count === 0) return undefined
  event.preventDefault()
  // The first key chooses the newest bar, or with Home the oldest.
  const end = Math.max(0, Math.min(count - 1, range || event.key === 'Home' ? (range?.end ?? 0) + step : count - 1))
  return { range: event.shiftKey && range ? { start: range.start, end } : { start: end, end } }
}

function rangeWords(
  bars: readonly Bar<Outcome>[],
  { start, end }: BarRange,
  step_s: number,
  data: RequestCounts['data'],
): string {
  const sum = (name: Outcome): number => bars.slice(start, end + 1).reduce((total, { counts }) => total + counts[name], 0)
  const counts = { success: sum('success'), client_error: sum('client_error'), server_error: sum('server_error') }
  const endText = data[end] ? formatMinute(new Date(addStep(data[end].at, step_s))) : ''
  const { mean_duration_ms } = (start === end ? data[start] : undefined) ?? { mean_duration_ms: null }
  const duration = mean_duration_ms === null ? '' : `, ${mean_duration_ms} ms on average`
  return `${bars[start]?.label ?? ''} to ${endText}: ${countWords(PARTS, { counts }) || 'no request'}${duration}`
}

const stepWords = (step_s: number): string =>
  step_s >= 86_400 ? 'a day' : step_s >= 3600 ? `${step_s / 3600} h` : `${step_s / 60} min`
