import { Button, Group, SegmentedControl, Select, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useSearchParams } from 'react-router'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { useFailedJobs, type FailedJob, type FailedState, type JobCounts, type RetryTarget } from './health-queries.ts'

const STATES = [
  { value: 'dead', label: 'Tried no more' },
  { value: 'retrying', label: 'Tried again' },
]
const jobId = ({ id }: FailedJob): string => id

interface FailedJobsProps {
  kinds: readonly JobCounts[]
  /** Asks for a retry; undefined for members who may not. */
  onRetry: ((target: RetryTarget) => void) | undefined
}

/** The jobs that failed, newest first; the state and the kind that are shown are in the address. */
export function FailedJobs({ kinds, onRetry }: FailedJobsProps) {
  const [params, setParams] = useSearchParams()
  const state: FailedState = params.get('jobs') === 'retrying' ? 'retrying' : 'dead'
  const name = params.get('job') ?? undefined
  const show = (param: string, value: string | null): void =>
    setParams((previous) => {
      const changed = new URLSearchParams(previous)
      if (value === null) changed.delete(param)
      else changed.set(param, value)
      return changed
    })
  return (
    <section aria-labelledby="failed-jobs">
      <Stack gap="sm">
        <Title order={2} id="failed-jobs">
          Failed jobs
        </Title>
        <Group gap="sm">
          <SegmentedControl
            aria-label="Which failed jobs"
            size="sm"
            data={STATES}
            value={state}
            onChange={(value) => show('jobs', value === 'dead' ? null : value)}
          />
          <Select
            aria-label="Kind of job"
            placeholder="All kinds"
            data={[...new Set([...kinds.map((job) => job.name), ...(name === undefined ? [] : [name])])]}
            value={name ?? null}
            onChange={(value) => show('job', value)}
            clearable
            searchable
          />
        </Group>
        <FailedJobList key={`${state} ${name ?? ''}`} state={state} name={name} onRetry={onRetry} />
      </Stack>
    </section>
  )
}

interface FailedJobListProps extends Pick<FailedJobsProps, 'onRetry'> {
  state: FailedState
  name: string | undefined
}

function FailedJobList({ state, name, onRetry }: FailedJobListProps) {
  const jobs = useFailedJobs(state, name)
  const [selectedIds, setSelectedIds] = useState<ReadonlySet<string>>(new Set())
  const selection = useMemo(() => ({ ids: selectedIds, onChange: setSelectedIds }), [selectedIds])
  const rows = useMemo(() => jobs.data?.pages.flatMap(({ data }) => data) ?? [], [jobs.data])
  const canRetry = state === 'dead' && onRetry !== undefined
  const columns = useMemo(() => columnsFor(state, canRetry ? onRetry : undefined), [state, canRetry, onRetry])
  const selected = rows.filter(({ id }) => selectedIds.has(id))
  if (!jobs.data && !jobs.error)
    return (
      <Delayed>
        <Skeleton height={144} />
      </Delayed>
    )
  return (
    <>
      {jobs.error && <ErrorNotice error={jobs.error} onRetry={() => void jobs.refetch()} />}
      {jobs.data && rows.length === 0 && (
        <div>
          <StatusBadge tone="good">{state === 'dead' ? 'No job failed permanently' : 'No job is tried again'}</StatusBadge>
        </div>
      )}
      {canRetry && selected.length > 0 && (
        <Group gap="sm">
          <Text size="sm">{selected.length} selected</Text>
          <Button size="compact-sm" variant="default" onClick={() => onRetry({ jobs: selected })}>
            Retry selected
          </Button>
          <Button size="compact-sm" variant="subtle" onClick={() => setSelectedIds(new Set())}>
            Clear
          </Button>
        </Group>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Failed jobs"
          columns={columns}
          rows={rows}
          rowId={jobId}
          {...(canRetry && { selection })}
          onLoadMore={jobs.hasNextPage ? () => void jobs.fetchNextPage() : undefined}
          isLoadingMore={jobs.isFetchingNextPage}
        />
      )}
    </>
  )
}

function columnsFor(state: FailedState, onRetry: FailedJobsProps['onRetry']): Column<FailedJob>[] {
  return [
    { id: 'name', header: 'Job', cell: ({ name }) => <span title={name}>{name}</span> },
    { id: 'error', header: 'Error', isHiddenOnPhone: true, cell: ({ error }) => <span title={error ?? ''}>{error}</span> },
    { id: 'attempts', header: 'Attempts', width: 88, align: 'right', isHiddenOnPhone: true, cell: ({ attempts }) => attempts },
    state === 'dead'
      ? {
          id: 'failed',
          header: 'Failed',
          width: 96,
          cell: ({ failed_at }) => failed_at !== null && <RelativeTime value={failed_at} />,
        }
      : { id: 'next', header: 'Next', width: 96, cell: ({ next_at }) => next_at !== null && <RelativeTime value={next_at} /> },
    ...(onRetry
      ? [
          {
            id: 'retry',
            header: '',
            width: 80,
            cell: (job: FailedJob) => (
              <Button size="compact-xs" variant="default" onClick={() => onRetry({ jobs: [job] })}>
                Retry
              </Button>
            ),
          },
        ]
      : []),
  ]
}
