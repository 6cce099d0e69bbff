// Who, when and which laboratory: values next to their labels, anywhere on the pages; else what the head of the report says without them.
import type { PageText } from '../pages/page.ts'
import { dateIn, dateOrder, isoWith, type DateOrder, type FoundDate } from './dates.ts'
import { ageBetween, ageOfDays, agreedAge, statedAge, type Age } from '../../lab-values/ages.ts'
import { columnsOf } from './headers.ts'
import type { Field } from './label-names.ts'
import { labelled, textsOf, type Labelled, type Place, type Placed } from './labels.ts'
import { laboratoryOf } from './laboratory.ts'
import type { Cell, Line } from './lines.ts'
import { isName, isPhysician, nameOf } from './patient-name.ts'
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
    !labelled(first.lines).some(({ field }) => OF_REPORTS.includes(field))
  return isCover ? others : pages
}

/** Reads the metadata out of all lines of a report. Fields that no label or place tells are null; no date is guessed. */
export function metadataOf(all: readonly { page: PageText; lines: readonly Line[] }[]): ReportMetadata {
  const pages = withoutCover(all)
  const lines = pages.flatMap((page) => page.lines)
  const found = labelled(lines)
  const texts = textsOf(lines)
  const of = (...fields: Field[]) => fields.flatMap((field) => found.filter((entry) => entry.field === field))

  const tableAt = pages[0]?.lines.find((line) => columnsOf(line))?.box.top ?? Infinity
  const until = Math.min((pages[0]?.page.height ?? 0) * HEAD, tableAt)
  const head = pages[0]?.lines.filter((line) => line.box.top < until) ?? []

  const saidSex = firstOf(of('sex', 'sex_age', 'age', 'dob', 'name'), sexOf) ?? firstOf(texts, sexWithin)
  const age =
    firstOf(of('age', 'sex_age', 'sex', 'dob'), ageOf) ??
    firstOf(
      texts.filter(({ value }) => saysSexAndAge(value)),
      (value) => statedAge(/\d{1,3}\s*y.*$/iu.exec(value)?.[0] ?? ''),
    )
  // `DOB / Gender`, and a date behind the name of the patient.
  const born = firstOf(of('dob', 'sex_age'), dateIn) ?? firstOf(of('name'), dateIn)
  let collected = firstOf(of('collected'), dateIn)
  let reported = firstOf(of('reported'), dateIn)
  const order = dateOrder(
    texts.map(({ value }) => value),
    {
      age_years: age ? ageOfDays(age.value.days).years : null,
      born: born?.value,
      reported: (reported ?? collected)?.value,
      collected: collected?.value,
    },
  )
  const taken = new Set(found.map(({ place }) => place.box))
  const isTaken = (cell: Cell) => taken.has(cell.box)
  const alone = dateWithoutLabel(head, { collected: collected?.value, reported: reported?.value }, order, isTaken)
  // A date of which the report does not say what it is belongs to the report itself, if nothing contradicts.
  const dated = firstOf(of('date'), dateIn)
  if (!reported && dated && isNotBefore(dated.value, collected?.value, order)) reported = dated
  if (alone?.field === 'collected') collected = { value: alone.date, place: alone.place }
  if (alone?.field === 'reported') reported = { value: alone.date, place: alone.place }

  const names = of('name').filter(({ value }) => isName(value) && !isPhysician(value))
  // `PATIENT COMPREHENSIVE METABOLIC PANEL` may be a title.
  const labelledName = names.find(({ label }) => /patient.*name|name.*patient/iu.test(label ?? '')) ?? names[0]
  const [given, family] = [of('first_name'), of('last_name')].map((all) => all.find(({ value }) => isName(value)))
  const namedLabs = of('lab')
  const full = labelledName ?? (given || family ? undefined : nameWithoutLabel(head, isTaken))
  const sex = saidSex ?? (full && firstOf([full], sexOfTitle))
  const name = nameOf(full?.value, { first: given?.value, last: family?.value })
  const isPatient = (text: string) =>
    [full, given, family].some((one) => one !== undefined && (one.value === text || text.includes(one.value)))
  const lab = laboratoryOf(namedLabs, pages, tableAt, isPatient)
  const specimen = numberOfSpecimen(of('specimen'))

  const shown = (date: FoundDate | undefined) => (date ? (isoWith(date, order) ?? date.text) : null)
  const places: Record<keyof Metadata, Place | undefined> = {
    patient_first_name: (given && family ? given : (full ?? given))?.place,
    patient_last_name: (given && family ? family : (full ?? family))?.place,
    dob: born?.place,
    gender: sex?.place,
    lab_name: lab?.place,
    date_reported: reported?.place,
    date_collected: collected?.place,
    specimen_number: specimen?.place,
  }
  const metadata: Metadata = {
    ...name,
    dob: shown(born?.value),
    gender: sex?.value ?? 'other',
    lab_name: lab?.value ?? null,
    date_reported: shown(reported?.value),
    date_collected: shown(collected?.value),
    specimen_number: specimen?.value ?? null,
  }
  const iso = (date: FoundDate | undefined) => date && isoWith(date, order)
  const counted = ageBetween(iso(born?.value), iso((collected ?? reported)?.value))
  return { ...metadata, age: agreedAge(age?.value, counted), places: ofRead(places, metadata) }
}

function isNotBefore(date: FoundDate, other: FoundDate | undefined, order: DateOrder): boolean {
  const [one, from] = [isoWith(date, order), other && isoWith(other, order)]
  return one === undefined || from === undefined || one >= from
}

/** The first text of which something can be read, with its place. */
function firstOf<T>(texts: readonly Placed[], read: (value: string) => T | undefined): { value: T; place: Place } | undefined {
  for (const { value, place } of texts) {
    const one = read(value)
    if (one !== undefined) return { value: one, place }
  }
  return undefined
}

const ofRead = (places: Record<keyof Metadata, Place | undefined>, metadata: Metadata): MetadataPlaces =>
  Object.fromEntries(
    Object.entries(places).filter(([field, place]) => place !== undefined && metadata[field as keyof Metadata] !== null),
  )

const ORDER_LABEL = /^(?:file|req|order|report|request|episode|registration|reg|vid|visit|case|our|sr|s\b|serial|sl|ref|bill)/iu

/** That of the specimen itself comes before that of its order or report, wherever they stand. */
const numberOfSpecimen = (found: readonly Labelled[]) =>
  firstOf(
    found.toSorted((one, other) => Number(ORDER_LABEL.test(one.label ?? '')) - Number(ORDER_LABEL.test(other.label ?? ''))),
    specimenOf,
  )
