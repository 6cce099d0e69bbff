// The columns of a list, and the model of its table.
import { Checkbox } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import {
  columnVisibilityFeature,
  createColumnHelper,
  tableFeatures,
  useTable,
  type ReactTable,
  type RowData,
} from '@tanstack/react-table'
import { useMemo, type ReactNode } from 'react'
import { PHONE } from '../../theme.ts'

export interface Column<Row> {
  id: string
  header: string
  cell: (row: Row) => ReactNode
  /** In pixels; columns without a width share what is left. */
  width?: number
  align?: 'right'
  /** Whether a phone has no room for it. */
  isHiddenOnPhone?: boolean
}

export interface Selection {
  ids: ReadonlySet<string>
  onChange: (ids: ReadonlySet<string>) => void
}

export interface TableModel<Row> {
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowId: (row: Row) => string
  hiddenColumns?: readonly string[]
  selection?: Selection
}

type Layout = Pick<Column<unknown>, 'width' | 'align'>

const features = tableFeatures({ columnVisibilityFeature, columnMeta: {} as Layout })
export type ListTable<Row extends RowData> = ReactTable<typeof features, Row>

const SELECT_COLUMN = 'select'
const SELECT_WIDTH = 36

/** The table of a list. It neither sorts nor filters: the server does. */
export function useListTable<Row extends RowData>(model: TableModel<Row>): ListTable<Row> {
  const { columns, rows, rowId, hiddenColumns, selection } = model
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false })
  const definitions = useMemo(() => {
    const helper = createColumnHelper<typeof features, Row>()
    return [
      ...(selection
        ? [
            helper.display({
              id: SELECT_COLUMN,
              header: () => <SelectAll ids={rows.map(rowId)} selection={selection} />,
              cell: ({ row }) => <SelectRow id={row.id} selection={selection} />,
              meta: { width: SELECT_WIDTH },
            }),
          ]
        : []),
      ...columns.map(({ id, header, cell, width, align }) =>
        helper.display({ id, header, cell: ({ row }) => cell(row.original), meta: { width, align } }),
      ),
    ]
  }, [columns, rows, rowId, selection])
  const columnVisibility = useMemo(
    () =>
      Object.fromEntries(
        columns.map(({ id, isHiddenOnPhone }) => [id, !hiddenColumns?.includes(id) && !(isHiddenOnPhone && isPhone)]),
      ),
    [columns, hiddenColumns, isPhone],
  )
  return useTable({ features, columns: definitions, data: rows, getRowId: rowId, state: { columnVisibility } })
}

function SelectAll({ ids, selection }: { ids: string[]; selection: Selection }) {
  const count = ids.filter((id) => selection.ids.has(id)).length
  return (
    <Checkbox
      size="xs"
      aria-label="Select all loaded rows"
      checked={count > 0 && count === ids.length}
      indeterminate={count > 0 && count < ids.length}
      onChange={() => selection.onChange(new Set(count === ids.length ? [] : ids))}
    />
  )
}

function SelectRow({ id, selection }: { id: string; selection: Selection }) {
  return (
    <Checkbox
      size="xs"
      aria-label="Select the row"
      checked={selection.ids.has(id)}
      onChange={() => toggleSelection(selection, id)}
    />
  )
}

/** Selects a row, or no longer. */
export function toggleSelection({ ids, onChange }: Selection, id: string): void {
  const others = new Set(ids)
  if (!others.delete(id)) others.add(id)
  onChange(others)
}
