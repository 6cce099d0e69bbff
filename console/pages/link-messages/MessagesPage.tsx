import { Box, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { FilterBar } from '../../components/FilterBar.tsx'
import { useFilters } from '../../components/filters.ts'
import { toWords } from '../../components/order-status.ts'
import { Page } from '../../components/Page.tsx'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { useTeam } from '../../session/team.ts'
import { AccountSelect, useAccountFilter } from '../links/AccountSelect.tsx'
import { accountWords, useLinks, useLinkScope } from '../links/link-queries.ts'
import { LinkPageTabs } from '../links/LinkPageTabs.tsx'
import { OrderLink } from '../links/OrderLink.tsx'
import { MESSAGE_FIELDS, MESSAGE_TONES, toMessageQuery, useMessages, type LabMessageSummary } from './message-queries.ts'

const rowId = ({ id }: LabMessageSummary): string => id

/** The messages that came from laboratories and went to them, newest first, without what they say. */
export function MessagesPage() {
  const { org_id, env, region } = useLinkScope()
  const links = useLinks()
  const [filters, setFilters] = useFilters(MESSAGE_FIELDS)
  const [account_id] = useAccountFilter()
  const query = useMemo(() => toMessageQuery(filters, account_id), [filters, account_id])
  return (
    <Page
      title="Messages with laboratories"
      actions={
        <CodeSamples
          request={{ method: 'GET', path: `/v1/org/${org_id}/lab_message/${env}/${region}`, query }}
          keyKind="management"
        />
      }
    >
      <LinkPageTabs />
      <Stack gap="sm">
        <Group gap="sm" align="flex-start">
          <AccountSelect accounts={links.data} />
          <Box flex="1 1 320px">
            <FilterBar fields={MESSAGE_FIELDS} filters={filters} onChange={setFilters} />
          </Box>
        </Group>
        <MessageList query={query} />
      </Stack>
    </Page>
  )
}

function MessageList({ query }: { query: ReturnType<typeof toMessageQuery> }) {
  const { pathTo } = useTeam()
  const messages = useMessages(query)
  const rows = useMemo(() => messages.data?.pages.flatMap(({ data }) => data) ?? [], [messages.data])
  const columns = useColumns()
  return (
    <>
      {messages.error && <ErrorNotice error={messages.error} onRetry={() => void messages.refetch()} />}
      {!messages.data && !messages.error && (
        <Delayed>
          <Skeleton height={320} />
        </Delayed>
      )}
      {messages.data && rows.length === 0 && (
        <EmptyState title={Object.keys(query).length ? 'No message matches' : 'No messages yet'}>
          {Object.keys(query).length
            ? 'Remove a filter to see more messages.'
            : 'Orders that go to laboratories over a link, and what laboratories send, are listed here.'}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <>
          <Text size="sm" c="dimmed" component="output">
            {rows.length} {messages.hasNextPage ? 'loaded' : rows.length === 1 ? 'message' : 'messages'}
          </Text>
          <DataTable
            label="Messages with laboratories"
            columns={columns}
            rows={rows}
            rowId={rowId}
            rowPath={({ id }) => pathTo(`links/messages/${id}`)}
            onLoadMore={messages.hasNextPage ? () => void messages.fetchNextPage() : undefined}
            isLoadingMore={messages.isFetchingNextPage}
          />
        </>
      )}
    </>
  )
}

function useColumns(): readonly Column<LabMessageSummary>[] {
  const links = useLinks()
  return useMemo(() => {
    const names = new Map(links.data?.map((link) => [link.account_id, accountWords(link)]))
    return [
      {
        id: 'message',
        header: 'Message',
        width: 152,
        cell: ({ direction, message_type }) => `${direction === 'in' ? 'From' : 'To'} lab ${message_type ?? ''}`,
      },
      {
        id: 'state',
        header: 'State',
        width: 116,
        cell: ({ state }) => <StatusBadge tone={MESSAGE_TONES[state]}>{toWords(state)}</StatusBadge>,
      },
      {
        id: 'account',
        header: 'Lab account',
        isHiddenOnPhone: true,
        cell({ account_id, lab }) {
          const name = (account_id !== null && names.get(account_id)) || (lab ?? 'none')
          return <span title={name}>{name}</span>
        },
      },
      {
        id: 'order',
        header: 'Order',
        width: 152,
        isHiddenOnPhone: true,
        cell: ({ order_id, team_id }) =>
          order_id !== null && team_id !== null && <OrderLink order_id={order_id} team_id={team_id} />,
      },
      {
        id: 'error',
        header: 'Error',
        isHiddenOnPhone: true,
        cell: ({ error }) => error !== null && <span title={error}>{error}</span>,
      },
      { id: 'created', header: 'When', width: 88, cell: ({ created_at }) => <SystemTime value={created_at} /> },
    ]
  }, [links.data])
}
