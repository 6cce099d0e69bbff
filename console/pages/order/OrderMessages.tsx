import { Anchor, Stack } from '@mantine/core'
import { Link } from 'react-router'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { SentMessage } from '../../components/MessageCard.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { useOrderMessages } from './order-queries.ts'

/** The messages to the patient about the order, by mail and by text message, and the way to those with the laboratory. */
export function OrderMessages({ order_id }: { order_id: string }) {
  const { pathTo } = useTeam()
  const canSeeLab = usePermission('list_lab_messages')
  return (
    <Stack gap="md">
      {canSeeLab && (
        <Anchor component={Link} to={pathTo(`links/messages?order=${order_id}`)} size="sm">
          Messages with the laboratory
        </Anchor>
      )}
      <PatientMessages order_id={order_id} />
    </Stack>
  )
}

function PatientMessages({ order_id }: { order_id: string }) {
  const messages = useOrderMessages(order_id)
  if (messages.error) return <ErrorNotice error={messages.error} onRetry={() => void messages.refetch()} />
  if (!messages.data) return null
  if (!messages.data.data.length)
    return (
      <EmptyState title="No messages">
        The team sends patients no messages about orders, or none was due. Messages are set for each team.
      </EmptyState>
    )
  return (
    <Stack gap="md">
      {messages.data.data.map((message) => (
        <SentMessage key={message.id} message={message} />
      ))}
    </Stack>
  )
}
