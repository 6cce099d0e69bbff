import { Drawer, Group, Pagination, Select, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { useSearchParams } from 'react-router'
import { DataTable } from '../../components/data-table/DataTable.tsx'
import type { Column } from '../../components/data-table/columns.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { toWords } from '../../components/order-status.ts'
import { MARKERS_SIZE, useLabs, useMarkers, type Marker } from './catalog-queries.ts'
import { durationText } from './lab-test-words.ts'
import { MarkerDetails } from './MarkerDetails.tsx'
import { priceText, type Price } from './price-text.ts'

type MarkerList = NonNullable<ReturnType<typeof useMarkers>['data']>

interface Row {
  marker: Marker
  price: Price | undefined
  lab: string | undefined
}

const SEARCH_DELAY_MS = 250
const rowId = ({ marker }: Row): string => String(marker.id)

const COLUMNS: readonly Column<Row>[] = [
  { id: 'name', header: 'Marker', cell: ({ marker: { name } }) => <span title={name}>{name}</span> },
  { id: 'code', header: 'Code', width: 104, cell: ({ marker: { provider_id } }) => provider_id },
  { id: 'lab', header: 'Laboratory', width: 160, isHiddenOnPhone: true, cell: ({ lab }) => lab },
  { id: 'type', header: 'Type', width: 100, isHiddenOnPhone: true, cell: ({ marker: { type } }) => type && toWords(type) },
  {
    id: 'duration',
    header: 'Results take',
    width: 150,
    isHiddenOnPhone: true,
    cell: ({ marker }) => durationText(marker),
  },
  {
    id: 'questions',
    header: 'Questions',
    width: 92,
    align: 'right',
    isHiddenOnPhone: true,
    cell: ({ marker: { aoe } }) => aoe?.questions.length,
  },
  { id: 'price', header: 'Price', width: 92, align: 'right', cell: ({ price }) => priceText(price) },
]

/** The markers that can be ordered, of all laboratories. The page, the laboratory and the open marker are in the address. */
export function Markers() {
  const { slug, page, markerId, change, path } = useMarkerAddress()
  const [search, setSearch] = useState('')
  const [name] = useDebouncedValue(search.trim(), SEARCH_DELAY_MS)
  const markers = useMarkers({ ...(slug && { lab_slug: slug }), ...(name && { name }) }, page)
  const rows = useRows(markers.data)
  const openRow = rows.find((row) => rowId(row) === markerId)
  return (
    <Stack gap="sm">
      <MarkerFilters
        search={search}
        onSearch={(text) => {
          setSearch(text)
          change({ page: null })
        }}
        slug={slug}
        onLabChange={(lab) => change({ lab, page: null })}
      />
      {markers.error && <ErrorNotice error={markers.error} onRetry={() => void markers.refetch()} />}
      {!markers.data && !markers.error && (
        <Delayed>
          <Skeleton height={320} />
        </Delayed>
      )}
      {markers.data && rows.length === 0 && (
        <EmptyState title="No marker matches">
          A marker is what a laboratory measures as one: search for a part of its name.
        </EmptyState>
      )}
      {markers.data && rows.length > 0 && (
        <>
          <DataTable
            label="Markers"
            columns={COLUMNS}
            rows={rows}
            rowId={rowId}
            rowPath={(row) => path(rowId(row))}
            openId={openRow && rowId(openRow)}
          />
          <MarkerPages
            list={markers.data}
            page={page}
            rowCount={rows.length}
            onChange={(next) => change({ page: next === 1 ? null : String(next), marker: null })}
          />
        </>
      )}
      <Drawer
        opened={openRow !== undefined}
        onClose={() => change({ marker: null })}
        title={openRow?.marker.name}
        position="right"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {openRow && <MarkerDetails marker={openRow.marker} price={priceText(openRow.price)} lab={openRow.lab} />}
      </Drawer>
    </Stack>
  )
}

/** What the address says, how it changes, and the address of a marker. */
function useMarkerAddress() {
  const [params, setParams] = useSearchParams()
  const change = (values: Record<string, string | null>): void =>
    setParams((previous) => {
      const changed = new URLSearchParams(previous)
      for (const [key, value] of Object.entries(values))
        if (value === null) changed.delete(key)
        else changed.set(key, value)
      return changed
    })
  const path = (id: string): string => {
    const changed = new URLSearchParams(params)
    changed.set('marker', id)
    return `?${changed}`
  }
  return {
    slug: params.get('lab'),
    page: Math.max(1, Math.trunc(Number(params.get('page'))) || 1),
    markerId: params.get('marker'),
    change,
    path,
  }
}

/** Joins each marker with its price and the name of its laboratory. */
function useRows(list: MarkerList | undefined): Row[] {
  const labs = useLabs().data
  return useMemo(
    () =>
      (list?.markers ?? []).map((marker) => ({
        marker,
        price: list?.pricing?.data[marker.id],
        lab: labs?.find(({ id }) => id === marker.lab_id)?.name,
      })),
    [list, labs],
  )
}

interface MarkerFiltersProps {
  search: string
  onSearch: (text: string) => void
  /** Of the laboratory; null: all laboratories. */
  slug: string | null
  onLabChange: (slug: string | null) => void
}

function MarkerFilters({ search, onSearch, slug, onLabChange }: MarkerFiltersProps) {
  const labs = useLabs().data
  return (
    <Group gap="sm" align="flex-start">
      <TextInput
        aria-label="Search by name or code"
        placeholder="Name or code of a laboratory"
        value={search}
        onChange={(event) => onSearch(event.currentTarget.value)}
        w={280}
      />
      <Select
        aria-label="Laboratory"
        placeholder="All laboratories"
        data={(labs ?? []).map((lab) => ({ value: lab.slug, label: lab.name }))}
        value={slug}
        onChange={onLabChange}
        clearable
        searchable
        w={220}
      />
    </Group>
  )
}

interface MarkerPagesProps {
  list: MarkerList
  page: number
  rowCount: number
  onChange: (page: number) => void
}

/** Which of the markers are shown, and the other pages. */
const MarkerPages = ({ list: { total, pages }, page, rowCount, onChange }: MarkerPagesProps) => (
  <Group justify="space-between" gap="sm">
    <Text size="sm" c="dimmed">
      {(page - 1) * MARKERS_SIZE + 1}–{(page - 1) * MARKERS_SIZE + rowCount} of {total.toLocaleString('en-US')}
    </Text>
    {pages > 1 && (
      <Pagination
        total={pages}
        value={page}
        onChange={onChange}
        size="sm"
        getControlProps={(control) => ({ 'aria-label': `${toWords(control)} page` })}
      />
    )}
  </Group>
)
