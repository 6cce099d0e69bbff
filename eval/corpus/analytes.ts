// What laboratories measure, read from the two files in `data/`: codes, units, ranges and the names that reports print.
import { readFileSync } from 'node:fs'

/** Names by the habits of a country: United States, United Kingdom, India, and abbreviations of analyzers. */
export type Dialect = 'us' | 'uk' | 'in' | 'short'

/** One way to measure an analyte. */
export interface Measure {
  /** LOINC codes that are right, the best one first. */
  codes: string[]
  unit: string
  /** From the conventional unit to this one. */
  factor: number
  decimals: number
}

export interface Bounds {
  low: number | null
  high: number | null
}

export interface NumericAnalyte {
  kind: 'number'
  key: string
  conventional: Measure
  si: Measure
  /** In the conventional unit. */
  bounds: Bounds
  bySex: { male: Bounds; female: Bounds } | undefined
  method: string
  names: Record<Dialect, string>
}

export interface QualitativeAnalyte {
  kind: 'words'
  key: string
  codes: string[]
  expected: string[]
  unexpectedTexts: string[]
  reference: string
  names: Record<Dialect, string>
}

export type Analyte = NumericAnalyte | QualitativeAnalyte

const rowsOf = (file: string): string[][] =>
  readFileSync(new URL(`data/${file}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => line.split('|').map((cell) => cell.trim()))

const list = (text: string, separator: string) => text.split(separator).flatMap((item) => item.trim() || [])
const numberOrNull = (text: string | undefined) => (text ? Number(text) : null)

function boundsOf(text: string): Bounds {
  const [low, high] = text.split('-')
  return { low: numberOrNull(low), high: numberOrNull(high) }
}

function numeric(cells: string[]): NumericAnalyte {
  const [key, codes, unit, low, high, decimals, siCodes, siUnit, factor, siDecimals, bySex, method, us, uk, india, short] = cells
  if (!us || decimals === undefined) throw new Error(`data/analytes.txt: ${key} has too few columns`)
  const conventional = { codes: list(codes!, ','), unit: unit!, factor: 1, decimals: Number(decimals) }
  const [male, female] = list(bySex!, ',')
  return {
    kind: 'number',
    key: key!,
    conventional,
    si: siUnit
      ? { codes: list(siCodes!, ','), unit: siUnit, factor: Number(factor), decimals: Number(siDecimals) }
      : conventional,
    bounds: { low: numberOrNull(low), high: numberOrNull(high) },
    bySex: male && female ? { male: boundsOf(male), female: boundsOf(female) } : undefined,
    method: method!,
    names: { us, uk: uk || us, in: india || us, short: short || us },
  }
}

function qualitative(cells: string[]): QualitativeAnalyte {
  const [key, codes, expected, unexpected, reference, us, uk, india] = cells
  if (!us) throw new Error(`data/qualitative.txt: ${key} has too few columns`)
  return {
    kind: 'words',
    key: key!,
    codes: list(codes!, ','),
    expected: list(expected!, ';'),
    unexpectedTexts: list(unexpected!, ';'),
    reference: reference!,
    names: { us, uk: uk || us, in: india || us, short: us },
  }
}

export const analytes: ReadonlyMap<string, Analyte> = new Map(
  [...rowsOf('analytes.txt').map(numeric), ...rowsOf('qualitative.txt').map(qualitative)].map((analyte) => [
    analyte.key,
    analyte,
  ]),
)

/** Throws for a key that the files do not have. */
export function analyteOf(key: string): Analyte {
  const analyte = analytes.get(key)
  if (!analyte) throw new Error(`eval/corpus/data has no analyte ${key}`)
  return analyte
}
