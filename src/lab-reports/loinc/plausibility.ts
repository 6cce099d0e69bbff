// Notices results that cannot be: a help for the person who reviews a report. Changes no value and judges no health. Pure.
import { calculatedFindings, type KnownResult } from './calculated.ts'
import type { ReportRow } from './match-terms.ts'
import { isWithin, readNumber } from './numbers.ts'
import { type Term } from './terms.ts'
import { convert, kindsOfProperty, readUnit, type Unit, type UnitKind } from '../../lab-values/ucum-units.ts'

export interface Finding {
  kind: 'unit_is_missing' | 'outside_human_limits' | 'unit_does_not_fit' | 'contradicts_parts' | 'duplicate'
  /** For the reviewer; states no value of the patient. */
  text: string
  /** Multiplies the confidence of the best candidate. */
  factor: number
  asksForReview: boolean
}

const finding = (kind: Finding['kind'], text: string, factor: number): Finding => ({ kind, text, factor, asksForReview: true })

/**
 * Returns the faults of each row: values outside of what is possible in a living person, units that do not fit the component, calculated
 * values that contradict their parts, and one test twice on one date. `terms` are the most likely terms of the rows; undefined where there
 * is none. Terms of the full release have no limits.
 */
export function checkPlausibility(rows: readonly ReportRow[], terms: readonly (Term | undefined)[]): Finding[][] {
  const findings: Finding[][] = rows.map(() => [])
  const dates = new Map<string, KnownResult[]>()
  for (const [index, row] of rows.entries()) {
    const term = terms[index]
    if (!term) continue
    findings[index]!.push(...unitFindings(row, term), ...limitFindings(row, term))
    const date = row.date ?? ''
    if (!dates.has(date)) dates.set(date, [])
    dates.get(date)!.push({ index, row, term })
  }
  for (const results of dates.values()) {
    for (const { index, text } of calculatedFindings(results)) findings[index]!.push(finding('contradicts_parts', text, 0.88))
    // `PT Control` is that of the reagent.
    const own = results.filter(({ row }) => !/\bcontrol\b/iu.test(row.test_name))
    for (const { index, text } of duplicates(own)) findings[index]!.push(finding('duplicate', text, 0.9))
  }
  return findings
}

/** Kinds of units of an amount by those of its mass. */
const AMOUNTS: Partial<Record<UnitKind, UnitKind>> = { mass_volume: 'substance_volume', mass_time: 'substance_time' }

function unitFindings(row: ReportRow, term: Term): Finding[] {
  const units = readUnit(row.units)
  const kinds = kindsOfProperty[term.property]
  if (isWithoutUnit(row, term)) return [finding('unit_is_missing', `No unit was read, and ${term.displayName} has one.`, 1)]
  if (units.length === 0 || !kinds || term.scale !== 'Qn') return []
  // Quantities per creatinine are those of urine, of which not all have a shipped term; no other unit is misread so.
  if (units.some(({ kind }) => kind === 'creatinine_ratio')) return []
  // Not each substance of the shipped terms has one for its mass and one for its amount; neither unit is misread as the other.
  const own = kinds.map((kind) => AMOUNTS[kind] ?? kind)
  const fits = units.some(({ kind, canonical }) => own.includes(AMOUNTS[kind] ?? kind) || term.units.includes(canonical))
  if (fits) return []
  const usual = term.units.length > 0 ? ` Usual: ${term.units.slice(0, 3).join(', ')}.` : ''
  return [finding('unit_does_not_fit', `The unit ${units[0]!.canonical} does not fit ${term.displayName}.${usual}`, 0.9)]
}

const WITHOUT_UNIT = new Set<UnitKind>(['ratio', 'ph', 'index'])

/** Whether a number has no unit although what it measures has one. */
const isWithoutUnit = ({ units, value }: ReportRow, { property, scale, units: usual }: Term): boolean => {
  // Shares may be ratios by their property and are always printed with their sign.
  const kinds = usual.length && usual.every((item) => item === '%') ? (['fraction'] as const) : kindsOfProperty[property]
  const number = readNumber(value)?.value
  // A hematocrit of 0.36 has no unit, or one of liters in a liter.
  if (number === undefined || (property === 'VFr' && number > 0 && number < 1)) return false
  return !units && scale === 'Qn' && !!kinds && !kinds.some((kind) => WITHOUT_UNIT.has(kind))
}

/** `1,020`: thousands, or three decimals. What is possible decides. */
const COMMA = /(?<![\d.,])(\d),(\d{3})(?![\d.,])/u

function limitFindings(row: ReportRow, term: Term): Finding[] {
  if (COMMA.test(row.value)) {
    const decimals = { ...row, value: row.value.replace(COMMA, '$1.$2') }
    if (limitFindings(decimals, term).length === 0) return []
  }
  // `1020` for a specific gravity of 1.020
  if (/gravity/iu.test(term.component) && /^10[0-6]\d$/u.test(row.value)) return []
  const read = readNumber(row.value)
  const limits = term.low !== null && term.high !== null ? readUnit(term.rangeUnit)[0] : undefined
  if (!read || !limits) return []
  // Without a unit nothing is known, except for quantities that are printed without one.
  const units = unitsLike(row.units, limits)
  const unitless = limits.kind === 'ratio' || limits.kind === 'ph'
  const values =
    units.length > 0 ? units.map((unit) => convert(read.value, unit, limits)) : unitless && !row.units ? [read.value] : []
  const known = values.filter((value) => value !== undefined)
  if (known.length === 0 || known.some((value) => isWithin(value, read.comparator, term.low!, term.high!))) return []
  const range = `${term.low} to ${term.high} ${term.rangeUnit}`
  return [finding('outside_human_limits', `The value of ${term.displayName} is outside of what is possible (${range}).`, 0.85)]
}

/** The units that a text may be; `U/mL` and `IU/mL` are printed for each other, and the one that can be compared is meant. */
function unitsLike(text: string | null | undefined, limits: Unit): Unit[] {
  const units = readUnit(text)
  if (!text || units.some((unit) => convert(1, unit, limits) !== undefined)) return units
  return readUnit(text.includes('IU') ? text.replace('IU', 'U') : text.replace(/U(?=\/)/u, 'IU'))
}

function* duplicates(results: readonly KnownResult[]): Generator<{ index: number; text: string }> {
  const byTerm = new Map<string, KnownResult[]>()
  for (const result of results) {
    // Parts of an examination may be of one term: `Ova`, `Cysts`. A count and a concentration are two tests.
    const name = result.term.scale === 'Nom' ? result.row.test_name.toLowerCase() : ''
    const kind = readUnit(result.row.units)[0]?.kind ?? ''
    const key = [result.term.code, result.row.specimen ?? '', name, kind].join('\t')
    byTerm.set(key, [...(byTerm.get(key) ?? []), result])
  }
  for (const same of byTerm.values())
    // One result may be in several panels.
    if (new Set(same.map(({ row }) => `${row.value.trim().toLowerCase()}\t${row.units ?? ''}`)).size > 1)
      for (const { index, term } of same)
        yield {
          index,
          text: `${same.length} rows of the same date mean ${term.displayName}: check whether one is another test or a previous result.`,
        }
}
