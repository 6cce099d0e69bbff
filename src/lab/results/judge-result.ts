// What a reported result means for its patient. Pure; the rules are those of src/lab-values. Source: lab-testing.md 13.3, 13.4.
import type { ReportedResult } from '../links/diagnostic-report.ts'
import { comparable, interpret, statementOfCode } from '../../lab-values/interpret.ts'
import { ageBetween } from '../../lab-values/ages.ts'
import type { Patient } from '../../lab-values/ranges.ts'
import { numberOf } from '../../lab-values/values.ts'
import type { BiomarkerResult } from './schema.ts'

type Judged = Pick<
  BiomarkerResult,
  'value' | 'min_range_value' | 'max_range_value' | 'is_above_max_range' | 'is_below_min_range' | 'interpretation'
>

export type JudgedFields = Pick<ReportedResult, 'name' | 'type' | 'result' | 'reference_range' | 'unit' | 'flag'>

/** The number of other types than `numeric`. */
const NOT_NUMERIC = -1

/**
 * Judges a result by the laboratory's flag and by its reference range for the patient. Texts are interpreted whatever their type; only
 * numbers and ranges of numbers are said to be above or below. Their point is a decimal one, whatever the range has. A range whose condition is
 * not understood has no bounds. A result without a value is not normal.
 */
export function judgeResult({ name, type, result, reference_range, unit, flag }: JudgedFields, patient: Patient): Judged {
  const lines = reference_range?.split(/\r?\n/u).map((line) => line.trim()) ?? []
  const { value: compared, range } = comparable(result.trim(), lines, patient, { unit: unit?.trim() ?? null, name })
  const isNumber = type === 'numeric' || type === 'range'
  const value = isNumber && !result.includes(',') ? result.trim() : compared
  const { interpretation, isAbove, isBelow } = interpret(value, range, statementOfCode(flag))
  return {
    value: (type === 'numeric' ? numberOf(value) : undefined) ?? NOT_NUMERIC,
    min_range_value: range && !range.isConditional ? range.min : null,
    max_range_value: range && !range.isConditional ? range.max : null,
    is_above_max_range: isNumber ? isAbove : null,
    is_below_min_range: isNumber ? isBelow : null,
    interpretation: interpretation === 'normal' && result.trim() === '' ? 'unknown' : interpretation,
  }
}

/** What ranges can depend on: sex, and the age on a day (`YYYY-MM-DD`). */
export const patientOn = ({ dob, gender }: { dob?: string | null; gender?: string | null }, day: string): Patient => ({
  sex: gender === 'male' || gender === 'female' ? gender : null,
  age: ageBetween(dob ?? undefined, day) ?? null,
})
