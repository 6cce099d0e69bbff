// The name of the laboratory: out of the letterhead, else next to a label.
import { heightOf, overlapX, type PageText } from '../pages/page.ts'
import { isLabel } from './label-names.ts'
import type { PlacedText } from './labels.ts'
import type { Cell, Line } from './lines.ts'
import { isPhysician } from './patient-name.ts'

export interface HeadedPage {
  page: PageText
  lines: readonly Line[]
}

const LAB_WORDS =
  /\b(?:labs?|laborator(?:y|ies|ium)|labor|diagnosti(?:cs?|k)|patholog(?:y|ies|ists?)|clinics?|clinical|hospitals?|health(?:care)?|medical|medicine|biosciences?|analytics|institute?|wellness|genomics|screening|medlab|pathlabs?|biolabs?|infirmary|surgery|university|trust|endocrin\w+|hematology|oncology|toxicology)\b/iu
const COMPANY =
  /\b(?:ltd|limited|llc|llp|inc|incorporated|corp(?:oration)?|gmbh|mvz|ag|bv|b\.v|nv|pty|pte|plc|pvt|sdn|bhd|s\.?a\.?|s\.?l\.?|s\.?r\.?l|associates|group|partners|foundation|stichting|services)\b\.?/iu
/** Words of headings, which laboratories do not have in their names. */
const PANEL_WORDS =
  /\b(?:panel|profile|metabolic|lipids?|blood|serum|urine|urinalysis|stool|function|haematology|biochemistry|immunology|serology|microbiology|hormones?|vitamins?|minerals?|thyroid|liver|kidney|renal|cardiac|cbc|differential|platelets?|electrolytes|allergy|markers?)\b/iu
const NO_LAB =
  /[:@]|www\.|http|\d{3}|\b(?:ids?|reports?|results?|patients?|page|phone|tel|fax|address|comments?|tests?|number|name|record|range|count|department|confidential|information|details|summary|date|final|street|road|avenue|drive|terrace|suite|plot|born|your|chart|dear|re)\b/iu
const CONTACT =
  /\b(?:tel|phone|fax|clia|cap|accredited|iso ?15189|nabl|www|road|street|st|avenue|ave|drive|park|terrace|suite|floor|block|plot|p\.?o\.? box|email)\b|\d{3}-\d{4}|\b\d{5}\b|@|^\d+\s\p{L}/iu

/** Of the height of the page: the letterhead stands above. */
const LETTERHEAD = 0.3
const TOP_OF_PAGE = 0.12
const LABORATORY_SCORE_MIN = 1.5

/**
 * The text of the head that is most likely the name of a laboratory. Speaking for it: large letters, words of names of laboratories and
 * companies, a place at the top, an address below, the host of a website, and that it stands on other pages as well. A heading of a panel
 * is none, nor is the patient.
 */
export function findLaboratory(
  labels: readonly PlacedText[],
  pages: readonly HeadedPage[],
  tableAt: number,
  isPatient: (text: string) => boolean,
): PlacedText | null {
  const first = pages[0]
  if (!first) return null
  const bottom = Math.min(first.page.height * LETTERHEAD, tableAt)
  const head = first.lines.filter((line) => line.box.top < bottom)
  const usual = usualHeight(first.lines)
  const hosts = pages.flatMap(({ lines }) => lines.flatMap((line) => line.cells.flatMap((cell) => hostsIn(cell.text))))
  const onOtherPages = new Set(pages.slice(1).flatMap(({ lines }) => lines.flatMap((line) => line.cells.map((cell) => cell.text))))
  const candidates = head
    .flatMap((line, index) => line.cells.map((cell) => ({ line, cell, index })))
    .filter(({ cell }) => isPossible(cell.text) && !isPatient(cell.text))
    .map(({ line, cell, index }) => {
      const size = Math.min(heightOf(cell.box) / usual, 2.5) - 1
      const isNamed = LAB_WORDS.test(cell.text) || COMPANY.test(cell.text)
      const score =
        size * 1.2 +
        Number(LAB_WORDS.test(cell.text)) +
        Number(COMPANY.test(cell.text)) * 0.7 +
        Number(cell.box.top < first.page.height * TOP_OF_PAGE) * 0.4 +
        Number(index === 0) * 0.5 +
        Number(onOtherPages.has(cell.text)) * 0.4 +
        Number(hasContact(head, index, line, cell)) * 0.5 +
        Number(hosts.some((host) => matchesHost(host, cell.text))) * 1.5 -
        Number(PANEL_WORDS.test(cell.text) && !COMPANY.test(cell.text)) * 1.5 -
        Number(!isNamed && cell.text.split(' ').length > 4) * 0.7
      return { placed: { value: cell.text, place: { page: line.page, box: cell.box } }, score, isNamed }
    })
    .toSorted((a, b) => b.score - a.score)
  const withoutAddress = (text: PlacedText): PlacedText => ({
    ...text,
    value: text.value.replace(/,\s+(?=.*\d)[^,]*(?:,.*)?$/u, '').replace(/[,;\s]+$/u, ''),
  })
  if (candidates[0] && candidates[0].score >= LABORATORY_SCORE_MIN) return withoutAddress(candidates[0].placed)
  const label =
    labels.find(({ value }) => LAB_WORDS.test(value) && !isPhysician(value)) ??
    labels.find(({ value }) => /\p{L}{3}/u.test(value) && !isPhysician(value))
  if (label) return withoutAddress({ ...label, value: label.value.replace(/\s*[,;(].*$/u, '') })
  const namedCandidate = candidates.find(({ isNamed, score }) => isNamed && score > 0)
  if (namedCandidate) return withoutAddress(namedCandidate.placed)
  // The first text of a page is what its publisher calls itself.
  const top = candidates.find(({ placed, score }) => score >= 0.9 && placed.place.box.top < first.page.height * TOP_OF_PAGE)
  return top ? withoutAddress(top.placed) : null
}

/** Departments of laboratories. */
const DEPARTMENT =
  /^(?:(?:clinical )?(?:ha?ematology|bio-?chemistry|chemistry|pathology|immunology|serology|microbiology|endocrinology|toxicology))$/iu

const isPossible = (text: string): boolean =>
  !DEPARTMENT.test(text) &&
  /\p{L}{3}/u.test(text) &&
  !NO_LAB.test(text) &&
  text.split(' ').length <= 8 &&
  /^[\p{Lu}\d]|^\p{Ll}+\p{Lu}|^\p{Ll}{4,}$/u.test(text) &&
  !isLabel(text)

function usualHeight(lines: readonly Line[]): number {
  const heights = lines.flatMap((line) => line.cells.map((cell) => heightOf(cell.box))).toSorted((a, b) => a - b)
  return heights[Math.floor(heights.length / 2)] || 1
}

/** Whether an address, a number of a telephone or an accreditation stands in the two lines below a text. */
const hasContact = (head: readonly Line[], index: number, line: Line, cell: Cell): boolean =>
  head
    .slice(index + 1, index + 3)
    .some((other) =>
      other.cells.some(
        (item) =>
          overlapX(item.box, cell.box) > 0 && item.box.top - line.box.bottom < heightOf(cell.box) * 3 && CONTACT.test(item.text),
      ),
    )

const hostsIn = (text: string): string[] =>
  [...text.matchAll(/(?:www\.|https?:\/\/|@)([a-z\d-]+)\.[a-z]{2,}/giu)].map(([, host]) =>
    host!.toLowerCase().replaceAll('-', ''),
  )

/** `www.northfieldlabs.example` is of `Northfield Labs`. */
const matchesHost = (host: string, text: string): boolean => {
  const plain = text.toLowerCase().replaceAll(/[^\p{L}\d]/gu, '')
  return host.length > 3 && plain.length > 3 && (plain.includes(host) || host.includes(plain))
}
