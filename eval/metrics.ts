// Compares what a parser read with the truth, and counts.
import type { TrueResult, Truth } from './corpus/truth.ts'

/** What of ParsedLabReportData is compared. */
export interface ReadReport {
  metadata: {
    patient_first_name?: string | null
    patient_last_name?: string | null
    dob?: string | null
    gender?: string | null
    lab_name?: string | null
    date_reported?: string | null
    date_collected?: string | null
    specimen_number?: string | null
  }
  results: ReadResult[]
  /** What is doubtful about the report as a whole, so that its job waits for a person. */
  findings?: unknown[] | undefined
}

export interface ReadResult {
  test_name: string
  value: string
  units?: string | null
  min_reference_range?: number | null
  max_reference_range?: number | null
  interpretation?: string | null
  source_panel_name?: string | null
  comments?: string[] | undefined
  loinc_match_status?: string | null
  loinc_matches?: { loinc_code: string; confidence_score?: number }[] | null
  /** What is doubtful about the row. */
  findings?: unknown[] | undefined
  place?: { confidence: number } | undefined
}

export interface Share {
  right: number
  total: number
}

export const metadataFields = [
  'patient_first_name',
  'patient_last_name',
  'dob',
  'gender',
  'lab_name',
  'date_reported',
  'date_collected',
  'specimen_number',
] as const
export type MetadataField = (typeof metadataFields)[number]

/** Where intervals of the score of a first candidate begin: below 0.5 a row has no match, from 0.9 on it may have `auto_match`. */
export const scoreIntervals = [0, 0.5, 0.7, 0.8, 0.9] as const

/** Counts of one document or of many. */
export interface Figures {
  documents: number
  /** Documents for which the parser threw. */
  failures: number
  duration_ms: number
  /** `matches`: name and value are both right. */
  rows: { matches: number; read: number; expected: number }
  /** Rows whose name, value, unit, range and interpretation are all right. */
  wholeRows: number
  /** Of wrong rows, and of rows that are lost: those that are caught. A lost row is caught by its report alone. */
  caughtShare: Share
  /** Of right rows: those that are doubted. */
  doubtedShare: Share
  /** Of rows with a confidence of 0.9 and more: those that are right. */
  sure: Share
  /** Of matched rows. */
  units: Share
  range: Share
  interpretation: Share
  panel: Share
  /** Of matched rows that have a comment or were read with one. */
  comments: Share
  /** Of matched rows whose analyte is in the shipped table: the first candidate is right. */
  loinc: Share
  /** Of matched rows with the status auto_match: the first candidate is wrong. */
  wrongAutoMatches: Share
  /** Of those of `loinc` that have a candidate: the first is right, by the interval of its score. */
  scores: Share[]
  metadata: Record<MetadataField, Share>
}

const noShare = (): Share => ({ right: 0, total: 0 })

export const noFigures = (): Figures => ({
  documents: 0,
  failures: 0,
  duration_ms: 0,
  rows: { matches: 0, read: 0, expected: 0 },
  wholeRows: 0,
  caughtShare: noShare(),
  doubtedShare: noShare(),
  sure: noShare(),
  units: noShare(),
  range: noShare(),
  interpretation: noShare(),
  panel: noShare(),
  comments: noShare(),
  loinc: noShare(),
  wrongAutoMatches: noShare(),
  scores: scoreIntervals.map(noShare),
  metadata: Object.fromEntries(metadataFields.map((field) => [field, noShare()])) as Figures['metadata'],
})

const comparedNames = ['units', 'range', 'interpretation', 'panel', 'comments', 'loinc', 'wrongAutoMatches'] as const
const shareNames = [...comparedNames, 'caughtShare', 'doubtedShare', 'sure'] as const

/** Adds the second to the first. */
export function addFigures(sum: Figures, figures: Figures): void {
  for (const name of ['documents', 'failures', 'duration_ms', 'wholeRows'] as const) sum[name] += figures[name]
  for (const name of ['matches', 'read', 'expected'] as const) sum.rows[name] += figures.rows[name]
  for (const name of shareNames) addShare(sum[name], figures[name])
  for (const [index, share] of figures.scores.entries()) addShare(sum.scores[index]!, share)
  for (const field of metadataFields) addShare(sum.metadata[field], figures.metadata[field])
}

function addShare(sum: Share, { right, total }: Share): void {
  sum.right += right
  sum.total += total
}

/** 1 if nothing was to be found or read. */
export const ratio = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole)

export const rowScores = ({ rows }: Figures): { precision: number; recall: number; f1: number } =>
  calculateScores(rows.matches, rows)

/** The same of whole rows: name, value, unit, range and interpretation are all right. */
export const wholeRowScores = ({ rows, wholeRows }: Figures): ReturnType<typeof rowScores> => calculateScores(wholeRows, rows)

function calculateScores(
  matches: number,
  { read, expected }: Figures['rows'],
): { precision: number; recall: number; f1: number } {
  const precision = ratio(matches, read)
  const recall = ratio(matches, expected)
  return { precision, recall, f1: precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall) }
}

export const metadataShare = ({ metadata }: Figures): Share => {
  const sum = noShare()
  for (const field of metadataFields) addShare(sum, metadata[field])
  return sum
}

export interface Comparison {
  figures: Figures
  lostResults: TrueResult[]
  falseRows: ReadResult[]
  /** Matched rows in which something else differs. */
  differences: { expected: TrueResult; read: ReadResult; fields: string[] }[]
  metadata: { field: MetadataField; expected: string; read: string }[]
}

/** Case and spaces do not count, nor which of the two signs stands for micro. */
export const normalize = (text: string): string =>
  text.normalize('NFC').replaceAll('μ', 'µ').replace(/\s+/g, ' ').trim().toLowerCase()

/** As `normalize`; spaces next to signs do not count either: `Lipoprotein(a)` is `Lipoprotein (a)`. */
export const normalizeName = (text: string): string => normalize(text).replace(/ ?([()[\]/,.:%&+-]) ?/g, '$1')

/** As `normalize`; forms of one unit are the same: `ug/dL` and `µg/dL`, `1.73 m2` and `1.73m²`, `× 10⁹/L`, `x10^9/L` and `x10~9/L`. */
export const normalizeUnit = (text: string): string =>
  normalize(text)
    .replaceAll(' ', '')
    .replaceAll('×', 'x')
    .replace(/m(?:²|\^2)/, 'm2')
    .replace(/[⁰¹²³⁴-⁹]+/, (digits) => `^${[...digits].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'.indexOf(digit)).join('')}`)
    .replace('~', '^')
    .replace(/(?<=^|\/)u(?=[a-z])/g, 'µ')

/** As `normalize`; besides, 7,500 is 7500, `< 5` is `<5`, `4 - 6` is `4-6`, and ≥ is >=. */
export function normalizeValue(text: string): string {
  const compact = normalize(text)
    .replaceAll('≥', '>=')
    .replaceAll('≤', '<=')
    .replace(/^([<>]=?) /, '$1')
    .replace(/^(\d+) ?- ?(\d+)$/, '$1-$2')
  return /^[<>]?=?\d{1,3}(,\d{2,3})+(\.\d+)?$/.test(compact) ? compact.replaceAll(',', '') : compact
}

/** Compares one document. `isInTable`: whether the shipped table has a LOINC code. */
export function compareReport(truth: Truth, read: ReadReport, isInTable: (code: string) => boolean): Comparison {
  const figures = { ...noFigures(), documents: 1 }
  const { pairs, lostResults, falseRows } = pairRows(truth.results, read.results)
  figures.rows = { matches: pairs.length, read: read.results.length, expected: truth.results.length }
  const differences: Comparison['differences'] = []
  for (const [expected, row] of pairs) {
    const fields: string[] = []
    const count = (name: (typeof comparedNames)[number], isRight: boolean) => {
      figures[name].total++
      if (isRight) figures[name].right++
      else fields.push(name)
    }
    count('units', normalizeUnit(expected.units ?? '') === normalizeUnit(row.units ?? ''))
    if (expected.range) count('range', isSameRange(expected.range, row))
    if (expected.interpretations)
      count(
        'interpretation',
        expected.interpretations.some((interpretation) => interpretation === (row.interpretation ?? 'unknown')),
      )
    count('panel', normalize(expected.source_panel_name ?? '') === normalize(row.source_panel_name ?? ''))
    const comments = [expected.comments, row.comments].map((texts) => normalize((texts ?? []).join(' ')))
    if (expected.comments && comments.some(Boolean)) count('comments', comments[0] === comments[1])
    const first = row.loinc_matches?.[0]
    const isRightCode = expected.loinc.includes(first?.loinc_code ?? '')
    if (expected.loinc.some(isInTable)) {
      count('loinc', isRightCode)
      const score = first?.confidence_score
      if (score !== undefined)
        addShare(figures.scores[scoreIntervals.findLastIndex((start) => start <= score)]!, {
          right: Number(isRightCode),
          total: 1,
        })
    }
    if (row.loinc_match_status === 'auto_match' && expected.loinc.length) {
      figures.wrongAutoMatches.total++
      if (!isRightCode) figures.wrongAutoMatches.right++
    }
    if (fields.length) differences.push({ expected, read: row, fields })
  }
  countDoubts(figures, read, { differences, falseRows, lostResults })
  return { figures, lostResults, falseRows, differences, metadata: compareMetadata(truth, read.metadata, figures) }
}

/** What of a matched row decides whether it is right as a whole. */
const WHOLE: readonly string[] = ['units', 'range', 'interpretation']
/** From here on a row is certain. */
const SURE_MIN = 0.9

function countDoubts(
  figures: Figures,
  read: ReadReport,
  { differences, falseRows, lostResults }: Pick<Comparison, 'differences' | 'falseRows' | 'lostResults'>,
): void {
  const wrong = new Set([
    ...falseRows,
    ...differences.filter(({ fields }) => fields.some((field) => WHOLE.includes(field))).map((difference) => difference.read),
  ])
  figures.wholeRows = read.results.length - wrong.size
  for (const row of read.results) {
    const isDoubted = isDoubtful(row, read)
    const share = wrong.has(row) ? figures.caughtShare : figures.doubtedShare
    share.total++
    if (isDoubted) share.right++
    if ((row.place?.confidence ?? 1) < SURE_MIN) continue
    figures.sure.total++
    if (!wrong.has(row)) figures.sure.right++
  }
  // A false row stands for one that was lost.
  const lost = Math.max(0, lostResults.length - falseRows.length)
  figures.caughtShare.total += lost
  if (read.findings?.length) figures.caughtShare.right += lost
}

/** Whether a client or a reviewer is told to look at a row: by a finding, by its status, or by that of its job. */
export const isDoubtful = (row: ReadResult, report: ReadReport): boolean =>
  Boolean(report.findings?.length || row.findings?.length) || row.loinc_match_status === 'needs_review'

function pairRows(expected: readonly TrueResult[], read: readonly ReadResult[]) {
  const keyOf = ({ test_name, value }: { test_name: string; value: string }) =>
    JSON.stringify([normalizeName(test_name), normalizeValue(value)])
  const free = new Map<string, ReadResult[]>()
  for (const row of read) free.set(keyOf(row), [...(free.get(keyOf(row)) ?? []), row])
  const pairs: [TrueResult, ReadResult][] = []
  const lostResults: TrueResult[] = []
  for (const row of expected) {
    const candidates = free.get(keyOf(row))
    // The same name and value may occur in two panels.
    const best = candidates?.find(
      ({ source_panel_name }) => normalize(source_panel_name ?? '') === normalize(row.source_panel_name ?? ''),
    )
    const match = best ?? candidates?.[0]
    if (!match) lostResults.push(row)
    else {
      candidates!.splice(candidates!.indexOf(match), 1)
      pairs.push([row, match])
    }
  }
  return { pairs, lostResults, falseRows: [...free.values()].flat() }
}

const isSameRange = ({ min, max }: { min: number | null; max: number | null }, row: ReadResult): boolean =>
  min === (row.min_reference_range ?? null) && max === (row.max_reference_range ?? null)

function compareMetadata(truth: Truth, read: ReadReport['metadata'], { metadata }: Figures): Comparison['metadata'] {
  const wrong: Comparison['metadata'] = []
  // Where a name is printed without a comma, no one can tell which of its middle words belong to the last name.
  const fullName = (first: string | null | undefined, last: string | null | undefined) =>
    normalize(`${first ?? ''} ${last ?? ''}`)
  const isSameName =
    fullName(truth.metadata.patient_first_name, truth.metadata.patient_last_name) ===
    fullName(read.patient_first_name, read.patient_last_name)
  for (const field of metadataFields) {
    const expected = truth.metadata[field]
    if (expected === undefined) continue
    const accepted = Array.isArray(expected) ? expected : [expected ?? '']
    const value = normalize(read[field] ?? (field === 'gender' ? 'other' : ''))
    const isRight =
      (accepted.length === 0 && value === '') ||
      accepted.some((text) => isSameText(field, normalize(text), value)) ||
      (isSameName && (field === 'patient_first_name' || field === 'patient_last_name')) ||
      isAmbiguousDate(truth, field, value)
    metadata[field].total++
    if (isRight) metadata[field].right++
    else wrong.push({ field, expected: accepted.join(' or '), read: read[field] ?? '' })
  }
  return wrong
}

function isSameText(field: MetadataField, expected: string, read: string): boolean {
  // A date may have a time behind it, a first name the initial of a middle one.
  if (field === 'dob' || field.startsWith('date_')) return expected === read.replace(/^(\d{4}-\d\d-\d\d)[t ].*$/, '$1')
  if (field === 'patient_first_name') return expected === read.replace(/ [a-z]\.?$/, '') || expected === read
  if (field === 'lab_name') return expected.replace(/[.,]/g, '') === read.replace(/[.,]/g, '')
  return expected === read
}

/** Whether a date whose day and month could be exchanged was returned as it is printed, with or without its time. */
function isAmbiguousDate({ ambiguousDates }: Truth, field: MetadataField, read: string): boolean {
  const printed = ambiguousDates[field.replace('date_', '')]
  return printed !== undefined && read !== '' && (normalize(printed) === read || normalize(printed).split(' ')[0] === read)
}
