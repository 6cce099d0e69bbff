import { Button, Skeleton, Stack, Text, Title } from '@mantine/core'
import { Link, useParams } from 'react-router'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Facts } from '../../components/Facts.tsx'
import { IdText } from '../../components/IdText.tsx'
import { toneOfOrder, toWords } from '../../components/order-status.ts'
import { Page } from '../../components/Page.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { usePermissions } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { UserMessages } from './UserMessages.tsx'
import { UserSources } from './UserSources.tsx'
import { useUser, useUserInfo, useUserOrders, type OrderRow, type User, type UserInfo } from './user-queries.ts'

/** One user: who it is, where data comes from, the orders, and the messages about them. */
export function UserPage() {
  const { user_id = '' } = useParams()
  const user = useUser(user_id)
  const info = useUserInfo(user_id)
  if (!user.data)
    return (
      <Page title="User">
        {user.error ? (
          <ErrorNotice error={user.error} onRetry={() => void user.refetch()} />
        ) : (
          <Delayed>
            <Skeleton height={320} />
          </Delayed>
        )}
      </Page>
    )
  return (
    <Page title="User" heading={<Heading user={user.data} info={info.data} />} actions={<Actions user_id={user_id} />}>
      <Stack gap="sm">
        <Title order={2}>Profile</Title>
        {info.error && <ErrorNotice error={info.error} onRetry={() => void info.refetch()} />}
        <Profile user={user.data} info={info.data} />
      </Stack>
      <UserSources user_id={user_id} />
      <Orders user_id={user_id} />
      <UserMessages user_id={user_id} />
    </Page>
  )
}

function Actions({ user_id }: { user_id: string }) {
  const { pathTo } = useTeam()
  const isPermitted = usePermissions()
  return (
    <>
      <CodeSamples request={{ method: 'GET', path: `/v2/user/${user_id}` }} />
      {isPermitted('list_user_access') && (
        <Button variant="default" component={Link} to={pathTo(`settings/access-log?user=${user_id}`)}>
          Who looked
        </Button>
      )}
      {isPermitted('create_order') && (
        <Button component={Link} to={pathTo(`orders/new?user=${user_id}`)}>
          Place an order
        </Button>
      )}
    </>
  )
}

function Heading({ user, info }: { user: User; info: UserInfo | null | undefined }) {
  return (
    <Stack gap={2}>
      <Title order={1}>{info ? `${info.first_name} ${info.last_name}` : user.client_user_id}</Title>
      <Text size="sm" c="dimmed">
        {info && `${user.client_user_id} · `}
        <IdText id={user.user_id} /> · created <RelativeTime value={user.created_on} />
      </Text>
    </Stack>
  )
}

function Profile({ user, info }: { user: User; info: UserInfo | null | undefined }) {
  const address = info?.address
  return (
    <Facts
      facts={[
        { label: 'Born', value: info?.dob },
        { label: 'Gender', value: info?.gender },
        { label: 'Mail', value: info?.email },
        { label: 'Phone', value: info?.phone_number },
        {
          label: 'Address',
          value:
            address &&
            [address.first_line, address.second_line, address.city, address.state, address.zip].filter(Boolean).join(', '),
        },
        { label: 'Time zone', value: user.fallback_time_zone?.id },
        { label: 'Data is taken from', value: user.ingestion_start },
        { label: 'Data is taken until', value: user.ingestion_end },
        { label: 'Demographics', value: info === null && 'not set' },
      ]}
    />
  )
}

const ORDER_COLUMNS: readonly Column<OrderRow>[] = [
  { id: 'test', header: 'Test', cell: ({ lab_test_name }) => lab_test_name },
  {
    id: 'status',
    header: 'Status',
    width: 188,
    cell: ({ status, low_level_status }) => (
      <StatusBadge tone={toneOfOrder(status, low_level_status)}>{toWords(low_level_status)}</StatusBadge>
    ),
  },
  { id: 'created', header: 'Created', width: 104, cell: ({ created_at }) => <RelativeTime value={created_at} /> },
]
const orderId = ({ id }: OrderRow): string => id

function Orders({ user_id }: { user_id: string }) {
  const { pathTo } = useTeam()
  const orders = useUserOrders(user_id)
  return (
    <Stack gap="sm">
      <Title order={2}>Orders</Title>
      {orders.error && <ErrorNotice error={orders.error} onRetry={() => void orders.refetch()} />}
      {orders.data &&
        (orders.data.data.length ? (
          <DataTable
            label="Orders of the user"
            columns={ORDER_COLUMNS}
            rows={orders.data.data}
            rowId={orderId}
            rowPath={({ id }) => pathTo(`orders/${id}`)}
          />
        ) : (
          <EmptyState title="No orders">Orders for this user appear here.</EmptyState>
        ))}
    </Stack>
  )
}
