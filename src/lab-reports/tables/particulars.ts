// The particulars of a report: what stands above its results about the patient, the specimen and the physician. Labels and their values are
// the cells of a grid, whose texts may go on in a second line; each is put together before it is read.
import { type Box, boxAround, centerX, centerY, heightOf, overlapX, overlapY } from '../pages/page.ts'
import { type Field, isLabel, labelAt } from '../texts/names.ts'
import { type Cell, type Line, toLine } from './table-cells.ts'
import { columnKind } from './headers.ts'
import { type Run, runsOfLine, type Spaces, textOf } from './runs.ts'
import { cellOfRuns } from './cell-runs.ts'
import * as tolerances from './tolerances.ts'

/** Lines that a label may have. */
const LABEL_LINES_MAX = 3
const LABEL_LETTERS_MAX = 40

/** The lines of a page, with one line for each row of its particulars. Lines from the first table of results on stay as they are. */
export function withParticulars(lines: readonly Line[], spaces: Spaces, table: number): Line[] {
  const head = lines.slice(0, table)
  const texts = head.map((line): TextLine => ({ line, runs: runsOfLine(line, spaces) }))
  const { rows, rest } = readValuesBelow(texts)
  const grid = readValuesBeside(rest)
  if (!rows.length && !grid.rows.length) return [...lines]
  const readLines = [...rows, ...grid.rows, ...grid.rest.map(({ line }) => line)]
  return [...readLines.toSorted((a, b) => centerY(a.box) - centerY(b.box)), ...lines.slice(head.length)]
}

/** Whether lines that name columns are labels of particulars: `Specimen collected` next to `Patient` names no column of results. */
export function areLabels(runs: readonly (readonly Run[])[]): boolean {
  const names = columnsOfRuns(runs.flat()).map((column) => cellOfRuns(column).text)
  return !names.some(isOfResults) && names.filter((name) => isLabel(name)).length * 2 >= names.length
}

interface TextLine {
  line: Line
  runs: Run[]
}

interface Particulars {
  rows: Line[]
  /** Lines that are not particulars, and runs of lines that are. */
  rest: TextLine[]
}

const lineOfParticulars = (page: number, cells: Cell[]): Line => ({ ...toLine(page, cells), isParticulars: true })

const heightIn = (runs: readonly Run[]): number => heightOf(runs[0]!.words[0]!.box)

const boxOf = (runs: readonly Run[]): Box => boxAround(runs.map(({ box }) => box))

/** Labels in a row with the value of each below it. */
function readValuesBelow(texts: readonly TextLine[]): Particulars {
  const rows: Line[] = []
  const rest: TextLine[] = []
  for (let position = 0; position < texts.length;) {
    const labels = labelsFrom(texts, position)
    const values = labels && valuesBelow(texts, labels)
    if (!labels || !values) {
      rest.push(texts[position]!)
      position++
      continue
    }
    const { page } = texts[position]!.line
    const cells = labels.columns.flatMap((runs, index) => [runs, values.columns[index]!]).filter((runs) => runs.length > 0)
    rows.push(lineOfParticulars(page, cells.map(cellOfRuns)))
    position = values.end
  }
  return { rows, rest }
}

interface Labels {
  /** The runs of each, from left to right. */
  columns: Run[][]
  /** Share of the columns that are labels. */
  share: number
  /** The first line behind them. */
  end: number
}

/** The labels that lines from here on are; undefined where lines from the next one on are better ones. */
function labelsFrom(texts: readonly TextLine[], start: number): Labels | undefined {
  const labels = labelsAtLine(texts, start)
  if (!labels) return undefined
  for (let later = start + 1; later < labels.end; later++) {
    const others = labelsAtLine(texts, later)
    if (others && others.share > labels.share) return undefined
  }
  return labels
}

/** What only particulars say. */
const OF_REPORTS: ReadonlySet<Field> = new Set([
  'name',
  'first_name',
  'last_name',
  'dob',
  'sex',
  'sex_age',
  'age',
  'specimen',
  'collected',
  'reported',
  'received',
] as const)

/** `Examination` may be that of a patient, and names a column of tests. */
function isOfReport(name: string): boolean {
  const field = isLabel(name) ? labelAt(name)!.field : 'other'
  return OF_REPORTS.has(field) && (field === 'name' || columnKind(name) !== 'name')
}

const isOfResults = (name: string): boolean => ['value', 'range', 'unit'].includes(columnKind(name) ?? '')

/** The particulars with the most labels in as few lines as possible. */
function labelsAtLine(texts: readonly TextLine[], start: number): Labels | undefined {
  let best: Labels | undefined
  for (let end = start + 1; end <= Math.min(texts.length, start + LABEL_LINES_MAX); end++) {
    if (end - start > 1 && !isTight(texts.slice(start, end - 1), texts[end - 1]!)) break
    const columns = columnsOfRuns(texts.slice(start, end).flatMap(({ runs }) => runs))
    const names = columns.map((runs) => cellOfRuns(runs).text)
    const count = names.filter((name) => isLabel(name)).length
    const share = count / names.length
    if (count < 2 || share <= Math.max(best?.share ?? 0, 0.5)) continue
    if (names.some((name) => /[\d:]/u.test(name) || name.length > LABEL_LETTERS_MAX || isOfResults(name))) continue
    if (!names.some(isOfReport)) continue
    best = { columns, share, end }
  }
  return best
}

function isTight(linesAbove: readonly TextLine[], { runs }: TextLine): boolean {
  const height = heightIn(runs)
  const bottom = Math.max(...linesAbove.flatMap((item) => item.runs.map(({ box }) => box.bottom)))
  return (
    boxOf(runs).top - bottom < height * tolerances.LABEL_LINE_GAP &&
    Math.abs(heightIn(linesAbove.at(-1)!.runs) - height) < height * tolerances.LABEL_HEIGHT
  )
}

/** Runs that stand above each other, as columns from left to right. */
function columnsOfRuns(runs: readonly Run[]): Run[][] {
  const columns: Run[][] = []
  for (const run of runs.toSorted((a, b) => a.box.left - b.box.left)) {
    const own = columns.find((column) => column.some(({ box }) => overlapX(box, run.box) > 0.5))
    if (own) own.push(run)
    else columns.push([run])
  }
  return columns.map(inReadingOrder)
}

const inReadingOrder = (runs: readonly Run[]): Run[] => runs.toSorted((a, b) => a.box.top - b.box.top || a.box.left - b.box.left)

/** The values below labels, by column; undefined if nothing stands there. */
function valuesBelow(texts: readonly TextLine[], { columns, end }: Labels): { columns: Run[][]; end: number } | undefined {
  const values: Run[][] = columns.map(() => [])
  let position = end
  for (; position < texts.length; position++) {
    const { runs } = texts[position]!
    const bottom = Math.max(...[...columns, ...values].flat().map(({ box }) => box.bottom))
    const isFirst = position === end
    if (boxOf(runs).top - bottom > heightIn(runs) * (isFirst ? tolerances.LABEL_VALUE_GAP : tolerances.LABEL_LINE_GAP)) break
    if (
      labelsFrom(texts, position) ||
      runs.some((run) => labelAt(textOf(run)) && (isLabel(textOf(run)) || textOf(run).includes(':')))
    )
      break
    if (!isFirst && Math.abs(heightIn(texts[end]!.runs) - heightIn(runs)) > heightIn(runs) * tolerances.LABEL_HEIGHT) break
    const owners = runs.map((run) => findColumnIndex(run, columns, values))
    if (owners.includes(-1) || new Set(owners).size < owners.length) break
    for (const [index, run] of runs.entries()) values[owners[index]!]!.push(run)
  }
  return position > end && values.filter((runs) => runs.length > 0).length > 1 ? { columns: values, end: position } : undefined
}

/** The column that a run is in; -1 if it is in several or in none. */
function findColumnIndex({ box }: Run, labels: readonly Run[][], values: readonly Run[][]): number {
  const boxes = labels.map((runs, index) => boxOf([...runs, ...values[index]!]))
  const own = boxes.flatMap((item, index) => (overlapX(item, box) > 0.5 ? [index] : []))
  if (own.length) return own.length === 1 ? own[0]! : -1
  const edges = boxes.slice(1).map(({ left }, index) => (boxes[index]!.right + left) / 2)
  return edges.filter((edge) => edge < centerX(box)).length
}

interface LabelWithValues {
  runs: Run[]
  values: Run[]
}

/** Labels with the value of each next to it. */
function readValuesBeside(texts: readonly TextLine[]): Particulars {
  const edges = labelEdges(texts)
  if (!edges.length) return { rows: [], rest: [...texts] }
  const usedRuns = new Set<Run>()
  const all = edges.flatMap((edge, index) => labelsAt(texts, edge, edges[index + 1] ?? Infinity, usedRuns))
  const labels = all.filter(({ values }) => values.length > 0)
  for (const { runs } of all.filter((item) => !labels.includes(item))) for (const run of runs) usedRuns.delete(run)
  if (!labels.length) return { rows: [], rest: [...texts] }
  const rest = texts.flatMap(({ line, runs }): TextLine[] => {
    const own = runs.filter((run) => !usedRuns.has(run))
    if (own.length === runs.length) return [{ line, runs }]
    return own.length
      ? [
          {
            line: toLine(
              line.page,
              own.map((run) => cellOfRuns([run])),
            ),
            runs: own,
          },
        ]
      : []
  })
  return { rows: rowsOfLabels(texts[0]!.line.page, labels), rest }
}

/** Without a colon, what names a column of results is not a label. */
const isLabelBeside = (text: string): boolean =>
  text.length <= LABEL_LETTERS_MAX &&
  isLabel(text) &&
  (text.endsWith(':') || labelAt(text)!.field === 'name' || !OF_TABLES.has(columnKind(text) ?? ''))

const OF_TABLES = new Set(['name', 'value', 'range', 'unit', 'flag', 'date'])

/** Words with a colon, of which one label alone need be known. */
const mayBeLabel = (text: string): boolean => isLabelBeside(text) || /^[\p{L}\s/.#'’()-]{2,40}:$/u.test(text)

/** Where the labels of a grid begin, from left to right: at least two below each other, with something next to each. */
function labelEdges(texts: readonly TextLine[]): number[] {
  const labels = texts.flatMap(({ runs }) =>
    runs.filter((run, index) => {
      const [text, next] = [textOf(run), runs[index + 1]]
      return mayBeLabel(text) && (text.endsWith(':') || (next !== undefined && !mayBeLabel(textOf(next))))
    }),
  )
  const edges: number[] = []
  for (const { box } of labels.toSorted((a, b) => a.box.left - b.box.left)) {
    if (edges.length && box.left - edges.at(-1)! < tolerances.SAME_EDGE) continue
    const column = labels.filter((label) => Math.abs(label.box.left - box.left) < tolerances.SAME_EDGE)
    if (column.length > 1 && column.some((run) => isLabelBeside(textOf(run)))) edges.push(box.left)
  }
  return edges
}

/** The labels that begin at a place, each with the texts up to the next place that belong to it. Adds their runs to `taken`. */
function labelsAt(texts: readonly TextLine[], edge: number, end: number, usedRuns: Set<Run>): LabelWithValues[] {
  const runsInColumn = texts
    .flatMap(({ runs }) => runs)
    .filter(({ box }) => box.left > edge - tolerances.SAME_EDGE && box.left < end - tolerances.SAME_EDGE)
  const atEdge = inReadingOrder(runsInColumn.filter(({ box }) => Math.abs(box.left - edge) < tolerances.SAME_EDGE))
  const labels: LabelWithValues[] = []
  const hasColons = atEdge.filter((run) => textOf(run).endsWith(':')).length > 1
  const hasValue = ({ box }: Run) =>
    runsInColumn.some((value) => value.box.left > box.right && overlapY(value.box, box) > heightOf(box) / 2)
  const isWhole = (runs: readonly Run[]) =>
    isLabelBeside(cellOfRuns(runs).text) && (hasColons ? textOf(runs.at(-1)!).endsWith(':') : runs.filter(hasValue).length < 2)
  let openRuns: Run[] = []
  for (const run of atEdge) {
    const last = openRuns.at(-1)
    if (last && run.box.top - last.box.bottom > heightIn([run]) * tolerances.LABEL_LINE_GAP) openRuns = []
    openRuns = [...openRuns, run].slice(-LABEL_LINES_MAX)
    // `Laboratory Report` above `Patient` is the title of the page.
    const isTitled = (runs: readonly Run[]) => runs.length > 1 && /\S\s+reports?$/iu.test(textOf(runs[0]!))
    const own = [3, 2, 1].map((count) => openRuns.slice(-count)).find((runs) => isWhole(runs) && !isTitled(runs))
    if (!own) continue
    labels.push({ runs: own, values: [] })
    openRuns = []
  }
  for (const { runs } of labels) for (const run of runs) usedRuns.add(run)
  // What is next to another text at this place is the value of a label that is not known.
  const others = atEdge.filter((run) => !usedRuns.has(run))
  addValues(
    labels,
    runsInColumn.filter(
      (run) => !atEdge.includes(run) && !others.some((label) => overlapY(label.box, run.box) > heightOf(run.box) / 2),
    ),
  )
  for (const { values } of labels) for (const run of values) usedRuns.add(run)
  return labels
}

/** Gives each label what is next to it, and the lines above and below that begin where such texts do. */
function addValues(labels: readonly LabelWithValues[], runs: readonly Run[]): void {
  const nearest = ({ box }: Run): LabelWithValues | undefined => {
    const distance = (label: LabelWithValues) => Math.abs(centerY(boxOf(label.runs)) - centerY(box))
    const [first] = labels.toSorted((a, b) => distance(a) - distance(b))
    return first && distance(first) <= heightOf(box) * tolerances.LABEL_VALUE_DISTANCE ? first : undefined
  }
  const isBeside = (run: Run) => labels.some((label) => overlapY(boxOf(label.runs), run.box) > heightOf(run.box) / 2)
  const runsBeside = runs.filter(isBeside)
  const edges = (runsBeside.length ? runsBeside : runs.slice(0, 1)).map(({ box }) => box.left)
  // What begins with a colon is the value of another label.
  const continues = (run: Run) =>
    !/^\s*:/u.test(textOf(run)) && edges.some((edge) => Math.abs(edge - run.box.left) < tolerances.SAME_EDGE)
  for (const run of inReadingOrder(runs)) if (isBeside(run) || continues(run)) nearest(run)?.values.push(run)
  // Several texts next to each other are those of a table.
  for (const label of labels)
    if (label.values.some((run) => label.values.some((neighbor) => isNextTo(run, neighbor)))) label.values = []
}

const isNextTo = (a: Run, b: Run): boolean => a !== b && overlapY(a.box, b.box) > heightOf(a.box) / 2

/** Labels whose texts are next to each other, as one line. */
function rowsOfLabels(page: number, labels: readonly LabelWithValues[]): Line[] {
  const rows: { box: Box; labels: LabelWithValues[] }[] = []
  const all = labels.map((label) => ({ label, box: boxOf([...label.runs, ...label.values]) }))
  for (const { label, box } of all.toSorted((a, b) => a.box.top - b.box.top)) {
    const row = rows.find((item) => overlapY(item.box, box) > heightIn(label.runs) * 0.3)
    if (!row) rows.push({ box, labels: [label] })
    else {
      row.labels.push(label)
      row.box = boxAround([row.box, box])
    }
  }
  return rows.map((row) =>
    lineOfParticulars(
      page,
      row.labels
        .toSorted((a, b) => a.runs[0]!.box.left - b.runs[0]!.box.left)
        .flatMap(({ runs, values }) => [cellOfRuns(runs), cellOfRuns(inReadingOrder(values))]),
    ),
  )
}
