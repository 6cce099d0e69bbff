// Which specimen each row of a report is of: what is printed for the row counts before headings, and these before the head of the report.
import type { Line } from '../layout/lines.ts'
import type { Row } from '../layout/row.ts'
import { specimensOfHeads } from '../layout/statements.ts'
import { specimenIn, specimensIn } from '../loinc/name-text.ts'

/** Letters that stand for specimens in columns. */
const LETTERS: Record<string, string> = { s: 'Serum', p: 'Plasma', u: 'Urine', b: 'Blood', wb: 'Whole blood' }
const BLOOD = /^(?:blood|serum|wholeblood|rbc)$/u
/** Panels that are measured in blood, whatever the head of a report says. */
const BLOOD_PANEL = /\b(?:cbc|blood count|ha?emogram|ha?ematology|lipid|liver|thyroid|coagulation|serum|plasma)\b/iu

/** Whether a text names one specimen, and neither its number nor several. */
export const isSpecimen = (text: string): boolean =>
  !/\d{3}/u.test(text) && (specimensIn(text).length === 1 || Object.hasOwn(LETTERS, text.trim().toLowerCase()))

/** What a column says of a specimen; null if it is a number or names several. */
const ofColumn = (text: string): string | null =>
  /\d{3}/u.test(text) || !/\p{L}/u.test(text) || specimensIn(text).length > 1
    ? null
    : (LETTERS[text.trim().toLowerCase()] ?? text)

/** The specimen of each row; null where nothing names one, or the heading names blood, of which most panels are. */
export function specimensOf(
  rows: readonly Row[],
  pages: readonly { page: { number: number }; lines: readonly Line[] }[],
): (string | null)[] {
  const ofPages = specimensOfHeads(pages, isSpecimen)
  const heads = new Map(pages.map(({ page }, index) => [page.number, ofPages[index]!]))
  return rows.map(({ specimen, section, panel, page }) => {
    const printed = specimen === null ? null : ofColumn(specimen)
    if (printed !== null) return printed
    const heading = section === null ? undefined : specimenIn(section)
    if (heading !== undefined) return BLOOD.test(heading) ? null : section
    const head = heads.get(page) ?? null
    return head !== null && !BLOOD.test(specimenIn(head) ?? 'blood') && BLOOD_PANEL.test(`${panel} ${section}`) ? null : head
  })
}

/** As LOINC tells specimens apart: blood from a vein is blood, except for its gases. */
export const specimenForLoinc = (specimen: string | null, panel: string | null): string | null =>
  specimen !== null && specimenIn(specimen) === 'venous' && !/\bgas|\bvbg\b/iu.test(panel ?? '')
    ? specimen.replaceAll(/\b(?:venous|vbg)\b/giu, 'blood')
    : specimen
