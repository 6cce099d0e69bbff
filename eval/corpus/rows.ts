// One row of results as a layout prints it, with what is true about it.
import type { Analyte, Bounds, NumericAnalyte, QualitativeAnalyte } from './analytes.ts'
import { decisionLimits } from './decision-limits.ts'
import type { FlagStyle, Layout, RangeStyle, ScaledUnit } from './language.ts'
import type { Person } from './people.ts'
import type { Random } from './random.ts'
import type { Interpretation, TrueResult } from './truth.ts'
import { group, spelling } from './units.ts'
import { boundsFor } from './values.ts'

/** A result of one day. */
export interface PrintedValue {
  value: string
  flag: string
  word: string
  isOutside: boolean
  /** What follows from the value and a printed range; what a printed flag says is decided where rows are composed. */
  byRange: Interpretation[]
  /** What a printed flag says; undefined if there is none. */
  byFlag: Interpretation | undefined
}

export interface Row {
  key: string
  name: string
  unit: string
  method: string
  code: string
  number: string
  /** Lines. */
  range: string
  trueRange: TrueResult['range']
  /** Of each day, the latest first. */
  values: PrintedValue[]
  codes: string[]
  remark?: string
  /** Where the value is between its bounds, from 0 to 1. */
  fraction: number
}

export function printRow(
  analyte: Analyte,
  layout: Layout,
  sex: Person['sex'],
  values: (number | undefined)[],
  random: Random,
): Row {
  const name = analyte.names[layout.dialect]
  const shared = {
    key: analyte.key,
    name: layout.nameCase === 'upper' ? name.toUpperCase() : layout.nameCase === 'lower' ? name.toLowerCase() : name,
    code: String(100 + ((analyte.names.us.length * 37 + analyte.key.charCodeAt(0) * 11) % 900)),
    number: '',
  }
  if (analyte.kind === 'words') return { ...shared, ...printWords(analyte, layout, values.length, random) }
  return { ...shared, ...printNumbers(analyte, layout, sex, values as number[], random) }
}

function printWords(
  analyte: QualitativeAnalyte,
  { flags, ranges }: Layout,
  count: number,
  random: Random,
): Omit<Row, 'key' | 'name' | 'code' | 'number'> {
  const numbers = /^(\d+)-(\d+)$/.exec(analyte.reference)
  const [isCutoff, isTiter] = [analyte.reference.startsWith('Cutoff'), analyte.reference.includes(':')]
  return {
    unit: '',
    method: '',
    range: analyte.reference || (ranges.noRange ?? ''),
    trueRange: numbers
      ? { min: Number(numbers[1]), max: Number(numbers[2]) }
      : isCutoff || isTiter
        ? undefined
        : { min: null, max: null },
    codes: analyte.codes,
    fraction: 0.5,
    values: Array.from({ length: count }, () => {
      const isExpected = random.chance(0.8) || analyte.unexpectedTexts.length === 0
      const value = random.pick(isExpected ? analyte.expected : analyte.unexpectedTexts)
      const isOutside = !isExpected && analyte.reference !== ''
      return {
        value,
        flag: (isOutside ? flags.abnormal : flags.normal) ?? '',
        word: isOutside ? 'Abnormal' : 'Normal',
        isOutside,
        byRange: isOutside ? ['abnormal', 'unknown'] : analyte.reference ? ['normal', 'unknown'] : ['unknown'],
        byFlag: isOutside ? (flags.abnormal ? 'abnormal' : undefined) : flags.normal ? 'normal' : undefined,
      }
    }),
  }
}

/** Limits of detection, in conventional units. */
const DETECTION: Record<string, string> = {
  tsh: '<0.005',
  egfr: '>90',
  psa: '<0.1',
  hs_crp: '<0.15',
  tpo_ab: '<9',
  troponin_t: '<6',
  bhcg: '<1',
  b12: '>2000',
  crp: '<1',
  lp_a: '<10',
  ttg_iga: '<2',
  urine_albumin: '<3.0',
}

function printNumbers(
  analyte: NumericAnalyte,
  layout: Layout,
  sex: Person['sex'],
  values: number[],
  random: Random,
): Omit<Row, 'key' | 'name' | 'code' | 'number'> {
  const measure = layout.si ? analyte.si : analyte.conventional
  const spelled = spelling(measure.unit, layout.units)
  const scaled: ScaledUnit = typeof spelled === 'string' ? { print: spelled, factor: 1, decimals: measure.decimals } : spelled
  const print = (value: number) => {
    const text = (value * measure.factor * scaled.factor).toFixed(scaled.decimals)
    return Number(text) === 0 ? text.replace('-', '') : text
  }
  const printed = (bounds: Bounds) => ({
    low: bounds.low === null ? null : print(bounds.low),
    high: bounds.high === null ? null : print(bounds.high),
  })
  const grouped = (text: string | null) => (text === null ? null : group(text, scaled.grouping))
  const range = printed(boundsFor(analyte, sex))
  const write = (bounds: Bounds) => {
    const { low, high } = printed(bounds)
    return writeRange(grouped(low), grouped(high), layout.ranges)
  }
  const limits = layout.ranges.decisionLimits && !layout.si ? decisionLimits[analyte.key] : undefined
  const bySex = analyte.bySex && layout.ranges.bySex
  const min = layout.ranges.dropsZero && Number(range.low) === 0 && range.high !== null ? null : range.low
  const lowest = min === null ? null : Number(min)
  const highest = range.high === null ? null : Number(range.high)
  const written = limits ? limits.join('\n') : bySex ? writeBySex(bySex, analyte.bySex!, write) : write(boundsFor(analyte, sex))
  return {
    unit: scaled.print,
    method: analyte.method,
    range: written,
    trueRange: limits ? undefined : { min: lowest, max: highest },
    codes: measure.codes,
    fraction: rangeFraction(values[0]! * measure.factor * scaled.factor, lowest, highest),
    values: values.map((value) => {
      const limit =
        layout.comparators && measure.factor === 1 && scaled.factor === 1 && random.chance(0.25)
          ? DETECTION[analyte.key]
          : undefined
      const text = limit ?? print(value)
      const place = compare(text, lowest, highest)
      return {
        value: limit
          ? layout.ranges.bothSexes.includes(' ')
            ? limit.replace(/^[<>]/, '$& ')
            : limit
          : group(text, scaled.grouping),
        ...createFlags(place, layout.flags),
        ...(isAtOpenBound(Number(text), written, { lowest, highest }) ? { byRange: ['abnormal'] as const } : {}),
      }
    }),
  }
}

const CHILD = 0.92

function writeBySex(
  lines: string[],
  { male, female }: { male: Bounds; female: Bounds },
  write: (bounds: Bounds) => string,
): string {
  const { low, high } = female
  const child = { low: low === null ? null : low * CHILD, high: high === null ? null : high * CHILD }
  const ranges: Record<string, Bounds> = { m: male, f: female, c: child }
  return lines.map((line) => line.replace(/\{([mfc])\}/g, (_, group: string) => write(ranges[group]!))).join('\n')
}

function writeRange(low: string | null, high: string | null, style: RangeStyle): string {
  const isUpperAlone = low === null || (style.dropsZero && Number(low) === 0 && high !== null)
  const template = isUpperAlone ? (style.max ?? '< {h}') : high === null ? (style.min ?? '> {l}') : style.bothSexes
  return template.replace('{l}', low ?? '').replace('{h}', high ?? '')
}

type Place = 'below' | 'far below' | 'inside' | 'above' | 'far above' | 'open'

/** A printed value against printed bounds, both included. `open`: a comparator that does not decide it. */
function compare(text: string, low: number | null, high: number | null): Place {
  const number = Number(text.replace(/^[<>]/, ''))
  const span = low !== null && high !== null ? high - low : (high ?? low!)
  if (text.startsWith('<'))
    return low !== null && number <= low ? 'below' : (low ?? 0) <= 0 && high !== null && number <= high ? 'inside' : 'open'
  if (text.startsWith('>')) return high !== null && number >= high ? 'above' : high === null && number >= low! ? 'inside' : 'open'
  if (low !== null && number < low) return number < low - span * 0.8 ? 'far below' : 'below'
  if (high !== null && number > high) return number > high + span * 0.8 ? 'far above' : 'above'
  return 'inside'
}

/** Whether a value is the bound of a range without it: 130 and `< 130`. */
function isAtOpenBound(value: number, range: string, { lowest, highest }: Record<'lowest' | 'highest', number | null>): boolean {
  const [, sign = ''] = /^\(?(<|>|less than|greater than|more than|above|below|under|over)\s?\d[\d.,]*\)?$/iu.exec(range) ?? []
  if (!sign) return false
  return value === (/^(?:<|less|below|under)/iu.test(sign) ? highest : lowest)
}

function createFlags(place: Place, style: FlagStyle): Omit<PrintedValue, 'value'> {
  const isLow = place === 'below' || place === 'far below'
  const isFar = place === 'far below' || place === 'far above'
  const isOutside = isLow || isFar || place === 'above'
  const critical = isFar ? (isLow ? style.criticalLow : style.criticalHigh) : undefined
  const flag = (isOutside ? (critical ?? (isLow ? style.low : style.high) ?? style.abnormal) : style.normal) ?? ''
  return {
    flag,
    word: isOutside ? (isLow ? 'Low' : 'High') : 'Normal',
    isOutside,
    byRange: [isOutside ? 'abnormal' : place === 'open' ? 'unknown' : 'normal'],
    byFlag: isOutside ? (critical ? 'critical' : flag ? 'abnormal' : undefined) : flag ? 'normal' : undefined,
  }
}

function rangeFraction(value: number, low: number | null, high: number | null): number {
  const min = low ?? 0
  const max = high ?? min * 2
  return Math.min(1, Math.max(0, (value - (min - (max - min) * 0.4)) / ((max - min) * 1.8)))
}
