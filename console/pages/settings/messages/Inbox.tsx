import { Anchor, Button, Group, Skeleton, Stack } from '@mantine/core'
import { useMemo } from 'react'
import { Link } from 'react-router'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { FilterBar } from '../../../components/FilterBar.tsx'
import { useFilters } from '../../../components/filters.ts'
import { SentMessage } from '../../../components/MessageCard.tsx'
import { useTeam } from '../../../session/team.ts'
import { INBOX_FIELDS, toInboxQuery, useInbox, type InboxMessage } from './message-queries.ts'

/** The messages that were recorded for patients, newest first, as they come. */
export function Inbox() {
  const [filters, setFilters] = useFilters(INBOX_FIELDS)
  const query = useMemo(() => toInboxQuery(filters), [filters])
  const messages = useInbox(query)
  const rows = messages.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Stack gap="sm">
      <FilterBar fields={INBOX_FIELDS} filters={filters} onChange={setFilters} />
      {messages.error && <ErrorNotice error={messages.error} onRetry={() => void messages.refetch()} />}
      {!messages.data && !messages.error && (
        <Delayed>
          <Skeleton height={240} />
        </Delayed>
      )}
      {messages.data && rows.length === 0 && (
        <EmptyState title={filters.length ? 'No message matches' : 'No messages yet'}>
          {filters.length
            ? 'Remove a filter to see more messages.'
            : 'Orders write to their patients when their status changes, if the settings of the team say so.'}
        </EmptyState>
      )}
      {rows.map((message) => (
        <Message key={message.id} message={message} />
      ))}
      {messages.hasNextPage && (
        <Group>
          <Button
            variant="subtle"
            size="compact-sm"
            loading={messages.isFetchingNextPage}
            onClick={() => void messages.fetchNextPage()}
          >
            Load more
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function Message({ message }: { message: InboxMessage }) {
  const { pathTo } = useTeam()
  return (
    <SentMessage
      message={message}
      links={
        <>
          {' · '}
          <Anchor component={Link} to={pathTo(`orders/${message.order_id}`)} size="xs" underline="always">
            order
          </Anchor>
          {' · '}
          <Anchor component={Link} to={pathTo(`users/${message.user_id}`)} size="xs" underline="always">
            user
          </Anchor>
        </>
      }
    />
  )
}
