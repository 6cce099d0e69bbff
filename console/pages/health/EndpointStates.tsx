import { Anchor, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { Link } from 'react-router'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { IdText, shortId } from '../../components/IdText.tsx'
import { toWords } from '../../components/order-status.ts'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { useTeam } from '../../session/team.ts'
import { useEndpointHealth, type EndpointHealth } from './health-queries.ts'

const TONES = { ok: 'good', failing: 'failed', paused: 'attention', unreadable: 'failed', disabled: 'neutral' } as const

/** The endpoints and brokers of the team: their state, and what waits for them. */
export function EndpointStates() {
  const health = useEndpointHealth()
  return (
    <section aria-labelledby="endpoints">
      <Stack gap="sm">
        <Title order={2} id="endpoints">
          Endpoints and brokers
        </Title>
        {health.error && <ErrorNotice error={health.error} onRetry={() => void health.refetch()} />}
        {!health.data && !health.error && (
          <Delayed>
            <Skeleton height={72} />
          </Delayed>
        )}
        {health.data &&
          (health.data.data.length ? (
            <EndpointTable endpoints={health.data.data} />
          ) : (
            <Text size="sm" c="dimmed">
              The team has no endpoint and no broker.
            </Text>
          ))}
      </Stack>
    </section>
  )
}

function EndpointTable({ endpoints }: { endpoints: readonly EndpointHealth[] }) {
  const { pathTo } = useTeam()
  return (
    <ScrollRegion label="Endpoints and brokers">
      <Table miw={640} aria-label="Endpoints and brokers">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Destination</Table.Th>
            <Table.Th>Kind</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Failing since</Table.Th>
            <Table.Th ta="right">Waiting</Table.Th>
            <Table.Th ta="right">Oldest</Table.Th>
            <Table.Th ta="right">Retrying</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {endpoints.map(({ destination_id, kind, state, failing_since, pending, oldest_pending_at, retrying }) => (
            <Table.Tr key={destination_id}>
              <Table.Td>
                {kind === 'webhook' ? (
                  <Anchor component={Link} to={pathTo(`events/endpoints/${destination_id}`)} size="sm">
                    {shortId(destination_id)}
                  </Anchor>
                ) : (
                  <IdText id={destination_id} />
                )}
              </Table.Td>
              <Table.Td>{toWords(kind)}</Table.Td>
              <Table.Td>
                <StatusBadge tone={TONES[state]}>{toWords(state)}</StatusBadge>
              </Table.Td>
              <Table.Td>{failing_since !== null && <SystemTime value={failing_since} />}</Table.Td>
              <Table.Td ta="right">{pending.toLocaleString()}</Table.Td>
              <Table.Td ta="right">{oldest_pending_at !== null && <SystemTime value={oldest_pending_at} />}</Table.Td>
              <Table.Td ta="right">{retrying.toLocaleString()}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollRegion>
  )
}
