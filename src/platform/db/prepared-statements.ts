// Names of prepared statements, so that the database parses and plans each once per connection. A prepared statement costs memory in every
// backend, and filtered lists have many statement texts: only statements that run often have a name.

/** Maximum number of names. A connection prepares its settings as well: 250 statements in all. */
export const NAMES_MAX = 248
/** When so many texts without a name are counted, counting begins again. */
const COUNTED_MAX = 1000
/** A statement is prepared after this number of runs. */
const HOT_RUNS = 5
/**
 * If all names are taken, they are chosen again after this time. Connections live no longer than this, and with them go the statements that
 * were prepared under other names.
 */
export const NAMES_LIFETIME_MS = 3_600_000

/** PostgreSQL's errors for a prepared statement that no longer fits its tables (0A000) or does not exist (26000). */
const STALE = new Set(['0A000', '26000'])

export const isStale = (error: unknown): boolean => STALE.has((error as { code?: string }).code ?? '')

export class PreparedNames {
  readonly #names = new Map<string, string>()
  readonly #runs = new Map<string, number>()
  #renewed_ms = performance.now()
  #last = 0

  /** The name under which a statement is prepared; undefined for a statement that does not, or does not yet, run often. */
  nameFor(text: string, now_ms = performance.now()): string | undefined {
    const name = this.#names.get(text)
    if (name !== undefined) return name
    const runs = (this.#runs.get(text) ?? 0) + 1
    if (this.#runs.size >= COUNTED_MAX) this.#runs.clear()
    this.#runs.set(text, runs)
    if (runs < HOT_RUNS) return undefined
    if (this.#names.size >= NAMES_MAX) {
      if (now_ms - this.#renewed_ms < NAMES_LIFETIME_MS) return undefined
      this.renew(now_ms)
    }
    this.#runs.delete(text)
    // A name is never used for another statement, because a connection may still have the old one.
    this.#names.set(text, `q${++this.#last}`)
    return this.#names.get(text)
  }

  /** Prepares every statement again under a new name: the tables have changed, or a connection lost its prepared statements. */
  renew(now_ms = performance.now()): void {
    this.#names.clear()
    this.#runs.clear()
    this.#renewed_ms = now_ms
  }
}

/** One per process: the same text has one name on every connection. */
export const preparedNames = new PreparedNames()
