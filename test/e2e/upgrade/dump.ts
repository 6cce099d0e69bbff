// Prints the rows of an embedded database as SQL, for the test that upgrades the tables of a release: node test/e2e/upgrade/dump.ts DATA_DIR
// while the server of that release runs. Every table is printed whole, but of reference data, which each release brings along, only what
// other rows refer to. Use a data folder with fictional people, and no keys but those of the test (KEYS in test/e2e/upgrade-data.test.ts).
import { realpathSync } from 'node:fs'
import pg from 'pg'
import { connectionFor, socketFolder } from '../../../src/platform/embedded-postgres/cluster.ts'
import { referenceTables, SCHEMAS } from './tables.ts'

interface ForeignKey {
  child: string
  parent: string
  childColumns: string[]
  parentColumns: string[]
}

const dataDir = realpathSync(process.argv[2]!)
const client = new pg.Client(connectionFor(dataDir, socketFolder(dataDir))!)
await client.connect()
// Values are printed as PostgreSQL writes them.
await client.query(`begin isolation level repeatable read; set local timezone = 'UTC'`)
const rows = async <R>(text: string, values?: unknown[]) => (await client.query(text, values)).rows as R[]

const parts: string[] = []
for (const schema of SCHEMAS) parts.push(...(await dumpSchema(schema)))
process.stdout.write(`${parts.join('\n\n')}\n`)
await client.end()

async function dumpSchema(schema: string): Promise<string[]> {
  const tables = (
    await rows<{ name: string }>('select tablename as name from pg_tables where schemaname = $1 order by 1', [schema])
  ).map(({ name }) => name)
  const keys = await foreignKeys(schema)
  const printed = tables.filter((table) => table !== 'migration')
  const statements: string[] = []
  for (const table of inOrder(printed, keys)) statements.push(...(await dumpTable(schema, table, keys)))
  const sequences = await rows<{ name: string; last: string | null }>(
    'select sequencename as name, last_value::text as last from pg_sequences where schemaname = $1 order by 1',
    [schema],
  )
  for (const { name, last } of sequences) if (last !== null) statements.push(`select setval('${schema}.${name}', ${last});`)
  return statements
}

async function dumpTable(schema: string, table: string, keys: ForeignKey[]): Promise<string[]> {
  const columns = await rows<{ name: string; always: boolean }>(
    `select attname as name, attidentity = 'a' as always from pg_attribute
     where attrelid = format('%I.%I', $1::text, $2::text)::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [schema, table],
  )
  const names = columns.map(({ name }) => `"${name}"`)
  const value = names.map((name) => `quote_nullable(t.${name}::text)`).join(` || ', ' || `)
  const from = `from ${schema}."${table}" t where ${condition(schema, table, keys)} order by 1`
  const values = await rows<{ line: string }>(`select '(' || ${value} || ')' as line ${from}`)
  if (values.length === 0) return []
  const override = columns.some(({ always }) => always) ? ' overriding system value' : ''
  return [
    `insert into ${schema}."${table}" (${names.join(', ')})${override} values\n${values.map(({ line }) => line).join(',\n')};`,
  ]
}

/** Which rows of a table are printed: all, or of reference data those that printed rows refer to. */
function condition(schema: string, table: string, keys: ForeignKey[]): string {
  if (!referenceTables.has(table)) return 'true'
  const referring = keys
    .filter(({ parent, child }) => parent === table && child !== table)
    .map(({ child, childColumns, parentColumns }) => {
      const match = parentColumns.map((column, i) => `c${child}."${childColumns[i]}" = t."${column}"`).join(' and ')
      const inner = condition(schema, child, keys).replaceAll('t.', `c${child}.`)
      return `exists (select from ${schema}."${child}" c${child} where ${match} and (${inner}))`
    })
  return referring.length ? referring.join(' or ') : 'false'
}

async function foreignKeys(schema: string): Promise<ForeignKey[]> {
  return rows<ForeignKey>(
    `select c.relname as child, p.relname as parent,
            array(select a.attname::text from unnest(o.conkey) with ordinality k (n, i) join pg_attribute a on a.attrelid = c.oid and a.attnum = k.n order by i) as "childColumns",
            array(select a.attname::text from unnest(o.confkey) with ordinality k (n, i) join pg_attribute a on a.attrelid = p.oid and a.attnum = k.n order by i) as "parentColumns"
     from pg_constraint o join pg_class c on c.oid = o.conrelid join pg_class p on p.oid = o.confrelid
     where o.contype = 'f' and o.connamespace = $1::regnamespace`,
    [schema],
  )
}

/** Tables that others refer to come first. */
function inOrder(tables: string[], keys: ForeignKey[]): string[] {
  const ordered = new Set<string>()
  const visit = (table: string, path: string[]) => {
    if (ordered.has(table)) return
    if (path.includes(table)) throw new Error(`tables refer to each other in a circle: ${[...path, table].join(' > ')}`)
    for (const { child, parent } of keys) if (child === table && parent !== table) visit(parent, [...path, table])
    ordered.add(table)
  }
  for (const table of tables) visit(table, [])
  return [...ordered].filter((table) => tables.includes(table))
}
