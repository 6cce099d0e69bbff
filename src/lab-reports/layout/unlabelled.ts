// What the head of a report says without labels: the name of the patient, and the date of a letter.
import { centerY } from '../pages/page.ts'
import { dateIn, isoWith, type DateOrder, type PrintedDate } from './dates.ts'
import { labelAt } from './label-names.ts'
import { placeIn, type PlacedText } from './labels.ts'
import type { Cell, Line } from './lines.ts'
import { isNameAlone } from './patient-name.ts'
import { saysSexAndAge } from './personal.ts'

/** Lines above and below a name in which its birth date, sex or number stands. */
const NEAR_LINES = 2
/** Points: evidence that a text is the name of the patient. */
const NAME_SCORE_MIN = 1.5

const PERSONAL =
  /\b(?:dob|d\.o\.b|born|birth|sex|gender|age|mrn|uhid|nhs|hospital (?:no|number)|patient (?:id|no|number)|male|female)\b/iu
const TITLED = /^(?:mr|mrs|ms|miss|master|mstr)\.?\s/iu
/** A name and what may stand behind it: `Jane Doe F 70y`, `DOE, Jane (Female)`, `Jane Doe | MRN 17`. */
const NAME =
  /(?<![\p{L}\d])((?:(?:Mr|Mrs|Ms|Miss|MR|MRS|MS|MISS)\.?\s)?\p{Lu}[\p{L}'’-]+(?:,?\s(?:\p{Lu}[\p{L}'’-]*\.?|van|von|de|der|den|del|della|dela|di|da|bin|binti|ibn|al|el)){1,4})(?=$|\s*[(,;|-]|\s+(?:F|M|Female|Male|FEMALE|MALE|DOB|MRN|\d))/u

/** Several commas part the places of an address: `Torva chowk, Torva, Khunta`. In `Doe, Jane, F, 45 years` they part what a person is. */
const isAddress = (text: string): boolean =>
  /^[^,(]+,[^,(]+,/u.test(text) && !PERSONAL.test(text) && !saysSexAndAge(text) && !/,\s?[FM](?:[,\s]|$)/u.test(text)

/** The name of the patient in the lines of a head; undefined if none stands near to a birth date, a sex or a title. */
export function nameWithoutLabel(head: readonly Line[], isTaken: (cell: Cell) => boolean): PlacedText | undefined {
  const candidates = head.flatMap((line, index) =>
    line.cells.flatMap((cell) => {
      const name = nameIn(cell)
      if (!name || isTaken(cell)) return []
      const nearLines = head.filter((other, position) => Math.abs(position - index) <= NEAR_LINES && other !== line && isClose(other, line))
      const textsBeside = line.cells.map((other) => (other === cell ? other.text.replace(name.value, '') : other.text))
      const score =
        Number(textsBeside.some((text) => PERSONAL.test(text) || saysSexAndAge(text))) * 2 +
        Number(nearLines.some((other) => other.cells.some((item) => PERSONAL.test(item.text) || saysSexAndAge(item.text)))) * 1.5 +
        Number(TITLED.test(name.value)) * 1.5 +
        Number(/,/u.test(name.value)) * 0.5
      return [{ placed: { value: name.value, place: placeIn(line.page, cell, name.start, name.value.length) }, score }]
    }),
  )
  return candidates.filter(({ score }) => score >= NAME_SCORE_MIN).toSorted((a, b) => b.score - a.score)[0]?.placed
}

const isClose = (a: Line, b: Line): boolean => Math.abs(centerY(a.box) - centerY(b.box)) < 60

function nameIn(cell: Cell): { value: string; start: number } | undefined {
  const { text } = cell
  if (text.length > 120 || (labelAt(text) && labelAt(text)?.field !== 'specimen')) return undefined
  const match = NAME.exec(text)
  if (!match || !isNameAlone(match[1]!) || isAddress(text) || /\b(?:dr|prof|by)\.?\s*$/iu.test(text.slice(0, match.index)))
    return undefined
  return { value: match[1]!, start: match.index }
}

export interface HeadDates {
  collected: PrintedDate | undefined
  reported: PrintedDate | undefined
}

/**
 * A date that stands alone in the head of a report is that of the letter if it is not before the collection, and that of the collection if
 * it is not after the report. Undefined if several stand alone, or neither of the others is known.
 */
export function dateWithoutLabel(
  head: readonly Line[],
  { collected, reported }: HeadDates,
  order: DateOrder,
  isTaken: (cell: Cell) => boolean,
): { field: 'collected' | 'reported'; date: PrintedDate; place: PlacedText['place'] } | undefined {
  if (!collected === !reported) return undefined
  const unlabeledDates = head.flatMap((line) =>
    line.cells.flatMap((cell) => {
      const date = dateIn(cell.text)
      const rest = date
        ? cell.text.replace(date.text, '').replace(/\d{1,2}:\d{2}(?::\d{2})?\s*(?:[ap]\.?m\.?)?/iu, '')
        : cell.text
      return date && !/[\p{L}\d]/u.test(rest) && !isTaken(cell) ? [{ date, place: { page: line.page, box: cell.box } }] : []
    }),
  )
  const texts = new Set(unlabeledDates.map(({ date }) => date.text))
  const [first] = unlabeledDates
  if (texts.size !== 1 || !first) return undefined
  const iso = isoWith(first.date, order)
  const labeledDay = isoWith((collected ?? reported)!, order)
  if (!iso || !labeledDay) return undefined
  if (collected) return iso >= labeledDay ? { field: 'reported', ...first } : undefined
  return iso <= labeledDay ? { field: 'collected', ...first } : undefined
}
