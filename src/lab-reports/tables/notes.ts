// Lines below a row that belong to it: notes, the rest of its name, further lines of its range.
import { isRangesOfGroups } from '../../lab-values/ranges-of-groups.ts'
import { rangeOf } from '../../lab-values/ranges.ts'
import { unitBehind } from '../../lab-values/units.ts'
import { flagOf } from '../../lab-values/values.ts'
import { type Box, boxAround, centerX, centerY, heightOf, type PageText } from '../pages/page.ts'
import { cleanName, looksLikeSentence } from '../texts/names.ts'
import { type Cell, cellOf, type Line, toLine, type TypedCell } from './table-cells.ts'
import { type Column, isStatus } from './headers.ts'
import { nearestColumn } from './regions.ts'
import { joinedText, joinsName, type Row } from './row-parts.ts'
import * as tolerances from './tolerances.ts'

const LABEL =
  /^[*#†‡([\s]*(?:(?:result|test|lab(?:oratory)?|specimen|sample|technical|clinical|pathologist'?s?)\s+)?(?:comment|note|remark)s?\s*\d{0,2}\s*(?::|[-–]\s)\s*/iu
const OTHER_LABEL = /^\p{L}[\p{L} ]{1,24}:\s*/u
/** What explains the tests of a panel. */
const EXPLANATION = /^(?:\p{L}+ )?(?:interpretation|guideline|reference|significance|background|limitation)s?\b/iu
/** Notes about the whole report. */
const OF_REPORT =
  /\b(?:this|the) (?:\p{L}+ )?report\b|\breports? (?:is|are|was|were)\b|\bsignatures?\b|\bcomputer[- ]generated\b|\bpage \d/iu

/** Longer texts explain a test, and are not notes on its result. */
const LINES_MAX = 8
const WORDS_MIN = 3

interface Note {
  row: Row
  texts: string[]
  /** Box of its last line. */
  box: Box
  lefts: number[]
  lines: number
  isLabelled: boolean
  isIndented: boolean
}

export interface NotePlace {
  page: PageText
  columns: readonly Column[] | null
  isNamed: (name: string) => boolean
}

/** What the cells of a column of comments say, without flags. */
export function commentsIn(cells: readonly TypedCell[]): string[] {
  const text = joinedText(cells.filter((cell) => flagOf(cell.text) === undefined))
  return /\p{L}{2}/u.test(text) ? [text] : []
}

/**
 * Collects the notes below the rows of a region. A note is that of the row above it if another row of the panel follows, if it is indented,
 * or if its panel has no other row; what stands below the last of several rows may be about all of them and is not kept. Nor is a note below
 * a line with several results.
 */
export class NotesBelowRows {
  readonly #place: NotePlace
  #note: Note | null = null
  /** The last line below a row that tells how it was measured: a note may follow it. */
  #method: { row: Row; box: Box } | null = null

  constructor(place: NotePlace) {
    this.#place = place
  }

  /** Takes a line that begins as a note: `Comment: hemolyzed`. False for others. */
  begins(line: Line, rows: readonly Row[]): boolean {
    const text = textOf(line)
    const label = LABEL.exec(text)
    if (!label || line.cells.length > 2) return false
    return this.#take(line, rows, { text: text.slice(label[0].length).trim(), isLabelled: true })
  }

  /** Takes a line that is not a row if it goes on with a note or is a sentence below a row. False for others. */
  continues(line: Line, rows: readonly Row[]): boolean {
    const note = this.#note
    const text = textOf(line)
    if (note && this.#goesOn(note, line, text)) {
      if (note.lines >= LINES_MAX) {
        if (!note.isLabelled) this.#note = null
        return false
      }
      note.texts.push(`${note.texts.pop()!} ${text}`.trim())
      Object.assign(note, { box: line.box, lines: note.lines + 1 })
      return true
    }
    // A table explains the test, and so does what stands above it.
    if (note && !note.isLabelled && line.cells.length > 1 && isNear(note.box, line, tolerances.BELOW_ROW)) this.#note = null
    if (note || line.cells.length > 1) return false
    if (isSentence(text)) return this.#take(line, rows, { text, isLabelled: false })
    const row = isOtherLabel(text) || /^[([]/u.test(text) ? this.#rowAbove(line, rows) : undefined
    this.#method = row ? { row, box: line.box } : null
    return false
  }

  /** Takes a line in the column of comments that goes on with that of the row above. False for others. */
  continuesColumn(line: Line, last: Row | undefined): boolean {
    const { columns } = this.#place
    if (!columns || !last?.comments.length || !isNear(last.box, line, tolerances.NOTE_LINE_GAP)) return false
    if (!line.cells.every((cell) => nearestColumn(cell.box, columns)?.kind === 'comment')) return false
    last.comments.push(`${last.comments.pop()!} ${textOf(line)}`)
    last.box = { ...last.box, bottom: Math.max(last.box.bottom, line.box.bottom) }
    return true
  }

  /** A row of the same panel follows. */
  rowFollows(): void {
    if (this.#note) this.#note.row.comments.push(...this.#note.texts.filter(Boolean))
    this.#note = null
    this.#method = null
  }

  /** The panel ends. */
  panelEnds(rows: readonly Row[]): void {
    const note = this.#note
    const isAlone = note !== null && rows.every((row) => row === note.row || row.panel !== note.row.panel)
    if (note?.isIndented || (note?.isLabelled && isAlone)) this.rowFollows()
    this.#note = null
    this.#method = null
  }

  #take(line: Line, rows: readonly Row[], { text, isLabelled }: { text: string; isLabelled: boolean }): boolean {
    if (OF_REPORT.test(text)) return false
    const { box } = line
    const lefts = line.cells.map((cell) => cell.box.left)
    if (this.#note && isLabelled && isNear(this.#note.box, line, tolerances.NOTE_LINE_GAP)) {
      this.#note.texts.push(text)
      Object.assign(this.#note, { box, lefts, lines: this.#note.lines + 1, isLabelled })
      return true
    }
    const row = this.#rowAbove(line, rows)
    if (!row) return false
    const indent = box.left - row.box.left
    const isIndented = indent >= tolerances.NOTE_INDENT_MIN && indent <= tolerances.NOTE_INDENT_MAX
    this.#note = { row, texts: [text], box, lefts, lines: 1, isLabelled, isIndented }
    return true
  }

  #rowAbove(line: Line, rows: readonly Row[]): Row | undefined {
    if (this.#method && isNear(this.#method.box, line, tolerances.BELOW_ROW)) return this.#method.row
    return rowAbove(line, rows)
  }

  #goesOn(note: Note, line: Line, text: string): boolean {
    const { page, isNamed } = this.#place
    if (line.cells.length > 1 || !isNear(note.box, line, tolerances.NOTE_LINE_GAP) || isOtherLabel(text) || OF_REPORT.test(text))
      return false
    if (!note.lefts.some((left) => Math.abs(left - line.box.left) < tolerances.ALIGNED)) return false
    const lastText = note.texts.at(-1)!
    if (!lastText) return isSentence(text)
    if (isNamed(text)) return false
    const isOpen = !/[.!?]$/u.test(lastText) && note.box.right > page.width * tolerances.WRAPPED_WIDTH
    return isOpen || looksLikeSentence(text) || /^\p{Ll}{2,}[\s,.;]/u.test(text)
  }
}

/** The row right above a line; undefined if there is none, or several side by side. */
function rowAbove(line: Line, rows: readonly Row[]): Row | undefined {
  const rowAboveLine = rows.findLast(
    ({ page, box }) => page === line.page && line.box.left >= box.left - tolerances.ALIGNED && line.box.left <= box.right,
  )
  if (!rowAboveLine || !isNear(rowAboveLine.box, line, tolerances.BELOW_ROW)) return undefined
  const isShared = rows.some(
    (row) =>
      row !== rowAboveLine &&
      row.page === rowAboveLine.page &&
      row.name === rowAboveLine.name &&
      isBeside(row.value_box, rowAboveLine.value_box),
  )
  return isShared ? undefined : rowAboveLine
}

const isBeside = (a: Box, b: Box): boolean => a.top < b.bottom && a.bottom > b.top

const isNear = (upper: Box, { box }: Line, heights: number): boolean =>
  box.top - upper.bottom <= heightOf(box) * heights && box.bottom > upper.bottom

/** `Method: ECLIA`, but not `Not calculated: the triglycerides are above 400.` */
const isOtherLabel = (text: string): boolean => {
  const label = OTHER_LABEL.exec(text)
  return label !== null && (EXPLANATION.test(text) || !looksLikeSentence(text.slice(label[0].length)))
}

const isSentence = (text: string): boolean =>
  /^[*"'\s]*\p{Lu}/u.test(text) &&
  text.split(' ').length >= WORDS_MIN &&
  !isOtherLabel(text) &&
  (/[.;]$/u.test(text) || looksLikeSentence(text))

const textOf = (line: Line): string => line.cells.map((cell) => cell.text).join(' ')

const RANGE_LABEL =
  /^(?:bio(?:logical)?\.?\s*)?(?:ref(?:erence)?\.?|normal|optimal|expected|desirable)\s*(?:range|interval|values?|zone|int\.?)?[.\s]*:?[-–]?$/iu

/** Adds a line to the row above if it belongs to it; false if it does not. */
export function continuesRow(
  last: Row,
  line: Line,
  cells: readonly TypedCell[],
  columns: readonly Column[] | null,
  isNamed: (name: string) => boolean,
): boolean {
  const gap = line.box.top - last.box.bottom
  if (gap > heightOf(line.box) * tolerances.BELOW_ROW) return false
  if (columns && cells.length) {
    const kindOf = (cell: TypedCell) => nearestColumn(cell.box, columns)?.kind
    const ranges = cells.filter((cell) => kindOf(cell) === 'range')
    const others = cells.filter((cell) => kindOf(cell) !== 'range')
    const text = joinedText(others)
    const isRestOfName = text !== '' && (joinsName(last.name, text, isNamed) || completesName(last, text, isNamed))
    // Next to it may be the method in brackets, or the rest of the name. The name of another test has no result.
    if (
      ranges.length &&
      (isRestOfName || !isNamed(text)) &&
      !isHeadingBesideRanges(line, ranges, columns) &&
      others.every((cell) => kindOf(cell) === 'name' && cell.kind === 'text')
    ) {
      addRangeLine(last, joinedText(ranges))
      if (isRestOfName) last.name = cleanName(`${last.name} ${text}`)
      last.box = boxAround([last.box, line.box])
      return true
    }
  }
  // Below the names of some rows stand their units.
  const [only, ...rest] = line.cells
  if (only!.isBelowName && !rest.length && last.unit === null && cells.every(({ kind }) => kind === 'unit')) {
    last.unit = only!.text
    last.box = boxAround([last.box, line.box])
    return true
  }
  if (addRangeBelow(last, rangeBesideDescription(last, line) ?? line) || addFlagBelow(last, line)) return true
  if (!columns && cells.length === 1 && cells[0]!.kind === 'range') {
    last.range_lines.push(cells[0]!.text)
    last.box = boxAround([last.box, line.box])
    return true
  }
  const nameCells = columns ? cells.filter((cell) => ['name', undefined].includes(nearestColumn(cell.box, columns)?.kind)) : cells
  const text = joinedText(nameCells)
  if (
    cells.length === 1 &&
    nameCells.length === 1 &&
    line.box.left < last.value_box.left &&
    gap < heightOf(line.box) * tolerances.NAME_REST_GAP &&
    (joinsName(last.name, text, isNamed) || completesName(last, text, isNamed)) &&
    text.length < 40 &&
    (/[,/(–-]$/u.test(last.name) || !/^\(?(?:method|serum|plasma|calculated|by )/iu.test(text))
  ) {
    last.name = cleanName(`${last.name} ${text}`)
    last.box = boxAround([last.box, line.box])
    return true
  }
  return false
}

/**
 * Adds the range below a name: `Bio. Ref. Interval. :`, and the range in the same line or the next. Next to it may stand how the result is, or an
 * earlier one: `Optimal: <90 mg/dL`, `In range`, `Previous: 88 mg/dL`.
 */
function addRangeBelow(last: Row, line: Line): boolean {
  // In a picture `Male` and its range may be two cells.
  const isOneText = line.cells.length === 2 && isRangesOfGroups(textOf(line))
  const isLabeled = line.cells.length > 1 && RANGE_LABEL.test(line.cells[0]!.text) && rangeOf(line.cells[1]!.text) !== undefined
  const [first, ...others] = isOneText ? [cellOf(line.cells.flatMap(({ words }) => words))] : line.cells.slice(Number(isLabeled))
  const statuses = others.filter(({ text, box }) => isStatus(text) && box.left > last.value_box.left - tolerances.ALIGNED)
  if (!others.every((cell) => statuses.includes(cell) || isEarlierResult(cell.text))) return false
  const { text } = first!
  const isOfGroups = isRangesOfGroups(text)
  if (last.range_lines.length && !(isOfGroups && last.range_lines.every(isRangesOfGroups))) return false
  const isRange = (isOfGroups || rangeOf(text) !== undefined) && /\d/u.test(text)
  if (!isRange && !RANGE_LABEL.test(text)) return false
  if (isRange) last.range_lines.push(text)
  last.unit ??= unitBehind(text)
  last.flag ??= statuses.map((status) => flagOf(status.text)).find((flag) => flag !== undefined) ?? null
  last.box = boxAround([last.box, line.box])
  return true
}

const LABELED_RANGE = /^(?:(?:ref(?:erence)?|normal|healthy|optimal|expected)\.?\s)?(?:range|interval)\b/iu

/** `A general marker of inflammation.  Range <1.0` below a name and right of its result: the part of the line with the range. */
function rangeBesideDescription(last: Row, { page, cells }: Line): Line | undefined {
  const [description, range, ...others] = cells
  if (!range || others.length || range.box.left < last.value_box.right || !isDescription(description!, last)) return undefined
  return LABELED_RANGE.test(range.text) && rangeOf(range.text) !== undefined ? toLine(page, [range]) : undefined
}

/** Whether a cell says in words, below the name of a row, what was measured: `A general marker of inflammation.` */
export const isDescription = ({ text, box }: Cell, row: Row): boolean =>
  Math.abs(box.left - row.box.left) < tolerances.ALIGNED &&
  box.right < row.value_box.left &&
  centerY(box) > centerY(row.value_box) &&
  text.split(' ').length >= WORDS_MIN &&
  !/\d/u.test(text)

/** Adds the flag in words below a result: `Above high reference limit`. A single word may be a heading or say how the panel is. */
function addFlagBelow(last: Row, { cells: [cell, ...others], box }: Line): boolean {
  const flag = flagOf(cell!.text)
  if (others.length || last.flag !== null || flag === undefined || flag === 'normal' || !cell!.text.includes(' ')) return false
  if (box.left < last.box.left - tolerances.ALIGNED || box.left > last.box.right) return false
  last.flag = flag
  last.box = boxAround([last.box, box])
  return true
}

/** `Previous: 88 mg/dL (01/02/2023)` */
export const isEarlierResult = (text: string): boolean => /^(?:previous|prior|last)\b.*\d/iu.test(text)

/** `Reactive` below `Non-` is the rest of a word; other lines are lines of the range. */
function addRangeLine({ range_lines }: Row, text: string): void {
  const last = range_lines.at(-1)
  if (last !== undefined && /\p{L}-$/u.test(last)) range_lines[range_lines.length - 1] = last + text
  else if (last !== undefined && /^(?:non|not|none|no)$/iu.test(last)) range_lines[range_lines.length - 1] = `${last} ${text}`
  else range_lines.push(text)
}

/** `Phosphatase` below `Alkaline`, which is not a name of its own, nor under the heading of its panel: that may be `Bilirubin` for `Direct`. */
const completesName = ({ name, panel }: Row, rest: string, isNamed: (name: string) => boolean): boolean =>
  !isNamed(name) && (panel === null || !isNamed(`${panel} ${name}`)) && isNamed(`${name} ${rest}`)

/** Words of ranges that have no number: `Adult`, `Male:`, `Not detected`. */
const RANGE_WORDS =
  /[\d<>≤≥:=]|^\(|^(?:male|female|men|women|adult|child|pregnan|follic|luteal|ovulat|post|pre|neg|pos|non|not|normal|nil|none|absent|clear|deficien|insufficien|sufficien|optimal|desirable|borderline|high|low|therapeutic|toxic)/iu

/** A text alone below a row that stands as no range does is the heading of the next rows, also where ranges come before names. */
function isHeadingBesideRanges(line: Line, ranges: readonly TypedCell[], columns: readonly Column[]): boolean {
  const [cell, ...others] = ranges
  if (
    others.length ||
    line.cells.length > 1 ||
    cell!.kind !== 'text' ||
    RANGE_WORDS.test(cell!.text) ||
    /^\p{Ll}/u.test(cell!.text)
  )
    return false
  const column = nearestColumn(cell!.box, columns)!
  const name = columns.find(({ kind }) => kind === 'name')
  if (name && column.box.left < name.box.left) return true
  const distances = [
    column.box.left - cell!.box.left,
    column.box.right - cell!.box.right,
    centerX(column.box) - centerX(cell!.box),
  ]
  return distances.every((distance) => Math.abs(distance) > tolerances.RANGE_ALIGNED)
}
