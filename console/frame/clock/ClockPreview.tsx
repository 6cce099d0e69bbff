import { Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { formatExact } from '../../components/times.ts'
import { DueWork } from './DueWork.tsx'
import { useClockPreview, type ClockTarget, type useAdvanceClock } from './team-clock.ts'

interface ClockPreviewProps {
  target: ClockTarget
  advance: ReturnType<typeof useAdvanceClock>
  onBack: () => void
}

/** What will happen until the target, before the clock is moved. */
export function ClockPreview({ target, advance, onBack }: ClockPreviewProps) {
  const { data, error, refetch } = useClockPreview(target)
  return (
    <Stack gap="md">
      <Text fw={600}>{data ? `Until ${formatExact(new Date(data.to))}` : 'Until then'}</Text>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && (
        <Delayed>
          <Skeleton height={60} />
        </Delayed>
      )}
      {data && <DueWork preview={data} />}
      {advance.error && <ErrorNotice error={advance.error} />}
      <Group gap="sm" justify="flex-end">
        <Button size="xs" variant="default" onClick={onBack} disabled={advance.isPending}>
          Back
        </Button>
        <Button size="xs" disabled={!data} loading={advance.isPending} onClick={() => data && advance.mutate(data.to)}>
          Move the clock
        </Button>
      </Group>
    </Stack>
  )
}
