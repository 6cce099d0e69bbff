import { Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useParams } from 'react-router'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Facts } from '../../components/Facts.tsx'
import { IdText } from '../../components/IdText.tsx'
import { toWords } from '../../components/order-status.ts'
import { Page } from '../../components/Page.tsx'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { MESSAGE_TONES, useMessage, type LabMessage } from '../link-messages/message-queries.ts'
import { accountWords, useLinks } from '../links/link-queries.ts'
import { LinkPageTabs } from '../links/LinkPageTabs.tsx'
import { OrderLink } from '../links/OrderLink.tsx'
import { MessageActions } from './MessageActions.tsx'
import { SegmentView } from './SegmentView.tsx'

/** One message of a laboratory or to it: what became of it, what it says, and its answer. */
export function MessagePage() {
  const { message_id = '' } = useParams()
  const message = useMessage(message_id)
  if (!message.data)
    return (
      <Page title="Message with a laboratory">
        <LinkPageTabs />
        {message.error ? (
          <ErrorNotice error={message.error} onRetry={() => void message.refetch()} />
        ) : (
          <Delayed>
            <Skeleton height={320} />
          </Delayed>
        )}
      </Page>
    )
  const { text, answer, direction } = message.data
  return (
    <Page
      title="Message with a laboratory"
      heading={<Heading message={message.data} />}
      actions={<MessageActions message={message.data} />}
    >
      <LinkPageTabs />
      {message.error && <ErrorNotice error={message.error} />}
      <MessageFacts message={message.data} />
      <Stack gap="sm">
        <Title order={2}>Message</Title>
        <SegmentView text={text} label="The message" />
      </Stack>
      {direction === 'out' && (
        <Stack gap="sm">
          <Title order={2}>Answer of the laboratory</Title>
          {answer === null ? (
            <Text size="sm" c="dimmed">
              There is none yet.
            </Text>
          ) : (
            <SegmentView text={answer} label="The answer" />
          )}
        </Stack>
      )}
    </Page>
  )
}

const Heading = ({ message: { id, direction, message_type, state, created_at } }: { message: LabMessage }) => (
  <Stack gap={4}>
    <Title order={1}>
      {direction === 'in' ? 'From the laboratory' : 'To the laboratory'}
      {message_type !== null && `: ${message_type}`}
    </Title>
    <Group gap="sm">
      <StatusBadge tone={MESSAGE_TONES[state]}>{toWords(state)}</StatusBadge>
      <Text size="sm" c="dimmed">
        <SystemTime value={created_at} /> · <IdText id={id} />
      </Text>
    </Group>
  </Stack>
)

/** What the states mean to the person who looks, where the word does not say it. */
const STATE_TEXTS: Partial<Record<LabMessage['state'], string>> = {
  review: 'Its number or its patient does not fit an order for certain: a person decides to which order the result belongs.',
  test: 'Read in mode test, and not applied to an order.',
  shadow: 'Read in mode shadow: compared with what staff enter, and not applied to an order.',
  sent: 'The laboratory has not answered yet. The same message goes out again.',
  committed: 'The laboratory has stored it and answers later.',
  expired: 'The laboratory has not answered in time. It is not sent any more.',
}

function MessageFacts({ message }: { message: LabMessage }) {
  const { account_id, lab, order_id, team_id, unmatched_result_id, state, attempts, repetitions, direction } = message
  const links = useLinks()
  const link = links.data?.find((candidate) => candidate.account_id === account_id)
  const time = (value: string | null) => value !== null && <SystemTime value={value} />
  return (
    <Facts
      facts={[
        { label: 'State', value: STATE_TEXTS[state] },
        { label: 'Reason', value: message.reason !== null && toWords(message.reason) },
        { label: 'Error', value: message.error },
        { label: 'Comment', value: message.comment },
        { label: 'Lab account', value: link ? accountWords(link) : (lab ?? 'none: no link has this sender') },
        { label: 'Order', value: order_id !== null && team_id !== null && <OrderLink order_id={order_id} team_id={team_id} /> },
        { label: 'Result in review', value: unmatched_result_id !== null && <IdText id={unmatched_result_id} /> },
        { label: 'Sender', value: message.sender },
        { label: 'Came by', value: message.source },
        {
          label: 'Control id',
          value:
            message.control_id !== null &&
            `${message.control_id}${message.reuses_control_id ? ', which another message of the sender had too' : ''}`,
        },
        { label: 'Attempts', value: (direction === 'out' || attempts > 1) && attempts.toLocaleString() },
        { label: 'Next attempt', value: time(message.next_attempt_at) },
        { label: 'Answered', value: time(message.answered_at) },
        { label: 'Repetitions', value: repetitions > 0 && `came ${repetitions.toLocaleString()} times more` },
        { label: 'Size', value: `${message.bytes.toLocaleString()} bytes` },
        { label: 'Changed', value: time(message.updated_at) },
      ]}
    />
  )
}
