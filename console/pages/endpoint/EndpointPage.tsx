import { Alert, Group, SegmentedControl, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useParams } from 'react-router'
import { Bars } from '../../components/bars/Bars.tsx'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Facts } from '../../components/Facts.tsx'
import { IdText } from '../../components/IdText.tsx'
import { Page } from '../../components/Page.tsx'
import { RelativeTime, SystemTime } from '../../components/RelativeTime.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { attemptBars, ATTEMPT_PARTS } from '../endpoints/attempt-bars.ts'
import { useAttemptCounts, useHealth, type Endpoint, type EndpointHealth } from '../endpoints/endpoint-queries.ts'
import { HealthBadge } from '../endpoints/HealthBadge.tsx'
import { EventTabs } from '../events/EventTabs.tsx'
import { useEndpoint } from './endpoint-actions.ts'
import { EndpointActions } from './EndpointActions.tsx'
import { EndpointDeliveries } from './EndpointDeliveries.tsx'
import classes from './EndpointPage.module.css'

/** One endpoint: how it is doing, what it receives, and what was sent to it. */
export function EndpointPage() {
  const { webhook_id = '' } = useParams()
  const endpoint = useEndpoint(webhook_id)
  const health = useHealth()
  const canSeeDeliveries = usePermission('list_webhook_messages')
  if (!endpoint.data)
    return (
      <Page title="Endpoint">
        <EventTabs />
        {endpoint.error ? (
          <ErrorNotice error={endpoint.error} onRetry={() => void endpoint.refetch()} />
        ) : (
          <Delayed>
            <Skeleton height={320} />
          </Delayed>
        )}
      </Page>
    )
  const ownHealth = health.data?.get(webhook_id)
  return (
    <Page
      title="Endpoint"
      heading={<Heading endpoint={endpoint.data} health={ownHealth} />}
      actions={<Samples endpoint={endpoint.data} />}
    >
      <EventTabs />
      {endpoint.error && <ErrorNotice error={endpoint.error} />}
      {endpoint.data.delivery_error !== null && !endpoint.data.disabled && (
        <Alert color="red" title={endpoint.data.delivery_error}>
          Events wait. Rotate the secret, or set the headers again, to resume.
        </Alert>
      )}
      <EndpointActions endpoint={endpoint.data} />
      <section aria-labelledby="endpoint-health" className={classes.columns}>
        <Stack gap="sm">
          <Title order={2} id="endpoint-health">
            Health
          </Title>
          {health.error && <ErrorNotice error={health.error} onRetry={() => void health.refetch()} />}
          <EndpointFacts endpoint={endpoint.data} health={ownHealth} />
        </Stack>
        <Attempts webhook_id={webhook_id} />
      </section>
      {canSeeDeliveries && <EndpointDeliveries webhook_id={webhook_id} />}
    </Page>
  )
}

function Heading({ endpoint, health }: { endpoint: Endpoint; health: EndpointHealth | undefined }) {
  const { id, url, description, disabled } = endpoint
  return (
    <Stack gap={4} className={classes.heading}>
      <Title order={1} className={classes.url}>
        {url}
      </Title>
      <Group gap="sm">
        {disabled ? <HealthBadge state="disabled" /> : health && <HealthBadge state={health.state} />}
        <Text size="sm" c="dimmed">
          {description && `${description} · `}
          <IdText id={id} />
        </Text>
      </Group>
    </Stack>
  )
}

function Samples({ endpoint }: { endpoint: Endpoint }) {
  const { org_id, team, environment } = useTeam()
  const path = `/v1/org/${org_id}/team/${team.id}/${environment}/webhook/${endpoint.id}`
  return <CodeSamples request={{ method: 'GET', path }} keyKind="management" />
}

const EndpointFacts = ({ endpoint, health }: { endpoint: Endpoint; health: EndpointHealth | undefined }) => (
  <Facts
    facts={[
      { label: 'Waiting', value: health?.pending.toLocaleString() },
      { label: 'Of those retrying', value: health?.retrying.toLocaleString() },
      {
        label: 'Oldest waiting',
        value: health?.oldest_pending_at && <SystemTime value={health.oldest_pending_at} />,
      },
      { label: 'Failing since', value: health?.failing_since && <SystemTime value={health.failing_since} /> },
      { label: 'Sends again', value: health?.paused_until && <SystemTime value={health.paused_until} /> },
      { label: 'Event types', value: endpoint.filter_types?.join(', ') ?? 'all' },
      { label: 'Rate limit', value: endpoint.rate_limit === null ? 'none' : `${endpoint.rate_limit} messages a second` },
      { label: 'Created', value: <RelativeTime value={endpoint.created_at} /> },
    ]}
  />
)

const SPANS = [
  { label: '24 hours', value: '24' },
  { label: '7 days', value: '168' },
  { label: '30 days', value: '720' },
]

/** The attempts over time. */
function Attempts({ webhook_id }: { webhook_id: string }) {
  const [hours, setHours] = useState('24')
  const attempts = useAttemptCounts(Number(hours))
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2}>Attempts</Title>
        <SegmentedControl size="xs" data={SPANS} value={hours} onChange={setHours} aria-label="Time of the attempts" />
      </Group>
      {attempts.error && <ErrorNotice error={attempts.error} onRetry={() => void attempts.refetch()} />}
      {attempts.data && (
        <Bars
          label="Attempts"
          parts={ATTEMPT_PARTS}
          bars={attemptBars(attempts.data, webhook_id)}
          mostText="most at once"
          emptyText="Nothing was sent in this time"
        />
      )}
    </Stack>
  )
}
