// Reviews of reports by people: what they see, what they correct, and how a review ends. Owns the table parsing_job_correction.
import { join, sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, invalidField, unprocessable } from '../../platform/http/errors.ts'
import { valueFault } from '../../platform/schema/fault.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { toLoincMatch, type LoincMatch } from '../loinc/match-loinc.ts'
import { findReleaseTerm } from '../loinc/release.ts'
import { shippedTerm } from '../loinc/terms.ts'
import { lockWaiting, raiseVersion, readReviewed, type ReviewedJob } from '../parsing-jobs/jobs-in-review.ts'
import { endReview, resultData } from '../parsing-jobs/parsing-jobs.ts'
import type { FailureReason, ParsingJob } from '../parsing-jobs/schema.ts'
import type { ReadReport } from '../reading/read-report.ts'
import {
  addedResult,
  applyCorrections,
  approvedData,
  changedFields,
  type CorrectedReport,
  type CorrectedResult,
  type ResultData,
} from './corrections.ts'
import {
  CORRECTIONS_MAX,
  type Correction,
  type CorrectionAction,
  type CorrectionBody,
  type MetadataPlaces,
  type Review,
} from './schema.ts'

const Row = T.Object({
  number: T.Integer(),
  action: T.Unsafe<CorrectionAction>({ type: 'string' }),
  result_id: Nullable(T.Integer()),
  fields: T.Unsafe<Record<string, unknown>>({}),
  key_id: T.String(),
  created_at: T.String(),
})

const listCorrections = (tx: Tx, job_id: string): Promise<Correction[]> =>
  tx.many(
    Row,
    sql`
    select number, action, result_id, fields, key_id, created_at from parsing_job_correction
    where team_id = ${tx.team} and job_id = ${job_id} order by number`,
  )

/** Shows a report that waits for a person, or for which one has decided, with its corrections. Errors: 404, also of a deleted user. */
export async function readReview(tx: Tx, id: string): Promise<Review> {
  const [job, corrections] = await Promise.all([readReviewed(tx, id), listCorrections(tx, id)])
  return toWire(job, applyCorrections(job.extracted, corrections), corrections)
}

function toWire(job: ReviewedJob, report: CorrectedReport, corrections: Correction[]): Review {
  const { id, has_files, extracted, decided_by, decided_at, ...rest } = job
  return {
    ...rest,
    job_id: id,
    has_pictures: has_files,
    pages: extracted.pages ?? [],
    metadata: report.metadata,
    metadata_as_read: report.isMetadataChanged ? extracted.metadata : null,
    metadata_places: shownPlaces(extracted),
    findings: extracted.findings ?? [],
    results: report.results.map(shownResult),
    corrections,
    decision: decided_by !== null && decided_at !== null ? { key_id: decided_by, created_at: decided_at } : null,
  }
}

const shownPlaces = ({ metadata_places: read }: ReadReport): MetadataPlaces => ({
  patient_first_name: read?.patient_first_name ?? null,
  patient_last_name: read?.patient_last_name ?? null,
  dob: read?.dob ?? null,
  gender: read?.gender ?? null,
  lab_name: read?.lab_name ?? null,
  date_reported: read?.date_reported ?? null,
  date_collected: read?.date_collected ?? null,
  specimen_number: read?.specimen_number ?? null,
})

const shownResult = ({
  result_id,
  original: read,
  result,
  isChanged,
  isRemoved,
}: CorrectedResult): Review['results'][number] => ({
  result_id,
  is_added: read === undefined,
  is_removed: isRemoved,
  result,
  as_read: read && isChanged ? resultData(read) : null,
  place: read ? { page: read.place.page, row: read.place.row, value: read.place.value } : null,
  confidence: read ? read.place.confidence : null,
  findings: read ? read.findings.map(({ kind, text }) => ({ kind, text })) : [],
  comments: read?.comments ?? [],
  specimen: read?.specimen ?? null,
  method: read?.method ?? null,
  date: read?.date ?? null,
  unit_ucum: read?.unit_ucum ?? null,
})

interface NewCorrection {
  action: CorrectionAction
  result_id: number | null
  fields: Record<string, unknown>
}

/**
 * Corrects a report that waits for a person: what was read is kept. Writes parsing_job_correction, parsing_job.
 * Errors: 404 as `readReview`; 409 another version, or the report has been decided; 422 nothing is corrected, or a result or a LOINC code is
 * not known; 400 more than 2,000 corrections of one report.
 * @param key_id the key of the reviewer
 */
export async function correct(tx: Tx, id: string, body: CorrectionBody, key_id: string): Promise<Review> {
  const job = await lockWaiting(tx, id, body.version)
  const before = await listCorrections(tx, id)
  const corrections = await correctionsIn(tx, applyCorrections(job.extracted, before), body)
  if (corrections.length === 0) throw invalidField(['body'], 'must correct something')
  if (before.length + corrections.length > CORRECTIONS_MAX)
    throw badRequest(`A report has at most ${CORRECTIONS_MAX} corrections`)
  const first = (before.at(-1)?.number ?? 0) + 1
  const rows = corrections.map(
    ({ action, result_id, fields }, index) => sql`
      (${tx.team}::uuid, ${id}::uuid, ${first + index}::integer, ${action}, ${result_id}::integer, ${JSON.stringify(fields)}::jsonb,
       ${key_id}, ${tx.now}::timestamptz)`,
  )
  await tx.run(sql`
    insert into parsing_job_correction (team_id, job_id, number, action, result_id, fields, key_id, created_at)
    values ${join(rows, ', ')}`)
  await raiseVersion(tx, id)
  return readReview(tx, id)
}

async function correctionsIn(tx: Tx, report: CorrectedReport, body: CorrectionBody): Promise<NewCorrection[]> {
  const { metadata = {}, changed = [], added = [], removed = [] } = body
  const corrections: NewCorrection[] = []
  if (Object.keys(metadata).length) corrections.push({ action: 'change_metadata', result_id: null, fields: metadata })
  for (const [index, { result_id, loinc_code, ...given }] of changed.entries()) {
    const place = ['body', 'changed', index]
    const { result: before, original: read } = resultToCorrect(report, result_id, [...place, 'result_id'])
    assertRange(before, given, place)
    const fields = changedFields(before, { ...given, ...(await meaning(tx, loinc_code, place)) }, read)
    if (Object.keys(fields).length) corrections.push({ action: 'change_result', result_id, fields })
  }
  let result_id = report.results.length
  for (const [index, { loinc_code, ...given }] of added.entries()) {
    const place = ['body', 'added', index]
    assertRange({}, given, place)
    const fields = addedResult({ ...given, ...(await meaning(tx, loinc_code, place)) })
    corrections.push({ action: 'add_result', result_id: ++result_id, fields: { ...fields } })
  }
  for (const [index, gone] of removed.entries()) {
    resultToCorrect(report, gone, ['body', 'removed', index])
    if (removed.indexOf(gone) === index) corrections.push({ action: 'remove_result', result_id: gone, fields: {} })
  }
  assertOnce(body)
  return corrections
}

/** 422: a result is changed twice in a request, or changed and removed: it would not be certain which counts. */
function assertOnce({ changed = [], removed = [] }: CorrectionBody): void {
  const ids = changed.map(({ result_id }) => result_id)
  const faults = ids.flatMap((id, index) =>
    ids.indexOf(id) < index || removed.includes(id)
      ? [valueFault(['body', 'changed', index, 'result_id'], 'must be named once')]
      : [],
  )
  if (faults.length) throw unprocessable(faults)
}

type Place = (string | number)[]

function resultToCorrect({ results }: CorrectedReport, result_id: number, place: Place): CorrectedResult {
  const found = results[result_id - 1]
  if (!found || found.isRemoved) throw invalidField(place, 'must be a result of the report that was not removed')
  return found
}

/** Errors: 422 the change leaves a range whose lower bound is above the upper one. */
function assertRange(previous: Partial<ResultData>, change: Partial<ResultData>, place: Place): void {
  const { min_reference_range: min, max_reference_range: max } = { ...previous, ...change }
  const isGiven = change.min_reference_range !== undefined || change.max_reference_range !== undefined
  if (isGiven && typeof min === 'number' && typeof max === 'number' && min > max)
    throw invalidField([...place, 'min_reference_range'], 'must not be above max_reference_range')
}

/** The candidates of a result for which a person names a code: it is certain. Errors: 422 the code is not known. */
async function meaning(
  tx: Tx,
  code: string | null | undefined,
  place: Place,
): Promise<{ loinc_match_status?: ResultData['loinc_match_status']; loinc_matches?: LoincMatch[] }> {
  if (code === undefined) return {}
  if (code === null) return { loinc_match_status: 'no_match', loinc_matches: [] }
  const term = shippedTerm(code) ?? (await findReleaseTerm(tx, code))
  if (!term) throw invalidField([...place, 'loinc_code'], 'must be a LOINC code that comes along or was imported')
  return { loinc_match_status: 'auto_match', loinc_matches: [toLoincMatch(term, 1)] }
}

interface Decision {
  version: number
  key_id: string
  files_kept_s: number
}

/**
 * Approves a report with its corrections. Writes parsing_job, stored_file; emits lab_report.parsing_job.updated.
 * Errors: 404 and 409 as `correct`; 400 no result is left.
 * @param decision the version that the reviewer has seen, the key of the reviewer, and how long the files are kept from now on
 */
export async function approve(tx: Tx, id: string, { version, key_id, files_kept_s }: Decision): Promise<ParsingJob> {
  const job = await lockWaiting(tx, id, version)
  const data = approvedData(applyCorrections(job.extracted, await listCorrections(tx, id)))
  if (data.results.length === 0) throw badRequest('A report without results cannot be approved; let it fail')
  return endReview(tx, id, { data }, { decided_by: key_id, files_kept_s })
}

/**
 * Lets a report fail that a person has looked at. Writes parsing_job, stored_file; emits lab_report.parsing_job.updated. Errors: 404 and
 * 409 as `correct`.
 */
export async function fail(
  tx: Tx,
  id: string,
  { version, failure_reason, key_id, files_kept_s }: Decision & { failure_reason: FailureReason },
): Promise<ParsingJob> {
  await lockWaiting(tx, id, version)
  return endReview(tx, id, { failure: failure_reason }, { decided_by: key_id, files_kept_s })
}
