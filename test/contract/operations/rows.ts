// Everything that a cell keeps of a team, whatever tables there are; but the access log, which tells of requests and grows with each, and
// stays when a team is erased.
import type { TestTeam } from '../../support/server.ts'

interface Table {
  name: string
  /** A row as text is made of these. Bytes are told apart by their hash: they have no text to look for, and may be megabytes. */
  columns: string[]
}

let tables: Table[] | undefined

async function tablesOf({ db }: TestTeam): Promise<Table[]> {
  if (tables) return tables
  const { rows } = await db.pool.query<Table>(
    `select table_name as name, array_agg(
       format(case when data_type = 'bytea' then 'md5(%I)' else '%I' end, column_name) order by ordinal_position) as columns
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = current_schema() and table_type = 'BASE TABLE' and table_name not like 'access%'
     group by 1 having bool_or(column_name = 'team_id') order by 1`,
  )
  return (tables = rows)
}

const textOf = ({ name, columns }: Table): string =>
  `select row(${columns.join(', ')})::text as row from "${name}" where team_id = $1`

/** Table of the cell that belongs to teams → rows of this one, as text. */
export async function rowsOf(team: TestTeam): Promise<Record<string, string[]>> {
  const all = await tablesOf(team)
  const each = all.map((table) => `select '${table.name}' as name, row from (${textOf(table)}) t`)
  const { rows } = await team.db.pool.query<{ name: string; row: string }>({
    name: 'rows of a team',
    text: `${each.join(' union all ')} order by name, row`,
    values: [team.team],
  })
  const found = Object.fromEntries(all.map(({ name }) => [name, [] as string[]]))
  for (const { name, row } of rows) found[name]!.push(row)
  return found
}

/** The rows of a table of a team: two of these are equal if the rows are. */
export interface Digest {
  name: string
  count: string
  /** The sums of two hashes of each row. */
  hashes: string
  /** Whether a row has one of the texts that are asked for. */
  found: boolean
}

/** As `rowsOf`, without the rows themselves: a team that has done everything has megabytes of them. @param texts to look for in the rows */
export async function digestsOf(team: TestTeam, texts: string[] = []): Promise<Digest[]> {
  const each = (await tablesOf(team)).map(
    (table) => `
    select '${table.name}' as name, count(*), concat_ws(' ', sum(hashtextextended(row, 0)), sum(hashtextextended(row, 1))) as hashes,
      coalesce(bool_or(row like any ($2::text[])), false) as found
    from (${textOf(table)}) t`,
  )
  const { rows } = await team.db.pool.query<Digest>({
    name: 'digests of a team',
    text: `${each.join(' union all ')} order by name`,
    values: [team.team, texts.map((text) => `%${text}%`)],
  })
  return rows
}
