import { Stack, Text, Title } from '@mantine/core'
import { CopyableCode } from '../../../components/CopyableCode.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { RelativeTime } from '../../../components/RelativeTime.tsx'
import { StatusBadge } from '../../../components/StatusBadge.tsx'
import { useLastCheck } from './access-queries.ts'

/** Whether the log is intact, as the command of the operator found it. A page cannot prove it: it shows what the server says. */
export function ChainCheck() {
  const check = useLastCheck()
  return (
    <Stack gap="xs">
      <Title order={3}>Check of the chain</Title>
      {check.error && <ErrorNotice error={check.error} onRetry={() => void check.refetch()} />}
      {check.data === null && (
        <div>
          <StatusBadge tone="neutral">Not checked yet</StatusBadge>
        </div>
      )}
      {check.data && (
        <Text size="sm">
          {check.data.is_intact ? (
            <StatusBadge tone="good">Intact</StatusBadge>
          ) : (
            <StatusBadge tone="failed">{`Changed: ${check.data.fault}`}</StatusBadge>
          )}{' '}
          checked <RelativeTime value={check.data.checked_at} />, {check.data.lines.toLocaleString()} lines up to line{' '}
          {check.data.last_line}
        </Text>
      )}
      <Text size="sm" c="dimmed" maw={640}>
        Each line has the hash of the line before it. The operator checks all lines of the server with this command, which names
        the first line that was changed, removed or added.
      </Text>
      <CopyableCode text="bin/drawbridge access-log verify --cell all" label="the command" />
    </Stack>
  )
}
