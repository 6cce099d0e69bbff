import { Code, SimpleGrid, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { CopyableCode } from '../../components/CopyableCode.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Facts } from '../../components/Facts.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { formatDuration } from '../../components/times.ts'
import { formatBytes } from './bytes.ts'
import { GrowthChart } from './GrowthChart.tsx'
import { useServerHealth, type ServerHealth } from './health-queries.ts'
import { JobTable } from './JobTable.tsx'

/** The server, for administrators of the organization: versions, database, backups, and the queues of all teams. */
export function ServerSection() {
  const health = useServerHealth()
  return (
    <>
      {health.error && <ErrorNotice error={health.error} onRetry={() => void health.refetch()} />}
      {!health.data && !health.error && (
        <Delayed>
          <Skeleton height={240} />
        </Delayed>
      )}
      {health.data && <ServerParts health={health.data} />}
    </>
  )
}

const ServerParts = ({ health }: { health: ServerHealth }) => (
  <>
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <section aria-labelledby="server">
        <Stack gap="sm">
          <Title order={2} id="server">
            Server
          </Title>
          <Versions health={health} />
          <Backup backup={health.last_backup} />
        </Stack>
      </section>
      <section aria-labelledby="database">
        <Stack gap="sm">
          <Title order={2} id="database">
            Database
          </Title>
          <GrowthChart sizes={health.database.growth} />
          <Tables tables={health.database.tables} />
        </Stack>
      </section>
    </SimpleGrid>
    <section aria-labelledby="queues">
      <Stack gap="sm">
        <Title order={2} id="queues">
          Queues of all teams of the organization
        </Title>
        <Deliveries deliveries={health.deliveries} />
        <JobTable label="Jobs of all teams by kind" jobs={health.jobs} />
      </Stack>
    </section>
  </>
)

const Versions = ({ health: { version, schema, database } }: { health: ServerHealth }) => (
  <Facts
    facts={[
      { label: 'Drawbridge', value: version },
      { label: 'PostgreSQL', value: database.version },
      {
        label: 'Migration',
        value: (
          <>
            {schema.migration === schema.known_migration ? (
              <StatusBadge tone="good">{`${schema.migration}, the newest`}</StatusBadge>
            ) : (
              <StatusBadge tone="attention">{`${schema.migration}, the program knows ${schema.known_migration}`}</StatusBadge>
            )}{' '}
            <RelativeTime value={schema.applied_at} />
          </>
        ),
      },
      { label: 'Database', value: formatBytes(database.bytes) },
    ]}
  />
)

function Backup({ backup }: { backup: ServerHealth['last_backup'] }) {
  if (backup)
    return (
      <Facts
        facts={[
          {
            label: 'Last backup',
            value: (
              <>
                <RelativeTime value={backup.completed_at} />, {formatBytes(backup.bytes)}
              </>
            ),
          },
        ]}
      />
    )
  return (
    <Stack gap="sm">
      <Facts facts={[{ label: 'Last backup', value: <StatusBadge tone="attention">None is known</StatusBadge> }]} />
      <Text size="sm" c="dimmed">
        Drawbridge knows backups by <Code>bin/drawbridge backup</Code> alone, not those of other tools.
      </Text>
      <CopyableCode text="bin/drawbridge backup" label="the command" />
    </Stack>
  )
}

const Tables = ({ tables }: { tables: ServerHealth['database']['tables'] }) => (
  <ScrollRegion label="Largest tables">
    <Table aria-label="Largest tables">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Table</Table.Th>
          <Table.Th ta="right">Size</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {tables.map(({ name, bytes }) => (
          <Table.Tr key={name}>
            <Table.Td>{name}</Table.Td>
            <Table.Td ta="right">{formatBytes(bytes)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </ScrollRegion>
)

const Deliveries = ({ deliveries: { pending, oldest_pending_s, outbox } }: { deliveries: ServerHealth['deliveries'] }) => (
  <Facts
    facts={[
      {
        label: 'Deliveries waiting',
        value: pending ? `${pending.toLocaleString()}, the oldest for ${formatDuration(oldest_pending_s * 1000)}` : '0',
      },
      { label: 'Events to copy', value: outbox.toLocaleString() },
    ]}
  />
)
