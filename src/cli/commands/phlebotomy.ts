// Phlebotomists by command: those of an organization, or those of the operator.
import type { Outcome, Typed } from '../command-tree.ts'
import { requireId, UsageError } from './org.ts'
import { findOrg } from '../../tenancy/organizations/organizations.ts'
import { importStaff } from '../../visits/phlebotomy/staff-import.ts'
import { listStaff, removeStaff } from '../../visits/phlebotomy/staff.ts'
import { constraints } from '../../visits/phlebotomy/visits.ts'
import { importIntoCells, reportInvalidFile } from './places.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Db } from '../../platform/db/database.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { taken } from '../../platform/files/rejected-rows.ts'

/**
 * Runs `phlebotomy import`, `phlebotomy list` or `phlebotomy remove` in the named cell; default: the production cells, because the sandbox
 * has at-home appointments of its own.
 * @returns what to print
 */
export async function phlebotomyCommand(
  cells: Cells,
  { positionals, values }: Typed<{ cell?: string; org?: string; strict?: boolean }>,
): Promise<Outcome> {
  const [, command, ...named] = positionals
  if (!['import', 'list', 'remove'].includes(command ?? ''))
    throw new UsageError(
      'Usage: bin/drawbridge phlebotomy import | phlebotomy list | phlebotomy remove. See "bin/drawbridge help".',
    )
  const org_id = values.org === undefined ? null : requireId(values.org, '--org')
  if (org_id !== null && !(await cells.control.plainTx((tx) => findOrg(tx, org_id)))) throw new Error('Organization not found.')
  if (command !== 'list' && named.length === 0)
    throw new UsageError(
      command === 'import' ? 'phlebotomy import requires a file.' : 'phlebotomy remove requires at least one reference.',
    )
  const places = importIntoCells(cells, values.cell, (name) => name.startsWith('production'))
  if (places.length === 0) throw new Error('This process serves no production cell; specify --cell.')
  if (command === 'remove') return removeFrom(cells, places, org_id, named)
  let [printed, rejected] = ['', 0]
  for (const name of places) {
    const db = cells.of(name)
    printed += `${name}\n`
    if (command === 'list') printed += await list(db, org_id)
    else {
      const { staff, rejections } = await reportInvalidFile(importStaff(db, org_id, named[0]!, values.strict ?? false))
      printed += `${staff} imported\n${rejections.text()}`
      rejected += rejections.count
    }
  }
  return taken(printed, rejected)
}

async function list(db: Db, org_id: string | null): Promise<string> {
  const lines = (await listStaff(db.queries, org_id)).map(
    ({ reference, is_active, service_types, time_zone, name }) =>
      `  ${reference.padEnd(20)}  ${is_active ? 'active  ' : 'inactive'}  ${service_types.join(' ').padEnd(17)}  ${time_zone.padEnd(20)}  ${name}\n`,
  )
  return lines.join('')
}

/** Processes each reference in each cell separately. A reference that no cell has, or that cannot be removed, is a failure. */
async function removeFrom(cells: Cells, places: CellName[], org_id: string | null, references: string[]): Promise<Outcome> {
  const removed = new Set<string>()
  const refused = new Set<string>()
  let printed = ''
  for (const name of places) {
    printed += `${name}\n`
    for (const reference of references) {
      const outcome = await remove(cells.of(name), org_id, reference)
      if (outcome === 'removed') removed.add(reference)
      else if (outcome !== ABSENT) refused.add(reference)
      printed += `  ${reference}  ${outcome}\n`
    }
  }
  const absent = references.filter((reference) => !removed.has(reference) && !refused.has(reference))
  const failures = [
    ...(absent.length ? [`Phlebotomist not found: ${absent.join(', ')} in ${places.join(', ')}.`] : []),
    ...(refused.size ? [`Not removed everywhere: ${[...refused].join(', ')}.`] : []),
  ]
  return { printed, failure: failures.length ? failures.join(' ') : undefined }
}

const ABSENT = 'not here'

async function remove(db: Db, org_id: string | null, reference: string): Promise<string> {
  try {
    await db.plainTx((tx) => removeStaff(tx, org_id, reference))
    return 'removed'
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return ABSENT
    const reason = constraintMessage(error)
    if (reason === undefined) throw error
    return `not removed: ${reason}`
  }
}

/** The rejected entries, as a sentence. */
function constraintMessage(error: unknown): string | undefined {
  const { constraint } = error as { constraint?: string }
  const problem =
    error instanceof Problem ? error : constraint === 'phlebotomy_visit__staff' ? constraints[constraint]() : undefined
  return problem && String(problem.body.detail)
}
