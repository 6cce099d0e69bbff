// Everything that a cell keeps of a team, whatever tables there are; but the access log, which tells of requests and grows with each, and
// stays when a team is erased, and the requests themselves, which a process writes up to a second later.
import type { TestTeam } from '../../support/server.ts'

let known: string[] | undefined

async function tablesOf({ db }: TestTeam): Promise<string[]> {
  if (!known) {
    const { rows } = await db.pool.query<{ name: string }>(
      `select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
       where table_schema = current_schema() and column_name = 'team_id' and table_type = 'BASE TABLE' and table_name not like 'access%' and table_name not like 'request\\_%'
       order by 1`,
    )
    known = rows.map(({ name }) => name)
  }
  return known
}

/** Table of the cell that belongs to teams → rows of this one, as text. */
export async function rowsOf(owner: TestTeam): Promise<Record<string, string[]>> {
  const { db, team } = owner
  const tables = await tablesOf(owner)
  const each = tables.map((name) => `select '${name}' as name, t::text as row from "${name}" t where team_id = $1`)
  const { rows } = await db.pool.query<{ name: string; row: string }>(`${each.join(' union all ')} order by name, row`, [team])
  const found = Object.fromEntries(tables.map((name) => [name, [] as string[]]))
  for (const { name, row } of rows) found[name]!.push(row)
  return found
}

/** The rows of a team as they are, and every id in one of them, now or in an earlier state. */
export interface RowsRead {
  state: string[]
  ids: ReadonlySet<string>
}

/** The rows of a team, for tests that compare them often: each row is read once, and its version shows whether it has changed. */
export class TeamRows {
  readonly #of: TestTeam
  /** By table. */
  readonly #states = new Map<string, string>()
  readonly #versions = new Set<string>()
  readonly #ids = new Set<string>()

  constructor(owner: TestTeam) {
    this.#of = owner
  }

  async read(): Promise<RowsRead> {
    const state = await this.state()
    for (const ofTable of state) {
      const table = ofTable.slice(0, ofTable.indexOf(' '))
      if (this.#states.get(table) === ofTable) continue
      this.#states.set(table, ofTable)
      await this.#readTable(table)
    }
    return { state, ids: this.#ids }
  }

  async #readTable(table: string): Promise<void> {
    const { db, team } = this.#of
    const versions = await db.pool.query<{ ctid: string; version: string }>(
      `select ctid::text, ctid || ' ' || xmin as version from "${table}" where team_id = $1`,
      [team],
    )
    const unread = versions.rows.filter(({ version }) => !this.#versions.has(`${table} ${version}`))
    for (const { version } of unread) this.#versions.add(`${table} ${version}`)
    if (!unread.length) return
    const text = `select t::text as row from "${table}" t where team_id = $1 and ctid = any($2::tid[])`
    const { rows } = await db.pool.query<{ row: string }>(text, [team, unread.map(({ ctid }) => ctid)])
    for (const { row } of rows) for (const [id] of row.matchAll(UUID)) this.#ids.add(id)
  }

  /**
   * Of each table its name, how many rows it has, and a sum over their places and the transactions that wrote them: equal while no row is
   * added, changed or deleted.
   */
  async state(): Promise<string[]> {
    const tables = await tablesOf(this.#of)
    const sum = `coalesce(sum(hashtextextended(ctid || ' ' || xmin, 0)), 0)`
    const each = tables.map((name) => `select '${name} ' || count(*) || ' ' || ${sum} as state from "${name}" where team_id = $1`)
    // Prepared: planning a statement on all tables costs more than running it.
    const statement = { name: 'states of tables', text: each.join(' union all '), values: [this.#of.team] }
    const { rows } = await this.#of.db.pool.query<{ state: string }>(statement)
    return rows.map(({ state }) => state).toSorted()
  }
}

export const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
