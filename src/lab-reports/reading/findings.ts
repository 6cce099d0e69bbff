// What is doubtful about a reading, so that nothing implausible passes as certain. Changes no value. Pure.
import { isSusceptibility } from '../layout/antibiotics.ts'
import { dateIn } from '../layout/dates.ts'
import type { MetadataPlaces } from '../layout/metadata.ts'
import type { ReadRowsOptions, Row } from '../layout/row.ts'
import { boxesOverlap } from './boxes.ts'
import type { ReadingFinding, ReportFinding } from './finding.ts'
import { rowDoubts } from './row-doubts.ts'
import { rowsOfInk } from './rows-of-ink.ts'
import { doubtfulTables, movedRanges, tableDoubts, type Reading } from './table-doubts.ts'
import { unreadText } from './unread-text.ts'

export interface ReadingFindings {
  /** In the order of the rows. */
  rows: ReadingFinding[][]
  report: ReportFinding[]
}

export function findingsOf(reading: Reading, names: Pick<ReadRowsOptions, 'isNamed'>): ReadingFindings {
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
  for (const row of unknownNames(reading, names)) add(row, UNKNOWN_NAME)
  for (const { row, finding } of movedRanges(reading, rows)) add(row, finding)
  for (const { row, finding } of doubtfulTables(reading, rows)) add(row, finding)
  return { rows, report: [...unread.report, ...ink.report] }
}

const UNKNOWN_NAME: ReadingFinding = {
  kind: 'name_is_unknown',
  text: 'No laboratory is known to use this name as it was read from the picture: letters or spaces may be wrong.',
}

/** Rows of pictures whose name is not, letter by letter, one of something that laboratories measure. */
function unknownNames({ pages, rows }: Reading, { isNamed }: Pick<ReadRowsOptions, 'isNamed'>): number[] {
  const pictures = new Set(pages.flatMap(({ page }) => (page.source === 'ocr' ? [page.number] : [])))
  return rows.flatMap(({ page, name, value, comments }, index) =>
    pictures.has(page) && !isNamed(name) && !isSusceptibility(name, value, comments) ? [index] : [],
  )
}

const AMONG_PARTICULARS: ReadingFinding = {
  kind: 'among_particulars',
  text: 'The row stands among what the report says of the patient and the specimen.',
}

/** `E. Testwell, MD`, `Dr. Mockford` */
const PHYSICIAN = /,\s?(?:MD|M\.D\.|DO|NP|PA|MBBS|PhD)\b|^Dr\b\.?/u

/** Whether a row is what the report says of physicians and days, in a line with what it says of the patient, and no result. */
export const isParticular = (row: Row, places: MetadataPlaces, names: Pick<ReadRowsOptions, 'isNamed'>): boolean =>
  row.unit === null &&
  !row.range_lines.length &&
  (PHYSICIAN.test(row.name) || dateIn(row.name) !== undefined) &&
  isAmongParticulars(row, places, names)

/** Whether a row stands in the line of something that is said about the patient. */
function isAmongParticulars(row: Row, places: MetadataPlaces, { isNamed }: Pick<ReadRowsOptions, 'isNamed'>): boolean {
  if (isNamed(row.name) && row.unit !== null) return false
  return Object.values(places).some(({ page, box }) => page === row.page && boxesOverlap(box, row.box))
}
