import { Text } from '@mantine/core'
import { RelativeTime } from '../../../components/RelativeTime.tsx'

interface KeyUseProps {
  last_used_at: string | null
  last_used_ip: string | null
}

/** When a key was used last, and from where. */
export const KeyUse = ({ last_used_at, last_used_ip }: KeyUseProps) =>
  last_used_at === null ? (
    <Text span size="sm" c="dimmed">
      not yet
    </Text>
  ) : (
    <>
      <RelativeTime value={last_used_at} />
      {last_used_ip !== null && ` from ${last_used_ip}`}
    </>
  )
