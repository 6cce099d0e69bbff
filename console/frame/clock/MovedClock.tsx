import { Button, Group, Stack, Text } from '@mantine/core'
import { formatExact } from '../../components/times.ts'
import type { ClockMove } from './team-clock.ts'
import { WorkList } from './WorkList.tsx'

/** What has happened while the clock was moved. */
export const MovedClock = ({ move, onAgain }: { move: ClockMove; onAgain: () => void }) => (
  <Stack gap="md">
    <Text component="output" fw={600}>
      It is {formatExact(new Date(move.now))}
    </Text>
    <Text>{summaryOf(move)}</Text>
    <WorkList jobs={move.jobs} />
    <Group justify="flex-end">
      <Button size="xs" variant="default" onClick={onAgain}>
        Move it again
      </Button>
    </Group>
  </Stack>
)

function summaryOf({ jobs_run }: ClockMove): string {
  if (jobs_run === 0) return 'Nothing was due.'
  return jobs_run === 1 ? '1 job ran, at its own time:' : `${jobs_run.toLocaleString()} jobs ran, each at its own time:`
}
