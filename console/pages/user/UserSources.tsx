import { Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { toWords } from '../../components/order-status.ts'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import type { Tone } from '../../theme.ts'
import { useUserSources, type UserSource } from './user-queries.ts'

const TONES: Record<UserSource['status'], Tone> = { connected: 'good', paused: 'neutral', error: 'failed' }

/** Where data of the user comes from: each connection with its state and its newest data. */
export function UserSources({ user_id }: { user_id: string }) {
  const sources = useUserSources(user_id)
  return (
    <Stack gap="sm">
      <Title order={2}>Sources</Title>
      {sources.error && <ErrorNotice error={sources.error} onRetry={() => void sources.refetch()} />}
      {!sources.data && !sources.error && (
        <Delayed>
          <Skeleton height={72} />
        </Delayed>
      )}
      {sources.data?.length === 0 && (
        <Text size="sm" c="dimmed">
          No provider is connected.
        </Text>
      )}
      {sources.data !== undefined && sources.data.length > 0 && <SourceTable sources={sources.data} />}
    </Stack>
  )
}

const SourceTable = ({ sources }: { sources: readonly UserSource[] }) => (
  <ScrollRegion label="Sources">
    <Table aria-label="Sources" maw={720}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Provider</Table.Th>
          <Table.Th>State</Table.Th>
          <Table.Th>Newest data</Table.Th>
          <Table.Th>Connected</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {sources.map(({ slug, name, status, fault, newest_data, created_on }) => (
          <Table.Tr key={slug}>
            <Table.Td>{name}</Table.Td>
            <Table.Td>
              <StatusBadge tone={TONES[status]}>{toWords(fault ?? status)}</StatusBadge>
            </Table.Td>
            <Table.Td>{newest_data === undefined ? 'none' : <RelativeTime value={newest_data} />}</Table.Td>
            <Table.Td>
              <RelativeTime value={created_on} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </ScrollRegion>
)
