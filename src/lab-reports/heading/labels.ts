// Labels of what a report says about itself, and the texts that belong to them.
import { type Box, boxAround, centerX, heightOf, overlapX } from '../pages/page.ts'
import type { Cell, Line } from '../tables/table-cells.ts'
import { columnsOf } from '../tables/headers.ts'
import { dateIn } from '../texts/dates.ts'
import { type Field, isLabel, labelAt } from '../texts/names.ts'
import { ageOf, isName, isPhysician, sexOf, specimenOf } from '../texts/patient.ts'

export interface Place {
  page: number
  box: Box
}

/** A text that says something about the report, and where it stands. */
export interface PlacedText {
  value: string
  place: Place
}

export interface LabeledText extends PlacedText {
  field: Field
  label?: string
}

/** Maximum letters of a cell that is searched. */
const LETTERS_MAX = 1_000
/** Maximum letters of a cell that is searched for labels. */
const LABELLED_LETTERS_MAX = 400

/** Where no label stands at the beginning of a cell: sentences, and lines that hold everything. */
const DATE_TEXT = String.raw`((?:\d{1,4}[-/. ]|[A-Z][a-z]{2,8} )[\w ,/.-]{5,22})`
const datePattern = (label: string) => new RegExp(String.raw`\b(?:${label})\b[:\s]+(?:on )?${DATE_TEXT}`, 'u')
const INSIDE: [Field, RegExp][] = [
  ['dob', datePattern('DOB|[Dd]ate of [Bb]irth|[Bb]orn')],
  ['collected', datePattern('[Cc]ollected|[Dd]rawn|[Tt]aken|[Ss]ampled')],
  ['reported', datePattern('[Rr]eported|[Vv]alidated|[Rr]eleased|[Ii]ssued|[Aa]uthori[sz]ed')],
  ['collected', datePattern('[Rr]un')],
  [
    'specimen',
    /\b(?:[Ss]ample|[Ss]pecimen|[Aa]ccession|[Bb]arcode|[Kk]it ID)\b(?: (?:[Nn]o\.?|[Nn]umber|ID))?[:#\s]{1,3}((?=[\w-]*\d)[A-Z0-9][\w/-]{4,20})\b/u,
  ],
  ['name', /^(?:RE|Re|Dear):?\s+(\p{Lu}[\p{L}'’-]+(?:\s\p{L}[\p{L}'’.-]+){1,3}),?$/u],
]

/** Each text of a report, piece by piece. */
export const placedTexts = (lines: readonly Line[]): PlacedText[] =>
  lines.flatMap((line) =>
    line.cells.map((cell) => ({ value: cell.text.slice(0, LETTERS_MAX), place: { page: line.page, box: cell.box } })),
  )

/** Each label with what stands behind it in its cell, next to it, or below it; then what sentences say. */
export function readLabels(lines: readonly Line[]): LabeledText[] {
  const labels: LabeledText[] = []
  for (const [index, line] of lines.entries()) {
    // `Test name` is not a name of a patient.
    if (!line.isParticulars && columnsOf(line)) continue
    for (const [position, cell] of line.cells.entries()) labels.push(...labelsInCell(lines, index, cell, position))
  }
  for (const line of lines)
    for (const cell of line.cells)
      for (const [field, pattern] of INSIDE) {
        const match = pattern.exec(cell.text.slice(0, LETTERS_MAX))
        const value = match?.[1]
        if (match && value)
          labels.push({ field, value, place: placeIn(line.page, cell, match.index + match[0].indexOf(value), value.length) })
      }
  return labels
}

function labelsInCell(lines: readonly Line[], index: number, cell: Cell, position: number): LabeledText[] {
  const line = lines[index]!
  return splitAtLabels(cell.text.slice(0, LABELLED_LETTERS_MAX)).flatMap(({ field, label, start, value }): LabeledText[] => {
    if (field === 'specimen' && /^reg/iu.test(label) && isBelowPhysician(lines, index)) return []
    if (value) return [{ field, label, value, place: placeIn(line.page, cell, start, value.length) }]
    const right = line.cells[position + 1]
    const cellBeside = right && /^\s*:?\s*$/u.test(right.text) ? line.cells[position + 2] : right
    const candidates = [
      cellBeside && !isLabel(cellBeside.text) ? { line, cell: cellBeside } : undefined,
      cellBelow(lines, index, cell),
    ]
    const texts = candidates.flatMap((item) =>
      item && !(field === 'date' && hasResults(item.line))
        ? [{ value: item.cell.text.replace(/^[:\s]+/u, ''), place: { page: item.line.page, box: item.cell.box } }]
        : [],
    )
    // What cannot be a value of the field is another's: a label with others next to it has its value below.
    const possible = texts.find((item) => isPossible(field, item.value))
    if (!possible) return []
    // `DoB 09.11.84 F`: the sex behind it has no label.
    const sex = field === 'dob' ? line.cells.find(({ text }) => /^(?:f|m|female|male)$/iu.test(text)) : undefined
    return [
      { field, label, ...possible },
      ...(sex ? [{ field: 'sex' as const, value: sex.text, place: { page: line.page, box: sex.box } }] : []),
    ]
  })
}

/** Lines between the name of a physician and the number of a registration. */
const BELOW_PHYSICIAN = 2

/** `Reg. No: 12345` below the name of a pathologist is theirs. */
const isBelowPhysician = (lines: readonly Line[], index: number): boolean =>
  lines
    .slice(Math.max(0, index - BELOW_PHYSICIAN), index + 1)
    .some(({ cells }) => cells.some(({ text }) => isPhysician(text) || /\b(?:pathologist|consultant)\b/iu.test(text)))

/** Whether a line has numbers as small as results: its date is the day of a table of results. */
const hasResults = ({ cells }: Line): boolean => cells.some(({ text }) => /^[<>≤≥]?\s?\d{1,4}(?:[.,]\d+)?$/u.test(text))

function isPossible(field: Field, value: string): boolean {
  switch (field) {
    case 'dob':
    case 'collected':
    case 'reported':
    case 'received':
    case 'date':
      return dateIn(value) !== undefined
    case 'sex':
      return sexOf(value) !== undefined
    case 'age':
      return ageOf(value) !== undefined
    case 'sex_age':
      return sexOf(value) !== undefined || ageOf(value) !== undefined
    case 'name':
    case 'first_name':
    case 'last_name':
      return isName(value)
    case 'specimen':
      return specimenOf(value) !== undefined
    default:
      return value !== ''
  }
}

/** The place of a part of a cell. */
export function placeIn(page: number, cell: Cell, start: number, length: number): Place {
  let index = 0
  const boxes: Box[] = []
  for (const word of cell.words) {
    if (index < start + length && index + word.text.length > start) boxes.push(word.box)
    index += word.text.length + 1
  }
  return { page, box: boxes.length ? boxAround(boxes) : cell.box }
}

interface Part {
  field: Field
  label: string
  /** Where the value begins in the text. */
  start: number
  value: string
}

/** A cell may hold several labels with their values: `DOB: 01/02/1980 Sex: F`. */
function splitAtLabels(text: string): Part[] {
  const parts: Part[] = []
  let index = text.length - text.trimStart().length
  for (let turn = 0; turn < 5 && index < text.length; turn++) {
    const rest = text.slice(index)
    const label = labelAt(rest)
    if (!label) {
      // The next label with a colon in this cell.
      const next = /(?<=\s)(?=(?:\p{L}[\p{L}/.#]*\s?){1,4}:)/u.exec(rest.slice(1))
      if (!next) return parts
      index += next.index + 1
      continue
    }
    const separator = /^\s*(?:\([^)]*\))?\s*[:#.\-–]*\s*/u.exec(rest.slice(label.length))![0].length
    const start = index + label.length + separator
    const textBehind = text.slice(start)
    let end = textBehind.length
    for (const match of textBehind.matchAll(/\s+(?=(?:[\p{L}/.#]+\s?){1,4}:)/gu)) {
      if (labelAt(textBehind.slice(match.index).trimStart())) {
        end = match.index
        break
      }
    }
    parts.push({ field: label.field, label: rest.slice(0, label.length).trim(), start, value: textBehind.slice(0, end).trim() })
    index = start + end
  }
  return parts
}

/** The nearest cell below that begins where the label does, within three lines. */
function cellBelow(lines: readonly Line[], index: number, label: Cell): { line: Line; cell: Cell } | undefined {
  for (const line of lines.slice(index + 1, index + 4)) {
    if (line.box.top - label.box.bottom > heightOf(label.box) * 2.2) return undefined
    const cell = line.cells.find(
      (candidate) =>
        overlapX(candidate.box, label.box) > 0 &&
        (Math.abs(candidate.box.left - label.box.left) < 8 || Math.abs(centerX(candidate.box) - centerX(label.box)) < 12),
    )
    if (cell) return isLabel(cell.text) || labelAt(cell.text) ? undefined : { line, cell }
  }
  return undefined
}
