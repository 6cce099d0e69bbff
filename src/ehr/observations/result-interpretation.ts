// The interpretation of a result for FHIR: what the laboratory said, in its own code where that is one of HL7. Pure.
// Source: https://terminology.hl7.org/CodeSystem-v3-ObservationInterpretation.html.
import type { BiomarkerResult } from '../../lab/results/schema.ts'
import { flagOf, type Flag } from '../../lab-values/values.ts'

const SYSTEM = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation'

const CODES = new Set(
  '< > A AA HH LL H H> HU L L< LU N B D U W CAR IND E EX HX LX NEG ND POS DET I MS NCL NR NS R RR S SDD SYN-R SYN-S UNE VS WR'.split(
    ' ',
  ),
)

/** Codes for the words and signs of flags. HL7 has no code for a mark alone, such as `*`. */
const CODES_OF_FLAGS: Partial<Record<Flag, string>> = {
  high: 'H',
  low: 'L',
  critical_high: 'HH',
  critical_low: 'LL',
  abnormal: 'A',
  critical: 'AA',
  normal: 'N',
}

/**
 * The field `interpretation`: the laboratory's flag as it was sent, as its code and, where they differ, as text. Without a flag, and next to one
 * that has no code, what the reference range shows. Absent if nothing is known.
 */
export function interpretationOf(result: BiomarkerResult): { interpretation?: object[] } {
  const flag = result.source_interpretation.trim()
  const code = codeOfFlag(flag) ?? codeOfRange(result)
  const text = flag !== '' && code !== flag ? { text: flag } : {}
  if (code === undefined && flag === '') return {}
  return { interpretation: [{ ...(code && { coding: [{ system: SYSTEM, code }] }), ...text }] }
}

function codeOfFlag(flag: string): string | undefined {
  const code = flag.toUpperCase()
  if (CODES.has(code)) return code
  const meaning = flag === '' ? undefined : flagOf(flag)
  return meaning && CODES_OF_FLAGS[meaning]
}

function codeOfRange({ interpretation, is_above_max_range, is_below_min_range }: BiomarkerResult): string | undefined {
  if (interpretation === 'unknown') return undefined
  if (interpretation === 'normal') return 'N'
  const letter = is_above_max_range ? 'H' : is_below_min_range ? 'L' : 'A'
  return interpretation === 'critical' ? letter + letter : letter
}
