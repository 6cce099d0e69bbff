// Corrections of a report, applied to what was read of it. Pure: the report as it was read is never changed.
import { resultData } from '../parsing-jobs/parsing-jobs.ts'
import type { ReportData } from '../parsing-jobs/schema.ts'
import type { ReadReport } from '../reading/read-report.ts'
import { interpretResult, typeOf, type Basis, type ReportResult } from '../reading/result.ts'
import type { Correction } from './schema.ts'

export type ResultData = ReportData['results'][number]

export interface CorrectedResult {
  result_id: number
  /** Undefined for a result that a person added. */
  original: ReportResult | undefined
  result: ResultData
  isChanged: boolean
  isRemoved: boolean
}

export interface CorrectedReport {
  metadata: ReportData['metadata']
  isMetadataChanged: boolean
  /** Read results first, then added ones; including removed ones. */
  results: CorrectedResult[]
}

/** A report with all corrections, in the order in which they were made. */
export function applyCorrections(
  { metadata, results }: ReadReport,
  corrections: readonly Pick<Correction, 'action' | 'result_id' | 'fields'>[],
): CorrectedReport {
  const corrected: CorrectedReport = {
    metadata: { ...metadata },
    isMetadataChanged: false,
    results: results.map((original, index) => ({
      result_id: index + 1,
      original,
      result: resultData(original),
      isChanged: false,
      isRemoved: false,
    })),
  }
  for (const { action, result_id, fields } of corrections) {
    const known = result_id === null ? undefined : corrected.results[result_id - 1]
    if (action === 'change_metadata') {
      corrected.metadata = { ...corrected.metadata, ...fields }
      corrected.isMetadataChanged = true
    } else if (action === 'add_result')
      corrected.results.push({
        result_id: corrected.results.length + 1,
        original: undefined,
        result: fields as ResultData,
        isChanged: false,
        isRemoved: false,
      })
    else if (action === 'remove_result') known!.isRemoved = true
    else if (known) {
      known.result = { ...known.result, ...fields }
      known.isChanged = true
    }
  }
  return corrected
}

/** What a report says after its review. */
export const approvedData = ({ metadata, results }: CorrectedReport): ReportData => ({
  metadata,
  results: results.filter(({ isRemoved }) => !isRemoved).map(({ result }) => result),
})

const EMPTY: Omit<ResultData, 'test_name' | 'value'> = {
  type: null,
  units: null,
  min_reference_range: null,
  max_reference_range: null,
  source_panel_name: null,
  sample_type: 'unknown',
  measurement_kind: 'unknown',
  sensitivity: 'unknown',
  interpretation: 'unknown',
  is_above_max_range: null,
  is_below_min_range: null,
  loinc_match_status: 'no_match',
  loinc_matches: [],
}

type Change = Partial<ResultData>

/** A result that a person adds, with what follows from its value and range. */
export const addedResult = (change: Change & Pick<ResultData, 'test_name' | 'value'>): ResultData => ({
  ...EMPTY,
  ...change,
  ...consequences(EMPTY, { ...EMPTY, ...change }, change),
})

/** What a person changes of a result, with what follows from it. `read`: the result as it was read, if it was. */
export const changedFields = (previous: ResultData, change: Change, original?: ReportResult): Change => ({
  ...change,
  ...consequences(previous, { ...previous, ...change }, change, original?.basis),
})

const gives = (change: Change, ...fields: (keyof ResultData)[]): boolean => fields.some((field) => change[field] !== undefined)

/**
 * What is not given and follows: the type from the value, the interpretation from value and range, and that a match which was certain
 * asks for review when the name, the unit or the panel is another one.
 */
function consequences(previous: Change, result: ResultData, correction: Change, basis?: Basis): Change {
  const { value } = result
  const change: Change = {}
  if (gives(correction, 'value') && !gives(correction, 'type')) change.type = typeOf(value)
  const isJudged = gives(correction, 'interpretation', 'is_above_max_range', 'is_below_min_range')
  if (gives(correction, 'value', 'min_reference_range', 'max_reference_range') && !isJudged)
    Object.assign(change, interpretResult(value, basisAfter(result, basis)))
  const isRenamed = (['test_name', 'units', 'source_panel_name'] as const).some((field) => result[field] !== previous[field])
  if (isRenamed && !gives(correction, 'loinc_matches') && result.loinc_match_status === 'auto_match')
    change.loinc_match_status = 'needs_review'
  return change
}

/** The range and flag as they were read, while a person has not changed the bounds; else the bounds that the person gave, included. */
function basisAfter({ min_reference_range, max_reference_range }: ResultData, original?: Basis): Basis {
  const [min, max] = [min_reference_range ?? null, max_reference_range ?? null]
  if (original && min === (original.range?.min ?? null) && max === (original.range?.max ?? null)) return original
  return { range: { min, max, text: '', word: null }, flag: original?.flag ?? null }
}
