// A column of particulars next to the tables of a page, as portals print it: its lines have heights of their own.
import { type Box, boxAround, centerY, heightOf, type PageText, type Word } from '../pages/page.ts'
import { type Field, labelAt } from '../texts/names.ts'
import type { Cell, Line } from './table-cells.ts'
import { columnKind, type ColumnKind } from './headers.ts'
import * as tolerances from './tolerances.ts'

/** Labels below each other, and how many of them only say who the patient is; a page of a report has no more labels. */
const [LABELS_MIN, OF_PATIENT_MIN, LABELS_MAX] = [3, 2, 300]
const LABEL_LETTERS_MAX = 60
const OF_PATIENT: ReadonlySet<Field> = new Set(['name', 'first_name', 'last_name', 'dob', 'sex', 'sex_age', 'age'] as const)

/** The words of a page in the order in which they are read. */
export interface SideColumn {
  head: PageText
  side: PageText
  tables: PageText
  foot: PageText
}

/**
 * The page in parts where a column of labels stands next to the names of columns: nothing crosses the space between both. Undefined for other
 * pages.
 */
export function splitSideColumn(page: PageText, lines: readonly Line[]): SideColumn | undefined {
  const cells = lines.flatMap((line) => line.cells)
  for (const labels of labelColumns(cells)) {
    const column = boxAround(labels.map(({ box }) => box))
    const header = headerBeside(column, cells) ?? panelBeside(column, labels, cells)
    const edge = header && findGap(page.words, column, header)
    if (edge !== undefined) return partsAt(page, edge, column, header!)
  }
  return undefined
}

/** Labels that begin at one place, each in a line of its own and of a field of its own. */
function labelColumns(cells: readonly Cell[]): Cell[][] {
  const labels = cells.filter(
    ({ text }) => text.length < LABEL_LETTERS_MAX && labelAt(text) && !RESULTS.has(columnKind(text) ?? ''),
  )
  if (labels.length > LABELS_MAX) return []
  const columns = labels.map((first) =>
    labels.filter(({ box }) => Math.abs(box.left - first.box.left) < tolerances.SAME_EDGE && box.top >= first.box.top),
  )
  return columns.filter((column) => {
    const fields = new Set(column.map(({ text }) => labelAt(text)!.field))
    return column.length >= LABELS_MIN && [...fields].filter((field) => OF_PATIENT.has(field)).length >= OF_PATIENT_MIN
  })
}

/** What names the columns of tables at the height of a column of labels. */
function headerBeside(column: Box, cells: readonly Cell[]): Box | undefined {
  const named = kindsBeside(column, cells).filter(({ kind }) => kind !== undefined)
  const name = named.find(
    ({ kind, box }) => kind === 'name' && levelWith(box, named).some((neighbor) => RESULTS.has(neighbor.kind!)),
  )
  return name && boxAround(levelWith(name.box, named).map(({ box }) => box))
}

/** `Day 3 Hormone Panel  Result  Reference`: the tests are below the name of their panel, and most labels beside them. */
function panelBeside(column: Box, labels: readonly Cell[], cells: readonly Cell[]): Box | undefined {
  const beside = kindsBeside(column, cells).filter(({ box }) => box.left > column.right)
  const header = beside
    .filter(({ kind }) => kind === 'value')
    .map(({ box }) => levelWith(box, beside).toSorted((a, b) => a.box.left - b.box.left))
    .find(([first, ...others]) => first!.kind === undefined && others.some(({ kind }) => kind === 'range'))
  const box = header && boxAround(header.map((cell) => cell.box))
  return box && labels.filter((label) => label.box.top > box.top).length >= LABELS_MIN ? box : undefined
}

const kindsBeside = (column: Box, cells: readonly Cell[]): { kind: ColumnKind | undefined; box: Box }[] =>
  cells.flatMap(({ text, box }) => {
    const isLevel = centerY(box) > column.top - heightOf(box) && centerY(box) < column.bottom
    return isLevel && (box.left > column.right || box.right < column.left) ? [{ kind: columnKind(text), box }] : []
  })

const RESULTS = new Set<string>(['value', 'range', 'unit'])

const levelWith = <Item extends { box: Box }>(box: Box, items: readonly Item[]): Item[] =>
  items.filter((item) => Math.abs(centerY(item.box) - centerY(box)) < heightOf(box) * tolerances.SIDES_LEVEL)

/** The place between labels and tables that no word reaches over at the height of the labels. */
function findGap(words: readonly Word[], column: Box, header: Box): number | undefined {
  const isLeft = column.right < header.left
  const near = words.filter(({ box }) => centerY(box) > column.top && centerY(box) < column.bottom)
  const [from, to] = isLeft ? [column.right, header.left] : [header.right, column.left]
  const gaps = [from, ...near.map(({ box }) => box.right)]
    .filter((left) => left >= from && left < to)
    .map((left) => ({ left, right: Math.min(to, ...near.filter(({ box }) => box.right > left).map(({ box }) => box.left)) }))
    .filter(({ left, right }) => right - left > tolerances.SIDE_GAP)
    .toSorted((a, b) => a.left - b.left)
  const gap = isLeft ? gaps[0] : gaps.at(-1)
  return gap && (gap.left + gap.right) / 2
}

function partsAt(page: PageText, edge: number, column: Box, header: Box): SideColumn {
  const crosses = ({ box }: Word) => box.left < edge && box.right > edge
  const ofCrossing = page.words.filter(crosses).map(({ box }) => box)
  const first = Math.min(column.top, header.top)
  const top = Math.max(-Infinity, ...ofCrossing.filter((box) => centerY(box) < first).map(({ bottom }) => bottom))
  const bottom = Math.min(Infinity, ...ofCrossing.filter((box) => centerY(box) > first).map((box) => box.top))
  const part = (isIn: (box: Box) => boolean): PageText => ({ ...page, words: page.words.filter(({ box }) => isIn(box)) })
  const isBetween = (box: Box) => centerY(box) > top && centerY(box) < bottom
  const isLeft = (box: Box) => (box.left + box.right) / 2 < edge
  const isLabelLeft = column.right < edge
  return {
    head: part((box) => centerY(box) <= top),
    side: part((box) => isBetween(box) && isLeft(box) === isLabelLeft),
    tables: part((box) => isBetween(box) && isLeft(box) !== isLabelLeft),
    foot: part((box) => centerY(box) >= bottom),
  }
}
