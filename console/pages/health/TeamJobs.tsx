import { Button, Skeleton, Stack, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { usePermission } from '../../session/permissions.ts'
import { FailedJobs } from './FailedJobs.tsx'
import { useJobCounts, type JobCounts, type RetryTarget } from './health-queries.ts'
import { JobTable } from './JobTable.tsx'
import { RetryDialog } from './RetryDialog.tsx'

/** The jobs of the team: what waits, and what failed and can be retried. */
export function TeamJobs() {
  const counts = useJobCounts()
  const canRetry = usePermission('retry_failed_jobs')
  const [target, setTarget] = useState<RetryTarget>()
  const [isOpen, { open, close }] = useDisclosure()
  const startRetry = (next: RetryTarget): void => {
    setTarget(next)
    open()
  }
  const retryKind = (job: JobCounts) =>
    canRetry &&
    job.failed > 0 && (
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Retry all of ${job.name}`}
        onClick={() => startRetry({ name: job.name, count: job.failed })}
      >
        Retry all
      </Button>
    )
  return (
    <>
      <section aria-labelledby="jobs">
        <Stack gap="sm">
          <Title order={2} id="jobs">
            Jobs of the team
          </Title>
          {counts.error && <ErrorNotice error={counts.error} onRetry={() => void counts.refetch()} />}
          {!counts.data && !counts.error && (
            <Delayed>
              <Skeleton height={144} />
            </Delayed>
          )}
          {counts.data && <JobTable label="Jobs of the team by kind" jobs={counts.data.data} actionFor={retryKind} />}
        </Stack>
      </section>
      <FailedJobs kinds={counts.data?.data ?? []} onRetry={canRetry ? startRetry : undefined} />
      {target && <RetryDialog target={target} isOpen={isOpen} onClose={close} />}
    </>
  )
}
