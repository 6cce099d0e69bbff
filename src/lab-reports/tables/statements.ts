// What lines say about specimens and methods (`Specimen: Urine`), and which rows they are about.
import { type Box, heightOf } from '../pages/page.ts'
import { dateIn } from '../texts/dates.ts'
import { type Field, labelAt } from '../texts/names.ts'
import { cellOf, type Line, toLine, type TypedCell, withoutPrintedCodes } from './table-cells.ts'
import { type ColumnKind, panelIn } from './headers.ts'
import type { Region } from './regions.ts'
import { joinedText, type Row } from './row-parts.ts'
import * as tolerances from './tolerances.ts'

type Kind = 'specimen' | 'method'

export interface Statement {
  kind: Kind
  text: string
  /** It stands in the cell of a name, and so is about that row alone. */
  isOfRow?: boolean
}

const LABELS: [Kind, RegExp][] = [
  [
    'specimen',
    /^[([*\s]*(?:(?:type of )?(?:specimens?|samples?)|material)(?:\s+(?:types?|source|used|tested|material))?\s*(?::|[-–]\s)\s*/iu,
  ],
  ['method', /^[([*\s]*(?:test\s+)?(?:methods?|methodology|technique|technology)(?:\s+used)?\s*(?::|[-–]\s)\s*/iu],
]
/** A cell that is nothing but the label; its text is in the next one. */
const ALONE: [Kind, RegExp][] = [
  ['specimen', /^(?:(?:type of )?(?:specimens?|samples?)|material)(?:\s+(?:types?|source))?\s*:?$/iu],
  ['method', /^(?:test\s+)?(?:methods?|methodology|technique|technology)\s*:?$/iu],
]
const METHOD =
  '(?:calculated|photomet\\w+|colou?rimet\\w+|(?:electrical )?impedance|microscop\\w+|westergren|flow cytometry|spectrophotomet\\w+|(?:immuno-?)?turbidimet\\w+|nephelomet\\w+|enzymatic|kinetic|hplc|e?clia|cmia|elisa|ise|(?:chemiluminescent )?immunoassay|potentiomet\\w+|chromatograph\\w+|refractomet\\w+|dipstick|hexokinase|diazo\\w*|uricase\\w*|(?:modified |kinetic )?jaff[eé]\\w*|bc[gp]|biuret|szasz|urease(?: uv| gldh)?|(?:in)?direct ise|ifcc(?: with(?:out)? p5p)?|(?:god|gpo|chod|cho)[- ](?:pod|pap)|(?:phospho)?molybdate(?: uv)?|arsenazo(?: iii)?|xylidyl blue|pnpp(?:,? amp(?: buffer)?)?|ferrozine)'
const METHOD_ALONE = new RegExp(`^(?:\\(${METHOD}\\)|${METHOD})$`, 'iu')

/** `(CLIA)`, `Immunoassay`: nothing but a method. */
export const isMethod = (text: string): boolean => METHOD_ALONE.test(text)

const SPECIMEN = /^(?:(?:whole|venous|capillary|edta) blood|serum|(?:edta |heparin |citrate )?plasma|(?:random |spot )?urine)$/iu

/** `Whole Blood`: a specimen by itself. In brackets it is part of the name that it follows. */
export const namesSpecimen = (text: string): boolean => SPECIMEN.test(text)

/** `Photometric, Whole Blood EDTA` below a row: a method and a specimen. */
const METHOD_AND_SPECIMEN = new RegExp(`^(${METHOD}\\b[^,:]*?)\\s?,\\s?([^,:]+)$`, 'iu')
const LETTERS_MAX = 100
/** Maximum letters of a cell with its label. */
const CELL_LETTERS_MAX = 150

/** What a line says, and the line without it. `isSpecimen` tells that a text is the name of a specimen: a number may stand there as well. */
export function statementsIn(
  line: Line,
  isSpecimen: (text: string) => boolean = () => false,
): { statements: Statement[]; rest: Line | null } {
  const statements: Statement[] = []
  const cells: Line['cells'] = []
  for (let index = 0; index < line.cells.length; index++) {
    const cell = line.cells[index]!
    if (cell.text.length > CELL_LETTERS_MAX) {
      cells.push(cell)
      continue
    }
    if (cell.isBelowName && (namesSpecimen(cell.text) || isMethod(cell.text))) {
      statements.push({ kind: isMethod(cell.text) ? 'method' : 'specimen', text: cell.text, isOfRow: true })
      continue
    }
    const [, method, specimen] = METHOD_AND_SPECIMEN.exec(cell.text) ?? []
    if (method && isText('specimen', specimen!, isSpecimen)) {
      statements.push({ kind: 'method', text: method }, { kind: 'specimen', text: specimen! })
      continue
    }
    const [kind, pattern] = LABELS.find(([, one]) => one.test(cell.text)) ?? []
    const textInCell = pattern ? cell.text.replace(pattern, '') : ''
    const [label] = textInCell ? [] : (ALONE.find(([, one]) => one.test(cell.text.trim())) ?? [])
    const next = label ? line.cells[index + 1] : undefined
    // Without a colon both may be names of columns.
    const isBeside = next !== undefined && (cell.text.endsWith(':') || next.text.startsWith(':'))
    const [statedKind, text] = textInCell ? [kind!, textInCell] : isBeside ? [label!, next.text] : []
    const plain = text?.slice(0, CELL_LETTERS_MAX).replace(/^[:\s]+|[)\]\s]+$/gu, '')
    if (statedKind && plain && isText(statedKind, plain, isSpecimen)) {
      statements.push({ kind: statedKind, text: plain })
      if (!textInCell) index += 1
    } else cells.push(cell)
  }
  return {
    statements,
    rest: !statements.length
      ? line
      : cells.length
        ? toLine(
            line.page,
            cells.map((cell) => cellOf(cell.words)),
          )
        : null,
  }
}

/** The lines that may hold results, without printed codes; of particulars, only what they say about specimens and methods. */
export function linesOfResults(lines: readonly Line[], isSpecimen?: (text: string) => boolean): Line[] {
  const patient = lines.findLastIndex((line) => line.isParticulars && isAboutPerson(line))
  return lines.flatMap((line, index) => {
    if (!line.isParticulars) return [{ ...withoutPrintedCodes(line), ...(index < patient && { isLetterhead: true }) }]
    const others = new Set(statementsIn(line, isSpecimen).rest?.cells.map(({ words }) => words[0]))
    const cells = line.cells.filter(({ words }) => !others.has(words[0]))
    return cells.length ? [toLine(line.page, cells)] : []
  })
}

/** What the columns of a line say of all results in it. */
export const factsInColumns = (cellsIn: (kind: ColumnKind) => TypedCell[]): Pick<Row, 'specimen' | 'method' | 'date'> => ({
  specimen: textOf(cellsIn('specimen')),
  method: textOf(cellsIn('method')),
  date: cellsIn('date').find(({ text }) => dateIn(text)?.index === 0)?.text ?? null,
})

const textOf = (cells: readonly TypedCell[]): string | null => joinedText(cells).slice(0, LETTERS_MAX) || null

const isText = (kind: Kind, text: string, isSpecimen: (text: string) => boolean): boolean =>
  text.length <= LETTERS_MAX && /\p{L}/u.test(text) && (kind === 'method' || isSpecimen(text))

/** What only the head of a report says. */
const OF_PERSON = new Set<Field>(['name', 'first_name', 'last_name', 'dob', 'sex', 'age', 'sex_age'])
/** Lines between a label and those of the person that are in one head. */
const HEAD_LINES = 4

/** The specimen that the head of each page names, among what it says about the person; null where pages name several. */
export function specimensOfHeads(
  pages: readonly { lines: readonly Line[] }[],
  isSpecimen: (text: string) => boolean,
): (string | null)[] {
  const own = pages.map(({ lines }) => {
    const specimens = lines.flatMap((line, index) => {
      const statements = statementsIn(line, isSpecimen).statements.filter(({ kind }) => kind === 'specimen')
      const linesAround = () => lines.slice(Math.max(0, index - HEAD_LINES), index + HEAD_LINES + 1)
      return statements.length && linesAround().some(isAboutPerson) ? statements.map(({ text }) => text) : []
    })
    return new Set(specimens.map((text) => text.toLowerCase())).size === 1 ? specimens[0]! : null
  })
  const all = new Set(own.flatMap((text) => text?.toLowerCase() ?? []))
  return all.size === 1 ? own.map(() => own.find((text) => text !== null)!) : own
}

/** Whether a line says something of the patient. */
export const isAboutPerson = ({ cells }: Line): boolean =>
  cells.some(({ text }) => OF_PERSON.has(labelAt(text.slice(0, LETTERS_MAX))?.field ?? 'other'))

const KINDS = ['specimen', 'method'] as const

interface RowsAbove {
  rows: readonly Row[]
  /** Of the last of them, with the lines below that belong to it. */
  rowBox: Box
  /** Where the last line about them stands, if one is below them. */
  box: Box | null
  /** What none of them states itself. */
  inherits: Set<Kind>
}

/** What a line of a region, or a card, was read as. */
export type Reading =
  /** `statements` are those of the same line; `box`: of the last row. */
  | { kind: 'rows'; rows: readonly Row[]; statements: readonly Statement[]; box: Box }
  /** A further line of the last row, which has this box now. */
  | { kind: 'continued'; box: Box }
  /** Statements without rows. `isUnderHeading`: no row stands between the line and the heading above it. */
  | { kind: 'statements'; line: Line; statements: readonly Statement[]; isUnderHeading: boolean }
  /** The heading of another panel. */
  | { kind: 'panel' }

export interface ReadingsOfRegion {
  region: Region
  readings: readonly Reading[]
}

/** Gives the rows of a report the specimens and methods that lines of their own state. */
export function stateSpecimensAndMethods(regions: readonly ReadingsOfRegion[]): void {
  const lines = new StatementLines()
  for (const { region, readings } of regions) {
    lines.regionBegins(region)
    for (const reading of readings)
      if (reading.kind === 'rows') lines.rows(reading.rows, reading)
      else if (reading.kind === 'continued') lines.rowContinues(reading.box)
      else if (reading.kind === 'statements') lines.addLine(reading.line, reading.statements, reading.isUnderHeading)
      else lines.panelBegins()
    lines.regionEnds()
  }
}

/**
 * Where the first such line stands close below
 * a row, those of its kind are about the row above them, and so is one that stands closer to the row above than to the next line, or as a note.
 * Where all lines are far apart, those below most rows and below the last one are about the row above. Else one above all rows of its panel is
 * about these, and one between rows, which may be about those above or below, is about none.
 */
class StatementLines {
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

  addLine(line: Line, statements: readonly Statement[], isUnderHeading: boolean): void {
    const index = this.#lines.indexOf(line)
    const rowsAbove = isUnderHeading ? null : this.#above
    const isClose = rowsAbove !== null && isNear(boxOf(rowsAbove), line)
    const isBeneath = isClose || (rowsAbove !== null && this.#isNextTo(boxOf(rowsAbove), line, this.#lines[index - 1]))
    const isNote = isBeneath && isNoteOn(rowsAbove!, line, this.#lines[index + 1], !isClose)
    for (const { kind, text, isOfRow } of statements) {
      if (isOfRow && rowsAbove) {
        setStatement(rowsAbove, kind, text)
        continue
      }
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
    return (
      isNext &&
      pitch > 0 &&
      pitch <= Math.min(this.#usualPitch * tolerances.STATEMENT_PITCH, heightOf(box) * tolerances.LINE_PITCH_MAX)
    )
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
  regionBegins({ columns, lines }: Region): void {
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

  /** The last row has a further line. */
  rowContinues(box: Box): void {
    if (this.#above) this.#above.rowBox = box
  }

  rows(rows: readonly Row[], { statements, box }: { statements: readonly Statement[]; box: Box }): void {
    for (const row of rows) for (const { kind, text } of statements) row[kind] ??= text
    const inherits = new Set(KINDS.filter((kind) => rows.every((row) => row[kind] === null)))
    for (const row of rows) {
      row.specimen ??= this.#current.specimen ?? null
      row.method ??= this.#current.method ?? null
    }
    this.#hasRows = true
    this.#rowLines++
    this.#above = { rows, rowBox: box, box: null, inherits }
    this.#lastOfRegion = this.#above
  }
}

/** What stands close to rows counts before what they have of their panel. */
function setStatement({ rows, inherits }: RowsAbove, kind: Kind, text: string): void {
  for (const row of rows) row[kind] = inherits.has(kind) ? text : (row[kind] ?? text)
  inherits.delete(kind)
}

const boxOf = ({ rowBox, box }: RowsAbove): Box => box ?? rowBox

const isNear = (upper: Box, { box }: Line): boolean =>
  box.top - upper.bottom <= heightOf(box) * tolerances.BELOW_ROW && box.bottom > upper.bottom

/** Whether a line below rows is one of theirs by its place alone. @param isApart lines are so far apart that the last of all may be about all */
function isNoteOn(rowsAbove: RowsAbove, { box, page }: Line, next: Line | undefined, isApart: boolean): boolean {
  const row = rowsAbove.rowBox
  if (box.left > row.left + tolerances.STATEMENT_INDENT || heightOf(box) < heightOf(row) * tolerances.NOTE_HEIGHT) return true
  if (!next || next.page !== page) return !isApart
  return next.box.top - box.bottom > Math.max(box.top - boxOf(rowsAbove).bottom, 0) * tolerances.STATEMENT_GAP
}
