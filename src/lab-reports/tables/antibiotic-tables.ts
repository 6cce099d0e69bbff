// Tables that say which antibiotics act against the organisms of a culture. Each antibiotic and organism is a result: its value is the
// concentration, or the category (S, I, R) where none is printed; the organism is the panel.
import { isUnit } from '../../lab-values/units.ts'
import { type Box, boxAround, centerX, overlapX, type PageText, type Word } from '../pages/page.ts'
import { categoryOf, isAntibiotic, isConcentration, organismIn } from '../texts/antibiotics.ts'
import { cleanName } from '../texts/names.ts'
import { type Cell, cellOf, type Line } from './table-cells.ts'
import { newRow, type Row } from './row-parts.ts'

/** Fewer antibiotics are not a table: one may stand among drugs whose level in the blood was measured. */
const ENTRIES_MIN = 2
const NAME_WORDS_MAX = 7
/** Lines between a table and its heading that belong to it. */
const HEADER_LINES = 2

interface Answer {
  concentration?: Cell
  unit?: Cell
  category?: Cell
  box: Box
}
interface Entry {
  line: Line
  name: Cell
  answers: Answer[]
}

export interface SusceptibilityRows {
  rows: Row[]
  /** Without those of the tables. */
  lines: Line[]
}

/** The results of such tables on a page. */
export function readAntibiotics(page: PageText, lines: readonly Line[]): SusceptibilityRows {
  const entries = new Map(lines.flatMap((line) => (hasAntibiotic(line) ? [[line, entriesOf(line)] as const] : [])))
  if ([...entries.values()].flat().length < ENTRIES_MIN) return { rows: [], lines: [...lines] }
  const rows: Row[] = []
  const tableLines = new Set<Line>()
  let organisms: string[] = []
  let header: Header = { organisms: [], unit: null }
  for (const [index, line] of lines.entries()) {
    const entriesOfLine = entries.get(line) ?? []
    if (entriesOfLine.length) {
      const isFirst = !entries.get(lines[index - 1]!)?.length
      if (isFirst) {
        const linesAbove = lines.slice(Math.max(0, index - HEADER_LINES), index).filter((item) => isHeader(item))
        header = readHeader(linesAbove, entriesOfLine, organisms)
        for (const one of linesAbove) tableLines.add(one)
      }
      tableLines.add(line)
      rows.push(...entriesOfLine.flatMap((entry) => rowsOfEntry(page, entry, header)))
    } else {
      const organism = organismIn(textOf(line))
      if (organism && isOrganismLine(line)) {
        rows.push(rowOfOrganism(page, line))
        tableLines.add(line)
      }
      // A new list of organisms begins behind a table.
      if (organism && rows.length && rows.at(-1)!.box.bottom < line.box.top && !isHeader(line)) organisms = []
      if (organism && !organisms.includes(organism)) organisms.push(organism)
    }
  }
  return { rows, lines: lines.filter((line) => !tableLines.has(line)) }
}

/** `Organism 1  Escherichia coli  >100,000 cfu/ml` */
const isOrganismLine = ({ cells: [label, organism] }: Line): boolean =>
  organism !== undefined &&
  /^(?:organism|isolate)\.? ?#?\d?:?$/iu.test(label!.text) &&
  organismIn(organism.text) === organism.text

/** An organism that grew is a result; its count is a comment. */
function rowOfOrganism(page: PageText, { box, cells: [label, organism, ...others] }: Line): Row {
  return {
    ...newRow(page.number, [label!, organism!, ...others]),
    box,
    value_box: organism!.box,
    name: cleanName(label!.text),
    value: organism!.text,
    comments: others.map(({ text }) => text),
  }
}

/** The rows of a page with others of it, from top to bottom. */
export function mergeRows(rows: Row[], addedRows: readonly Row[]): Row[] {
  for (const row of addedRows) {
    const index = rows.findIndex(({ page, box }) => page > row.page || (page === row.page && box.top > row.box.top))
    rows.splice(index < 0 ? rows.length : index, 0, row)
  }
  return rows
}

const textOf = (line: Line): string => line.cells.map(({ text }) => text).join(' ')

const hasAntibiotic = (line: Line): boolean => line.cells.some(({ words }) => words.some(({ text }) => isAntibiotic(text)))

/** The antibiotics of a line with their answers; none if it says anything else. */
function entriesOf(line: Line): Entry[] {
  const words = line.cells.flatMap((cell) => cell.words)
  const entries: Entry[] = []
  for (let index = 0; index < words.length;) {
    const count = longestFit(words.length - index, NAME_WORDS_MAX, (length) =>
      isNameOfAntibiotic(words.slice(index, index + length)),
    )
    if (count) {
      entries.push({ line, name: cellOf(words.slice(index, index + count)), answers: [] })
      index += count
      continue
    }
    const entry = entries.at(-1)
    if (!entry) return []
    const length = takeAnswer(
      entry,
      words.slice(index).map((word) => cellOf([word])),
    )
    if (!length) return []
    index += length
  }
  return entries.every(({ answers }) => answers.some(({ category }) => category)) ? entries : []
}

const isNameOfAntibiotic = (words: readonly Word[]): boolean =>
  /[\p{L})]/u.test(words.at(-1)!.text) && isAntibiotic(cellOf([...words]).text)

/** Adds what the next words say of an antibiotic, and returns how many they are; 0 if they say something else. */
function takeAnswer(entry: Entry, words: readonly Cell[]): number {
  const phrase = (length: number) => cellOf(words.slice(0, length).flatMap((cell) => cell.words))
  const last = entry.answers.at(-1)
  const addPart = (part: 'concentration' | 'category', cell: Cell, length: number): number => {
    // One that was not tested has neither.
    if (last && !last[part] && (last.concentration ?? last.category)) {
      last[part] = cell
      last.box = boxAround([last.box, cell.box])
    } else entry.answers.push({ [part]: cell, box: cell.box })
    return length
  }
  for (const length of [3, 2, 1].filter((item) => item <= words.length)) {
    const cell = phrase(length)
    if (categoryOf(cell.text)) return addPart('category', cell, length)
    if (isConcentration(cell.text.replace(/^\((.+)\)$/u, '$1'))) return addPart('concentration', cell, length)
    if (last?.concentration && !last.unit && isUnit(cell.text)) {
      last.unit = cell
      return length
    }
  }
  if (!/^(?:[-–—.:|]+|n\/?[at]|\*+)$/iu.test(words[0]!.text)) return 0
  // Not tested against this organism.
  if (/^[-–—]$|^n/iu.test(words[0]!.text)) entry.answers.push({ box: words[0]!.box })
  return 1
}

/** The longest count, at most `max`, for which `fits`. */
function longestFit(left: number, max: number, fits: (count: number) => boolean): number {
  for (let count = Math.min(left, max); count > 0; count--) if (fits(count)) return count
  return 0
}

interface Header {
  /** By the places of their answers; one of them for all answers where no place is known. */
  organisms: { name: string; box: Box | null }[]
  unit: string | null
}

const HEADER =
  /\b(?:antibiotics?|antimicrobials?|antifungals?|drugs?|agents?|sensitivit(?:y|ies)|susceptibilit(?:y|ies)|mic|interp\w*|category|s\/?i\/?r|org(?:anism)?\.? ?#?\d|isolate ?#?\d)\b/iu

/** `Organism 1  Escherichia coli  >100,000 cfu/ml` is a result of its own. */
const isHeader = (line: Line): boolean =>
  HEADER.test(textOf(line)) &&
  !/[.;]$|:\s*\S/u.test(textOf(line)) &&
  !(/^(?:org|isol)/iu.test(textOf(line)) && organismIn(textOf(line)) !== undefined)

function readHeader(linesAbove: readonly Line[], entries: readonly Entry[], organisms: readonly string[]): Header {
  const cells = linesAbove.flatMap((line) => line.cells)
  const unit =
    cells.map(({ text }) => /\bmic\b.*?[([]\s*(\S+?)\s*[)\]]/iu.exec(text)?.[1]).find((item) => item && isUnit(item)) ?? null
  const namedOrganisms = cells.flatMap(({ text, box }) => {
    const number = /^(?:org(?:anism)?|isolate)\.? ?#?(\d)$/iu.exec(text)?.[1]
    const name = organismIn(text) ?? (number ? organisms[Number(number) - 1] : undefined)
    return name ? [{ name, box }] : []
  })
  if (namedOrganisms.length) return { organisms: namedOrganisms, unit }
  const count = Math.max(...entries.map(({ answers }) => answers.length))
  // Columns without names are those of the organisms in their order.
  const listed = count > 1 && organisms.length === count ? organisms : organisms.slice(-1)
  return { organisms: listed.map((name) => ({ name, box: null })), unit }
}

function rowsOfEntry(page: PageText, { name, answers }: Entry, header: Header): Row[] {
  return answers.flatMap((answer, index): Row[] => {
    const { category, concentration, unit } = answer
    const value = concentration ?? category
    if (!value || !category) return []
    const cells = [name, ...(concentration ? [concentration] : []), category]
    return [
      {
        ...newRow(page.number, cells),
        box: boxAround([name.box, answer.box]),
        value_box: value.box,
        name: cleanName(name.text),
        value: value.text.replace(/^\((.+)\)$/u, '$1'),
        unit: concentration ? (unit?.text ?? header.unit) : null,
        flag: categoryOf(category.text) === 'susceptible' ? 'normal' : 'abnormal',
        panel: findOrganism(answer, index, header) ?? null,
        comments: concentration ? [category.text.replace(/^\((.+)\)$/u, '$1')] : [],
      },
    ]
  })
}

function findOrganism({ box }: Answer, index: number, { organisms }: Header): string | undefined {
  const placedOrganisms = organisms.flatMap(({ name, box: place }) => (place ? [{ name, place }] : []))
  if (!placedOrganisms.length) return (organisms[index] ?? organisms[0])?.name
  const distance = (place: Box) => (overlapX(place, box) > 0 ? 0 : Math.abs(centerX(place) - centerX(box)))
  return placedOrganisms.toSorted((a, b) => distance(a.place) - distance(b.place))[0]!.name
}
