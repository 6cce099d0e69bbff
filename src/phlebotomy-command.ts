// Phlebotomists by command: an organization's, or the operator's own.
import { parseArgs } from 'node:util'
import { id, UsageError } from './bootstrap.ts'
import { findOrg } from './management/teams.ts'
import { importStaff } from './phlebotomy/import.ts'
import { listStaff, removeStaff } from './phlebotomy/staff.ts'
import { constraints } from './phlebotomy/visits.ts'
import { placesOf, usable } from './places-command.ts'
import type { Cells } from './platform/cells.ts'
import type { Db } from './platform/db.ts'
import { Problem } from './platform/errors.ts'

/**
 * Carry out `phlebotomy import`, `phlebotomy list` or `phlebotomy remove`: in the cell that is named, else in those of production, since
 * the sandbox has visits of its own.
 * @returns what to print
 */
export async function phlebotomyCommand(cells: Cells, words: string[]): Promise<string> {
  const { positionals, values } = read(words)
  const [, command, ...named] = positionals
  if (!['import', 'list', 'remove'].includes(command ?? ''))
    throw new UsageError(
      'Say "phlebotomy import", "phlebotomy list" or "phlebotomy remove"; "bin/drawbridge help" explains them.',
    )
  const org_id = values.org === undefined ? null : id(values.org, '--org')
  if (org_id !== null && !(await cells.control.plainTx((tx) => findOrg(tx, org_id))))
    throw new UsageError('There is no such organization.')
  if (command !== 'list' && named.length === 0)
    throw new UsageError(command === 'import' ? 'phlebotomy import needs a file.' : 'phlebotomy remove needs references.')
  const places = placesOf(cells, values.cell, (name) => name.startsWith('production'))
  if (places.length === 0) throw new UsageError('No cell of production is served here; name one with --cell.')
  let printed = ''
  for (const name of places) {
    const db = cells.of(name)
    printed += `${name}\n`
    if (command === 'import') printed += await take(db, org_id, named[0]!, values.strict ?? false)
    else printed += command === 'list' ? await list(db, org_id) : await remove(db, org_id, named)
  }
  return printed
}

function read(words: string[]) {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      args: words,
      allowPositionals: true,
      options: { cell: text, org: text, strict: { type: 'boolean' } },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function take(db: Db, org_id: string | null, file: string, strict: boolean): Promise<string> {
  const { staff, rejections } = await usable(importStaff(db, org_id, file, strict))
  return `${staff} taken\n${rejections.text()}`
}

async function list(db: Db, org_id: string | null): Promise<string> {
  const lines = (await listStaff(db.queries, org_id)).map(
    ({ reference, is_active, service_types, time_zone, name }) =>
      `  ${reference.padEnd(20)}  ${is_active ? 'active  ' : 'inactive'}  ${service_types.join(' ').padEnd(17)}  ${time_zone.padEnd(20)}  ${name}\n`,
  )
  return lines.join('')
}

async function remove(db: Db, org_id: string | null, references: string[]): Promise<string> {
  try {
    await db.plainTx(async (tx) => {
      for (const reference of references) await removeStaff(tx, org_id, reference)
    })
  } catch (error) {
    throw reasonOf(error) ?? error
  }
  return references.map((reference) => `  ${reference}  removed\n`).join('')
}

/** What was refused, as a sentence. */
function reasonOf(error: unknown): UsageError | undefined {
  const { constraint } = error as { constraint?: string }
  const problem =
    error instanceof Problem ? error : constraint === 'phlebotomy_visit__staff' ? constraints[constraint]() : undefined
  return problem && new UsageError(`${String(problem.body.detail)}.`)
}
