import { Box, Button, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue, useDisclosure } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { Link } from 'react-router'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { ColumnMenu } from '../../components/data-table/ColumnMenu.tsx'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import { useHiddenColumns } from '../../components/data-table/hidden-columns.ts'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { FilterBar } from '../../components/FilterBar.tsx'
import { useFilters } from '../../components/filters.ts'
import { Page } from '../../components/Page.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { BatchDialog, BulkActions, type Batch } from './BulkActions.tsx'
import { HIDDEN_AT_FIRST, ORDER_COLUMNS } from './order-columns.tsx'
import { ORDER_FIELDS, toOrderQuery } from './order-filters.ts'
import { useOrders, type OrderRow } from './orders-query.ts'
import { SavedViews } from './SavedViews.tsx'

const SEARCH_DELAY_MS = 250
const rowId = ({ id }: OrderRow): string => id

/** All orders of the team: filtered, in chosen columns, with actions for the selected ones. */
export function OrdersPage() {
  const { pathTo } = useTeam()
  const canOrder = usePermission('create_order')
  const [filters, setFilters] = useFilters(ORDER_FIELDS)
  const [search, setSearch] = useState('')
  const [debouncedSearch] = useDebouncedValue(search, SEARCH_DELAY_MS)
  const [hiddenColumns, setHiddenColumns] = useHiddenColumns(HIDDEN_AT_FIRST)
  const [batch, setBatch] = useState<Batch>()
  const [isBatchOpen, { open: openBatch, close: closeBatch }] = useDisclosure()
  const query = useMemo(() => toOrderQuery(filters, debouncedSearch), [filters, debouncedSearch])
  return (
    <Page
      title="Orders"
      actions={
        <>
          <CodeSamples request={{ method: 'GET', path: '/v3/orders', query: { size: 50 } }} />
          {canOrder && (
            <Button component={Link} to={pathTo('orders/new')}>
              Place an order
            </Button>
          )}
        </>
      }
    >
      <Stack gap="sm">
        <Group gap="sm" align="flex-start">
          <TextInput
            aria-label="Search by patient, sample id or order"
            placeholder="Patient, sample id or order"
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
            w={240}
          />
          <Box flex="1 1 280px">
            <FilterBar fields={ORDER_FIELDS} filters={filters} onChange={setFilters} />
          </Box>
          <SavedViews page="orders" />
          <ColumnMenu columns={ORDER_COLUMNS} hiddenColumns={hiddenColumns} onChange={setHiddenColumns} />
        </Group>
        <OrderList
          query={query}
          hiddenColumns={hiddenColumns}
          isFiltered={filters.length > 0 || debouncedSearch !== ''}
          onChooseBatch={(selection) => {
            setBatch(selection)
            openBatch()
          }}
          key={filters.length ? 'filtered' : 'all'}
        />
        <BatchDialog batch={batch} isOpen={isBatchOpen} onClose={closeBatch} />
      </Stack>
    </Page>
  )
}

interface OrderListProps {
  query: ReturnType<typeof toOrderQuery>
  hiddenColumns: string[]
  isFiltered: boolean
  onChooseBatch: (batch: Batch) => void
}

function OrderList({ query, hiddenColumns, isFiltered, onChooseBatch }: OrderListProps) {
  const { pathTo } = useTeam()
  const orders = useOrders(query)
  const [selectedIds, setSelectedIds] = useState<ReadonlySet<string>>(new Set())
  const selection = useMemo(() => ({ ids: selectedIds, onChange: setSelectedIds }), [selectedIds])
  const rows = useMemo(() => orders.data?.pages.flatMap(({ data }) => data) ?? [], [orders.data])
  if (orders.error && !orders.data) return <ErrorNotice error={orders.error} onRetry={() => void orders.refetch()} />
  if (!orders.data)
    return (
      <Delayed>
        <Skeleton height={320} />
      </Delayed>
    )
  if (!rows.length) return isFiltered ? <NoMatch /> : <NoOrders />
  const [{ total, is_total_exact }] = orders.data.pages as [(typeof orders.data.pages)[number]]
  const selectedRows = rows.filter(({ id }) => selectedIds.has(id))
  return (
    <>
      {orders.error && <ErrorNotice error={orders.error} onRetry={() => void orders.refetch()} />}
      <Group justify="space-between" mih={32}>
        <Text size="sm" c="dimmed" aria-live="polite">
          {is_total_exact ? total.toLocaleString() : `more than ${(total - 1).toLocaleString()}`}{' '}
          {total === 1 ? 'order' : 'orders'}
        </Text>
        {selectedRows.length > 0 && (
          <BulkActions orders={selectedRows} onChoose={onChooseBatch} onClear={() => setSelectedIds(new Set())} />
        )}
      </Group>
      <DataTable
        label="Orders"
        columns={ORDER_COLUMNS}
        rows={rows}
        rowId={rowId}
        hiddenColumns={hiddenColumns}
        selection={selection}
        rowPath={({ id }) => pathTo(`orders/${id}`)}
        onLoadMore={orders.hasNextPage ? () => void orders.fetchNextPage() : undefined}
        isLoadingMore={orders.isFetchingNextPage}
      />
    </>
  )
}

const NoMatch = () => (
  <EmptyState title="No order matches">
    Remove a filter, or search for another word. Names are found by their beginning.
  </EmptyState>
)

function NoOrders() {
  const { pathTo } = useTeam()
  return (
    <EmptyState
      title="No orders yet"
      action={
        <Button component={Link} to={pathTo('orders/new')}>
          Place an order
        </Button>
      }
      command={`curl -H "x-service-api-key: $KEY" ${location.origin}/v3/orders`}
    >
      Orders of lab tests and test kits appear here as soon as a program or a member places one.
    </EmptyState>
  )
}
