import { NativeSelect, Skeleton, Stack, Text } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { Delayed } from '../../../components/Delayed.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { MessageCard } from '../../../components/MessageCard.tsx'
import { methodWords, toWords } from '../../../components/order-status.ts'
import { StatusBadge } from '../../../components/StatusBadge.tsx'
import { formatDuration } from '../../../components/times.ts'
import { useMessagePreviews, type MessagePreview } from './message-queries.ts'

/** What each message says, with the brand of the team, by collection method. */
export function MessageTexts() {
  const [params, setParams] = useSearchParams()
  const previews = useMessagePreviews()
  if (previews.error) return <ErrorNotice error={previews.error} onRetry={() => void previews.refetch()} />
  if (!previews.data)
    return (
      <Delayed>
        <Skeleton height={320} />
      </Delayed>
    )
  const methods = [...new Set(previews.data.map(({ method }) => method))]
  const method = methods.find((candidate) => candidate === params.get('method')) ?? methods[0]
  return (
    <Stack gap="md">
      <NativeSelect
        label="Orders of"
        data={methods.map((value) => ({ value, label: methodWords(value) }))}
        value={method}
        onChange={(event) => setParams({ tab: 'texts', method: event.currentTarget.value })}
        maw={240}
      />
      <Text size="sm" c="dimmed">
        Names of patients and of tests are left out, because others may see the screen of a phone. Links are examples.
      </Text>
      {previews.data
        .filter((preview) => preview.method === method)
        .map((preview) => (
          <PreviewOfMessage key={`${preview.kind} ${preview.channel}`} preview={preview} />
        ))}
    </Stack>
  )
}

const PreviewOfMessage = ({ preview: { kind, channel, is_enabled, after_s, subject, body } }: { preview: MessagePreview }) => (
  <MessageCard
    heading={toWords(kind)}
    badge={<StatusBadge tone={is_enabled ? 'good' : 'neutral'}>{is_enabled ? 'On' : 'Off'}</StatusBadge>}
    note={`${channel === 'sms' ? 'Text message' : 'Email'}${subject === null ? '' : `: ${subject}`}${after_s === null ? '' : `, ${timeText(after_s)}`}`}
    body={body}
  />
)

const timeText = (after_s: number): string =>
  after_s > 0
    ? `${formatDuration(after_s * 1000)} after the step began`
    : `${formatDuration(after_s * 1000)} before the appointment`
