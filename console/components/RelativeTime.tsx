import { Tooltip } from '@mantine/core'
import { ClockOffsetContext, useNow } from './now.ts'
import { formatExact, formatInZone, formatRelative } from './times.ts'

interface RelativeTimeProps {
  /** An instant, as the API writes it. */
  value: string
  /** The zone of the place that it concerns: its time stands beside the viewer's. */
  timeZone?: string
}

/** An instant relative to the present of the page; exact on hover. */
export function RelativeTime({ value, timeZone }: RelativeTimeProps) {
  const now_ms = useNow()
  const instant = new Date(value)
  const exact = formatExact(instant)
  const label = timeZone === undefined ? exact : `${exact} · ${formatInZone(instant, timeZone)} there`
  return (
    <Tooltip label={label}>
      <time dateTime={value}>{formatRelative(instant.getTime(), now_ms)}</time>
    </Tooltip>
  )
}

/** An instant of the system clock, such as that of a request, also where the clock of a sandbox is ahead. */
export const SystemTime = ({ value }: Pick<RelativeTimeProps, 'value'>) => (
  <ClockOffsetContext value={0}>
    <RelativeTime value={value} />
  </ClockOffsetContext>
)
