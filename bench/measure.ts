// How figures are taken and printed.
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'

export const CONNECTIONS = 10
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 3)
const ROUNDS = 5
const PAUSE_MS = 3000
const WARM_UP_S = 2
export const WARM_UPS = 5

export const median = (figures: number[]) => figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!
export const rate = (n: number) => `${Math.round(n).toLocaleString('en')}/s`

type Row = [name: string, ours: string, limit: string, ratio: string, goal: string]

/** All rows that were printed, in order. */
export const rows: Row[] = []

export function report(...row: Row): void {
  rows.push(row)
  const [name, ours, limit, ratio, goal] = row
  console.log(`${name.padEnd(44)} ${ours.padStart(16)}  ${limit.padStart(18)}  ${ratio.padStart(8)}  ${goal}`)
}

/** Requests a second over ten connections. Errors: an answer that is no success. */
export async function load(options: autocannon.Options): Promise<number> {
  await autocannon({ ...options, connections: CONNECTIONS, duration: WARM_UP_S })
  const result = await autocannon({ ...options, connections: CONNECTIONS, duration: SECONDS })
  if (result.non2xx || result.errors) throw new Error(`${result.non2xx} answers were no success, ${result.errors} errors`)
  return result.requests.average
}

/**
 * Measures ours and the limit alternately, so that what else the machine does affects both; a pause lets the disk catch up. Prints the
 * median of each.
 */
export async function compare(
  name: string,
  goal: string,
  { ours, limit }: { ours: () => Promise<number>; limit: () => Promise<number> },
): Promise<void> {
  const figures = { limit: [] as number[], ours: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    await sleep(PAUSE_MS)
    figures.ours.push(await ours())
    await sleep(PAUSE_MS)
    figures.limit.push(await limit())
  }
  const [rateOfOurs, rateOfLimit] = [median(figures.ours), median(figures.limit)]
  report(name, rate(rateOfOurs), rate(rateOfLimit), (rateOfOurs / rateOfLimit).toFixed(2), goal)
}

/** Repeats `one` with so many in flight for so long, after a tenth of that to warm up. */
export async function perSecond(run: () => Promise<unknown>, options: { connections: number; seconds: number }): Promise<number> {
  let done = 0
  let until = performance.now() + options.seconds * 100
  const worker = async () => {
    while (performance.now() < until) {
      await run()
      done++
    }
  }
  const all = () => Promise.all(Array.from({ length: options.connections }, worker))
  await all()
  done = 0
  const started = performance.now()
  until = started + options.seconds * 1000
  await all()
  return done / ((performance.now() - started) / 1000)
}

/** The median and the 99th percentile. */
export function percentiles(figures: number[]): [p50: number, p99: number] {
  const sorted = figures.toSorted((a, b) => a - b)
  return [sorted[Math.floor(sorted.length * 0.5)]!, sorted[Math.floor(sorted.length * 0.99)]!]
}

/** The median of timings of `run`, in milliseconds. */
export const medianMs = async (run: () => Promise<unknown>, times: number): Promise<number> => median(await timings(run, times))

/** How long `run` takes, in milliseconds, so many times after `WARM_UPS` of them that are not counted. */
export async function timings(run: () => Promise<unknown>, times: number): Promise<number[]> {
  for (let i = 0; i < WARM_UPS; i++) await run()
  const took: number[] = []
  for (let i = 0; i < times; i++) {
    const started = performance.now()
    await run()
    took.push(performance.now() - started)
  }
  return took
}
