import { Text } from '@mantine/core'
import { Icon } from '../../components/Icon.tsx'
import { useNow } from '../../components/now.ts'
import { formatDuration, formatMinute } from '../../components/times.ts'
import { useClockOffset } from './team-clock.ts'
import classes from './ClockButton.module.css'

/** The present of the team, and how far it is ahead. */
export function ClockButton() {
  const now_ms = useNow()
  const offset_ms = useClockOffset()
  return (
    <span className={classes.button}>
      <Icon name="clock" size={16} />
      <Text span size="sm" className={classes.time}>
        {formatMinute(new Date(now_ms))}
        {offset_ms > 0 && <span className={classes.offset}> +{formatDuration(offset_ms)}</span>}
      </Text>
    </span>
  )
}
