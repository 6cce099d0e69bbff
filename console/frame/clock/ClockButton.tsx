import { Popover, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { Icon } from '../../components/Icon.tsx'
import { useNow } from '../../components/now.ts'
import { formatDuration, formatMinute } from '../../components/times.ts'
import { usePermission } from '../../session/permissions.ts'
import { ClockPanel } from './ClockPanel.tsx'
import { useClockOffset } from './team-clock.ts'
import classes from './ClockButton.module.css'

interface ClockButtonProps {
  isOpen: boolean
  onToggle: () => void
  onClose: () => void
}

/** The team's clock, and the panel that moves it. */
export function ClockButton({ isOpen, onToggle, onClose }: ClockButtonProps) {
  const canMove = usePermission('advance_sandbox_clock')
  return (
    <Popover opened={isOpen} onChange={onClose} position="bottom-end" width={360} shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton className={classes.button} onClick={onToggle} disabled={!canMove}>
          <Icon name="clock" size={16} />
          <VisuallyHidden>Clock of the sandbox</VisuallyHidden>
          <ClockTime />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown maw="calc(100vw - 24px)">
        <ClockPanel />
      </Popover.Dropdown>
    </Popover>
  )
}

/** A move by a day counts as one, although the clocks were read at different moments. */
const ROUNDING_MS = 30_000

/** The present of the team, and how far it is ahead. */
function ClockTime() {
  const now_ms = useNow()
  const offset_ms = useClockOffset()
  return (
    <Text span size="sm" className={classes.time}>
      {formatMinute(new Date(now_ms))}
      {offset_ms > 0 && <span className={classes.offset}> +{formatDuration(offset_ms + ROUNDING_MS)}</span>}
    </Text>
  )
}
