// Which rows the lines are about that state a specimen or method between rows.
import { heightOf, type Box } from '../pages/page.ts'
import { panelIn, type Column } from './headers.ts'
import type { Line } from './lines.ts'
import type { Row } from './row.ts'
import type { Kind, Statement } from './statements.ts'

/** Of the height of a line: what stands as close below a row is near it, however close lines are. */
const BELOW_ROW = 1.2
/** Of the usual distance of lines: what stands further below a row is not about it. */
const BELOW_LINE = 1.15
/** Of the height of a line: lines that are further apart belong to no table. */
const PITCH_MAX = 5
/** How much larger the gap below a line is that belongs to what is above it. */
const GAP_BELOW = 1.5
/** Of the height of the row above: smaller letters are those of notes. */
const SMALLER = 0.9
/** In points, of a note below a name. */
const INDENT = 5

const KINDS = ['specimen', 'method'] as const

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
 * Where all lines are far apart, those below most rows and below the last one are about the row above. Else one above all rows of its panel is
 * about these, and one between rows, which may be about those above or below, is about none.
 */
export class StatementLines {
  readonly #isBelow: Partial<Record<Kind, boolean>> = {}
  readonly #current: Partial<Record<Kind, string>> = {}
  /** Whether a row stands below the last line that is about the rows below. */
  #hasRows = false
  #above: Above | null = null
  #lines: readonly Line[] = []
  /** From the bottom of a line to that of the next, as most are. */
  #usualPitch = 0
  /** Lines below rows that may be about the rows below, and how many lines of rows there are, in this region. */
  #uncertain: { above: Above; kind: Kind; text: string }[] = []
  #rowLines = 0
  #lastOfRegion: Above | null = null
  /** That the names of columns state. */
  #panel: string | undefined

  /** @param isUnderHeading no row stands between the line and the heading above it */
  said(line: Line, statements: readonly Statement[], isUnderHeading: boolean): void {
    const at = this.#lines.indexOf(line)
    const above = isUnderHeading ? null : this.#above
    const isClose = above !== null && isNear(boxOf(above), line)
    const isBeneath = isClose || (above !== null && this.#isNextTo(boxOf(above), line, this.#lines[at - 1]))
    const isNote = isBeneath && isNoteOn(above!, line, this.#lines[at + 1], !isClose)
    for (const { kind, text } of statements) {
      if (!isBeneath || isClose || isNote) this.#isBelow[kind] ??= isBeneath
      if (isBeneath && (this.#isBelow[kind] || isNote)) {
        state(above!, kind, text)
        continue
      }
      if (isBeneath && this.#isBelow[kind] === undefined) this.#uncertain.push({ above: above!, kind, text })
      if (isUnderHeading || !this.#hasRows) {
        this.#current[kind] = text
        this.#hasRows = false
      } else delete this.#current[kind]
    }
    if (isBeneath) above!.box = line.box
  }

  /** Whether a line follows what is above, as far below it as lines of the region are. */
  #isNextTo(above: Box, { box }: Line, previous: Line | undefined): boolean {
    const pitch = box.bottom - above.bottom
    const isNext = previous !== undefined && previous.box.bottom <= above.bottom + heightOf(above) * 0.2
    return isNext && pitch > 0 && pitch <= Math.min(this.#usualPitch * BELOW_LINE, heightOf(box) * PITCH_MAX)
  }

  /** No line of the region follows. */
  regionEnds(): void {
    for (const kind of KINDS) {
      const all = this.#uncertain.filter((one) => one.kind === kind)
      if (!all.length) continue
      this.#isBelow[kind] ??= all.length >= this.#rowLines / 2 && all.at(-1)!.above === this.#lastOfRegion
      if (this.#isBelow[kind]) for (const { above, text } of all) state(above, kind, text)
    }
    this.#uncertain = []
    this.#rowLines = 0
  }

  /** Lines under these columns follow. */
  regionBegins({ columns, lines }: { columns: readonly Column[] | null; lines: readonly Line[] }): void {
    this.#lines = lines
    const pitches = lines.slice(1).map(({ box }, index) => box.bottom - lines[index]!.box.bottom)
    this.#usualPitch = pitches.toSorted((one, other) => one - other)[pitches.length >> 1] ?? 0
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
function state({ rows, inherits }: Above, kind: Kind, text: string): void {
  for (const row of rows) row[kind] = inherits.has(kind) ? text : (row[kind] ?? text)
  inherits.delete(kind)
}

const boxOf = ({ rows, box }: Above): Box => box ?? rows.at(-1)!.box

const isNear = (above: Box, { box }: Line): boolean =>
  box.top - above.bottom <= heightOf(box) * BELOW_ROW && box.bottom > above.bottom

/** Whether a line below rows is one of theirs by its place alone. @param isApart lines are so far apart that the last of all may be about all */
function isNoteOn(above: Above, { box, page }: Line, next: Line | undefined, isApart: boolean): boolean {
  const row = above.rows.at(-1)!.box
  if (box.left > row.left + INDENT || heightOf(box) < heightOf(row) * SMALLER) return true
  if (!next || next.page !== page) return !isApart
  return next.box.top - box.bottom > Math.max(box.top - boxOf(above).bottom, 0) * GAP_BELOW
}
