import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { RelativeTime } from './RelativeTime.tsx'
import { StatusBadge } from './StatusBadge.tsx'
import { toWords } from './order-status.ts'
import classes from './MessageCard.module.css'

interface MessageCardProps {
  /** What the message is about, or the subject of an email. */
  heading: string
  badge?: ReactNode
  /** How, to whom and when. */
  note: ReactNode
  /** The text; null: it is not shown. */
  body: string | null
}

/** A message to a patient. Its text is text, wherever it comes from. */
export const MessageCard = ({ heading, badge, note, body }: MessageCardProps) => (
  <article className={classes.message} aria-label={heading}>
    <Group gap="sm">
      <Text span fw={600} size="sm">
        {heading}
      </Text>
      {badge}
    </Group>
    <Text size="xs" c="dimmed">
      {note}
    </Text>
    {body !== null && (
      <Text size="sm" className={classes.body}>
        {body}
      </Text>
    )}
  </article>
)

const TONES = { recorded: 'neutral', waiting: 'progress', sent: 'good', failed: 'failed' } as const

interface SentMessageProps {
  message: {
    kind: string
    channel: 'sms' | 'email'
    recipient: string
    body: string | null
    state: keyof typeof TONES | null
    error: string | null
    created_at: string
    subject?: string | null
  }
  /** Where it belongs to. */
  links?: ReactNode
}

/** A message that was recorded for a patient, and what became of it. */
export const SentMessage = ({ message, links }: SentMessageProps) => {
  const { kind, channel, recipient, subject, body, state, error, created_at } = message
  return (
    <MessageCard
      heading={subject ?? toWords(kind)}
      badge={state !== null && <StatusBadge tone={TONES[state]}>{toWords(state)}</StatusBadge>}
      note={
        <>
          {channel === 'sms' ? 'Text message' : 'Email'} to {recipient}, <RelativeTime value={created_at} />
          {error !== null && `, ${toWords(error)}`}
          {links}
        </>
      }
      body={body}
    />
  )
}
