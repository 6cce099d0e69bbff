// What the laps and segments of a track say of the whole: its end, its time in motion, its heart rates.

/** A lap of a TCX file. */
export interface Lap {
  start_ms: number | undefined
  /** Without pauses. */
  total_s: number | undefined
  mean_bpm: number | undefined
  max_bpm: number | undefined
}

export const emptyLap = (start_ms: number | undefined): Lap => ({
  start_ms,
  total_s: undefined,
  mean_bpm: undefined,
  max_bpm: undefined,
})

/** When a lap ends at the earliest; undefined if it does not say when it began. */
export const lapEnd = ({ start_ms, total_s }: Lap): number | undefined =>
  start_ms === undefined ? undefined : start_ms + Math.max(0, total_s ?? 0) * 1000

/**
 * The heart rates of laps: the mean of each counts for its time. Undefined where no lap has one, and the mean also if only some have it and
 * there are points that say more.
 */
export function ratesOfLaps(laps: Lap[], hasRates: boolean): { mean_bpm?: number; max_bpm?: number } {
  const timed = laps.filter(({ total_s }) => total_s === undefined || total_s > 0)
  const known = timed.filter(({ mean_bpm }) => mean_bpm !== undefined)
  const maxima = laps.flatMap(({ max_bpm }) => max_bpm ?? [])
  const weights = known.map(({ total_s }) => total_s ?? 1)
  const seconds = weights.reduce((sum, weight) => sum + weight, 0)
  const isWhole = known.length > 0 && (known.length === timed.length || !hasRates)
  const areMaxima = maxima.length > 0 && (maxima.length >= timed.length || !hasRates)
  return {
    ...(isWhole && { mean_bpm: known.reduce((sum, { mean_bpm }, i) => sum + mean_bpm! * weights[i]!, 0) / seconds }),
    ...(areMaxima && { max_bpm: maxima.reduce((a, b) => Math.max(a, b)) }),
  }
}

/** From the first to the last point of a segment. */
export type Segment = [first_ms: number, last_ms: number]

/** Seconds in which there were points; undefined for a single segment, which says nothing about pauses. */
export const movingOf = (segments: Segment[]): number | undefined =>
  segments.length < 2 ? undefined : segments.reduce((sum, [first, last]) => sum + (last - first) / 1000, 0)
