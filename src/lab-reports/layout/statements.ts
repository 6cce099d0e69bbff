// What a report says about specimens and methods beside its columns: `Specimen: Urine` at the head, below a heading or below a row.
import type { TypedCell } from './cells.ts'
import { dateIn } from './dates.ts'
import type { ColumnKind } from './headers.ts'
import { labelAt, type Field } from './label-names.ts'
import { cellOf, lineOf, type Line } from './lines.ts'
import { joinedText } from './row-parts.ts'
import { withoutPrintedCodes } from './printed-codes.ts'
import type { Row } from './row.ts'

export type Kind = 'specimen' | 'method'

export interface Statement {
  kind: Kind
  text: string
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
/** `Photometric, Whole Blood EDTA` below a row: a method and a specimen. */
const METHOD_AND_SPECIMEN =
  /^((?:calculated|photomet\w+|colou?rimet\w+|(?:electrical )?impedance|microscop\w+|westergren|flow cytometry|spectrophotomet\w+|(?:immuno-?)?turbidimet\w+|nephelomet\w+|enzymatic|kinetic|hplc|e?clia|cmia|elisa|ise)\b[^,:]*?)\s?,\s?([^,:]+)$/iu
const LETTERS_MAX = 100
/** Of a cell with its label. */
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
        ? lineOf(
            line.page,
            cells.map((cell) => cellOf(cell.words)),
          )
        : null,
  }
}

/** The lines that may hold results, without printed codes; of particulars, only what they say about specimens and methods. */
export const linesOfResults = (lines: readonly Line[], isSpecimen?: (text: string) => boolean): Line[] =>
  lines.flatMap((line) => {
    if (!line.isParticulars) return [withoutPrintedCodes(line)]
    const others = new Set(statementsIn(line, isSpecimen).rest?.cells.map(({ words }) => words[0]))
    const cells = line.cells.filter(({ words }) => !others.has(words[0]))
    return cells.length ? [lineOf(line.page, cells)] : []
  })

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
/** Lines between a label and those of the person that stand in one head. */
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

const isAboutPerson = ({ cells }: Line): boolean =>
  cells.some(({ text }) => OF_PERSON.has(labelAt(text.slice(0, LETTERS_MAX))?.field ?? 'other'))
