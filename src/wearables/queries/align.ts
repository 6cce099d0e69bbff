// Filling the gaps of a grouped result: missing buckets become rows, and values are carried to them. Pure. Source: users-wearables.md Q8.
// Unsourced: a value that is null in a row that is there is filled as well, since each column is carried by itself.
import { addPeriods, floatingMs, floatingText, truncate } from './buckets.ts'
import type { Align, GroupExpr, Period } from './query-language.ts'

export type Value = string | number | boolean | null
export type Row = Value[]

export interface AlignOptions {
  align: Align
  /** The period of the buckets. */
  period: Period
  /** Where in a row its bucket is, and its other group keys. */
  bucket: number
  otherKeys: readonly number[]
  /** Floating time; values are not carried to buckets that begin later. */
  now_ms: number
  rows_max: number
}

/** A result would have more rows than one may have. */
export class TooManyRows extends Error {}

export const periodOf = (group_by: readonly GroupExpr[]): Period | undefined =>
  group_by.flatMap((key) => ('date_trunc' in key ? [key.date_trunc] : []))[0]

/** Fills the gaps of each combination of the other group keys. @throws TooManyRows */
export function alignRows(rows: readonly Row[], options: AlignOptions): Row[] {
  const { bucket, otherKeys: others } = options
  const partitions = new Map<string, Map<number, Row>>()
  for (const row of rows) {
    if (row[bucket] === null) continue
    const key = JSON.stringify(others.map((position) => row[position]))
    const found = partitions.get(key) ?? new Map<number, Row>()
    partitions.set(key, found)
    found.set(floatingMs(row[bucket] as string), row)
  }
  const filled: Row[] = []
  for (const partition of partitions.values()) {
    const buckets = findBuckets([...partition.keys()], options, options.rows_max - filled.length)
    filled.push(...fill(partition, buckets, options))
  }
  const at = (row: Row) => row[bucket] as string
  return filled.toSorted((a, b) => (at(a) < at(b) ? -1 : at(a) > at(b) ? 1 : 0))
}

/** The beginnings of all buckets: observed ones, the ones between them, and as far beyond as values are carried. */
function findBuckets(
  observedBuckets: number[],
  { align: { carry }, period, now_ms }: AlignOptions,
  buckets_max: number,
): number[] {
  const [first, last] = [Math.min(...observedBuckets), Math.max(...observedBuckets)]
  const limit = carry.max_age ?? carry.span
  const from = limit && carry.mode !== 'carry_forward' ? addPeriods(first, limit, -1) : first
  const to = limit && carry.mode !== 'carry_backward' ? Math.max(last, Math.min(addPeriods(last, limit, 1), now_ms)) : last
  const next = (bucket_ms: number) => truncate(addPeriods(bucket_ms, period, 1), period)
  const begin = truncate(from, period)
  const buckets: number[] = []
  for (let at = begin < from ? next(begin) : begin; at <= to; at = next(at)) {
    if (buckets.length === buckets_max) throw new TooManyRows()
    buckets.push(at)
  }
  return buckets
}

function fill(
  partition: Map<number, Row>,
  buckets: number[],
  { align: { carry }, bucket, otherKeys: others }: AlignOptions,
): Row[] {
  const sample = partition.values().next().value!
  const rows = buckets.map((bucket_ms): Row => {
    const row = partition.get(bucket_ms)
    if (row) return [...row]
    return sample.map((value, i) => (i === bucket ? floatingText(bucket_ms) : others.includes(i) ? value : null))
  })
  const limit = carry.max_age ?? carry.span
  const isNear = (from_ms: number, to_ms: number) =>
    !limit || (from_ms <= to_ms ? addPeriods(from_ms, limit, 1) >= to_ms : addPeriods(from_ms, limit, -1) <= to_ms)
  for (let column = 0; column < sample.length; column++) {
    if (column === bucket || others.includes(column)) continue
    const values = rows.map((row) => row[column]!)
    const before = carry.mode === 'carry_backward' ? undefined : nearest(values, 1)
    const after = carry.mode === 'carry_forward' ? undefined : nearest(values, -1)
    for (const [i, row] of rows.entries()) {
      if (values[i] !== null) continue
      const candidates = [before?.[i], after?.[i]].filter(
        (index): index is number => index !== undefined && isNear(buckets[index]!, buckets[i]!),
      )
      // The past comes first, so that it wins a tie.
      const distance = (index: number) => Math.abs(buckets[index]! - buckets[i]!)
      const best = candidates.toSorted((a, b) => distance(a) - distance(b))[0]
      if (best !== undefined) row[column] = values[best]!
    }
  }
  return rows
}

/** For each place the nearest one before it (1) or after it (-1) that has a value. */
function nearest(values: Value[], step: 1 | -1): (number | undefined)[] {
  const found: (number | undefined)[] = Array(values.length)
  let last: number | undefined
  for (let i = step === 1 ? 0 : values.length - 1; i >= 0 && i < values.length; i += step) {
    found[i] = last
    if (values[i] !== null) last = i
  }
  return found
}
