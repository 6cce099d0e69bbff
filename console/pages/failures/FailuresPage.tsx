import { Button, Group, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useSearchParams } from 'react-router'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Page } from '../../components/Page.tsx'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { brokerName } from '../brokers/broker-names.ts'
import { ReplayDialog } from '../endpoint/ReplayDialog.tsx'
import { useEndpoints, useHealth } from '../endpoints/endpoint-queries.ts'
import { EventTabs } from '../events/EventTabs.tsx'
import { causeWords, eventsPath, useFailures, type DeliveryFailure } from './failures-query.ts'

interface FailureRow {
  failure: DeliveryFailure
  /** Of the endpoint, or the name of the broker. */
  address: string
  /** Sends what failed there again; undefined: it cannot be done. */
  onReplay: (() => void) | undefined
}

/** The dialog that sends events to an endpoint again. */
interface Replay {
  webhook_id: string
  isOpen: boolean
}

const SPANS = [
  { label: '24 hours', value: '24' },
  { label: '7 days', value: '168' },
  { label: '30 days', value: '720' },
]

const COLUMNS: readonly Column<FailureRow>[] = [
  { id: 'cause', header: 'Cause', cell: ({ failure }) => causeWords(failure) },
  {
    id: 'destination',
    header: 'Destination',
    isHiddenOnPhone: true,
    cell: ({ address }) => <span title={address}>{address}</span>,
  },
  { id: 'messages', header: 'Events', width: 76, align: 'right', cell: ({ failure }) => failure.messages.toLocaleString() },
  {
    id: 'attempts',
    header: 'Attempts',
    width: 84,
    align: 'right',
    isHiddenOnPhone: true,
    cell: ({ failure }) => failure.attempts.toLocaleString(),
  },
  {
    id: 'first',
    header: 'First',
    width: 96,
    isHiddenOnPhone: true,
    cell: ({ failure }) => <SystemTime value={failure.first_at} />,
  },
  { id: 'last', header: 'Last', width: 96, isHiddenOnPhone: true, cell: ({ failure }) => <SystemTime value={failure.last_at} /> },
  {
    id: 'replay',
    header: '',
    width: 96,
    align: 'right',
    cell: ({ onReplay }) =>
      onReplay && (
        <Button size="compact-sm" variant="default" onClick={onReplay}>
          Replay
        </Button>
      ),
  },
]
const rowId = ({ failure: { destination_id, response_status, error } }: FailureRow): string =>
  [destination_id, response_status, error].join(' ')

/** Failed attempts to deliver events, by cause. Each leads to its events. */
export function FailuresPage() {
  const { pathTo } = useTeam()
  const [params, setParams] = useSearchParams()
  const hours = SPANS.some(({ value }) => value === params.get('hours')) ? params.get('hours')! : '24'
  const canSeeEvents = usePermission('list_event_rows')
  const failures = useFailures(Number(hours))
  const [replay, setReplay] = useState<Replay>()
  const rows = useFailureRows(failures.data?.data, setReplay)
  return (
    <Page
      title="Failures"
      actions={<CodeSamples request={{ method: 'GET', path: '/console/v1/delivery_failures', query: { hours } }} />}
    >
      <EventTabs />
      <Stack gap="sm">
        <Group justify="space-between">
          <SegmentedControl
            size="xs"
            data={SPANS}
            value={hours}
            onChange={(next) => setParams({ hours: next })}
            aria-label="Time of the failures"
          />
          <Text size="sm" c="dimmed">
            Attempts that failed. Some of these events may have been delivered since.
          </Text>
        </Group>
        {failures.error && <ErrorNotice error={failures.error} onRetry={() => void failures.refetch()} />}
        {failures.data?.is_complete === false && <Text size="sm">Only the newest 10,000 attempts are counted.</Text>}
        {!failures.data && !failures.error && (
          <Delayed>
            <Skeleton height={240} />
          </Delayed>
        )}
        {failures.data?.data.length === 0 && (
          <EmptyState title="No delivery failed">Every event of this time was accepted at its first attempt.</EmptyState>
        )}
        {rows.length > 0 && (
          <DataTable
            label="Failures"
            columns={COLUMNS}
            rows={rows}
            rowId={rowId}
            rowPath={({ failure }) => (canSeeEvents ? pathTo(eventsPath(failure)) : undefined)}
          />
        )}
      </Stack>
      {replay && <ReplayDialog {...replay} onClose={() => setReplay({ ...replay, isOpen: false })} hours={Number(hours)} />}
    </Page>
  )
}

/** The failures with the addresses of their endpoints. */
function useFailureRows(failures: readonly DeliveryFailure[] | undefined, setReplay: (replay: Replay) => void): FailureRow[] {
  const canReplay = usePermission('recover_webhook')
  const endpoints = useEndpoints()
  const health = useHealth()
  return useMemo(() => {
    const byId = new Map(endpoints.data?.map((endpoint) => [endpoint.id, endpoint]))
    return (failures ?? []).map((failure) => {
      const { destination_id } = failure
      const endpoint = byId.get(destination_id)
      const kind = health.data?.get(destination_id)?.kind
      return {
        failure,
        address: endpoint?.url ?? (kind === undefined || kind === 'webhook' ? destination_id : brokerName(kind)),
        onReplay:
          canReplay && endpoint && !endpoint.disabled ? () => setReplay({ webhook_id: destination_id, isOpen: true }) : undefined,
      }
    })
  }, [failures, endpoints.data, health.data, canReplay, setReplay])
}
