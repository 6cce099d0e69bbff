// Totals of days from the intervals of several sources: where two of them cover the same time, the better one counts. Adding them up would
// count a step twice that phone and watch both saw.
import type { SourceType } from '../../../wearables/resources/timeseries.ts'

/** Intervals that are held in memory, at 24 bytes each. */
const INTERVALS_MAX = 3_000_000
const GROWN_FROM = 4096

/** Which source counts where several have recorded the same time: the smallest number. */
const rank: Partial<Record<SourceType, number>> = { watch: 0, phone: 1 }
const OTHERS = 2

/** The intervals of one quantity. */
class Intervals {
  #start = new Float64Array(GROWN_FROM)
  #length = new Float32Array(GROWN_FROM)
  #value = new Float32Array(GROWN_FROM)
  #day = new Int32Array(GROWN_FROM)
  #rank = new Uint8Array(GROWN_FROM)
  size = 0

  add(start_s: number, length_s: number, value: number, day: number, of: number): void {
    if (this.size === this.#start.length) this.#grow()
    const at = this.size++
    this.#start[at] = start_s
    this.#length[at] = length_s
    this.#value[at] = value
    this.#day[at] = day
    this.#rank[at] = of
  }

  #grow(): void {
    const grown = <A extends { set(from: A): void; length: number }>(from: A, make: new (length: number) => A): A => {
      const into = new make(from.length * 2)
      into.set(from)
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
      covered = united([...covered, ...own])
    }
    return total
  }
}

/** The same time, as intervals in order that do not touch. */
function united(intervals: [number, number][]): [number, number][] {
  const result: [number, number][] = []
  for (const [from, to] of intervals.sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else result.push([from, to])
  }
  return result
}

export type Totaled = 'steps' | 'distance' | 'floors_climbed'

/** The totals of the days of an export, by quantity. */
export class DayTotals {
  readonly #of: Record<Totaled, Intervals> = {
    steps: new Intervals(),
    distance: new Intervals(),
    floors_climbed: new Intervals(),
  }
  #size = 0
  /** No more intervals fit into memory: the totals would be too small. */
  isIncomplete = false

  add(quantity: Totaled, sample: { at_ms: number; end_ms: number; value: number; zone_s: number }, type: SourceType): void {
    if (++this.#size > INTERVALS_MAX) {
      this.isIncomplete = true
      return
    }
    const { at_ms, end_ms, value, zone_s } = sample
    const day = Math.floor((at_ms + zone_s * 1000) / 86_400_000)
    this.#of[quantity].add(at_ms / 1000, (end_ms - at_ms) / 1000, value, day, rank[type] ?? OTHERS)
  }

  /** By local day, as `2026-01-31`. */
  totals(): Map<string, Partial<Record<Totaled, number>>> {
    const days = new Map<string, Partial<Record<Totaled, number>>>()
    for (const [quantity, intervals] of Object.entries(this.#of) as [Totaled, Intervals][])
      for (const [day, total] of intervals.totals()) {
        const date = new Date(day * 86_400_000).toISOString().slice(0, 10)
        days.set(date, { ...days.get(date), [quantity]: Math.round(total * 1000) / 1000 })
      }
    return days
  }
}
