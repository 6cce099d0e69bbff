// A fictional run in FIT files, ten minutes with a record a minute, and what is read of such files.
import { fitBytes, fitTime, type FitField, type FitMessage } from './fit-files.ts'
import { documents, reading } from './file-imports.ts'

export const START = '2026-02-01T06:00:00Z'
export const T = fitTime(START)
export const MINUTES = Array.from({ length: 11 }, (_, i) => i)

/** A record a minute: 120 bpm, and 200 m a minute. */
export const record = (minute: number, fields: FitField[] = [], base = T): FitMessage => ({
  kind: 20,
  fields: [[253, 'uint32', base + minute * 60], [3, 'uint8', 120], [5, 'uint32', minute * 20_000], ...fields],
})
export const session = (fields: FitField[], end = T + 600): FitMessage => ({
  kind: 18,
  fields: [[253, 'uint32', end], ...fields],
})
export const whole: FitField[] = [
  [2, 'uint32', T],
  [5, 'enum', 1],
  [7, 'uint32', 600_000],
  [8, 'uint32', 590_000],
  [9, 'uint32', 200_000],
]
export const withoutFields = (...numbers: number[]): FitField[] => whole.filter(([number]) => !numbers.includes(number))
export const activity = (end: number, local: number): FitMessage => ({
  kind: 34,
  fields: [
    [253, 'uint32', end],
    [5, 'uint32', local],
  ],
})

export const read = async (messages: FitMessage[], options = {}) => {
  const { samples, summaries, skipped, error } = await reading(fitBytes(messages, options))
  const workouts = summaries.workouts ?? []
  return { rates: samples.heartrate ?? [], workouts, shown: documents(workouts), skipped, error }
}
export const times = ([shown]: Record<string, unknown>[]) => [
  shown?.time_start,
  shown?.time_end,
  shown?.moving_time,
  shown?.distance,
]
export const list = (workout: { stream?: { lists: Record<string, (number | null)[]> } } | undefined, name: string) =>
  workout?.stream?.lists[name]
export const METERS = MINUTES.map((minute) => minute * 200)
export const RUN = ['2026-02-01T06:00:00+00:00', '2026-02-01T06:10:00+00:00', 590, 2000]
