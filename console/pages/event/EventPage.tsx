import { Anchor, Button, Group, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { Link, useParams } from 'react-router'
import { Delayed } from '../../components/Delayed.tsx'
import { DeliveryAttempts } from '../../components/DeliveryAttempts.tsx'
import { DeliverySummary } from '../../components/DeliverySummary.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { IdText } from '../../components/IdText.tsx'
import { JsonView } from '../../components/JsonView.tsx'
import { toWords } from '../../components/order-status.ts'
import { Page } from '../../components/Page.tsx'
import { RelativeTime, SystemTime } from '../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { useEvent, useResend, type EventDetails } from './event-query.ts'

const TONES = { pending: 'progress', delivered: 'good', failed: 'failed', stopped: 'failed' } as const

/** One event: what is sent, to whom, and every attempt. */
export function EventPage() {
  const { event_id = '' } = useParams()
  const event = useEvent(event_id)
  if (!event.data)
    return (
      <Page title="Event">
        {event.error ? (
          <ErrorNotice error={event.error} onRetry={() => void event.refetch()} />
        ) : (
          <Delayed>
            <Skeleton height={320} />
          </Delayed>
        )}
      </Page>
    )
  return (
    <Page title="Event" heading={<Heading event={event.data} />}>
      {event.error && <ErrorNotice error={event.error} />}
      <Destinations event={event.data} />
      {event.data.attempts.length > 0 && <DeliveryAttempts attempts={event.data.attempts} />}
      <Stack gap="sm">
        <Title order={2}>Payload</Title>
        {event.data.body === null ? (
          <Text>The payload is deleted. The event cannot be sent again: read the object.</Text>
        ) : (
          <JsonView value={event.data.body} label="the payload" />
        )}
      </Stack>
    </Page>
  )
}

function Heading({ event: { type, id, message_id, object_id, created_at, deliveries } }: { event: EventDetails }) {
  const { pathTo } = useTeam()
  return (
    <Stack gap={4}>
      <Title order={1}>{type}</Title>
      <Group gap="sm">
        <DeliverySummary deliveries={deliveries} />
        <Text size="sm" c="dimmed">
          <RelativeTime value={created_at} /> · <IdText id={id} /> · message <IdText id={message_id} />
          {type.startsWith('labtest.order.') && (
            <>
              {' · '}
              <Anchor component={Link} to={pathTo(`orders/${object_id}`)} size="sm">
                order
              </Anchor>
            </>
          )}
        </Text>
      </Group>
    </Stack>
  )
}

function Destinations({ event }: { event: EventDetails }) {
  const canResend = usePermission('resend_webhook_message')
  const resend = useResend(event)
  if (!event.destinations.length)
    return (
      <EmptyState
        title="No endpoint received it"
        command={`drawbridge listen --forward-to http://127.0.0.1:9000 # events of this team, signed`}
      >
        No endpoint of the team took events of this type when it happened.
      </EmptyState>
    )
  return (
    <Stack gap="sm">
      <Title order={2}>Destinations</Title>
      {resend.error && <ErrorNotice error={resend.error} />}
      <ScrollRegion label="Destinations">
        <Table miw={520} aria-label="Destinations">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Destination</Table.Th>
              <Table.Th>Kind</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th ta="right">Attempts</Table.Th>
              <Table.Th>Next attempt</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {event.destinations.map(({ destination_id, kind, state, attempts, next_attempt_at }) => (
              <Table.Tr key={destination_id}>
                <Table.Td>
                  <IdText id={destination_id} />
                </Table.Td>
                <Table.Td>{toWords(kind)}</Table.Td>
                <Table.Td>
                  <StatusBadge tone={TONES[state]}>{toWords(state)}</StatusBadge>
                </Table.Td>
                <Table.Td ta="right">{attempts}</Table.Td>
                <Table.Td>{next_attempt_at !== null && <SystemTime value={next_attempt_at} />}</Table.Td>
                <Table.Td ta="right">
                  {canResend && event.body !== null && kind === 'webhook' && (
                    <Button
                      size="compact-sm"
                      variant="default"
                      loading={resend.isPending && resend.variables === destination_id}
                      onClick={() => resend.mutate(destination_id)}
                    >
                      Resend event
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
    </Stack>
  )
}
