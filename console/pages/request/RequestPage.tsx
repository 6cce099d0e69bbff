import { Anchor, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { dataOf } from '../../api/client.ts'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Facts } from '../../components/Facts.tsx'
import { IdText } from '../../components/IdText.tsx'
import { Page } from '../../components/Page.tsx'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { formatExact } from '../../components/times.ts'
import { useTeam } from '../../session/team.ts'
import { findOperation, useApiDocument } from '../explorer/api-document.ts'
import { toSample, toSdkCode } from '../explorer/api-request.ts'
import { RequestTabs } from '../requests/RequestTabs.tsx'
import { toneOfStatus, type LoggedRequest } from '../requests/requests-query.ts'

/** One request: what was asked, by whom, and how it ended. */
export function RequestPage() {
  const { request_id = '' } = useParams()
  const request = useRequest(request_id)
  if (!request.data)
    return (
      <Page title="Request">
        <RequestTabs />
        {request.error ? (
          <ErrorNotice error={request.error} onRetry={() => void request.refetch()} />
        ) : (
          <Delayed>
            <Skeleton height={240} />
          </Delayed>
        )}
      </Page>
    )
  return (
    <Page title="Request" heading={<Heading request={request.data} />} actions={<Samples request={request.data} />}>
      <RequestTabs />
      <RequestFacts request={request.data} />
      <Text size="sm" c="dimmed">
        The log has neither bodies nor the values in paths and queries.
      </Text>
      <Links request={request.data} />
    </Page>
  )
}

function useRequest(request_id: string) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'request', request_id],
    staleTime: Infinity,
    queryFn: ({ signal }) => dataOf(api.GET('/console/v1/requests/{request_id}', { params: { path: { request_id } }, signal })),
  })
}

const Heading = ({ request: { operation, status, at, id } }: { request: LoggedRequest }) => (
  <Stack gap={4}>
    <Title order={1}>{operation}</Title>
    <Group gap="sm">
      <StatusBadge tone={toneOfStatus(status)}>{status}</StatusBadge>
      <Text size="sm" c="dimmed">
        <SystemTime value={at} /> · <IdText id={id} />
      </Text>
    </Group>
  </Stack>
)

/** The request as it can be sent again, with placeholders for what the log does not have. */
function Samples({ request }: { request: LoggedRequest }) {
  const operation = findOperation(useApiDocument().data, request.operation)
  if (!operation) return null
  return <CodeSamples request={toSample(operation)} keyKind={operation.keyKind} sdkCode={toSdkCode(operation)} />
}

const RequestFacts = ({ request }: { request: LoggedRequest }) => (
  <Facts
    facts={[
      { label: 'Request', value: `${request.method} ${request.path}` },
      { label: 'Error', value: request.error },
      { label: 'Duration', value: `${request.duration_ms} ms` },
      { label: 'Time', value: formatExact(new Date(request.at)) },
      { label: 'Member', value: request.member_id && <IdText id={request.member_id} /> },
      { label: request.member_id ? 'Session' : 'Key', value: <IdText id={request.key_id} /> },
    ]}
  />
)

function Links({ request: { operation, key_id, member_id } }: { request: LoggedRequest }) {
  const { pathTo } = useTeam()
  const listOf = (name: string, value: string): string => pathTo(`requests?${new URLSearchParams({ [name]: value }).toString()}`)
  return (
    <Group gap="lg">
      <Anchor component={Link} to={pathTo(`requests/explorer?operation=${operation}`)} size="sm">
        Open in the explorer
      </Anchor>
      <Anchor component={Link} to={listOf('operation', operation)} size="sm">
        Requests of this operation
      </Anchor>
      <Anchor component={Link} to={member_id ? listOf('member', member_id) : listOf('key', key_id)} size="sm">
        Requests of this {member_id ? 'member' : 'key'}
      </Anchor>
    </Group>
  )
}
