// Names under which statements are prepared, so that the database parses and plans each once per connection. What is prepared costs memory
// in every backend, and lists have more shapes than anybody will use: only statements that are run often have a name, and one that is not
// run any more loses it. Others travel unnamed, which the database forgets with the next one.
import type pg from 'pg'

/** Most statements that are prepared on a connection. */
const NAMES_MAX = 250
/** Most texts that are counted. */
const COUNTED_MAX = 1000
/** A statement is prepared when it has been run so often. */
const HOT_RUNS = 5
/** After so many statements every count is halved. */
const HALVING = 20_000

interface Counted {
  runs: number
  name: string | undefined
}

/** What the database says when a prepared statement no longer fits its tables (0A000), or is gone (26000). */
const STALE = new Set(['0A000', '26000'])

export const isStale = (error: unknown): boolean => STALE.has((error as { code?: string }).code ?? '')

/** What is read of a client of `pg` besides its public parts: the statements that are prepared on its connection, by name. */
interface Preparing {
  connection: {
    parsedStatements: Record<string, string>
    submittedNamedStatements: Record<string, string>
    close(message: { type: 'S'; name: string }): void
  }
}

export class PreparedNames {
  readonly #counted = new Map<string, Counted>()
  readonly #names = new Set<string>()
  /** When names were last taken back, and when those of a connection were last compared. */
  #generation = 0
  readonly #compared = new WeakMap<object, number>()
  #last = 0
  #runs = 0

  /** The name under which a statement is prepared; undefined for one that is not, or not yet, run often. */
  of(text: string): string | undefined {
    if (++this.#runs >= HALVING) this.#halve()
    let counted = this.#counted.get(text)
    if (!counted) {
      if (this.#counted.size >= COUNTED_MAX) return undefined
      this.#counted.set(text, (counted = { runs: 0, name: undefined }))
    }
    if (++counted.runs >= HOT_RUNS && counted.name === undefined && this.#names.size < NAMES_MAX) {
      // Never the name of another statement, nor one that a connection may have forgotten.
      this.#names.add((counted.name = `${PREFIX}${++this.#last}`))
    }
    return counted.name
  }

  /** Prepare everything anew, under other names: the tables have changed, or a connection lost what was prepared on it. */
  renew(): void {
    this.#counted.clear()
    this.#names.clear()
    this.#generation++
  }

  /** Let a connection forget the statements whose names were taken back. Called before one is used; costs a comparison otherwise. */
  tidy(client: pg.ClientBase): void {
    if (this.#generation === 0 || this.#compared.get(client) === this.#generation) return
    this.#compared.set(client, this.#generation)
    const { connection } = client as unknown as Preparing
    for (const known of [connection.parsedStatements, connection.submittedNamedStatements])
      for (const name of Object.keys(known)) {
        if (!name.startsWith(PREFIX) || this.#names.has(name)) continue
        connection.close({ type: 'S', name })
        delete connection.parsedStatements[name]
        delete connection.submittedNamedStatements[name]
      }
  }

  #halve(): void {
    this.#runs = 0
    for (const [text, counted] of this.#counted) {
      counted.runs >>= 1
      if (counted.runs > 0) continue
      this.#counted.delete(text)
      if (counted.name === undefined) continue
      this.#names.delete(counted.name)
      this.#generation++
    }
  }
}

const PREFIX = 'q'

/** Of this process: the same text has one name on every connection. */
export const prepared = new PreparedNames()
