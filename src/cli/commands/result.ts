// Unassigned results: they came over a link and name no team, and the operator assigns them. Prints no patient data.
import type { Call } from '../command-tree.ts'
import { requireFound, requireCell, requireId, whenLogged } from '../command-input.ts'
import { printRows } from '../command-output.ts'
import { commandHooks } from '../command-hooks.ts'
import { loadTenant } from '../../tenancy/teams/teams.ts'
import { assignToTeam, deleteUnassigned, listUnassigned } from '../../lab/result-matching/operator-reviews.ts'
import { leaveCommand } from '../../platform/access-log/access-line.ts'

type Options = { cell?: string; team?: string; json?: boolean }
const NOT_FOUND = 'Unassigned result not found.'

/** `result list`. */
export async function printResults(call: Call<Options>): Promise<string> {
  const rows = await listUnassigned(requireCell(call).db.queries)
  return printRows(
    call.values.json,
    rows,
    ({ id, created_at, lab, message_id }) => `${id}  ${created_at}  ${lab.padEnd(13)}  ${message_id}`,
    'There are none.',
  )
}

/** `result assign`. The result may match an order. Then the order and everything that depends on it continue. */
export async function assign(call: Call<Options>): Promise<string> {
  const { cells, args, values, config } = call
  const { name, db } = requireCell(call)
  const result = requireId(args[0], 'The result')
  const tenant = requireFound(await loadTenant(cells, name, requireId(values.team, '--team')), 'Team not found.')
  db.hooks ??= await commandHooks(config)
  const assigned = db.txOnWholeCell(tenant, async (tx) => {
    const receipt = await assignToTeam(tx, result)
    if (receipt)
      leaveCommand(
        tx,
        { actor: call.actor, operation: 'result assign' },
        { team: tenant.team, org: tenant.org, objects: [result] },
      )
    return receipt
  })
  const { decision_code, status, order_id } = requireFound(await whenLogged(db, assigned), NOT_FOUND)
  return `${decision_code}, ${status}${order_id ? `, order ${order_id}` : ''}\n`
}

/** `result drop`. */
export async function drop(call: Call<Options>): Promise<string> {
  const { db } = requireCell(call)
  const result = requireId(call.args[0], 'The result')
  const dropped = db.plainTx(async (tx) => {
    const isGone = await deleteUnassigned(tx, result)
    if (isGone) leaveCommand(tx, { actor: call.actor, operation: 'result drop' }, { objects: [result] })
    return isGone
  })
  requireFound(await whenLogged(db, dropped), NOT_FOUND)
  return 'Result deleted.\n'
}
