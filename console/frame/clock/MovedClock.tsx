import { Button, Group, Stack, Text } from '@mantine/core'
import { formatExact } from '../../components/times.ts'
import type { ClockMove } from './team-clock.ts'

/** What has happened while the clock was moved. */
export const MovedClock = ({ move, onAgain }: { move: ClockMove; onAgain: () => void }) => (
  <Stack gap="md">
    <Text component="output" fw={600}>
      It is {formatExact(new Date(move.now))}
    </Text>
    <Text>{move.jobs_run === 0 ? 'Nothing was due.' : `${move.jobs_run.toLocaleString()} jobs ran, each at its own time.`}</Text>
    <Group justify="flex-end">
      <Button size="xs" variant="default" onClick={onAgain}>
        Move it again
      </Button>
    </Group>
  </Stack>
)
