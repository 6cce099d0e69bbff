// Commands that try a link before it is live. `links shadow` prints results of patients.
import type { Call } from '../command-tree.ts'
import { requireCell, requireFound, requireId, whenLogged } from '../command-input.ts'
import { printJson } from '../command-output.ts'
import { findLink } from '../../lab/accounts/account-links.ts'
import type { ShadowOrder } from '../../lab/link-shadow/schema.ts'
import { compareShadowResults } from '../../lab/link-shadow/shadow-comparison.ts'
import { leaveCommand } from '../../platform/access-log/access-line.ts'
import { loadTenant } from '../../tenancy/teams/teams.ts'

type Options = { cell?: string; team?: string; json?: boolean }

/** `links shadow`. */
export async function printShadow(call: Call<Options>): Promise<string> {
  const { name, db } = requireCell(call)
  const account_id = requireId(call.args[0], 'The lab account')
  const team_id = requireId(call.values.team, '--team')
  requireFound(await findLink(db.queries, account_id), 'The lab account has no link.')
  const tenant = requireFound(await loadTenant(call.cells, name, team_id), 'Team not found in this cell.')
  const comparing = db.tx(tenant, async (tx) => {
    const comparison = await compareShadowResults(tx, account_id)
    const users = comparison.orders.map(({ user_id }) => user_id)
    leaveCommand(tx, { actor: call.actor, operation: 'links shadow' }, { team: team_id, objects: [account_id], users })
    return comparison
  })
  const comparison = await whenLogged(db, comparing)
  if (call.values.json) return printJson(comparison)
  const { totals, orders, unmatched } = comparison
  return [
    `orders    ${totals.same} same, ${totals.different} different, ${totals.not_entered} not entered by staff\n`,
    `results   ${totals.compared_results} compared, ${totals.different_results} different\n`,
    `messages  ${unmatched.length} without a certain order\n`,
    ...orders.map(printOrder),
    ...unmatched.map(({ message_id, mismatch }) => `message ${message_id}  ${mismatch}\n`),
  ].join('')
}

function printOrder({ order_id, outcome, differences }: ShadowOrder): string {
  const lines = differences.flatMap(({ name, kind, fields }) =>
    fields.map(
      ({ field, laboratory, staff }) => `  ${kind}  ${name}  ${field}  laboratory ${laboratory ?? '-'}  staff ${staff ?? '-'}\n`,
    ),
  )
  return `order ${order_id}  ${outcome}\n${lines.join('')}`
}
