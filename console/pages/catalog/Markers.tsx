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
  const [params, setParams] = useSearchParams()
  const [search, setSearch] = useState('')
  const [name] = useDebouncedValue(search.trim(), SEARCH_DELAY_MS)
  const labs = useLabs().data
  const slug = params.get('lab')
  const page = Math.max(1, Math.trunc(Number(params.get('page'))) || 1)
  const markers = useMarkers({ ...(slug && { lab_slug: slug }), ...(name && { name }) }, page)
  const rows = useMemo(
    () =>
      (markers.data?.markers ?? []).map((marker) => ({
        marker,
        price: markers.data?.pricing?.data[marker.id],
        lab: labs?.find(({ id }) => id === marker.lab_id)?.name,
      })),
    [markers.data, labs],
  )
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
  const openRow = rows.find((row) => rowId(row) === params.get('marker'))
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-start">
        <TextInput
          aria-label="Search by name or code"
          placeholder="Name or code of a laboratory"
          value={search}
          onChange={(event) => {
            setSearch(event.currentTarget.value)
            change({ page: null })
          }}
          w={280}
        />
        <Select
          aria-label="Laboratory"
          placeholder="All laboratories"
          data={(labs ?? []).map((lab) => ({ value: lab.slug, label: lab.name }))}
          value={slug}
          onChange={(lab) => change({ lab, page: null })}
          clearable
          searchable
          w={220}
        />
      </Group>
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
          <Group justify="space-between" gap="sm">
            <Text size="sm" c="dimmed">
              {(page - 1) * MARKERS_SIZE + 1}–{(page - 1) * MARKERS_SIZE + rows.length} of{' '}
              {markers.data.total.toLocaleString('en-US')}
            </Text>
            {markers.data.pages > 1 && (
              <Pagination
                total={markers.data.pages}
                value={page}
                onChange={(next) => change({ page: next === 1 ? null : String(next), marker: null })}
                size="sm"
                getControlProps={(control) => ({ 'aria-label': `${toWords(control)} page` })}
              />
            )}
          </Group>
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
