// What is doubtful about a reading, so that nothing implausible passes as certain. Changes no value.
import { rangeFor } from '../../lab-values/ranges.ts'
import { isUnit } from '../../lab-values/units.ts'
import { boundOf, flagOf, intervalOf, numberOf, valueKind } from '../../lab-values/values.ts'
import type { MetadataPlaces } from '../heading/metadata.ts'
import { boxesOverlap } from '../pages/page.ts'
import { columnKind } from '../tables/headers.ts'
import type { ReadRowsOptions, Row } from '../tables/row-parts.ts'
import { dateIn } from '../texts/dates.ts'
import { isLabel } from '../texts/names.ts'
import { culturesNotRead } from './cultures-not-read.ts'
import type { ReadingFinding, ReportFinding } from './finding.ts'
import { misreadTexts } from './misread-texts.ts'
import { isNoUnit, type ReportResult, TIME } from './result.ts'
import { rowsOfInk } from './rows-of-ink.ts'
import { doubtfulTables, movedRanges, type Reading, tableDoubts } from './table-doubts.ts'
import { unreadText } from './unread-text.ts'

export interface ReadingFindings {
  /** In the order of the rows. */
  rows: ReadingFinding[][]
  report: ReportFinding[]
}

/** Share of the rows of a page, or of all rows in pictures: if more are doubtful, rows may be put together wrongly, and none is certain. */
export const DOUBTFUL_SHARE = 0.2

export function collectFindings(reading: Reading, names: Pick<ReadRowsOptions, 'isNamed'>): ReadingFindings {
  const rows = reading.rows.map((row, index) => [
    ...rowDoubts(row, reading.results[index]!, names),
    ...(isAmongParticulars(row, reading.places, names) ? [AMONG_PARTICULARS] : []),
  ])
  const add = (row: number, finding: ReadingFinding) => {
    if (!rows[row]!.some(({ kind }) => kind === finding.kind)) rows[row]!.push(finding)
  }
  for (const { row, finding } of tableDoubts(reading, names)) add(row, finding)
  const unread = unreadText(reading, names)
  for (const { row, finding } of unread.rows) add(row, finding)
  const ink = rowsOfInk(reading)
  for (const { row, finding } of ink.rows) add(row, finding)
  for (const { row, finding } of misreadTexts(reading, names)) add(row, finding)
  for (const { row, finding } of movedRanges(reading, rows)) add(row, finding)
  for (const { row, finding } of doubtfulTables(reading, rows)) add(row, finding)
  const headings = unread.headings.filter(({ page }) => {
    const onPage = rows.filter((_, row) => reading.rows[row]!.page === page)
    return onPage.filter((findings) => findings.length).length > onPage.length * DOUBTFUL_SHARE
  })
  return { rows, report: [...unread.report, ...headings, ...ink.report, ...culturesNotRead(reading)] }
}

const AMONG_PARTICULARS: ReadingFinding = {
  kind: 'among_particulars',
  text: 'The row stands among what the report says of the patient and the specimen.',
}

/** `E. Testwell, MD`, `Dr. Mockford` */
const PHYSICIAN = /,\s?(?:MD|M\.D\.|DO|NP|PA|MBBS|PhD)\b|^Dr\b\.?/u

/** Whether a row is what the report says of physicians and days, in a line with what it says of the patient, or a time behind its label, and no result. */
export const isParticular = (row: Row, places: MetadataPlaces, names: Pick<ReadRowsOptions, 'isNamed'>): boolean =>
  // A time in a line about the patient is no result, even if a unit was read behind it.
  (TIME.test(row.value) && !names.isNamed(row.name) && isAmongParticulars(row, places, names)) ||
  (row.unit === null &&
    !row.range_lines.length &&
    (((PHYSICIAN.test(row.name) || dateIn(row.name) !== undefined) && isAmongParticulars(row, places, names)) ||
      (TIME.test(row.value) && isLabel(row.name.split(' ').at(-1)!) && !names.isNamed(row.name))))

/** Whether a row is in the line of something that is said about the patient. */
function isAmongParticulars(row: Row, places: MetadataPlaces, { isNamed }: Pick<ReadRowsOptions, 'isNamed'>): boolean {
  if (isNamed(row.name) && row.unit !== null) return false
  return Object.values(places).some(({ page, box }) => page === row.page && boxesOverlap(box, row.box))
}

const COMPARED = /[<>≤≥]\s?\d/u
/** A number which is not part of a name: an interval, a decimal number, a time. */
const VALUE_WITHIN =
  /(?<![\p{L}\d.,-])(?:\d+[.,]\d+|\d+(?:[.,]\d+)?\s?(?:-|–|—|to)\s?\d+(?:[.,]\d+)?|\d{1,2}:\d{2})(?![\p{L}\d-])/u
/** `Non-`, `Antigen/`, `25-Hydroxy,`, `Bilirubin -`, `Alkaline and`: something follows. */
const IS_CUT = /\p{Ll}[-–]$|[\p{L}\d)][/,&(]$|\d[-–]$|\s[-–—]$|\s(?:of|and|or|with|by|for)$/u
/** `transferase (GGT)`, `/Creatinine`, `) Ratio`: something came before. */
const CAME_BEFORE = /^[)\]/,&+]|^\p{Ll}{4,}|^\([^)]*\)$/u

/** `CD4 % of Lymphocytes`, `Hemoglobin A1c/Total Hemoglobin`: two words of one name, and no end of a heading. */
const JOINING_WORD = /^(?:of|in|per|non|%) | (?:of|in|per|%)$|^\S*\//iu

/** `Count (RBC)`, `Volume (MPV)`: what comes before it tells what was counted. */
const lacksBeginning = (name: string): boolean => {
  const [, inBrackets] =
    /^(?:count|binding capacity|volume|width|level|ratio|index|concentration|hormone|capacity|saturation|antibod(?:y|ies)|antigen|phosphatase|aminotransferase|transferase)\s?\((\p{L}[^()]+)\)$/iu.exec(
      name,
    ) ?? []
  return inBrackets !== undefined && !isUnit(inBrackets)
}

/** Times by which values are below or above their range in no patient, but for hormones of pregnancy and copies of viruses. */
const [BELOW, ABOVE] = [500, 10_000]

const CLASS_OF_ANTIBODY = /\bIg[AEGM]\b/u

type Names = Pick<ReadRowsOptions, 'isNamed'>

function rowDoubts(row: Row, result: ReportResult, names: Names): ReadingFinding[] {
  return [
    unitDoubt(row),
    nameDoubt(row, names),
    valueDoubt(row, result, names),
    rangeDoubt(row, result),
    flagDoubt(row, result),
  ].filter((item) => item !== undefined)
}

function unitDoubt({ unit }: Row): ReadingFinding | undefined {
  return unit !== null && isNoUnit(unit)
    ? { kind: 'unit_is_no_unit', text: 'What was read as the unit looks like a range, a date or a result.' }
    : undefined
}

const hasOpenBracket = (text: string): boolean => text.split(/[([]/u).length !== text.split(/[)\]]/u).length

const HOLDS_VALUE: ReadingFinding = {
  kind: 'name_holds_a_value',
  text: 'The name has a number, a unit, a range, a date or a time in it.',
}
const INCOMPLETE: ReadingFinding = {
  kind: 'name_is_incomplete',
  text: 'The name seems to be cut off: it may go on in the line above or below.',
}

function nameDoubt({ name, value }: Row, { isNamed }: Names): ReadingFinding | undefined {
  // `IgG 1 234` is 1,234 of IgG, or 234 of IgG 1.
  const [firstDigits] = /^\d{1,3}(?= \d{3})/u.exec(value) ?? []
  if (firstDigits !== undefined && isNamed(`${name} ${firstDigits}`)) return INCOMPLETE
  // What tells names apart leaves brackets, signs and small words out.
  if (hasOpenBracket(name) || IS_CUT.test(name)) return INCOMPLETE
  if (lacksBeginning(name)) return INCOMPLETE
  if (COMPARED.test(name)) return HOLDS_VALUE
  if (CAME_BEFORE.test(name)) return INCOMPLETE
  // `M (IgM)`, but not `K (serum)`.
  if (/^\p{L}\s\(/u.test(name) && !isNamed(name[0]!)) return INCOMPLETE
  if (isNamed(name)) return undefined
  if (isUnit(name) || VALUE_WITHIN.test(name) || dateIn(name) !== undefined) return HOLDS_VALUE
  if (columnKind(name) !== undefined) return { kind: 'name_holds_a_heading', text: 'The name is one of a column.' }
  const words = name.split(' ')
  // `Phospholipid Ab IgM`: a class of antibodies is the end of a name, and no name behind a heading.
  if (CLASS_OF_ANTIBODY.test(name)) return undefined
  if (
    words.some(
      (_, index) =>
        index > 0 &&
        index < 4 &&
        !JOINING_WORD.test(words.slice(index - 1, index + 1).join(' ')) &&
        isNamed(words.slice(index).join(' ')),
    )
  )
    return { kind: 'name_holds_a_heading', text: 'The name begins with what looks like the name of a panel.' }
  return undefined
}

const TWO_RESULTS: ReadingFinding = {
  kind: 'value_is_no_result',
  text: 'What was read as one number with groups of digits may be a result and an earlier one.',
}
/** Two results of one test differ by less than this multiple, in most patients. */
const CHANGE = 3

/** `120 118`: as likely two results as 120,118; `250 000` and `1 234` are one. */
function areTwoResults(value: string): boolean {
  const [, first, second] = /^([1-9]\d{2}) ([1-9]\d{2})$/u.exec(value) ?? []
  const ratio = Number(first) / Number(second)
  return ratio < CHANGE && ratio > 1 / CHANGE
}

function valueDoubt(
  { name, value }: Row,
  { min_reference_range: min, max_reference_range: max }: ReportResult,
  { isNamed }: Names,
): ReadingFinding | undefined {
  if (areTwoResults(value)) return TWO_RESULTS
  const isMoment = TIME.test(value) || (dateIn(value)?.index === 0 && numberOf(value) === undefined)
  const isNothing = !/[\p{L}\p{N}+±]|^\(-\)$/u.test(value) || /\p{L}[-–/,]$/u.test(value) || hasOpenBracket(value)
  // `1.2.3`, `5,4,3`, `~12`, `105 b`, `30-`
  const isNoNumber =
    /^[~≈]?\s?\d[\d.,]*(?:\s\p{L}|[-–+?])?$/u.test(value) && valueKind(value) === undefined && dateIn(value) === undefined
  // `105 (110)`, `105 corrected`: next to a range of numbers the number has to stand for itself.
  const isNotAlone =
    (min !== null || max !== null) && /\d/u.test(value) && valueKind(value) === undefined && boundOf(value) === undefined
  // `Normal` next to a range of numbers is what the report says of the result.
  const isFlag = (min !== null || max !== null) && flagOf(value) !== undefined
  return isNothing || isNoNumber || isNotAlone || isFlag || (isMoment && !(isNamed(name) && /\btime\b/iu.test(name)))
    ? {
        kind: 'value_is_no_result',
        text: 'What was read as the result is empty or cut off, or looks like a date, a time or a flag.',
      }
    : undefined
}

function rangeDoubt(
  row: Row,
  { min_reference_range: min, max_reference_range: max, basis }: ReportResult,
): ReadingFinding | undefined {
  const value = numberOf(row.value)
  if (value === undefined && intervalOf(row.value) === undefined) return undefined
  if (min === null && max === null)
    // A table of ranges that has none for the patient is understood; a range that contradicts the unit of the result is not used.
    return row.range_lines.some((line) => /\d/u.test(line)) &&
      (basis?.range === null || !rangeFor(row.range_lines, { sex: null, age: null }))
      ? { kind: 'range_is_not_understood', text: 'The text of the range was not understood.' }
      : undefined
  if (value === undefined) return undefined
  const isFar = (min !== null && value > 0 && value * BELOW < min) || (max !== null && max > 0 && value > max * ABOVE)
  return isFar
    ? { kind: 'value_is_far_from_range', text: 'The value is far from its range: a decimal sign may be lost.' }
    : undefined
}

function flagDoubt(
  { flag }: Row,
  { is_above_max_range: isAbove, is_below_min_range: isBelow, min_reference_range, max_reference_range }: ReportResult,
): ReadingFinding | undefined {
  if ((min_reference_range === null && max_reference_range === null) || flag === null || isAbove === null || isBelow === null)
    return undefined
  const contradicts =
    flag === 'normal'
      ? isAbove || isBelow
      : flag.endsWith('high')
        ? !isAbove
        : flag.endsWith('low')
          ? !isBelow
          : !isAbove && !isBelow
  return contradicts
    ? {
        kind: 'flag_contradicts_range',
        text: 'The flag that is printed does not agree with the value and the range that were read.',
      }
    : undefined
}
