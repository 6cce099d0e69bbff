// The present schema as text, read from the catalogs: the bundled PostgreSQL has no pg_dump.
import type pg from 'pg'

/** Tables, columns, constraints, indexes, policies, triggers, sequences, views and functions of a schema, in a stable order. */
export async function printSchema(client: pg.Client, schema: string): Promise<string> {
  const columns = await client.query<{ table: string; column: string; type: string; rest: string }>(
    `select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
            concat_ws(' ', case when a.attnotnull then 'not null' end,
                      case when a.attidentity <> '' then 'generated always as identity' end,
                      case when d.adbin is not null then 'default ' || pg_get_expr(d.adbin, d.adrelid) end) as rest
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
     where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition order by c.relname, a.attnum`,
    [schema],
  )
  const constraints = await client.query<{ table: string; name: string; definition: string }>(
    `select c.relname as table, o.conname as name, pg_get_constraintdef(o.oid) as definition
     from pg_constraint o join pg_class c on c.oid = o.conrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and o.contype <> 'n' order by c.relname, o.contype desc, o.conname`,
    [schema],
  )
  const indexes = await client.query<{ table: string; definition: string }>(
    `select tablename as table, indexdef as definition from pg_indexes
     where schemaname = $1 and indexname not in (select conname from pg_constraint) order by tablename, indexname`,
    [schema],
  )
  const triggers = await client.query<{ table: string; definition: string; body: string }>(
    `select c.relname as table, pg_get_triggerdef(t.oid) as definition, p.prosrc as body
     from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace join pg_proc p on p.oid = t.tgfoid
     where n.nspname = $1 and not t.tgisinternal order by c.relname, t.tgname`,
    [schema],
  )
  const sequences = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     left join pg_depend d on d.objid = c.oid and d.deptype = 'i'
     where n.nspname = $1 and c.relkind = 'S' and d.objid is null order by 1`,
    [schema],
  )
  const policies = await client.query<{ table: string; name: string; command: string; condition: string }>(
    `select tablename as table, policyname as name, lower(cmd) as command, coalesce(qual, with_check) as condition from pg_policies
     where schemaname = $1 and policyname <> 'whole_cell' order by 1, 2`,
    [schema],
  )
  const views = await client.query<{ name: string; text: string }>(
    `select viewname as name, definition as text from pg_views where schemaname = $1 order by 1`,
    [schema],
  )
  const plain = (text: string) => text.replaceAll(`${schema}.`, '')
  const lines: string[] = []
  for (const table of new Set(columns.rows.map((row) => row.table))) {
    lines.push(`table ${table}`)
    for (const row of columns.rows) if (row.table === table) lines.push(`  ${row.column} ${row.type} ${row.rest}`.trimEnd())
    for (const row of constraints.rows) if (row.table === table) lines.push(`  constraint ${row.name} ${plain(row.definition)}`)
    for (const row of indexes.rows) if (row.table === table) lines.push(`  ${plain(row.definition)}`)
    for (const row of policies.rows)
      if (row.table === table) lines.push(`  policy ${row.name} for ${row.command} ${plain(row.condition).replace(/\s+/g, ' ')}`)
    for (const row of triggers.rows)
      if (row.table === table)
        lines.push(
          `  ${plain(row.definition)}`,
          ...plain(row.body)
            .trim()
            .split('\n')
            .map((line) => `    ${line}`),
        )
    lines.push('')
  }
  for (const { name } of sequences.rows) lines.push(`sequence ${name}`)
  for (const { name, text } of views.rows) lines.push('', `view ${name}`, plain(text))
  // Those of triggers stand with their tables.
  const functions = await client.query<{ signature: string; aggregate: string | null; body: string; definer: boolean }>(
    `select p.oid::regprocedure::text as signature, p.prosrc as body, p.prosecdef as definer,
            case when a.aggfnoid is not null then 'of ' || a.aggtransfn::regproc::text end as aggregate
     from pg_proc p join pg_namespace n on n.oid = p.pronamespace left join pg_aggregate a on a.aggfnoid = p.oid
     where n.nspname = $1 and p.prorettype <> 'trigger'::regtype order by 1`,
    [schema],
  )
  for (const { signature, aggregate, body, definer } of functions.rows) {
    lines.push(
      '',
      plain(aggregate ? `aggregate ${signature} ${aggregate}` : `function ${signature}${definer ? ' security definer' : ''}`),
    )
    if (!aggregate)
      lines.push(
        ...plain(body)
          .trim()
          .split('\n')
          .map((line) => `  ${line}`),
      )
  }
  return lines.join('\n')
}
