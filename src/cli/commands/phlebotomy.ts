// Phlebotomists by command: those of an organization, or those of the operator.
import type { Call, Outcome } from '../command-tree.ts'
import { chosenCells, optionalOrg } from '../command-input.ts'
import { printEach, printRowsOfCells } from '../command-output.ts'
import { importIntoEach } from '../file-import.ts'
import { importStaff } from '../../visits/phlebotomy/staff-import.ts'
import { listStaff, removeStaff } from '../../visits/phlebotomy/staff.ts'
import { visitConstraints } from '../../visits/phlebotomy/visits.ts'
import type { Db } from '../../platform/db/database.ts'
import { Problem } from '../../platform/runtime/problem.ts'

type Options = { cell?: string; org?: string; strict?: boolean; json?: boolean }

/** `phlebotomy import`. */
export async function importFile(call: Call<Options>): Promise<Outcome> {
  const org_id = await optionalOrg(call)
  return importIntoEach(chosenCells(call), async ({ name, db }) => {
    const { staff, rejections } = await importStaff(db, org_id, call.args[0]!, call.values.strict ?? false)
    return { summary: `${name}\n${staff} imported`, rejections }
  })
}

/** `phlebotomy list`. */
export async function printStaff(call: Call<Options>): Promise<string> {
  const org_id = await optionalOrg(call)
  return printRowsOfCells(
    { json: call.values.json, places: chosenCells(call) },
    ({ db }) => listStaff(db.queries, org_id),
    ({ reference, is_active, service_types, time_zone, name }) =>
      `  ${reference.padEnd(20)}  ${is_active ? 'active  ' : 'inactive'}  ${service_types.join(' ').padEnd(17)}  ${time_zone.padEnd(20)}  ${name}`,
  )
}

/**
 * `phlebotomy remove`: processes each reference in each cell separately. A reference that no cell has, or that cannot be removed, is a
 * failure.
 */
export async function remove(call: Call<Options>): Promise<Outcome> {
  const { args: references } = call
  const org_id = await optionalOrg(call)
  const places = chosenCells(call)
  const removed = new Set<string>()
  const refused = new Set<string>()
  const output = await printEach(places, async ({ db }) => {
    let lines = ''
    for (const reference of references) {
      const outcome = await removeOne(db, org_id, reference)
      if (outcome === 'removed') removed.add(reference)
      else if (outcome !== ABSENT) refused.add(reference)
      lines += `  ${reference}  ${outcome}\n`
    }
    return lines
  })
  const absent = references.filter((reference) => !removed.has(reference) && !refused.has(reference))
  const failures = [
    ...(absent.length ? [`Phlebotomist not found: ${absent.join(', ')} in ${places.map(({ name }) => name).join(', ')}.`] : []),
    ...(refused.size ? [`Not removed everywhere: ${[...refused].join(', ')}.`] : []),
  ]
  return { output, failure: failures.length ? failures.join(' ') : undefined }
}

const ABSENT = 'not here'

async function removeOne(db: Db, org_id: string | null, reference: string): Promise<string> {
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
    error instanceof Problem ? error : constraint === 'phlebotomy_visit__staff' ? visitConstraints[constraint]() : undefined
  return problem && String(problem.body.detail)
}
