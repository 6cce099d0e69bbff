import { Skeleton, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { FilterBar } from '../../components/FilterBar.tsx'
import { useFilters, type Filter, type FilterField } from '../../components/filters.ts'
import { methodWords, toWords } from '../../components/order-status.ts'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { useTeam } from '../../session/team.ts'
import { useLabs, useLabTests, type LabTest, type LabTestFilter } from './catalog-queries.ts'
import { TONES } from './lab-test-words.ts'
import { priceText, type Price } from './price-text.ts'

interface Row {
  test: LabTest
  price: Price | undefined
}

const SEARCH_DELAY_MS = 250
const rowId = ({ test }: Row): string => test.id

const COLUMNS: readonly Column<Row>[] = [
  { id: 'name', header: 'Test', cell: ({ test: { name } }) => <span title={name}>{name}</span> },
  { id: 'lab', header: 'Laboratory', width: 160, isHiddenOnPhone: true, cell: ({ test: { lab } }) => lab?.name },
  { id: 'method', header: 'Method', width: 100, isHiddenOnPhone: true, cell: ({ test: { method } }) => methodWords(method) },
  { id: 'sample', header: 'Sample', width: 140, isHiddenOnPhone: true, cell: ({ test }) => toWords(test.sample_type) },
  {
    id: 'markers',
    header: 'Markers',
    width: 84,
    align: 'right',
    isHiddenOnPhone: true,
    cell: ({ test: { markers } }) => markers?.length,
  },
  { id: 'price', header: 'Price', width: 104, align: 'right', isHiddenOnPhone: true, cell: ({ price }) => priceText(price) },
  {
    id: 'status',
    header: 'Status',
    width: 148,
    cell: ({ test: { status } }) => <StatusBadge tone={TONES[status]}>{toWords(status)}</StatusBadge>,
  },
]

/** The fields of the filter bar, with the laboratories that there are. */
function useFilterFields(): readonly FilterField[] {
  const labs = useLabs().data
  return useMemo(
    () => [
      { name: 'status', values: ['active', 'pending_approval', 'inactive'] },
      { name: 'method', values: ['testkit', 'walk_in_test', 'at_home_phlebotomy', 'on_site_collection'] },
      { name: 'lab', ...(labs && { values: labs.map(({ slug }) => slug) }) },
      { name: 'made', values: ['manual', 'auto', 'all'] },
      { name: 'order', values: ['price', 'created_at', 'updated_at'] },
    ],
    [labs],
  )
}

/** The lab tests of the team, and those offered to it. */
export function LabTests() {
  const { pathTo } = useTeam()
  const fields = useFilterFields()
  const [filters, setFilters] = useFilters(fields)
  const [search, setSearch] = useState('')
  const [name] = useDebouncedValue(search.trim(), SEARCH_DELAY_MS)
  const tests = useLabTests({ ...toQuery(filters), ...(name && { name }) })
  const rows = useMemo(
    () =>
      tests.data?.pages.flatMap(({ data, pricing }) => data.map((test) => ({ test, price: pricing?.data[test.id]?.pricing }))) ??
      [],
    [tests.data],
  )
  return (
    <Stack gap="sm">
      <TextInput
        aria-label="Search by name"
        placeholder="Name of a test"
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        maw={320}
      />
      <FilterBar fields={fields} filters={filters} onChange={setFilters} />
      {tests.error && <ErrorNotice error={tests.error} onRetry={() => void tests.refetch()} />}
      {!tests.data && !tests.error && (
        <Delayed>
          <Skeleton height={320} />
        </Delayed>
      )}
      {tests.data && rows.length === 0 && (
        <EmptyState title={name || filters.length ? 'No test matches' : 'No tests yet'}>
          {name || filters.length
            ? 'Remove a filter, or search all laboratories.'
            : 'A test is a set of markers of one laboratory. A program creates one from markers, and all offered ones appear here.'}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <DataTable
          label="Lab tests"
          columns={COLUMNS}
          rows={rows}
          rowId={rowId}
          rowPath={({ test }) => pathTo(`catalog/tests/${test.id}`)}
          onLoadMore={tests.hasNextPage ? () => void tests.fetchNextPage() : undefined}
          isLoadingMore={tests.isFetchingNextPage}
        />
      )}
    </Stack>
  )
}

/** The names of filters in the API; the last one of a name counts. */
function toQuery(filters: readonly Filter[]): LabTestFilter {
  const { status, method, lab, made, order } = Object.fromEntries(filters.map(({ name, value }) => [name, value]))
  return {
    ...(status && { status: status as LabTestFilter['status'] }),
    ...(method && { collection_method: method as LabTestFilter['collection_method'] }),
    ...(lab && { lab_slug: lab }),
    ...(made && { generation_method: made as LabTestFilter['generation_method'] }),
    ...(order && { order_key: order as LabTestFilter['order_key'] }),
  }
}
