// Which rows the lines are about that state a specimen or method between rows.
import { heightOf, type Box } from '../pages/page.ts'
import { panelIn, type Column } from './headers.ts'
import type { Line } from './lines.ts'
import type { Row } from './row.ts'
import type { Kind, Statement } from './statements.ts'

/** Of the height of a line: what stands as close below a row is near it, however close lines are. */
const BELOW_ROW = 1.2
/** Of the usual distance of lines: what stands further below a row is not about it. */
const STATEMENT_PITCH = 1.15
/** Of the height of a line: lines that are further apart belong to no table. */
const LINE_PITCH_MAX = 5
/** How much larger the gap below a line is that belongs to what is above it. */
const STATEMENT_GAP = 1.5
/** Of the height of the row above: smaller letters are those of notes. */
const NOTE_HEIGHT = 0.9
/** In points, of a note below a name. */
const STATEMENT_INDENT = 5

const KINDS = ['specimen', 'method'] as const

interface RowsAbove {
  rows: Row[]
  /** Where the last line about them stands, if one is below them. */
  box: Box | null
  /** What none of them states itself. */
  inherits: Set<Kind>
}

/**
 * The specimens and methods that lines of their own state, while the rows of a report are read. Where the first such line stands close below
 * a row, those of its kind are about the row above them, and so is one that stands closer to the row above than to the next line, or as a note.
 * Where all lines are far apart, those below most rows and below the last one are about the row above. Else one above all rows of its panel is
 * about these, and one between rows, which may be about those above or below, is about none.
 */
export class StatementLines {
  readonly #isBelow: Partial<Record<Kind, boolean>> = {}
  readonly #current: Partial<Record<Kind, string>> = {}
  /** Whether a row stands below the last line that is about the rows below. */
  #hasRows = false
  #above: RowsAbove | null = null
  #lines: readonly Line[] = []
  /** From the bottom of a line to that of the next, as most are. */
  #usualPitch = 0
  /** Lines below rows that may be about the rows below, and how many lines of rows there are, in this region. */
  #uncertain: { rowsAbove: RowsAbove; kind: Kind; text: string }[] = []
  #rowLines = 0
  #lastOfRegion: RowsAbove | null = null
  /** That the names of columns state. */
  #panel: string | undefined

  /** @param isUnderHeading no row stands between the line and the heading above it */
  addLine(line: Line, statements: readonly Statement[], isUnderHeading: boolean): void {
    const index = this.#lines.indexOf(line)
    const rowsAbove = isUnderHeading ? null : this.#above
    const isClose = rowsAbove !== null && isNear(boxOf(rowsAbove), line)
    const isBeneath = isClose || (rowsAbove !== null && this.#isNextTo(boxOf(rowsAbove), line, this.#lines[index - 1]))
    const isNote = isBeneath && isNoteOn(rowsAbove!, line, this.#lines[index + 1], !isClose)
    for (const { kind, text } of statements) {
      if (!isBeneath || isClose || isNote) this.#isBelow[kind] ??= isBeneath
      if (isBeneath && (this.#isBelow[kind] || isNote)) {
        setStatement(rowsAbove!, kind, text)
        continue
      }
      if (isBeneath && this.#isBelow[kind] === undefined) this.#uncertain.push({ rowsAbove: rowsAbove!, kind, text })
      if (isUnderHeading || !this.#hasRows) {
        this.#current[kind] = text
        this.#hasRows = false
      } else delete this.#current[kind]
    }
    if (isBeneath) rowsAbove!.box = line.box
  }

  /** Whether a line follows what is above, as far below it as lines of the region are. */
  #isNextTo(upper: Box, { box }: Line, previous: Line | undefined): boolean {
    const pitch = box.bottom - upper.bottom
    const isNext = previous !== undefined && previous.box.bottom <= upper.bottom + heightOf(upper) * 0.2
    return isNext && pitch > 0 && pitch <= Math.min(this.#usualPitch * STATEMENT_PITCH, heightOf(box) * LINE_PITCH_MAX)
  }

  /** No line of the region follows. */
  regionEnds(): void {
    for (const kind of KINDS) {
      const all = this.#uncertain.filter((item) => item.kind === kind)
      if (!all.length) continue
      this.#isBelow[kind] ??= all.length >= this.#rowLines / 2 && all.at(-1)!.rowsAbove === this.#lastOfRegion
      if (this.#isBelow[kind]) for (const { rowsAbove, text } of all) setStatement(rowsAbove, kind, text)
    }
    this.#uncertain = []
    this.#rowLines = 0
  }

  /** Lines under these columns follow. */
  regionBegins({ columns, lines }: { columns: readonly Column[] | null; lines: readonly Line[] }): void {
    this.#lines = lines
    const pitches = lines.slice(1).map(({ box }, index) => box.bottom - lines[index]!.box.bottom)
    this.#usualPitch = pitches.toSorted((a, b) => a - b)[pitches.length >> 1] ?? 0
    const panel = columns?.length ? panelIn(columns) : undefined
    if (panel === undefined || panel === this.#panel) return
    this.panelBegins()
    this.#panel = panel
  }

  /** Another panel begins: what was stated above the rows of the last one is not about its rows. */
  panelBegins(): void {
    if (!this.#hasRows) return
    delete this.#current.specimen
    delete this.#current.method
    this.#above = null
  }

  /** Rows of a line; `statements` are those of the same line. */
  rows(rows: readonly Row[], statements: readonly Statement[] = []): void {
    for (const row of rows) for (const { kind, text } of statements) row[kind] ??= text
    const inherits = new Set(KINDS.filter((kind) => rows.every((row) => row[kind] === null)))
    for (const row of rows) {
      row.specimen ??= this.#current.specimen ?? null
      row.method ??= this.#current.method ?? null
    }
    this.#hasRows = true
    this.#rowLines++
    this.#above = { rows: [...rows], box: null, inherits }
    this.#lastOfRegion = this.#above
  }
}

/** What stands close to rows counts before what they have of their panel. */
function setStatement({ rows, inherits }: RowsAbove, kind: Kind, text: string): void {
  for (const row of rows) row[kind] = inherits.has(kind) ? text : (row[kind] ?? text)
  inherits.delete(kind)
}

const boxOf = ({ rows, box }: RowsAbove): Box => box ?? rows.at(-1)!.box

const isNear = (upper: Box, { box }: Line): boolean =>
  box.top - upper.bottom <= heightOf(box) * BELOW_ROW && box.bottom > upper.bottom

/** Whether a line below rows is one of theirs by its place alone. @param isApart lines are so far apart that the last of all may be about all */
function isNoteOn(rowsAbove: RowsAbove, { box, page }: Line, next: Line | undefined, isApart: boolean): boolean {
  const row = rowsAbove.rows.at(-1)!.box
  if (box.left > row.left + STATEMENT_INDENT || heightOf(box) < heightOf(row) * NOTE_HEIGHT) return true
  if (!next || next.page !== page) return !isApart
  return next.box.top - box.bottom > Math.max(box.top - boxOf(rowsAbove).bottom, 0) * STATEMENT_GAP
}
