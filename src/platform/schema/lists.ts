// Lists of a request: lists that are read without their faulty items, and lists that are read before the rest.
import type { Fault } from './fault.ts'

/** A list, and the names of an object, are read no further once a request has so many errors: a client needs to see the first ones. */
export const FAULTS_MAX = 1000

/** The errors of a request whose lists are read without their faulty items, where their schemas say so. */
export class LenientFaults extends Array<Fault> {}

/** What a list was read without. */
export interface LeftOut {
  /** The items as they were given. */
  items: unknown[]
  /** The errors of the first ones. */
  faults: Fault[]
  /** For each item that was read, its place in the given list. */
  places: number[]
}
const leftOut = new WeakMap<readonly unknown[], LeftOut>()

/** What a list of a request that `leavesOutFaulty` was read without; undefined for one that was read whole. */
export const leftOutOf = (list: readonly unknown[]): LeftOut | undefined => leftOut.get(list)

/** A list that takes the place of another one, without the same items. */
export function sameLeftOut<V>(source: readonly unknown[], list: V[]): V[] {
  const left = leftOut.get(source)
  if (left) leftOut.set(list, left)
  return list
}

/** Errors that are kept of a list. */
const LEFT_OUT_FAULTS_MAX = 100

/** A list that is read without its faulty items. */
export class LenientList {
  readonly #result: unknown[] = []
  readonly #left: LeftOut = { items: [], faults: [], places: [] }
  /** Of the next item. Most have none, so that one list serves them all. */
  #faults = new LenientFaults()

  /** @param read reads the item that stands at a place, and appends its errors */
  add(place: number, item: unknown, read: (faults: Fault[]) => unknown): void {
    const left = this.#left
    const found = this.#faults
    const value = read(found)
    if (found.length) {
      this.#faults = new LenientFaults()
      left.items.push(item)
      if (left.faults.length < LEFT_OUT_FAULTS_MAX) left.faults.push(...found.slice(0, LEFT_OUT_FAULTS_MAX - left.faults.length))
    } else {
      this.#result.push(value)
      left.places.push(place)
    }
  }

  end(): unknown[] {
    if (this.#left.items.length) leftOut.set(this.#result, this.#left)
    return this.#result
  }
}

/** What was made of a list, and the errors in it. */
export interface ReadList {
  result: unknown[]
  faults: Fault[]
}
/** By the list that was given, and whether its faulty items may be left out. */
const readLists = { lenient: new WeakMap<unknown[], ReadList>(), strict: new WeakMap<unknown[], ReadList>() }

/** Keeps what was made of a long list, for when the request that it is in is read. */
export const keepList = (list: unknown[], isLenient: boolean, read: ReadList): void =>
  void readLists[isLenient ? 'lenient' : 'strict'].set(list, read)

export const listRead = (list: unknown[], isLenient: boolean): ReadList | undefined =>
  readLists[isLenient ? 'lenient' : 'strict'].get(list)
