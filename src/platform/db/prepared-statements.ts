// Names of prepared statements, so that the database parses and plans each once per connection. A prepared statement costs memory in every
// backend, and filtered lists have many statement texts. Only statements that run often have a name, and a statement that no longer runs
// loses its name. The others are unnamed; the next unnamed statement replaces them.
import type pg from 'pg'

/** Maximum number of prepared statements on a connection. */
const NAMES_MAX = 250
/** Maximum number of texts that are counted. */
const COUNTED_MAX = 1000
/** A statement is prepared after this number of runs. */
const HOT_RUNS = 5
/** After this number of statements every count is halved. */
const HALVING = 20_000

interface Counted {
  runs: number
  name: string | undefined
}

/** PostgreSQL's errors for a prepared statement that no longer fits its tables (0A000) or does not exist (26000). */
const STALE = new Set(['0A000', '26000'])

export const isStale = (error: unknown): boolean => STALE.has((error as { code?: string }).code ?? '')

/** The private part of a `pg` client that is read here: the statements that are prepared on its connection, by name. */
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
  /** The number of revocations so far, and the number at the last comparison of each connection. */
  #generation = 0
  readonly #compared = new WeakMap<object, number>()
  #last = 0
  #runs = 0

  /** The name under which a statement is prepared; undefined for a statement that does not, or does not yet, run often. */
  of(text: string): string | undefined {
    if (++this.#runs >= HALVING) this.#halve()
    let counted = this.#counted.get(text)
    if (!counted) {
      if (this.#counted.size >= COUNTED_MAX) return undefined
      this.#counted.set(text, (counted = { runs: 0, name: undefined }))
    }
    if (++counted.runs >= HOT_RUNS && counted.name === undefined && this.#names.size < NAMES_MAX) {
      // A name is never reused for another statement, because a connection may still have the old one.
      this.#names.add((counted.name = `${PREFIX}${++this.#last}`))
    }
    return counted.name
  }

  /** Prepares every statement again under a new name: the tables have changed, or a connection lost its prepared statements. */
  renew(): void {
    this.#counted.clear()
    this.#names.clear()
    this.#generation++
  }

  /**
   * Deallocates the statements of a connection whose names were revoked. Called before each use; costs one comparison if there is nothing
   * to do.
   */
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

/** One per process: the same text has one name on every connection. */
export const prepared = new PreparedNames()
