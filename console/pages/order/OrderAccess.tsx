import { Table } from '@mantine/core'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { IdText } from '../../components/IdText.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useOrderAccess, type Order } from './order-queries.ts'

/** Who has read or changed the order: the lines of the access log about its patient that name it. */
export function OrderAccess({ order }: { order: Order }) {
  const isPermitted = usePermission('list_user_access')
  const access = useOrderAccess(order, isPermitted)
  if (!isPermitted)
    return <EmptyState title="Not for your role">Administrators of the team see who has looked at a patient.</EmptyState>
  if (access.error) return <ErrorNotice error={access.error} onRetry={() => void access.refetch()} />
  if (!access.data) return null
  if (!access.data.length)
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
          {access.data.map(({ line, created_at, operation, member_id, key_id, address, outcome }) => (
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
    </ScrollRegion>
  )
}
