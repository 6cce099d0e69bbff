// A small memory with an expiry, for what is asked with every request and changes seldom.
import { machineNow } from './clock.ts'

export class Remembered<V> {
  readonly #lifetime_ms: number
  readonly #size_max: number
  readonly #entries = new Map<string, { value: V; until_ms: number }>()

  constructor(limits: { lifetime_ms: number; size_max: number }) {
    this.#lifetime_ms = limits.lifetime_ms
    this.#size_max = limits.size_max
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    if (entry.until_ms > machineNow().getTime()) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  set(key: string, value: V): void {
    if (this.#entries.size >= this.#size_max) this.#entries.clear()
    this.#entries.set(key, { value, until_ms: machineNow().getTime() + this.#lifetime_ms })
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** Forget every entry whose value is meant. */
  forget(isMeant: (value: V) => boolean): void {
    for (const [key, { value }] of this.#entries) if (isMeant(value)) this.#entries.delete(key)
  }
}
