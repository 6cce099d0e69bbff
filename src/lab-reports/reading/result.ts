// A row as a result of the API: type, unit, range for the patient, interpretation, and the specimen that it is of.
import { comparable, interpret, type Interpretation, statementOfFlag } from '../../lab-values/interpret.ts'
import type { Patient, Range } from '../../lab-values/ranges.ts'
import { isUnit } from '../../lab-values/units.ts'
import { boundOf, type Flag, intervalOf, isRatio, isResultWord, numberOf } from '../../lab-values/values.ts'
import type { Finding, LoincMatch, LoincMatchStatus } from '../loinc/match-loinc.ts'
import { specimenIn, specimensIn } from '../loinc/name-text.ts'
import type { Box } from '../pages/page.ts'
import type { Line } from '../tables/table-cells.ts'
import type { Row } from '../tables/row-parts.ts'
import { specimensOfHeads } from '../tables/statements.ts'
import { readSensitivity } from '../texts/antibiotics.ts'
import { dateIn } from '../texts/dates.ts'
import type { ReadingFinding } from './finding.ts'

export type ResultType = 'numeric' | 'range' | 'comment' | 'ratio' | 'percentage' | 'boolean' | 'duration'
/** As the API answers it, with its place. Source: lab-testing.md 25.3. */
export interface ReportResult {
  test_name: string
  value: string
  type: ResultType
  units: string | null
  min_reference_range: number | null
  max_reference_range: number | null
  source_panel_name: string | null
  sample_type: 'urine' | 'serum_plasma_blood' | 'capillary_blood' | 'stool' | 'saliva' | 'other' | 'unknown'
  measurement_kind: 'direct' | 'calculated' | 'ratio' | 'unknown'
  sensitivity: 'sensitive' | 'insensitive' | 'unknown'
  interpretation: Interpretation
  is_above_max_range: boolean | null
  is_below_min_range: boolean | null
  loinc_match_status: LoincMatchStatus | null
  loinc_matches: LoincMatch[] | null
  /** What is implausible about it, for the reviewer. */
  findings: (Finding | ReadingFinding)[]
  /** What the report notes on it, for the reviewer. */
  comments?: string[]
  /** What the report says of its specimen (also by a heading), method and day. */
  specimen?: string | null
  method?: string | null
  date?: string | null
  /** The unit in the spelling of UCUM. */
  unit_ucum?: string | null
  /** What its interpretation follows from. */
  basis?: Basis
  place: { page: number; row: Box; value: Box; confidence: number }
}

export interface Basis {
  range: Range | null
  flag: Flag | null
}

/** @param specimen what the report says of it beyond the panel and the name */
export function toResult(row: Row, patient: Patient, specimen: string | null = null): ReportResult {
  const { value, range } = comparable(row.value, row.range_lines, patient, row)
  const basis = { range: range ?? null, flag: row.flag }
  return {
    test_name: row.name,
    value: row.value,
    type: typeOf(row.value),
    units: row.unit !== null && isNoUnit(row.unit) ? null : row.unit,
    min_reference_range: range?.min ?? null,
    max_reference_range: range?.max ?? null,
    source_panel_name: row.panel,
    sample_type: sampleType(specimen, `${row.panel ?? ''} ${MEASURED_BLOOD.test(row.name) ? '' : row.name}`),
    measurement_kind: kindOf(row),
    sensitivity: readSensitivity(row.name, row.value, row.comments),
    ...interpretResult(value, basis),
    loinc_match_status: null,
    loinc_matches: null,
    findings: [],
    comments: row.comments,
    specimen,
    method: row.method,
    date: row.date,
    basis,
    place: { page: row.page, row: row.box, value: row.value_box, confidence: row.confidence },
  }
}

const BOOLEAN = /^(?:yes|no|true|false|positive|negative)$/iu
/** `1:40` is a titer, and no duration. */
const DURATION =
  /^\d+(?:\.\d+)?\s?(?:h|hr|hrs|hours?|min|mins|minutes?|s|sec|secs|seconds?)$|^(?!1:)\d{1,2}:[0-5]\d(?::[0-5]\d)?$/iu

const withoutPercent = (text: string): string => text.replaceAll(/(?<=\d)\s?%/gu, '')

/** Source: the table of lab-testing.md 25.3, whose first row that fits counts: `<50%` is a range. */
export function typeOf(value: string): ResultType {
  const text = value.trim()
  if (numberOf(text) !== undefined) return 'numeric'
  const plain = withoutPercent(text)
  if (boundOf(plain) || intervalOf(plain)) return 'range'
  if (text.includes('%')) return 'percentage'
  if (isRatio(text) && text.includes('/')) return 'ratio'
  if (DURATION.test(text)) return 'duration'
  return BOOLEAN.test(text) ? 'boolean' : 'comment'
}

type Interpreted = Pick<ReportResult, 'interpretation' | 'is_above_max_range' | 'is_below_min_range'>

/** The flags are set where the range is conclusive on both sides, or where it tells nothing and the report prints a direction. */
export function interpretResult(value: string, { range, flag }: Basis): Interpreted {
  const { interpretation, isAbove, isBelow } = interpret(value, range ?? undefined, statementOfFlag(flag))
  const isConclusive = isAbove !== null && isBelow !== null
  const isPrinted = !isConclusive && (flag === 'high' || flag === 'low')
  return {
    interpretation,
    is_above_max_range: isConclusive ? isAbove : isPrinted ? flag === 'high' : null,
    is_below_min_range: isConclusive ? isBelow : isPrinted ? flag === 'low' : null,
  }
}

/** Blood that a test strip or a stool test looks for: the name says what is measured, and nothing of the specimen. */
const MEASURED_BLOOD = /^(?:(?:occult|hidden)\s+)?blood(?:\s*[(,/].*)?$/iu

/** What the report says of the specimen decides; one that the API has no name for is `other`. */
function sampleType(specimen: string | null, text: string): ReportResult['sample_type'] {
  if (specimen === null) return sampleOf(text)
  const type = sampleOf(specimen)
  return type === 'unknown' ? 'other' : type
}

function sampleOf(text: string): ReportResult['sample_type'] {
  if (/\burin(?:e|alysis|ary)\b/iu.test(text)) return 'urine'
  if (/\b(?:stool|fecal|faecal|feces|faeces)\b/iu.test(text)) return 'stool'
  if (/\bsaliva(?:ry)?\b|\boral fluid\b/iu.test(text)) return 'saliva'
  if (/\bcapillary|dried blood|finger ?stick\b/iu.test(text)) return 'capillary_blood'
  return /\b(?:serum|plasma|blood|whole blood|edta|citrate|fluoride|heparin|cbc|haemogram|hemogram)\b/iu.test(text)
    ? 'serum_plasma_blood'
    : 'unknown'
}

function kindOf(row: Row): ReportResult['measurement_kind'] {
  if (/\bratio\b/iu.test(row.name) || /^ratio$/iu.test(row.unit ?? '')) return 'ratio'
  return /\b(?:calc(?:ulated)?\.?|e?gfr|estimated|non[- ]hdl|anion gap)\b/iu.test(row.name) ? 'calculated' : 'unknown'
}

/** A text that is a time of day; `1:40` is a titer. */
export const TIME = /^(?!1:)\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?$/iu

/** Whether what was read as a unit is a number, a range, a date, a time or a result. */
export const isNoUnit = (unit: string): boolean =>
  !isUnit(unit) &&
  (intervalOf(unit) !== undefined ||
    boundOf(unit) !== undefined ||
    numberOf(unit) !== undefined ||
    /\d\s?(?:-|–|to)\s?\d|[<>≤≥]\s?\d/u.test(unit) ||
    TIME.test(unit) ||
    dateIn(unit) !== undefined ||
    isResultWord(unit))

/** Letters that stand for specimens in columns. */
const LETTERS: Record<string, string> = { s: 'Serum', p: 'Plasma', u: 'Urine', b: 'Blood', wb: 'Whole blood' }
const BLOOD = /^(?:blood|serum|wholeblood|rbc)$/u
/** Panels that are measured in blood, whatever the head of a report says. */
const BLOOD_PANEL = /\b(?:cbc|blood count|ha?emogram|ha?ematology|lipid|liver|thyroid|coagulation|serum|plasma)\b/iu

/** Whether a text names one specimen, and neither its number nor several. */
export const isSpecimen = (text: string): boolean =>
  !/\d{3}/u.test(text) && (specimensIn(text).length === 1 || Object.hasOwn(LETTERS, text.trim().toLowerCase()))

/** What a column says of a specimen; null if it is a number or names several. */
const ofColumn = (text: string): string | null =>
  /\d{3}/u.test(text) || !/\p{L}/u.test(text) || specimensIn(text).length > 1
    ? null
    : (LETTERS[text.trim().toLowerCase()] ?? text)

/** The specimen of each row; null where nothing names one, or the heading names blood, of which most panels are. */
export function rowSpecimens(
  rows: readonly Row[],
  pages: readonly { page: { number: number }; lines: readonly Line[] }[],
): (string | null)[] {
  const ofPages = specimensOfHeads(pages, isSpecimen)
  const heads = new Map(pages.map(({ page }, index) => [page.number, ofPages[index]!]))
  return rows.map(({ specimen, section, panel, page }) => {
    const printed = specimen === null ? null : ofColumn(specimen)
    if (printed !== null) return printed
    const heading = section === null ? undefined : specimenIn(section)
    if (heading !== undefined) return BLOOD.test(heading) ? null : section
    const head = heads.get(page) ?? null
    return head !== null && !BLOOD.test(specimenIn(head) ?? 'blood') && BLOOD_PANEL.test(`${panel} ${section}`) ? null : head
  })
}

/** As LOINC tells specimens apart: blood from a vein is blood, except for its gases. */
export const specimenForLoinc = (specimen: string | null, panel: string | null): string | null =>
  specimen !== null && specimenIn(specimen) === 'venous' && !/\bgas|\bvbg\b/iu.test(panel ?? '')
    ? specimen.replaceAll(/\b(?:venous|vbg)\b/giu, 'blood')
    : specimen
