import { Button, Group, Loader } from '@mantine/core'
import type { RowData } from '@tanstack/react-table'
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { useRef, type CSSProperties, type MouseEvent } from 'react'
import { Link, useNavigate } from 'react-router'
import { toggleSelection, useListTable, type ListTable, type TableModel } from './columns.tsx'
import { useRowKeys } from './use-row-keys.ts'
import classes from './DataTable.module.css'

interface DataTableProps<Row> extends TableModel<Row> {
  /** What the rows are, for screen readers. */
  label: string
  /** The address that a row opens; undefined: none. The first cell is the link to it. */
  rowPath?: (row: Row) => string | undefined
  /** The row that is open beside the list. */
  openId?: string | undefined
  /** Loads further rows; undefined if there are none. */
  onLoadMore?: (() => void) | undefined
  isLoadingMore?: boolean
}

/** Of a row, as `--row-height` in theme.ts. */
const ROW_HEIGHT = 36
const OVERSCAN = 12
const FLEXIBLE_WIDTH_MIN = 140
/** Further rows are loaded when so few are left below. */
const LOAD_MORE_AT = 20

/**
 * A list of any length: only the rows on the screen are drawn. `columns`, `rows`, `rowId` and `selection` stay the same objects between
 * renders.
 */
export function DataTable<Row extends RowData>(props: DataTableProps<Row>) {
  const { label, rowPath, openId, selection, onLoadMore, isLoadingMore = false } = props
  const table = useListTable(props)
  const { rows } = table.getRowModel()
  const scrollElement = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer<HTMLDivElement, Element>({
    count: rows.length,
    getScrollElement: () => scrollElement.current,
    getItemKey: (index) => rows[index]?.id ?? index,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    useFlushSync: false,
    onChange: (instance) => {
      if (isNearEnd(instance) && !isLoadingMore) onLoadMore?.()
    },
  })
  useRowKeys({
    list: scrollElement,
    virtualizer,
    count: rows.length,
    onSelect: (index) => selection && toggleSelection(selection, rows[index]!.id),
  })
  const items = virtualizer.getVirtualItems()
  const columnCount = table.getVisibleLeafColumns().length
  return (
    <div>
      <div className={classes.scroll} ref={scrollElement}>
        <table
          className={classes.table}
          style={{ minWidth: minWidthOf(table) }}
          aria-label={label}
          aria-rowcount={onLoadMore ? -1 : rows.length + 1}
        >
          <Header table={table} />
          <tbody>
            <Spacer height={items[0]?.start ?? 0} columnCount={columnCount} />
            {items.flatMap(({ index }) => {
              const row = rows[index]
              if (!row) return []
              return (
                <BodyRow
                  key={row.id}
                  table={table}
                  row={row}
                  index={index}
                  path={rowPath?.(row.original)}
                  isOpen={row.id === openId}
                  isSelected={selection?.ids.has(row.id) ?? false}
                  linkPosition={selection ? 1 : 0}
                />
              )
            })}
            <Spacer height={virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0)} columnCount={columnCount} />
          </tbody>
        </table>
      </div>
      {onLoadMore && (
        <Group p="sm" gap="sm">
          <Button variant="subtle" size="compact-sm" disabled={isLoadingMore} onClick={onLoadMore}>
            Load more
          </Button>
          {isLoadingMore && <Loader size="xs" aria-label="Loading more rows" />}
        </Group>
      )}
    </div>
  )
}

function Header<Row extends RowData>({ table }: { table: ListTable<Row> }) {
  return (
    <thead>
      {table.getHeaderGroups().map((group) => (
        <tr key={group.id}>
          {group.headers.map((header) => (
            <th key={header.id} scope="col" style={styleOf(header.column.columnDef.meta)}>
              <table.FlexRender header={header} />
            </th>
          ))}
        </tr>
      ))}
    </thead>
  )
}

interface BodyRowProps<Row extends RowData> {
  table: ListTable<Row>
  row: ReturnType<ListTable<Row>['getRow']>
  index: number
  path: string | undefined
  isOpen: boolean
  isSelected: boolean
  linkPosition: number
}

function BodyRow<Row extends RowData>({ table, row, index, path, isOpen, isSelected, linkPosition }: BodyRowProps<Row>) {
  const navigate = useNavigate()
  const open = (event: MouseEvent): void => {
    if (path !== undefined && !isOnControl(event)) void navigate(path)
  }
  return (
    <tr
      className={classes.row}
      data-index={index}
      data-opens={path !== undefined}
      data-open={isOpen || isSelected}
      aria-rowindex={index + 2}
      onClick={open}
    >
      {row.getVisibleCells().map((cell, position) => (
        <td key={cell.id} style={styleOf(cell.column.columnDef.meta)}>
          {path !== undefined && position === linkPosition ? (
            <Link className={classes.link} to={path} data-row-link>
              <table.FlexRender cell={cell} />
            </Link>
          ) : (
            <table.FlexRender cell={cell} />
          )}
        </td>
      ))}
    </tr>
  )
}

/** Stands for the rows above or below the screen. */
const Spacer = ({ height, columnCount }: { height: number; columnCount: number }) =>
  height > 0 && (
    <tr aria-hidden="true">
      <td className={classes.spacer} colSpan={columnCount} style={{ height }} />
    </tr>
  )

/** Columns without a width keep a readable one on narrow screens, where the list then scrolls sideways. */
const minWidthOf = <Row extends RowData>(table: ListTable<Row>): number =>
  table.getVisibleLeafColumns().reduce((sum, { columnDef }) => sum + (columnDef.meta?.width ?? FLEXIBLE_WIDTH_MIN), 0)

const styleOf = (meta: { width?: number | undefined; align?: 'right' | undefined } = {}): CSSProperties => ({
  width: meta.width,
  textAlign: meta.align,
})

/** A press on a link or a button in the row, or the end of a selection of text, opens nothing. */
function isOnControl(event: MouseEvent): boolean {
  const isControl = event.target instanceof Element && event.target.closest('a, button, input, label') !== null
  return isControl || getSelection()?.isCollapsed === false
}

function isNearEnd({ options, range }: Virtualizer<HTMLDivElement, Element>): boolean {
  return range !== null && options.count > 0 && range.endIndex >= options.count - LOAD_MORE_AT
}
