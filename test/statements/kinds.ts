// The kinds of the tables of a cell, from its schema: a table whose `team_id` is not null is distributed by it.
import { globSync, readFileSync } from 'node:fs'
import { listNodes, namesIn, parseFile, type Fields, type Node } from './syntax.ts'
import type { TableKind } from './teams.ts'

/** Tables that stay on the coordinator. */
const LOCAL = new Set([
  'access_archive',
  'access_archive_lease',
  'access_day',
  'access_line',
  'access_log',
  'access_log_check',
  'access_log_retention',
  'audit_log',
  'database_size',
  'feed_epoch',
  'geocoding_cache',
  'lab_link_issue',
  'lab_message',
  'lab_message_result',
  'loinc_release_term',
  'mail',
  'migration',
  'raw_result',
  'readiness',
  'stored_file',
])

/** Table or view → its kind. A view has the kind of its first table; a function that reads distributed tables is there with parentheses. */
export function readKinds(): Map<string, TableKind> {
  const kinds = new Map<string, TableKind>()
  for (const file of globSync('migrations/cell/*.sql').sort())
    for (const statement of parseFile(readFileSync(file, 'utf8'))) {
      const { CreateStmt: table, ViewStmt: view, CreateFunctionStmt: routine } = statement as Record<string, Fields>
      if (table) kinds.set(table.relation.relname as string, kindOf(table))
      if (view) kinds.set(view.view.relname as string, kinds.get(view.query.SelectStmt.fromClause[0].RangeVar.relname as string)!)
      if (routine && readsDistributed(routine, kinds)) kinds.set(`${namesIn(routine.funcname as Node[]).at(-1)}()`, 'distributed')
    }
  return kinds
}

function kindOf(table: Fields): TableKind {
  if (LOCAL.has(table.relation.relname as string)) return 'local'
  const columns = (table.tableElts as Node[]).map(({ ColumnDef }) => ColumnDef).filter(Boolean)
  const team = columns.find(({ colname }) => colname === 'team_id')
  const isRequired = ((team?.constraints ?? []) as Node[]).some(({ Constraint }) =>
    ['CONSTR_NOTNULL', 'CONSTR_PRIMARY'].includes(Constraint.contype as string),
  )
  return isRequired ? 'distributed' : 'reference'
}

function readsDistributed(routine: Fields, kinds: ReadonlyMap<string, TableKind>): boolean {
  const texts = (routine.options as Node[])
    .flatMap((option) => listNodes(option))
    .map(({ String: text }) => (text?.sval as string) ?? '')
  const tables = texts.flatMap((text) => [...text.matchAll(/\b(?:from|join|into|update)\s+(\w+)/g)]).map(([, table]) => table!)
  return tables.some((table) => kinds.get(table) === 'distributed')
}
