// Who, when and which laboratory: values next to their labels, anywhere on the pages; else what the head of the report says without them.
import type { PageText } from '../pages/page.ts'
import { dateIn, dateOrder, isoWith, type DateOrder, type PrintedDate } from './dates.ts'
import { ageBetween, ageOfDays, agreedAge, statedAge, type Age } from '../../lab-values/ages.ts'
import { columnsOf } from './headers.ts'
import type { Field } from './label-names.ts'
import { readLabels, placedTexts, type LabeledText, type Place, type PlacedText } from './labels.ts'
import { findLaboratory } from './laboratory.ts'
import type { Cell, Line } from './lines.ts'
import { isName, isPhysician, splitName } from './patient-name.ts'
import { ageOf, saysSexAndAge, sexOf, sexOfTitle, sexWithin, specimenOf } from './personal.ts'
import { dateWithoutLabel, nameWithoutLabel } from './unlabelled.ts'

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

/** Where each field stands that was read; none for those that the report does not state. */
export type MetadataPlaces = Partial<Record<keyof Metadata, Place>>

export interface ReportMetadata extends Metadata {
  age: Age | null
  places: MetadataPlaces
}

/** Of the height of the first page: what stands above is its head, if no table begins before. */
const HEAD = 0.45

/** What the cover of a fax calls itself, in a line of its own: `Fax` beside a number is a part of a letterhead. */
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

/** Reads the metadata out of all lines of a report. Fields that no label or place tells are null; no date is guessed. */
export function metadataOf(all: readonly { page: PageText; lines: readonly Line[] }[]): ReportMetadata {
  const pages = withoutCover(all)
  const lines = pages.flatMap((page) => page.lines)
  const labels = readLabels(lines)
  const texts = placedTexts(lines)
  const labelsFor = (...fields: Field[]) => fields.flatMap((field) => labels.filter((entry) => entry.field === field))

  const tableAt = pages[0]?.lines.find((line) => columnsOf(line))?.box.top ?? Infinity
  const bottom = Math.min((pages[0]?.page.height ?? 0) * HEAD, tableAt)
  const head = pages[0]?.lines.filter((line) => line.box.top < bottom) ?? []

  const statedSex = firstReadable(labelsFor('sex', 'sex_age', 'age', 'dob', 'name'), sexOf) ?? firstReadable(texts, sexWithin)
  const age =
    firstReadable(labelsFor('age', 'sex_age', 'sex', 'dob'), ageOf) ??
    firstReadable(
      texts.filter(({ value }) => saysSexAndAge(value)),
      (value) => statedAge(/\d{1,3}\s*y.*$/iu.exec(value)?.[0] ?? ''),
    )
  // `DOB / Gender`, and a date behind the name of the patient.
  const born = firstReadable(labelsFor('dob', 'sex_age'), dateIn) ?? firstReadable(labelsFor('name'), dateIn)
  let collected = firstReadable(labelsFor('collected'), dateIn)
  let reported = firstReadable(labelsFor('reported'), dateIn)
  const order = dateOrder(
    texts.map(({ value }) => value),
    {
      age_years: age ? ageOfDays(age.value.days).years : null,
      born: born?.value,
      reported: (reported ?? collected)?.value,
      collected: collected?.value,
    },
  )
  const labeledBoxes = new Set(labels.map(({ place }) => place.box))
  const isLabeled = (cell: Cell) => labeledBoxes.has(cell.box)
  const unlabeledDate = dateWithoutLabel(head, { collected: collected?.value, reported: reported?.value }, order, isLabeled)
  // A date of which the report does not say what it is belongs to the report itself, if nothing contradicts.
  const dateOfReport = firstReadable(labelsFor('date'), dateIn)
  if (!reported && dateOfReport && isNotBefore(dateOfReport.value, collected?.value, order)) reported = dateOfReport
  if (unlabeledDate?.field === 'collected') collected = { value: unlabeledDate.date, place: unlabeledDate.place }
  if (unlabeledDate?.field === 'reported') reported = { value: unlabeledDate.date, place: unlabeledDate.place }

  const names = labelsFor('name').filter(({ value }) => isName(value) && !isPhysician(value))
  // `PATIENT COMPREHENSIVE METABOLIC PANEL` may be a title.
  const labelledName = names.find(({ label }) => /patient.*name|name.*patient/iu.test(label ?? '')) ?? names[0]
  const [givenName, familyName] = [labelsFor('first_name'), labelsFor('last_name')].map((all) => all.find(({ value }) => isName(value)))
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
    dob: born?.place,
    gender: sex?.place,
    lab_name: lab?.place,
    date_reported: reported?.place,
    date_collected: collected?.place,
    specimen_number: specimen?.place,
  }
  const metadata: Metadata = {
    ...name,
    dob: toText(born?.value),
    gender: sex?.value ?? 'other',
    lab_name: lab?.value ?? null,
    date_reported: toText(reported?.value),
    date_collected: toText(collected?.value),
    specimen_number: specimen?.value ?? null,
  }
  const iso = (date: PrintedDate | undefined) => date && isoWith(date, order)
  const ageFromDates = ageBetween(iso(born?.value), iso((collected ?? reported)?.value))
  return { ...metadata, age: agreedAge(age?.value, ageFromDates), places: statedPlaces(places, metadata) }
}

function isNotBefore(date: PrintedDate, other: PrintedDate | undefined, order: DateOrder): boolean {
  const [one, from] = [isoWith(date, order), other && isoWith(other, order)]
  return one === undefined || from === undefined || one >= from
}

/** The first text of which something can be read, with its place. */
function firstReadable<T>(texts: readonly PlacedText[], read: (value: string) => T | undefined): { value: T; place: Place } | undefined {
  for (const { value, place } of texts) {
    const one = read(value)
    if (one !== undefined) return { value: one, place }
  }
  return undefined
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
