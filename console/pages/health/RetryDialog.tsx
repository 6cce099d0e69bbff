import { Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { useRetry, type RetryOutcome, type RetryTarget } from './health-queries.ts'

interface RetryDialogProps {
  /** A copy of what is retried: the lists behind the dialog are read again meanwhile. */
  target: RetryTarget
  isOpen: boolean
  onClose: () => void
}

/** Says which jobs will run again, makes them, and says how many did. */
export const RetryDialog = ({ target, isOpen, onClose }: RetryDialogProps) => (
  <Modal
    opened={isOpen}
    onClose={onClose}
    title={`Retry ${jobsText(countOf(target))}`}
    closeButtonProps={{ 'aria-label': 'Close' }}
  >
    <Retry target={target} onClose={onClose} />
  </Modal>
)

function Retry({ target, onClose }: Omit<RetryDialogProps, 'isOpen'>) {
  const retry = useRetry()
  return (
    <Stack gap="md">
      {!retry.data && <Preview target={target} />}
      {retry.error && <ErrorNotice error={retry.error} />}
      <Text size="sm" component="output">
        {retry.data && outcomeText(retry.data)}
      </Text>
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          {retry.data ? 'Close' : 'Not now'}
        </Button>
        {!retry.data && (
          <Button loading={retry.isPending} onClick={() => retry.mutate(target)}>
            Retry {jobsText(countOf(target))}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

const Preview = ({ target }: { target: RetryTarget }) => (
  <Stack gap="sm">
    <Text size="sm">
      {countOf(target) === 1 ? 'It runs at once, with all its attempts.' : 'They run at once, with all their attempts.'} What was
      not sent yet to endpoints, vendors or patients is sent now.
    </Text>
    <List size="sm">
      {kindsOf(target).map(([name, count]) => (
        <List.Item key={name}>
          {name}: {count.toLocaleString()}
        </List.Item>
      ))}
    </List>
  </Stack>
)

const jobsText = (count: number): string => (count === 1 ? '1 job' : `${count.toLocaleString()} jobs`)

const countOf = (target: RetryTarget): number => ('jobs' in target ? target.jobs.length : target.count)

/** The kinds of the jobs, and how many of each. */
function kindsOf(target: RetryTarget): [name: string, count: number][] {
  if ('name' in target) return [[target.name, target.count]]
  const counts = new Map<string, number>()
  for (const { name } of target.jobs) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
}

const outcomeText = ({ retry_count, skip_count }: RetryOutcome): string =>
  `${jobsText(retry_count)} will run now.${skip_count ? ` ${jobsText(skip_count)} had not failed any more and stayed as ${skip_count === 1 ? 'it was' : 'they were'}.` : ''}`
