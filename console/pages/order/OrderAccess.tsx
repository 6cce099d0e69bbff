import { Anchor, Table, Text } from '@mantine/core'
import { Link } from 'react-router'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { IdText } from '../../components/IdText.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { useOrderAccess, type Order } from './order-queries.ts'

/** Who has read or changed the order: the lines of the access log about its patient that name it. */
export function OrderAccess({ order }: { order: Order }) {
  const isPermitted = usePermission('list_user_access')
  const access = useOrderAccess(order, isPermitted)
  if (!isPermitted)
    return <EmptyState title="Not for your role">Administrators of the team see who has looked at a patient.</EmptyState>
  if (access.error) return <ErrorNotice error={access.error} onRetry={() => void access.refetch()} />
  if (!access.data) return null
  const { lines, hasMore } = access.data
  if (!lines.length && !hasMore)
    return <EmptyState title="No access yet">Reads and changes of this order appear here after some seconds.</EmptyState>
  return (
    <ScrollRegion label="Who looked">
      <Table miw={560} aria-label="Who looked">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>When</Table.Th>
            <Table.Th>Operation</Table.Th>
            <Table.Th>Member or key</Table.Th>
            <Table.Th>Address</Table.Th>
            <Table.Th ta="right">Status</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lines.map(({ line, created_at, operation, member_id, key_id, address, outcome }) => (
            <Table.Tr key={line}>
              <Table.Td>
                <RelativeTime value={created_at} />
              </Table.Td>
              <Table.Td>{operation}</Table.Td>
              <Table.Td>
                <IdText id={member_id ?? key_id} />
              </Table.Td>
              <Table.Td>{address}</Table.Td>
              <Table.Td ta="right">{outcome}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {hasMore && <OlderLines user_id={order.user_id} />}
    </ScrollRegion>
  )
}

function OlderLines({ user_id }: { user_id: string }) {
  const { pathTo } = useTeam()
  return (
    <Text size="sm" mt="xs">
      Older lines are in the{' '}
      <Anchor component={Link} to={pathTo(`settings/access-log?user=${user_id}`)} size="sm">
        access log of the user
      </Anchor>
      .
    </Text>
  )
}
