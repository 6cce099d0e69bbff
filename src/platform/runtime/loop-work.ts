// What the main thread computes for: an operation, a job or a periodic task. Their code says where it begins, where it waits and where it
// goes on, so that the time of a turn of the event loop can be divided among them (src/platform/telemetry/loop-monitor.ts).
import { AsyncLocalStorage } from 'node:async_hooks'

export interface Work {
  kind: 'operation' | 'job' | 'task'
  /** The id of an operation, or the name of a job or of a task. */
  name: string
}

/** Shorter spans are not counted: they block no request. */
const SPAN_MS_MIN = 2
/** How long a slice of long work may compute before it lets others run: with 15 ms, reads next to a busy team take half as long again. */
const SLICE_MS = 5

const storage = new AsyncLocalStorage<Work>()
let marked_ms = performance.now()
let idle_ms = 0
let last: Work | undefined
/** When the present turn of the event loop began, or the present slice in it. */
let turn_ms = marked_ms
let shares: { work: Work | undefined; ms: number }[] = []

/** Runs the code of a piece of work; whatever that code awaits belongs to it too. */
export function runWork<R>(work: Work, run: () => Promise<R>): Promise<R> {
  resumeWork(work)
  return storage.run(work, async () => {
    try {
      return await run()
    } finally {
      pauseWork()
    }
  })
}

/** The work of the caller waits, or has ended: the time since the last mark was its own. @returns the work */
export function pauseWork(): Work | undefined {
  const work = storage.getStore()
  mark(work ?? last)
  last = work
  return work
}

/** The work goes on: the time since the last mark was not its own. */
export function resumeWork(work: Work | undefined): void {
  mark(last)
  last = work
}

function mark(work: Work | undefined): void {
  const now_ms = performance.now()
  if (now_ms - marked_ms >= SPAN_MS_MIN) {
    const idle = performance.nodeTiming.idleTime
    const ms = now_ms - marked_ms - (idle - idle_ms)
    idle_ms = idle
    if (ms >= SPAN_MS_MIN) shares.push({ work, ms })
  }
  marked_ms = now_ms
}

/** Ends a turn of the event loop. @returns what has computed longest in it, if anything has computed for a while */
export function endTurn(): { work: Work | undefined; ms: number } | undefined {
  mark(last)
  last = undefined
  turn_ms = marked_ms
  if (shares.length === 0) return undefined
  const sums = new Map<Work | undefined, number>()
  for (const { work, ms } of shares) sums.set(work, (sums.get(work) ?? 0) + ms)
  shares = []
  const [work, ms] = [...sums].reduce((longest, share) => (share[1] > longest[1] ? share : longest))
  return { work, ms }
}

/** Long work that waits for its next slice, in the order of its turns: one slice in each turn of the event loop. */
const waiting: (() => void)[] = []

function beginSlice(): void {
  turn_ms = performance.now()
  waiting.shift()!()
  if (waiting.length) setImmediate(beginSlice)
}

async function yieldTurn(): Promise<void> {
  const work = pauseWork()
  await new Promise<void>((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(beginSlice)
  })
  resumeWork(work)
}

/**
 * Divides long work into slices, so that others can run in between. To be called between its steps, which must be short; what it returns,
 * if it returns something, must be awaited before the next step.
 */
export const yieldIfLong = (): Promise<void> | undefined => (performance.now() - turn_ms < SLICE_MS ? undefined : yieldTurn())

/** Does something with each of many, in slices. */
export async function eachInSlices<V>(items: Iterable<V>, work: (item: V) => unknown): Promise<void> {
  for (const one of items) {
    const turn = yieldIfLong()
    if (turn) await turn
    work(one)
  }
}

/** As `flatMap`, in slices. */
export async function flatMapInSlices<V, R>(list: readonly V[], map: (item: V, i: number) => R | readonly R[]): Promise<R[]> {
  const result: R[] = []
  for (let i = 0; i < list.length; i++) {
    const turn = yieldIfLong()
    if (turn) await turn
    const mapped = map(list[i]!, i)
    if (Array.isArray(mapped)) for (const part of mapped as R[]) result.push(part)
    else result.push(mapped as R)
  }
  return result
}

let nextTick: Promise<void> | undefined

/**
 * Resolves at the end of the current turn. Responses that wait for it are sent one right after the other: the reader is woken once for all
 * of them, and waking it costs more than most responses do (docs/decisions/transactions.md).
 */
export const endOfTick = (): Promise<void> =>
  (nextTick ??= new Promise((resolve) => {
    setImmediate(() => {
      nextTick = undefined
      resolve()
    })
  }))
