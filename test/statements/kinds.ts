// The kinds of the tables, views and functions of a cell, from its schema.
import { globSync, readFileSync } from 'node:fs'
import { placementOf } from '../../src/platform/db/table-placement.ts'
import { listNodes, namesIn, parseFile, type Fields, type Node } from './syntax.ts'
import type { TableKind } from './teams.ts'

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
  const kind = placementOf(table.relation.relname as string)
  const constraints = (table.tableElts as Node[])
    .flatMap((element) => listNodes(element))
    .map(({ Constraint }) => Constraint?.pktable?.relname as string | undefined)
  const isManaged = kind === 'local' && constraints.some((target) => target !== undefined && placementOf(target) === 'reference')
  return isManaged ? 'managed' : kind
}

function readsDistributed(routine: Fields, kinds: ReadonlyMap<string, TableKind>): boolean {
  const texts = (routine.options as Node[])
    .flatMap((option) => listNodes(option))
    .map(({ String: text }) => (text?.sval as string) ?? '')
  const tables = texts.flatMap((text) => [...text.matchAll(/\b(?:from|join|into|update)\s+(\w+)/g)]).map(([, table]) => table!)
  return tables.some((table) => kinds.get(table) === 'distributed')
}
