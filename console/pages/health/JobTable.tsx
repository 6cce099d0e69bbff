import { Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { formatDuration } from '../../components/times.ts'
import type { JobCounts } from './health-queries.ts'

interface JobTableProps {
  /** Whose jobs they are, for screen readers. */
  label: string
  jobs: readonly JobCounts[]
  /** What can be done about the jobs of a kind that failed. */
  actionFor?: (job: JobCounts) => ReactNode
}

/** Jobs by kind: how many wait, for how long, and how many failed. */
export function JobTable({ label, jobs, actionFor }: JobTableProps) {
  if (!jobs.length)
    return (
      <Text size="sm" c="dimmed">
        No job waits or failed.
      </Text>
    )
  return (
    <ScrollRegion label={label}>
      <Table miw={600} aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Job</Table.Th>
            <Table.Th ta="right">Failed</Table.Th>
            <Table.Th ta="right">Retrying</Table.Th>
            <Table.Th ta="right">Waiting</Table.Th>
            <Table.Th ta="right">Longest wait</Table.Th>
            <Table.Th ta="right">Scheduled</Table.Th>
            {actionFor && <Table.Th aria-label="Actions" />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {jobs.toSorted(byFailures).map((job) => (
            <Table.Tr key={job.name}>
              <Table.Td>{job.name}</Table.Td>
              <Table.Td ta="right" c={job.failed > 0 ? 'var(--failed)' : undefined} fw={job.failed > 0 ? 600 : undefined}>
                {job.failed.toLocaleString()}
              </Table.Td>
              <Table.Td ta="right" c={job.retrying > 0 ? 'var(--attention)' : undefined}>
                {job.retrying.toLocaleString()}
              </Table.Td>
              <Table.Td ta="right">{job.waiting.toLocaleString()}</Table.Td>
              <Table.Td ta="right">{job.waiting > 0 && waitOf(job)}</Table.Td>
              <Table.Td ta="right">{job.scheduled.toLocaleString()}</Table.Td>
              {actionFor && <Table.Td ta="right">{actionFor(job)}</Table.Td>}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollRegion>
  )
}

/** Kinds with the most failures first, others by name. */
const byFailures = (a: JobCounts, b: JobCounts): number =>
  b.failed - a.failed || b.retrying - a.retrying || a.name.localeCompare(b.name)

/** Below a minute in seconds: that is usual, and `now` says nothing of a wait. */
const waitOf = ({ oldest_waiting_s }: JobCounts): string =>
  oldest_waiting_s < 60 ? `${Math.round(oldest_waiting_s)} s` : formatDuration(oldest_waiting_s * 1000)
