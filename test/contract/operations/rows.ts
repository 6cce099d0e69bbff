// Everything that a cell keeps of a team, whatever tables there are; but the access log, which tells of requests and grows with each, and
// stays when a team is erased.
import type { TestTeam } from '../../support/server.ts'

let tables: string[] | undefined

/** Table of the cell that belongs to teams → rows of this one, as text. */
export async function rowsOf({ db, team }: TestTeam): Promise<Record<string, string[]>> {
  if (!tables) {
    const { rows } = await db.pool.query<{ name: string }>(
      `select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
       where table_schema = current_schema() and column_name = 'team_id' and table_type = 'BASE TABLE' and table_name not like 'access%'
       order by 1`,
    )
    tables = rows.map(({ name }) => name)
  }
  const each = tables.map((name) => `select '${name}' as name, t::text as row from "${name}" t where team_id = $1`)
  const { rows } = await db.pool.query<{ name: string; row: string }>(`${each.join(' union all ')} order by name, row`, [team])
  const found = Object.fromEntries(tables.map((name) => [name, [] as string[]]))
  for (const { name, row } of rows) found[name]!.push(row)
  return found
}
