// Converts a manually entered report into the diagnostic report that every link delivers. Pure.
import type { DiagnosticReport, ReportedMissing, ReportedResult, ResultType } from '../links/diagnostic-report.ts'
import { unprocessable } from '../../platform/http/errors.ts'
import { valueFault, type Fault, type Loc } from '../../platform/schema/fault.ts'
import { toMeasuredAnalyte, type ExpectedResult } from '../results/expected-results.ts'
import { measurementOf } from '../../lab-values/measurement.ts'
import type { EnterReport } from './schema.ts'

/** The specimen data of the order, for reports that omit them. */
export interface Specimen {
  number: string
  collected_at: string | null
  received_at: string | null
  now: string
}

/** A decimal number, with commas between thousands or without: a decimal comma would be lost. */
const NUMBER = /^[+-]?(?:(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{0,15})?|\.\d{1,15})$/
/** `<1.2`, `>=40`, `3-5`. Source: lab-testing.md 13.3. */
const RANGE = /^([<>]=?\d*(\.\d+)?|(\d*(\.\d+)?-\d*(\.\d+)?))$/

/**
 * Builds the report. Errors: 422 with all field errors: an unexpected result, a repeated result, one of another type or unit than expected;
 * timestamps in the future or in the wrong order.
 */
export function parseManualReport(body: EnterReport, expected: ExpectedResult[], specimen: Specimen): DiagnosticReport {
  const faults: Fault[] = []
  const find = createFinder(expected, faults)
  const results = body.results.map((item, i) => {
    const known = find(item.analyte, ['results', i])
    return known && toResult(known, item, ['body', 'results', i], faults)
  })
  const missing = (body.missing ?? []).map((item, i): ReportedMissing | undefined => {
    const known = find(item.analyte, ['missing', i])
    return known && { ...toMeasuredAnalyte(known), failure: item.failure, note: item.note?.trim() || null }
  })
  const times = parseTimes(body, specimen, faults)
  if (faults.length) throw unprocessable(faults)
  return {
    status: body.status,
    amended: body.amended ?? false,
    specimen_number: specimen.number,
    ...times,
    performing_laboratory: null,
    results: results as ReportedResult[],
    missing: missing as ReportedMissing[],
  }
}

/** Finds the expected result for each entry, measured or missing, and reports repeated ones. */
function createFinder(expected: ExpectedResult[], faults: Fault[]) {
  const seen = new Set<string>()
  return (analyte: string, fieldLoc: Loc): ExpectedResult | undefined => {
    const loc = ['body', ...fieldLoc, 'analyte']
    const known = findExpected(expected, analyte.trim())
    if (!known) faults.push(valueFault(loc, 'must be an expected result of the order'))
    else if (seen.has(known.slug)) faults.push(valueFault(loc, 'must not be repeated'))
    else {
      seen.add(known.slug)
      return known
    }
    return undefined
  }
}

/** Finds by slug, else by a code that only one expected result has. */
function findExpected(expected: ExpectedResult[], analyte: string): ExpectedResult | undefined {
  const bySlug = expected.find(({ slug }) => slug === analyte)
  if (bySlug) return bySlug
  const byCode = expected.filter(
    ({ loinc, provider_id, source_markers }) =>
      loinc === analyte || provider_id === analyte || source_markers.some((marker) => marker.provider_id === analyte),
  )
  return byCode.length === 1 ? byCode[0] : undefined
}

function toResult(
  expected: ExpectedResult,
  item: EnterReport['results'][number],
  loc: Loc,
  faults: Fault[],
): ReportedResult | undefined {
  const { definition } = expected
  const words = item.value.trim()
  const type = resolveType(definition?.type ?? null, words)
  const unit = item.unit?.trim() || null
  if (type === undefined) faults.push(valueFault([...loc, 'value'], 'must be a number or a range of numbers, such as <0.3'))
  else if (words === '') faults.push(valueFault([...loc, 'value'], 'must not be blank'))
  if (unit !== null && definition?.unit && normalizeUnit(unit) !== normalizeUnit(definition.unit))
    faults.push(valueFault([...loc, 'unit'], `must be ${definition.unit}`))
  return (
    type && {
      ...toMeasuredAnalyte(expected),
      type,
      result: type === 'numeric' || type === 'range' ? normalizeNumber(words) : words,
      unit: unit ?? definition?.unit ?? null,
      reference_range: item.reference_range?.trim() || null,
      flag: item.flag?.trim() ?? '',
      notes: item.notes?.trim() || null,
    }
  )
}

/** Undefined if a number is expected and the value is text. */
function resolveType(expected: ResultType | null, value: string): ResultType | undefined {
  if (expected === 'comment' || expected === 'coded_value') return expected
  if (NUMBER.test(value)) return 'numeric'
  if (RANGE.test(normalizeNumber(value)) && measurementOf(normalizeNumber(value))) return 'range'
  return expected === null ? 'comment' : undefined
}

/** A number or a range in the form of results: without commas and spaces, `≤` as `<=`. */
const normalizeNumber = (text: string): string =>
  text
    .replaceAll(',', '')
    .replaceAll('≤', '<=')
    .replaceAll('≥', '>=')
    .replace(/\s*([<>=-])\s*/g, '$1')

/** Normalizes a unit: without the brackets of UCUM, in one letter case, and with one of the two micro signs. */
const normalizeUnit = (unit: string): string =>
  unit
    .replace(/[[\]\s]/g, '')
    .replace(/[µμ]/g, 'u')
    .toLowerCase()

function parseTimes(body: EnterReport, specimen: Specimen, faults: Fault[]) {
  const collected_at = body.collected_at ?? specimen.collected_at
  const received_at = body.received_at ?? specimen.received_at
  const reported_at = body.reported_at ?? specimen.now
  const at = (text: string) => Date.parse(text)
  for (const name of ['collected_at', 'received_at', 'reported_at'] as const)
    if (body[name] !== undefined && at(body[name]) > at(specimen.now))
      faults.push(valueFault(['body', name], 'must not be in the future'))
  if (body.received_at !== undefined && collected_at !== null && at(body.received_at) < at(collected_at))
    faults.push(valueFault(['body', 'received_at'], 'must not be before the sample was collected'))
  if (body.collected_at !== undefined && at(body.collected_at) > at(reported_at))
    faults.push(valueFault(['body', 'collected_at'], 'must not be after the report'))
  return { collected_at, received_at, reported_at }
}
