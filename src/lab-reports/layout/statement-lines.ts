// Which rows the lines are about that state a specimen or method between rows.
import { heightOf, type Box } from '../pages/page.ts'
import { panelIn, type Column } from './headers.ts'
import type { Line } from './lines.ts'
import type { Row } from './row.ts'
import type { Kind, Statement } from './statements.ts'

/** Of the height of a line: what stands further below a row is not about it. */
const BELOW_ROW = 1.2
/** How much larger the gap below a line is that belongs to what is above it. */
const GAP_BELOW = 1.5
/** Of the height of the row above: smaller letters are those of notes. */
const SMALLER = 0.9
/** In points, of a note below a name. */
const INDENT = 5

interface Above {
  rows: Row[]
  /** Where the last line about them stands, if one is below them. */
  box: Box | null
  /** What none of them states itself. */
  inherits: Set<Kind>
}

/**
 * The specimens and methods that lines of their own state, while the rows of a report are read. Where the first such line stands close below
 * a row, those of its kind are about the row above them, and so is one that stands closer to the row above than to the next line, or as a note.
 * Else one above all rows of its panel is about these, and one between rows, which may be about those above or below, is about none.
 */
export class StatementLines {
  readonly #isBelow: Partial<Record<Kind, boolean>> = {}
  readonly #current: Partial<Record<Kind, string>> = {}
  /** Whether a row stands below the last line that is about the rows below. */
  #hasRows = false
  #above: Above | null = null
  #lines: readonly Line[] = []
  /** That the names of columns state. */
  #panel: string | undefined

  /** @param isUnderHeading no row stands between the line and the heading above it */
  said(line: Line, statements: readonly Statement[], isUnderHeading: boolean): void {
    const next = this.#lines[this.#lines.indexOf(line) + 1]
    const above = this.#above && !isUnderHeading && isNear(boxOf(this.#above), line) ? this.#above : null
    for (const { kind, text } of statements) {
      this.#isBelow[kind] ??= above !== null
      if (above && (this.#isBelow[kind] || isNoteOn(above, line, next))) state(above, kind, text)
      else if (isUnderHeading || !this.#hasRows) {
        this.#current[kind] = text
        this.#hasRows = false
      } else delete this.#current[kind]
    }
    if (above) above.box = line.box
  }

  /** Lines under these columns follow. */
  regionBegins({ columns, lines }: { columns: readonly Column[] | null; lines: readonly Line[] }): void {
    this.#lines = lines
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
    const inherits = new Set((['specimen', 'method'] as const).filter((kind) => rows.every((row) => row[kind] === null)))
    for (const row of rows) {
      row.specimen ??= this.#current.specimen ?? null
      row.method ??= this.#current.method ?? null
    }
    this.#hasRows = true
    this.#above = { rows: [...rows], box: null, inherits }
  }
}

/** What stands close to rows counts before what they have of their panel. */
function state({ rows, inherits }: Above, kind: Kind, text: string): void {
  for (const row of rows) row[kind] = inherits.has(kind) ? text : (row[kind] ?? text)
  inherits.delete(kind)
}

const boxOf = ({ rows, box }: Above): Box => box ?? rows.at(-1)!.box

const isNear = (above: Box, { box }: Line): boolean =>
  box.top - above.bottom <= heightOf(box) * BELOW_ROW && box.bottom > above.bottom

/** Whether a line near the rows above is one of theirs by its place alone. */
function isNoteOn(above: Above, { box, page }: Line, next: Line | undefined): boolean {
  const row = above.rows.at(-1)!.box
  if (box.left > row.left + INDENT || heightOf(box) < heightOf(row) * SMALLER) return true
  if (!next || next.page !== page) return true
  return next.box.top - box.bottom > Math.max(box.top - boxOf(above).bottom, 0) * GAP_BELOW
}
