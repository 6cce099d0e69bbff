import { Anchor, Stack, Text, Title } from '@mantine/core'
import { Link } from 'react-router'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { SentMessage } from '../../components/MessageCard.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { MESSAGES_MAX, useUserMessages } from './user-queries.ts'

/** The newest messages to the user, each with its order. */
export function UserMessages({ user_id }: { user_id: string }) {
  const isPermitted = usePermission('list_patient_messages')
  return isPermitted ? <MessageList user_id={user_id} /> : null
}

function MessageList({ user_id }: { user_id: string }) {
  const { pathTo } = useTeam()
  const messages = useUserMessages(user_id)
  const rows = messages.data?.data ?? []
  return (
    <Stack gap="sm">
      <Title order={2}>Messages</Title>
      {messages.error && <ErrorNotice error={messages.error} onRetry={() => void messages.refetch()} />}
      {messages.data && rows.length === 0 && (
        <Text size="sm" c="dimmed">
          No message was recorded for this user.
        </Text>
      )}
      {rows.map((message) => (
        <SentMessage
          key={message.id}
          message={message}
          links={
            <>
              {' · '}
              <Anchor component={Link} to={pathTo(`orders/${message.order_id}`)} size="xs" underline="always">
                order
              </Anchor>
            </>
          }
        />
      ))}
      {rows.length === MESSAGES_MAX && (
        <Anchor component={Link} to={pathTo(`settings/messages?user=${user_id}`)} size="sm">
          All messages to this user
        </Anchor>
      )}
    </Stack>
  )
}
