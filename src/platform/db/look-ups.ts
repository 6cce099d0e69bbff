// Reads by key over the connection that all requests share. Rows that requests of one team look up by id in the same turn of the event
// loop are one statement: its transaction, the setting of the team and the policies then cost once (figures: bench/RESULTS.md).
import type pg from 'pg'
import type { Static, TSchema } from 'typebox'
import { Bound } from './shares.ts'
import type { SharedReadConnection } from './shared-connection.ts'
import { arrayLiteral, sql, type Sql } from './sql.ts'
import { compiled, createQueries } from './statements.ts'
import type { Queries, RowById } from './transaction.ts'

/** Maximum number of ids of a statement. More would delay the first answer until the rows of all others have been read. */
const IDS_MAX = 8

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** Ids that are read by one statement at the end of this turn of the event loop. */
interface Batch {
  ids: Set<string>
  rows: Promise<Map<string, unknown>>
}

/** Its dependencies on its database. */
export interface LookUpsDependencies {
  connection: SharedReadConnection
  /** The team whose rows a statement sees; undefined for a statement without a team. */
  seenBy: (team: string) => string | undefined
  checkRows: boolean
}

export class LookUps {
  readonly #dependencies: LookUpsDependencies
  readonly #inFlight = new Bound()
  /** By the kind of rows, which are constants of modules, and by team. */
  readonly #batches = new Map<RowById<TSchema>, Map<string, Batch>>()

  constructor(dependencies: LookUpsDependencies) {
    this.#dependencies = dependencies
  }

  /** Statements of a team, or of no team (`''`), each on its own. 503: too many are in flight. */
  ofTeam(team: string): Queries {
    const [begin, done] = [() => this.#inFlight.enter(team), () => this.#inFlight.leave(team)]
    return createQueries(this.#sendFor(team), this.#dependencies.checkRows, { begin, done })
  }

  #sendFor(team: string): (q: Sql) => Promise<pg.QueryResult> {
    return (q) => this.#dependencies.connection.query(compiled(q), this.#dependencies.seenBy(team))
  }

  /**
   * Reads a row of a team by its id, together with other rows of the kind that its requests look up in this turn. 503: too many are in
   * flight; each id counts.
   */
  async byId<S extends TSchema>(team: string, kind: RowById<S>, given: string): Promise<Static<S> | undefined> {
    const id = given.toLowerCase()
    // Ids are sent as the text of an array, of which no other text may become a part.
    if (!UUID.test(id)) return undefined
    this.#inFlight.enter(team)
    try {
      const { ids, rows } = this.#batchFor(team, kind, id)
      ids.add(id)
      return (await rows).get(id) as Static<S> | undefined
    } finally {
      this.#inFlight.leave(team)
    }
  }

  /** The batch of this turn that has the id or room for it. */
  #batchFor(team: string, kind: RowById<TSchema>, id: string): Batch {
    let teams = this.#batches.get(kind)
    if (!teams) this.#batches.set(kind, (teams = new Map()))
    const last = teams.get(team)
    if (last && (last.ids.size < IDS_MAX || last.ids.has(id))) return last
    const ids = new Set<string>()
    const rows = new Promise<Map<string, unknown>>((resolve) => {
      this.#dependencies.connection.atEndOfTurn(() => {
        teams.delete(team)
        resolve(this.#read(team, kind, [...ids]))
      })
    })
    const batch = { ids, rows }
    teams.set(team, batch)
    return batch
  }

  async #read(team: string, kind: RowById<TSchema>, ids: string[]): Promise<Map<string, unknown>> {
    const queries = createQueries(this.#sendFor(team), this.#dependencies.checkRows)
    // As a subquery, whose number of ids PostgreSQL does not know: if it did, it would plan each execution (figures: bench/RESULTS.md).
    const array = sql`(select ${arrayLiteral(ids)}::uuid[])::uuid[]`
    const rows = await queries.many(kind.row, kind.select({ team }, array))
    return new Map(rows.map((row) => [(row as { id: string }).id, row]))
  }
}
