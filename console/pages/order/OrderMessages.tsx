import { Stack, Text } from '@mantine/core'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { toWords } from '../../components/order-status.ts'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { useOrderMessages } from './order-queries.ts'
import classes from './OrderMessages.module.css'

const TONES = { recorded: 'neutral', waiting: 'progress', sent: 'good', failed: 'failed' } as const

/** The messages to the patient about the order, by mail and by text message. */
export function OrderMessages({ order_id }: { order_id: string }) {
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
      {messages.data.data.map(({ id, kind, channel, recipient, body, state, error, created_at }) => (
        <article key={id} className={classes.message}>
          <header>
            <Text span fw={600} size="sm">
              {toWords(kind)}
            </Text>{' '}
            {state !== null && <StatusBadge tone={TONES[state]}>{toWords(state)}</StatusBadge>}
            <Text size="xs" c="dimmed">
              {channel === 'sms' ? 'Text message' : 'Mail'} to {recipient}, <RelativeTime value={created_at} />
              {error !== null && `, ${toWords(error)}`}
            </Text>
          </header>
          <Text size="sm" className={classes.body}>
            {body}
          </Text>
        </article>
      ))}
    </Stack>
  )
}
