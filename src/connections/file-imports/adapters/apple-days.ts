// Totals of days from the intervals of several sources: where two of them cover the same time, the better one counts. Adding them up would
// count a step twice that phone and watch both saw.
import { DAY_MS } from '../../../platform/runtime/durations.ts'
import type { SourceType } from '../../../wearables/resources/timeseries.ts'
import type { AppleSource } from './apple-values.ts'

/** Intervals that are held in memory, at 24 bytes each: of energies, and of all others together. */
const INTERVALS_MAX = { energies: 1_000_000, others: 2_500_000 }
const GROWN_FROM = 4096
/** Energies come minute by minute: those of one source between which no more time lies are held as one interval. */
const GAP_S_MAX = 300

/** Which source counts where several have recorded the same time: the smallest number. */
const rank: Partial<Record<SourceType, number>> = { watch: 0, phone: 1 }
const OTHERS = 2
export const rankOf = (type: SourceType): number => rank[type] ?? OTHERS
export const RANKS = OTHERS + 1

/** The intervals of one quantity. */
class Intervals {
  #start = new Float64Array(GROWN_FROM)
  #length = new Float32Array(GROWN_FROM)
  #value = new Float32Array(GROWN_FROM)
  #day = new Int32Array(GROWN_FROM)
  #rank = new Uint8Array(GROWN_FROM)
  size = 0

  /** Adds to the interval at `at`, of the same source, if that ends shortly before. @returns whether it did */
  extend(index: number, start_s: number, length_s: number, value: number, day: number): boolean {
    const end_s = this.#start[index]! + this.#length[index]!
    if (this.#day[index] !== day || start_s < end_s || start_s > end_s + GAP_S_MAX) return false
    this.#length[index] = start_s + length_s - this.#start[index]!
    this.#value[index]! += value
    return true
  }

  add(start_s: number, length_s: number, value: number, day: number, source: number): void {
    if (this.size === this.#start.length) this.#grow()
    const at = this.size++
    this.#start[at] = start_s
    this.#length[at] = length_s
    this.#value[at] = value
    this.#day[at] = day
    this.#rank[at] = source
  }

  #grow(): void {
    const grown = <A extends { set(source: A): void; length: number }>(source: A, make: new (length: number) => A): A => {
      const into = new make(source.length * 2)
      into.set(source)
      return into
    }
    this.#start = grown(this.#start, Float64Array)
    this.#length = grown(this.#length, Float32Array)
    this.#value = grown(this.#value, Float32Array)
    this.#day = grown(this.#day, Int32Array)
    this.#rank = grown(this.#rank, Uint8Array)
  }

  /** The total of each day. */
  totals(): Map<number, number> {
    const order = new Uint32Array(this.size).map((_, i) => i)
    order.sort((a, b) => this.#day[a]! - this.#day[b]! || this.#start[a]! - this.#start[b]!)
    const totals = new Map<number, number>()
    for (let from = 0; from < order.length;) {
      const day = this.#day[order[from]!]!
      let to = from
      while (to < order.length && this.#day[order[to]!] === day) to++
      totals.set(day, this.#totalOf(order.subarray(from, to)))
      from = to
    }
    return totals
  }

  /** The total of a day: the sources in their order, each with what lies outside of the time that is covered so far. */
  #totalOf(day: Uint32Array): number {
    let total = 0
    let covered: [from: number, to: number][] = []
    for (let of = 0; of <= OTHERS; of++) {
      const own: [number, number][] = []
      let next = 0
      let until = -Infinity
      for (const i of day) {
        if (this.#rank[i] !== of) continue
        const [length, value] = [this.#length[i]!, this.#value[i]!]
        const end = this.#start[i]! + length
        // Intervals come in the order of their beginnings: what earlier ones of this rank cover lies before `until`.
        const start = Math.max(this.#start[i]!, until)
        if (start > end || (start === end && length > 0)) continue
        while (next < covered.length && covered[next]![1] <= start) next++
        let free = end - start
        for (let c = next; c < covered.length && covered[c]![0] < end; c++)
          free -= Math.min(end, covered[c]![1]) - Math.max(start, covered[c]![0])
        const isCovered = length === 0 && next < covered.length && covered[next]![0] <= start
        total += length === 0 ? (isCovered ? 0 : value) : (value * Math.max(0, free)) / length
        own.push([start, end])
        until = end
      }
      covered = uniteIntervals([...covered, ...own])
    }
    return total
  }
}

/** The same time, as intervals in order that do not touch. */
function uniteIntervals(intervals: [number, number][]): [number, number][] {
  const result: [number, number][] = []
  for (const [from, to] of intervals.sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else result.push([from, to])
  }
  return result
}

const energies = ['calories_active', 'calories_basal'] as const
const totaled = ['steps', 'distance', 'floors_climbed', 'wheelchair_push', ...energies] as const
export type Totaled = (typeof totaled)[number]

export const isTotaled = (resource: string): resource is Totaled => (totaled as readonly string[]).includes(resource)
const isEnergy = (quantity: Totaled): boolean => (energies as readonly string[]).includes(quantity)

/** The totals of the days of an export, by quantity. */
export class DayTotals {
  readonly #of = Object.fromEntries(totaled.map((quantity) => [quantity, new Intervals()])) as Record<Totaled, Intervals>
  /** Where the newest interval of each source is. */
  readonly #newest = new Map<Totaled, Map<AppleSource, number>>()
  readonly #sizes = { energies: 0, others: 0 }
  /** No more intervals of these fit into memory: their totals would be too small. */
  readonly isIncomplete = { energies: false, others: false }

  add(
    quantity: Totaled,
    { at_ms, end_ms, value, zone_s }: { at_ms: number; end_ms: number; value: number; zone_s: number },
    source: AppleSource,
  ): void {
    const day = Math.floor((at_ms + zone_s * 1000) / DAY_MS)
    const [start_s, length_s] = [at_ms / 1000, (end_ms - at_ms) / 1000]
    const intervals = this.#of[quantity]
    const group = isEnergy(quantity) ? 'energies' : 'others'
    if (group === 'energies') {
      let newest = this.#newest.get(quantity)
      if (!newest) this.#newest.set(quantity, (newest = new Map()))
      const at = newest.get(source)
      if (at !== undefined && intervals.extend(at, start_s, length_s, value, day)) return
      newest.set(source, intervals.size)
    }
    if (++this.#sizes[group] > INTERVALS_MAX[group]) this.isIncomplete[group] = true
    else intervals.add(start_s, length_s, value, day, rankOf(source.source_type))
  }

  /** By local day, as `2026-01-31`. */
  totals(): Map<string, Partial<Record<Totaled, number>>> {
    const days = new Map<string, Partial<Record<Totaled, number>>>()
    for (const quantity of totaled) {
      if (this.isIncomplete[isEnergy(quantity) ? 'energies' : 'others']) continue
      for (const [day, total] of this.#of[quantity].totals()) {
        const date = new Date(day * DAY_MS).toISOString().slice(0, 10)
        const known = days.get(date) ?? {}
        known[quantity] = Math.round(total * 1000) / 1000
        days.set(date, known)
      }
    }
    return days
  }
}
