// The faulty parts of one post: what is good is stored, and these are counted. Unsourced: the reference does not say what it does with them.
import { unprocessable } from '../../platform/http/errors.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import { yieldIfLong } from '../../platform/runtime/loop-work.ts'
import { valueFault, type Fault, type Loc } from '../../platform/schema/fault.ts'
import { parseTimestamp } from '../../platform/schema/formats.ts'
import { leftOutOf } from '../../platform/schema/request-validation.ts'
import type { DayNumber } from '../../wearables/ingestion/day-records.ts'
import { recordRejected } from '../../wearables/ingestion/rejected-posts.ts'
import type { Resource } from '../../wearables/resources/resources.ts'

/** Faults in the response for a post of which nothing is good. */
const FAULTS_MAX = 100

interface OfResource {
  count: number
  days: DayNumber[]
  message: string
}

export class Faults {
  readonly #resources = new Map<Resource, OfResource>()
  readonly #first: Fault[] = []
  count = 0

  /** Adds a sample or record that is left out. @param at_ms when it was, if that is known */
  add(resource: Resource, loc: Loc, text: string, at_ms?: number): void {
    this.#add(resource, 1, [valueFault(loc, text)], at_ms === undefined ? [] : [Math.floor(at_ms / DAY_MS)])
  }

  /** Adds the items without which a list of the request was read. In slices. */
  async addLeftOut(resource: Resource, list: readonly unknown[] | undefined): Promise<void> {
    const left = list && leftOutOf(list)
    if (left) this.#add(resource, left.items.length, left.faults, await readDays(left.items))
  }

  /** Adds what an error names, if it is one of the values of the request. @throws any other error */
  addError(resource: Resource, error: unknown, at_ms: number): void {
    if (!(error instanceof Problem) || error.status !== 422 || !Array.isArray(error.body.detail)) throw error
    this.#add(resource, 1, error.body.detail as Fault[], [Math.floor(at_ms / DAY_MS)])
  }

  #add(resource: Resource, count: number, faults: Fault[], days: DayNumber[]): void {
    this.count += count
    if (this.#first.length < FAULTS_MAX) this.#first.push(...faults.slice(0, FAULTS_MAX - this.#first.length))
    const known = this.#resources.get(resource)
    if (known) {
      known.count += count
      for (const day of days) if (known.days.at(-1) !== day) known.days.push(day)
    } else this.#resources.set(resource, { count, days, message: messageOf(faults[0]) })
  }

  /** The first fault, without data of patients; null without any. */
  get message(): string | null {
    return this.#first.length ? messageOf(this.#first[0]) : null
  }

  /** Errors: 422 with the first 100 faults. */
  reject(): never {
    throw unprocessable(this.#first)
  }

  /** Records the faults. Writes day_record. */
  async record(tx: Tx, user_id: string, provider: string): Promise<void> {
    for (const [resource, rejected] of this.#resources) await recordRejected(tx, { user_id, provider, resource, ...rejected })
  }
}

/** Where the items of a list stood in the request. */
export const placesOf = (list: readonly unknown[]): ((i: number) => number) => {
  const places = leftOutOf(list)?.places
  return places ? (i) => places[i]! : (i) => i
}

/** Names of fields are those of the API; others could say anything. */
const NAME = /^\w{1,60}$/

/** A fault as a text: where it is and what it is. */
export function messageOf(fault: Fault | undefined): string {
  if (!fault) return 'the post has a fault'
  const place = fault.loc.slice(1).map((part) => (NAME.test(String(part)) ? String(part) : 'other'))
  const text = fault.msg.replace(/^Value error, /, '')
  return place.length ? `${place.join('.')}: ${text}` : text
}

/** Fields of what phones send that say when it was. */
const whenFields = ['start_date', 'calendar_date', 'session_start', 'period_start', 'start_time', 'anchor']
/** Of all kinds: a list may have millions of numbers. */
const VALUES_MAX = 1_000_000
const DEPTH_MAX = 6

/** The days that a part of a request names, in UTC, as far as they can be read; of a part with very many values the first ones. In slices. */
export async function readDays(part: unknown): Promise<DayNumber[]> {
  const days = new Set<DayNumber>()
  /** The values that are left of each list and object that the current one is in. */
  const levels: Iterator<unknown>[] = [[part].values()]
  for (let count = 0; levels.length && count < VALUES_MAX; count++) {
    const turn = yieldIfLong()
    if (turn) await turn
    const { value, done } = levels.at(-1)!.next()
    if (done) levels.pop()
    else if (typeof value === 'object' && value !== null && levels.length <= DEPTH_MAX + 1) {
      if (!Array.isArray(value)) addDays(days, value as Record<string, unknown>)
      levels.push(Array.isArray(value) ? value.values() : valuesOf(value as Record<string, unknown>))
    }
  }
  return [...days]
}

function addDays(days: Set<DayNumber>, fields: Record<string, unknown>): void {
  for (const name of whenFields) {
    const text = Object.hasOwn(fields, name) ? fields[name] : undefined
    const timestamp = typeof text === 'string' && text.length <= 40 ? parseTimestamp(text) : undefined
    if (timestamp) days.add(Math.floor(timestamp.instant.getTime() / DAY_MS))
  }
}

/** The values of an object but its metadata, which can say anything. */
function* valuesOf(fields: Record<string, unknown>): Generator<unknown> {
  for (const name of Object.keys(fields)) if (name !== 'metadata') yield fields[name]
}
