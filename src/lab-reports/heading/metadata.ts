// Patient, dates, specimen and laboratory: values next to their labels, else what the head of the report says without labels.
import { type Age, ageBetween, ageOfDays, agreedAge, statedAge } from '../../lab-values/ages.ts'
import { centerY, heightOf, overlapX, type PageText } from '../pages/page.ts'
import type { Cell, Line } from '../tables/table-cells.ts'
import { columnsOf } from '../tables/headers.ts'
import { dateIn, dateOrder, type DateOrder, isoWith, type PrintedDate } from '../texts/dates.ts'
import { type Field, isLabel, labelAt } from '../texts/names.ts'
import {
  ageOf,
  isName,
  isNameAlone,
  isPhysician,
  saysSexAndAge,
  type Sex,
  sexOf,
  sexOfTitle,
  sexWithin,
  specimenOf,
  splitName,
} from '../texts/patient.ts'
import { type LabeledText, type Place, type PlacedText, placedTexts, placeIn, readLabels } from './labels.ts'

/** As the API answers it. Source: `ResultMetadata` of the reference. */
export interface Metadata {
  patient_first_name: string | null
  patient_last_name: string | null
  dob: string | null
  gender: 'male' | 'female' | 'other'
  lab_name: string | null
  date_reported: string | null
  date_collected: string | null
  specimen_number: string | null
}

/** Where each field is that was read; none for fields that the report does not state. */
export type MetadataPlaces = Partial<Record<keyof Metadata, Place>>

export interface ReportMetadata extends Metadata {
  age: Age | null
  places: MetadataPlaces
}

/** Share of the height of the first page: what is above is its head, if no table begins before. */
const HEAD = 0.45

/** What the cover of a fax calls itself, in a line of its own: `Fax` next to a number is a part of a letterhead. */
const COVER =
  /^(?:\p{L}+ )?(?:facsimile|telefax)\b|\bfax (?:cover|transmi\p{L}+|message|sheet)\b|\bcover (?:sheet|page|letter)\b/iu
/** What the cover of a fax does not tell of a patient. */
const OF_REPORTS: readonly Field[] = ['dob', 'sex', 'sex_age', 'collected', 'reported', 'specimen']

/** The pages without a first page that is the cover of a fax: its sender and date are not those of the report. */
function withoutCover<Page extends { lines: readonly Line[] }>(pages: readonly Page[]): readonly Page[] {
  const [first, ...others] = pages
  if (!first || !others.length) return pages
  const isCover =
    first.lines.some(({ cells }) => cells.length === 1 && COVER.test(cells[0]!.text)) &&
    !first.lines.some((line) => columnsOf(line)) &&
    !readLabels(first.lines).some(({ field }) => OF_REPORTS.includes(field))
  return isCover ? others : pages
}

type LabelsFor = (...fields: Field[]) => LabeledText[]

type ReadDate = { value: PrintedDate; place: Place } | undefined

/** What tells the dates of a report in addition to their labels. */
interface DateContext {
  texts: readonly PlacedText[]
  head: readonly Line[]
  age_years: number | null
  isLabeled: (cell: Cell) => boolean
}

/** Reads the metadata out of all lines of a report. Fields that no label or place tells are null; no date is guessed. */
export function metadataOf(pagesOfReport: readonly { page: PageText; lines: readonly Line[] }[]): ReportMetadata {
  const pages = withoutCover(pagesOfReport)
  const lines = pages.flatMap((page) => page.lines)
  const labels = readLabels(lines)
  const texts = placedTexts(lines)
  const labelsFor: LabelsFor = (...fields) => fields.flatMap((field) => labels.filter((entry) => entry.field === field))

  const tableAt = pages[0]?.lines.find((line) => columnsOf(line))?.box.top ?? Infinity
  const bottom = Math.min((pages[0]?.page.height ?? 0) * HEAD, tableAt)
  const head = pages[0]?.lines.filter((line) => line.box.top < bottom) ?? []

  const statedSex = firstReadable(labelsFor('sex', 'sex_age', 'age', 'dob', 'name'), sexOf) ?? sexWithoutLabel(texts)
  const age =
    firstReadable(labelsFor('age', 'sex_age', 'sex', 'dob'), ageOf) ??
    firstReadable(
      texts.filter(({ value }) => saysSexAndAge(value)),
      (value) => statedAge(/\d{1,3}\s*y.*$/iu.exec(value)?.[0] ?? ''),
    )
  const labeledBoxes = new Set(labels.map(({ place }) => place.box))
  const isLabeled = (cell: Cell) => labeledBoxes.has(cell.box)
  const age_years = age ? ageOfDays(age.value.days).years : null
  const { birth, collection, report, order } = readDates(labelsFor, { texts, head, age_years, isLabeled })

  const names = labelsFor('name').filter(({ value }) => isName(value) && !isPhysician(value))
  // `PATIENT COMPREHENSIVE METABOLIC PANEL` may be a title.
  const labelledName = names.find(({ label }) => /patient.*name|name.*patient/iu.test(label ?? '')) ?? names[0]
  const [givenName, familyName] = [labelsFor('first_name'), labelsFor('last_name')].map((candidates) =>
    candidates.find(({ value }) => isName(value)),
  )
  const namedLabs = labelsFor('lab')
  const full = labelledName ?? (givenName || familyName ? undefined : nameWithoutLabel(head, isLabeled))
  const sex = statedSex ?? (full && firstReadable([full], sexOfTitle))
  const name = splitName(full?.value, { first: givenName?.value, last: familyName?.value })
  const isPatient = (text: string) =>
    [full, givenName, familyName].some((item) => item !== undefined && (item.value === text || text.includes(item.value)))
  const lab = findLaboratory(namedLabs, pages, tableAt, isPatient)
  const specimen = numberOfSpecimen(labelsFor('specimen'))

  const toText = (date: PrintedDate | undefined) => (date ? (isoWith(date, order) ?? date.text) : null)
  const places: Record<keyof Metadata, Place | undefined> = {
    patient_first_name: (givenName && familyName ? givenName : (full ?? givenName))?.place,
    patient_last_name: (givenName && familyName ? familyName : (full ?? familyName))?.place,
    dob: birth?.place,
    gender: sex?.place,
    lab_name: lab?.place,
    date_reported: report?.place,
    date_collected: collection?.place,
    specimen_number: specimen?.place,
  }
  const metadata: Metadata = {
    ...name,
    dob: toText(birth?.value),
    gender: sex?.value ?? 'other',
    lab_name: lab?.value ?? null,
    date_reported: toText(report?.value),
    date_collected: toText(collection?.value),
    specimen_number: specimen?.value ?? null,
  }
  const iso = (date: PrintedDate | undefined) => date && isoWith(date, order)
  const ageFromDates = ageBetween(iso(birth?.value), iso((collection ?? report)?.value))
  return { ...metadata, age: agreedAge(age?.value, ageFromDates), places: statedPlaces(places, metadata) }
}

/** The dates of a report with their places, and the order in which their parts stand. */
function readDates(
  labelsFor: LabelsFor,
  { texts, head, age_years, isLabeled }: DateContext,
): { birth: ReadDate; collection: ReadDate; report: ReadDate; order: DateOrder } {
  // `DOB / Gender`, and a date behind the name of the patient.
  const birth = firstReadable(labelsFor('dob', 'sex_age'), dateIn) ?? firstReadable(labelsFor('name'), dateIn)
  let collection = firstReadable(labelsFor('collected'), dateIn)
  let report = firstReadable(labelsFor('reported'), dateIn)
  const order = dateOrder(
    texts.map(({ value }) => value),
    {
      age_years,
      birthDate: birth?.value,
      reportDate: (report ?? collection)?.value,
      collectionDate: collection?.value,
    },
  )
  const unlabeledDate = dateWithoutLabel(head, { collectionDate: collection?.value, reportDate: report?.value }, order, isLabeled)
  // A date of which the report does not say what it is belongs to the report itself, if nothing contradicts.
  const dateOfReport = firstReadable(labelsFor('date'), dateIn)
  if (!report && dateOfReport && isNotBefore(dateOfReport.value, collection?.value, order)) report = dateOfReport
  if (unlabeledDate?.field === 'collected') collection = { value: unlabeledDate.date, place: unlabeledDate.place }
  if (unlabeledDate?.field === 'reported') report = { value: unlabeledDate.date, place: unlabeledDate.place }
  return { birth, collection, report, order }
}

function isNotBefore(date: PrintedDate, earliest: PrintedDate | undefined, order: DateOrder): boolean {
  const [day, earliestDay] = [isoWith(date, order), earliest && isoWith(earliest, order)]
  return day === undefined || earliestDay === undefined || day >= earliestDay
}

/** The first text of which something can be read, with its place. */
function firstReadable<T>(
  texts: readonly PlacedText[],
  read: (value: string) => T | undefined,
): { value: T; place: Place } | undefined {
  for (const { value, place } of texts) {
    const one = read(value)
    if (one !== undefined) return { value: one, place }
  }
  return undefined
}

/** Times the height of a text: the lines of a table of ranges by sex are closer to each other. */
const NEAR = 4

/** The first sex that a text says by itself. Both of them next to each other are the names of columns, or of ranges. */
function sexWithoutLabel(texts: readonly PlacedText[]): ReturnType<typeof firstReadable<Sex>> {
  const stated = texts.flatMap(({ value, place }) => {
    const sex = sexWithin(value)
    return sex ? [{ value: sex, place }] : []
  })
  const areNear = (a: Place, b: Place) => a.page === b.page && Math.abs(centerY(a.box) - centerY(b.box)) < heightOf(a.box) * NEAR
  return stated.find(({ value, place }) => stated.every((next) => next.value === value || !areNear(place, next.place)))
}

const statedPlaces = (places: Record<keyof Metadata, Place | undefined>, metadata: Metadata): MetadataPlaces =>
  Object.fromEntries(
    Object.entries(places).filter(([field, place]) => place !== undefined && metadata[field as keyof Metadata] !== null),
  )

const ORDER_LABEL = /^(?:file|req|order|report|request|episode|registration|reg|vid|visit|case|our|sr|s\b|serial|sl|ref|bill)/iu

/** That of the specimen itself comes before that of its order or report, wherever they stand. */
const numberOfSpecimen = (labels: readonly LabeledText[]) =>
  firstReadable(
    labels.toSorted((a, b) => Number(ORDER_LABEL.test(a.label ?? '')) - Number(ORDER_LABEL.test(b.label ?? ''))),
    specimenOf,
  )

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
  // `9 Gumtree Ct`, `Nowhere VIC 3999`
  /^\d{1,5}[a-z]?(?:\/\d+)?,?\s\p{L}/iu.test(text) ||
  /\s\p{Lu}{2,3}\s\d{4,5}(?:-\d{4})?$/u.test(text) ||
  (/^[^,(]+,[^,(]+,/u.test(text) && !PERSONAL.test(text) && !saysSexAndAge(text) && !/,\s?[FM](?:[,\s]|$)/u.test(text))

/** The name of the patient in the lines of a head; undefined if none stands near to a birth date, a sex or a title. */
function nameWithoutLabel(head: readonly Line[], isTaken: (cell: Cell) => boolean): PlacedText | undefined {
  const candidates = head.flatMap((line, index) =>
    line.cells.flatMap((cell) => {
      const name = nameIn(cell)
      if (!name || isTaken(cell)) return []
      const nearLines = head.filter(
        (lineOfHead, position) => Math.abs(position - index) <= NEAR_LINES && lineOfHead !== line && isClose(lineOfHead, line),
      )
      const textsBeside = line.cells.map((cellOfLine) =>
        cellOfLine === cell ? cellOfLine.text.replace(name.value, '') : cellOfLine.text,
      )
      const score =
        Number(textsBeside.some((text) => PERSONAL.test(text) || saysSexAndAge(text))) * 2 +
        Number(
          nearLines.some((nearLine) => nearLine.cells.some((item) => PERSONAL.test(item.text) || saysSexAndAge(item.text))),
        ) *
          1.5 +
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

interface HeadDates {
  collectionDate: PrintedDate | undefined
  reportDate: PrintedDate | undefined
}

/**
 * A date that stands alone in the head of a report is that of the letter if it is not before the collection, and that of the collection if
 * it is not after the report. Undefined if several stand alone, or neither of the others is known.
 */
function dateWithoutLabel(
  head: readonly Line[],
  { collectionDate, reportDate }: HeadDates,
  order: DateOrder,
  isTaken: (cell: Cell) => boolean,
): { field: 'collected' | 'reported'; date: PrintedDate; place: PlacedText['place'] } | undefined {
  if (!collectionDate === !reportDate) return undefined
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
  const labeledDay = isoWith((collectionDate ?? reportDate)!, order)
  if (!iso || !labeledDay) return undefined
  if (collectionDate) return iso >= labeledDay ? { field: 'reported', ...first } : undefined
  return iso <= labeledDay ? { field: 'collected', ...first } : undefined
}

interface HeadedPage {
  page: PageText
  lines: readonly Line[]
}

const LAB_WORDS =
  /\b(?:labs?|laborator(?:y|ies|ium)|labor|diagnosti(?:cs?|k)|patholog(?:y|ies|ists?)|clinics?|clinical|hospitals?|health(?:care)?|medical|medicine|biosciences?|analytics|institute?|wellness|genomics|screening|medlab|pathlabs?|biolabs?|infirmary|surgery|university|trust|endocrin\w+|hematology|oncology|toxicology)\b/iu
const COMPANY =
  /\b(?:ltd|limited|llc|llp|inc|incorporated|corp(?:oration)?|gmbh|mvz|ag|bv|b\.v|nv|pty|pte|plc|pvt|sdn|bhd|s\.?a\.?|s\.?l\.?|s\.?r\.?l|associates|group|partners|foundation|stichting|services)\b\.?/iu
/** Words of headings, which laboratories do not have in their names. */
const PANEL_WORDS =
  /\b(?:panel|profile|metabolic|lipids?|blood|serum|urine|urinalysis|stool|function|haematology|biochemistry|immunology|serology|microbiology|hormones?|vitamins?|minerals?|thyroid|liver|kidney|renal|cardiac|cbc|differential|platelets?|electrolytes|allergy|markers?|(?:heart|bone|joint|gut|brain|digestive) health)\b/iu
const NO_LAB =
  /[:@]|www\.|http|\d{3}|\b(?:ids?|reports?|results?|patients?|page|phone|tel|fax|address|comments?|tests?|number|name|record|range|count|department|confidential|information|details|summary|date|final|street|road|avenue|drive|terrace|suite|plot|born|your|chart|dear|re|gender|sex)\b/iu
const CONTACT =
  /\b(?:tel|phone|fax|clia|cap|accredited|iso ?15189|nabl|www|road|street|st|avenue|ave|drive|park|terrace|suite|floor|block|plot|p\.?o\.? box|email)\b|\d{3}-\d{4}|\b\d{5}\b|@|^\d+\s\p{L}/iu

/** Share of the height of the page above which the letterhead is. */
const LETTERHEAD = 0.3
const TOP_OF_PAGE = 0.12
const LABORATORY_SCORE_MIN = 1.5

/**
 * The text of the head that is most likely the name of a laboratory. Speaking for it: large letters, words of names of laboratories and
 * companies, a place at the top, an address below, the host of a website, and that it stands on other pages as well. A heading of a panel
 * is none, nor is the patient.
 */
function findLaboratory(
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
  const onOtherPages = new Set(
    pages.slice(1).flatMap(({ lines }) => lines.flatMap((line) => line.cells.map((cell) => cell.text))),
  )
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

/** Whether an address, a number of a telephone or an accreditation is in the two lines below a text. */
const hasContact = (head: readonly Line[], index: number, line: Line, cell: Cell): boolean =>
  head
    .slice(index + 1, index + 3)
    .some((lineBelow) =>
      lineBelow.cells.some(
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
