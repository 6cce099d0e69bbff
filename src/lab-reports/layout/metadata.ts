// Who, when and which laboratory: values next to their labels, anywhere on the pages.
import { heightOf, type PageText } from '../pages/page.ts'
import { dateIn, dateOrder, isoWith, type FoundDate } from './dates.ts'
import { INSIDE, labelled, type Field, type Labelled } from './labels.ts'
import type { Line } from './lines.ts'
import { isName, nameOf } from './patient-name.ts'

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

export interface ReportMetadata extends Metadata {
  age_years: number | null
}

/** Of a cell that is searched for metadata. */
const TEXT_LETTERS_MAX = 1_000

/** Reads the metadata out of all lines of a report. Fields that no label or place tells are null; no date is guessed. */
export function metadataOf(pages: readonly { page: PageText; lines: readonly Line[] }[]): ReportMetadata {
  const found = pages.flatMap(({ lines }) => labelled(lines))
  const texts = pages.flatMap(({ lines }) =>
    lines.flatMap((line) => line.cells.map((cell) => cell.text.slice(0, TEXT_LETTERS_MAX))),
  )
  for (const text of texts)
    for (const [field, pattern] of INSIDE) {
      const value = pattern.exec(text)?.[1]
      if (value) found.push({ field, value })
    }
  const values = (field: Field) => found.filter((entry) => entry.field === field).map((entry) => entry.value)

  const sex =
    [...values('sex'), ...values('sex_age'), ...values('age'), ...values('dob')].map(sexOf).find(Boolean) ?? sexAnywhere(texts)
  const age =
    [...values('age'), ...values('sex_age'), ...values('sex'), ...values('dob')]
      .map(ageOf)
      .find((years) => years !== undefined) ?? null
  const dates = (field: Field) => values(field).flatMap((value) => dateIn(value) ?? [])
  const [born, collected, reported] = [dates('dob')[0], dates('collected')[0], dates('reported')[0]]
  const order = dateOrder(texts, { age_years: age, born, reported: reported ?? collected, collected })
  const shown = (date: FoundDate | undefined) => (date ? (isoWith(date, order) ?? date.text) : null)
  const name = nameOf(
    values('name').find((value) => isName(value)),
    {
      first: values('first_name').find(isName),
      last: values('last_name').find(isName),
    },
  )
  return {
    ...name,
    dob: shown(born),
    gender: sex ?? 'other',
    lab_name: labOf(values('lab'), pages),
    date_reported: shown(reported),
    date_collected: shown(collected),
    specimen_number: numberOfSpecimen(found),
    age_years: age,
  }
}

function sexOf(value: string): 'male' | 'female' | undefined {
  if (/\bfemale\b|(?:^|[\s/(,])f(?:$|[\s/),.])/iu.test(value)) return 'female'
  return /\bmale\b|(?:^|[\s/(,])m(?:$|[\s/),.])/iu.test(value) ? 'male' : undefined
}

/** `34 Y / F`, `(F, 45)` without a label. */
function sexAnywhere(texts: readonly string[]): 'male' | 'female' | undefined {
  for (const text of texts) {
    const match =
      /\b\d{1,3}\s*(?:y|yr|yrs|year|years)\.?(?:\s*old)?\s*[/,|-]?\s*(male|female|m|f)\b/iu.exec(text) ??
      /^(male|female)$/iu.exec(text.trim()) ??
      /[([,/]\s*(male|female)\s*(?:[)\]/,]|$)/iu.exec(text)
    if (match) return match[1]!.toLowerCase().startsWith('f') ? 'female' : 'male'
  }
  return undefined
}

function ageOf(value: string): number | undefined {
  const match = /(?:^|[\s(/,])(\d{1,3})\s*(?:y|yr|yrs|year|years)?\b(?![-/.]\d)/iu.exec(value)
  const years = match ? Number(match[1]) : NaN
  return years <= 120 && (!dateIn(value) || /\d\s*y/iu.test(match![0])) ? years : undefined
}

function specimenOf(value: string): string | undefined {
  const match = /^[:#\s]*([A-Z0-9][A-Z0-9\-/._]{2,29})(?=$|\s|,|;)/iu.exec(value)
  return match && /\d/u.test(match[1]!) && !dateIn(match[1]!) ? match[1] : undefined
}

const LAB_WORDS =
  /\b(?:lab|labs|laborator(?:y|ies)|diagnostics?|diagnostic|patholog(?:y|ies|ists?)|clinic|hospital|health(?:care)?|medical (?:center|centre)|biosciences?|analytics|institute|wellness|genomics|screening|medlab|pathlabs?|biolabs?)\b/iu

/** That of the specimen itself comes before that of its order or report, wherever they stand. */
const numberOfSpecimen = (found: readonly Labelled[]): string | null => {
  const own = found.filter(({ field }) => field === 'specimen')
  const ranked = own.toSorted(
    (one, other) => Number(ORDER_LABEL.test(one.label ?? '')) - Number(ORDER_LABEL.test(other.label ?? '')),
  )
  return ranked.map(({ value }) => specimenOf(value)).find(Boolean) ?? null
}
const ORDER_LABEL = /^(?:req|order|report|request|episode|registration|reg|vid|visit|case|our)/iu

/** The labelled laboratory, else the first large line at the head of the first page that names one. */
function labOf(labels: readonly string[], pages: readonly { page: PageText; lines: readonly Line[] }[]): string | null {
  const first = pages[0]
  if (!first) return null
  const head = first.lines.filter((line) => line.box.top < first.page.height * 0.3).flatMap((line) => line.cells)
  const heights = first.lines
    .flatMap((line) => line.cells.map((cell) => heightOf(cell.box)))
    .toSorted((one, other) => one - other)
  const usual = heights[Math.floor(heights.length / 2)] || 1
  const scored = head
    .filter((cell) => /\p{L}{3}/u.test(cell.text) && !NO_LAB.test(cell.text) && cell.text.split(' ').length <= 8)
    .map((cell) => {
      const size = Math.min(heightOf(cell.box) / usual, 2.5)
      const score = size + (LAB_WORDS.test(cell.text) ? 0.8 : 0) + (cell.box.top < first.page.height * 0.12 ? 0.4 : 0)
      return { cell, score: score - (cell.box.top / first.page.height) * 0.5 }
    })
    .toSorted((one, other) => other.score - one.score)
  if (scored[0] && scored[0].score > 1.7) return scored[0].cell.text.replace(/[,;\s]+$/u, '')
  const label = labels.find((value) => /\p{L}{3}/u.test(value))
  return label ? label.replace(/\s*[,;(].*$/u, '') : (scored.find(({ cell }) => LAB_WORDS.test(cell.text))?.cell.text ?? null)
}

const NO_LAB =
  /[:@]|www\.|http|\d{4}|\b(?:reports?|results?|patients?|page|phone|tel|fax|address|comments?|tests?|number|name|record|range|profile|panel|count|department|confidential|information|date|final|street|road|avenue|drive|suite|plot|born)\b/iu
