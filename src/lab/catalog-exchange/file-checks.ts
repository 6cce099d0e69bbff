// Checks of a catalog file beyond the shape of its rows: consistency within the file and with the existing catalog. Pure.
import type { AnalyteEntry, CatalogFile, LabEntry, MarkerEntry, QuestionEntry } from './file-schema.ts'

type Entry = LabEntry | AnalyteEntry | MarkerEntry

/** `markers[3] (quest Q55122): …` */
export type ReportError = (location: string, entry: Entry | undefined, text: string) => void

/** The label by which an operator finds a row. */
export const rowLabel = (entry: Partial<MarkerEntry & LabEntry> | undefined): string =>
  entry?.provider_id ? `${entry.lab} ${entry.provider_id}` : (entry?.slug ?? '')

/** The key of a marker: one code of one laboratory is one marker. */
export const keyOf = ({ lab, provider_id }: Pick<MarkerEntry, 'lab' | 'provider_id'>): string =>
  JSON.stringify([lab, provider_id])

function checkDuplicates<E extends Entry>(
  list: string,
  entries: E[],
  toKey: (entry: E) => string | number | null,
  description: string,
  report: ReportError,
): void {
  const seen = new Set<string | number>()
  entries.forEach((entry, i) => {
    const key = toKey(entry)
    if (key === null) return
    if (seen.has(key)) report(`${list}[${i}]`, entry, `duplicate ${description}`)
    seen.add(key)
  })
}

/** Reports all errors of a file whose rows are valid, compared with the existing catalog. */
export function checkCatalogFile(file: CatalogFile, storedFile: CatalogFile, report: ReportError): void {
  checkDuplicates('labs', file.labs, ({ slug }) => slug, 'slug', report)
  checkDuplicates('labs', file.labs, ({ id }) => id, 'id', report)
  checkDuplicates('analytes', file.analytes, ({ slug }) => slug, 'slug', report)
  checkDuplicates('markers', file.markers, keyOf, 'lab and provider_id', report)
  checkDuplicates('markers', file.markers, ({ id }) => id, 'id', report)
  checkIds('labs', file.labs, storedFile.labs, ({ slug }) => slug, report)
  checkIds('markers', file.markers, storedFile.markers, keyOf, report)
  file.analytes.forEach((analyte, i) => checkAnalyte(analyte, (text) => report(`analytes[${i}]`, analyte, text)))
  const labs = new Set([...storedFile.labs, ...file.labs].map(({ slug }) => slug))
  const analytes = new Set([...storedFile.analytes, ...file.analytes].map(({ slug }) => slug))
  file.markers.forEach((marker, i) => checkMarker(marker, labs, analytes, (text) => report(`markers[${i}]`, marker, text)))
}

/** Existing rows keep their id, and a given id must not belong to another row. */
function checkIds<E extends LabEntry | MarkerEntry>(
  list: string,
  entries: E[],
  storedEntries: E[],
  toKey: (entry: E) => string,
  report: ReportError,
): void {
  const known = new Map(storedEntries.map((entry) => [toKey(entry), entry.id]))
  const taken = new Map(storedEntries.map((entry) => [entry.id, toKey(entry)]))
  entries.forEach((entry, i) => {
    const key = toKey(entry)
    const id = known.get(key)
    if (entry.id === null) return
    if (id !== undefined && id !== entry.id)
      report(`${list}[${i}]`, entry, `the id of an existing row cannot be changed (current id: ${id})`)
    else if (id === undefined && taken.has(entry.id)) report(`${list}[${i}]`, entry, `id ${entry.id} is already in use`)
  })
}

function checkAnalyte({ definition }: AnalyteEntry, report: (text: string) => void): void {
  for (const [low, high] of [
    ['low', 'high'],
    ['low_female', 'high_female'],
    ['low_male', 'high_male'],
    ['critical_low', 'critical_high'],
  ] as const) {
    const [from, to] = [definition[low], definition[high]]
    if (from !== null && to !== null && from > to) report(`${low} is greater than ${high}`)
  }
}

function checkMarker(marker: MarkerEntry, labs: Set<string>, analytes: Set<string>, report: (text: string) => void): void {
  if (!labs.has(marker.lab)) report(`lab "${marker.lab}" does not exist`)
  const named = new Set<string>()
  for (const { analyte } of marker.results) {
    if (!analytes.has(analyte)) report(`analyte "${analyte}" does not exist`)
    if (named.has(analyte)) report(`duplicate analyte "${analyte}"`)
    named.add(analyte)
  }
  const { common_tat_days: common, worst_case_tat_days: worst } = marker
  if (common !== null && worst !== null && common > worst) report('common_tat_days is greater than worst_case_tat_days')
  if (marker.a_la_carte_enabled && !marker.is_orderable) report('a_la_carte_enabled requires is_orderable')
  const questions = marker.aoe?.questions ?? []
  if (new Set(questions.map(({ id }) => id)).size < questions.length) report('duplicate question id')
  for (const question of questions) checkQuestion(question, report)
}

function checkQuestion({ id, type, answers }: QuestionEntry, report: (text: string) => void): void {
  const isChoice = type === 'choice' || type === 'multi_choice'
  if (isChoice && !answers.length) report(`choice question ${id} has no answers`)
  if (!isChoice && answers.length) report(`question ${id} of type ${type} must not have answers`)
  if (new Set(answers.map(({ code }) => code)).size < answers.length) report(`question ${id} has duplicate answer codes`)
}
