import { Button, Skeleton, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMemo } from 'react'
import { SmallBars } from '../../components/bars/Bars.tsx'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Page } from '../../components/Page.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { EventTabs } from '../events/EventTabs.tsx'
import { attemptBars, ATTEMPT_PARTS } from './attempt-bars.ts'
import { CreateEndpoint } from './CreateEndpoint.tsx'
import {
  useAttemptCounts,
  useEndpoints,
  useHealth,
  type AttemptCounts,
  type Endpoint,
  type EndpointHealth,
} from './endpoint-queries.ts'
import { HealthBadge } from './HealthBadge.tsx'
import { filterWords } from './endpoint-words.ts'

interface EndpointRow {
  endpoint: Endpoint
  health: EndpointHealth | undefined
  attempts: AttemptCounts | undefined
}

const HOURS = 24

const COLUMNS: readonly Column<EndpointRow>[] = [
  { id: 'url', header: 'Address', cell: ({ endpoint: { url, description } }) => <span title={description ?? url}>{url}</span> },
  { id: 'state', header: 'State', width: 176, cell: StateCell },
  {
    id: 'attempts',
    header: '24 hours',
    width: 132,
    isHiddenOnPhone: true,
    cell: ({ endpoint, attempts }) =>
      attempts && (
        <SmallBars
          label={`Attempts at ${endpoint.url} in ${HOURS} hours`}
          parts={ATTEMPT_PARTS}
          bars={attemptBars(attempts, endpoint.id)}
        />
      ),
  },
  {
    id: 'pending',
    header: 'Waiting',
    width: 84,
    align: 'right',
    isHiddenOnPhone: true,
    cell: ({ health }) => health?.pending.toLocaleString(),
  },
  { id: 'filter', header: 'Event types', width: 128, isHiddenOnPhone: true, cell: ({ endpoint }) => filterWords(endpoint) },
  {
    id: 'created',
    header: 'Created',
    width: 104,
    isHiddenOnPhone: true,
    cell: ({ endpoint }) => <RelativeTime value={endpoint.created_at} />,
  },
]
const rowId = ({ endpoint }: EndpointRow): string => endpoint.id

function StateCell({ endpoint, health }: EndpointRow) {
  if (endpoint.disabled) return <HealthBadge state="disabled" />
  return health && <HealthBadge state={health.state} />
}

/** The endpoints that receive the team's events, with their health. */
export function EndpointsPage() {
  const { pathTo, org_id, team, environment } = useTeam()
  const canCreate = usePermission('create_webhook')
  const [isCreating, { open, close }] = useDisclosure()
  const endpoints = useEndpoints()
  const health = useHealth()
  const attempts = useAttemptCounts(HOURS)
  const rows = useMemo(
    () => endpoints.data?.map((endpoint) => ({ endpoint, health: health.data?.get(endpoint.id), attempts: attempts.data })) ?? [],
    [endpoints.data, health.data, attempts.data],
  )
  const path = `/v1/org/${org_id}/team/${team.id}/${environment}/webhook`
  const addButton = canCreate && <Button onClick={open}>Add an endpoint</Button>
  const error = endpoints.error ?? health.error ?? attempts.error
  return (
    <Page
      title="Endpoints"
      actions={
        <>
          <CodeSamples request={{ method: 'GET', path }} keyKind="management" />
          {addButton}
        </>
      }
    >
      <EventTabs />
      <Stack gap="sm">
        {error && <ErrorNotice error={error} onRetry={() => void endpoints.refetch()} />}
        {!endpoints.data && !endpoints.error && (
          <Delayed>
            <Skeleton height={240} />
          </Delayed>
        )}
        {endpoints.data?.length === 0 && (
          <EmptyState
            title="No endpoints yet"
            action={addButton}
            command={`drawbridge listen --forward-to http://127.0.0.1:9000 # without an endpoint: events of this team, signed`}
          >
            An endpoint is an address of your program. Drawbridge sends every event there, signed, and again until it is accepted.
          </EmptyState>
        )}
        {rows.length > 0 && (
          <DataTable
            label="Endpoints"
            columns={COLUMNS}
            rows={rows}
            rowId={rowId}
            rowPath={({ endpoint }) => pathTo(`events/endpoints/${endpoint.id}`)}
          />
        )}
      </Stack>
      <CreateEndpoint isOpen={isCreating} onClose={close} />
    </Page>
  )
}
