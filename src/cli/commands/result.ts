// Unassigned results: they came over a link and name no team, and the operator assigns them. Prints no patient data.
import type { CommandContext, Typed } from '../command-tree.ts'
import { requireCell, requireId, UsageError } from './org.ts'
import { loadTenant } from '../../tenancy/teams/teams.ts'
import { assignToTeam, deleteUnassigned, listUnassigned } from '../../lab/result-matching/operator-reviews.ts'
import { leaveCommand } from '../../platform/access-log/access-line.ts'
import { appendLines } from '../../platform/access-log/access-log.ts'
import { openVault } from '../../platform/crypto/key-file.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { Hooks } from '../../platform/db/hooks.ts'

/** Runs `result list`, `result assign` or `result drop`. @returns what to print */
export async function resultCommand(
  cells: Cells,
  { positionals, values }: Typed<{ cell?: string; team?: string }>,
  config: CommandContext['config'],
): Promise<string> {
  const [, command, named] = positionals
  if (!['list', 'assign', 'drop'].includes(command ?? ''))
    throw new UsageError('Usage: bin/drawbridge result list | result assign | result drop. See "bin/drawbridge help".')
  const place = requireCell(values.cell)
  if (!cells.has(place)) throw new Error(`Cell ${place} is not listed in CELLS.`)
  const db = cells.of(place)
  if (command === 'list') {
    const rows = await listUnassigned(db.queries)
    return (
      rows.map((row) => `${row.id}  ${row.created_at}  ${row.lab.padEnd(13)}  ${row.message_id}\n`).join('') ||
      'There are none.\n'
    )
  }
  const result = requireId(named, 'The result')
  if (command === 'drop') {
    const isGone = await db.plainTx(async (tx) => {
      const gone = await deleteUnassigned(tx, result)
      if (gone) leaveCommand(tx, 'result drop', { objects: [result] })
      return gone
    })
    if (!isGone) throw new Error('Unassigned result not found.')
    await appendLines(db)
    return 'Result deleted.\n'
  }
  const tenant = await loadTenant(cells, place, requireId(values.team, '--team'))
  if (!tenant) throw new Error('Team not found.')
  // The result may match an order. Then the order and everything that depends on it continue.
  db.hooks ??= await hooks(config)
  const receipt = await db.txOnWholeCell(tenant, async (tx) => {
    const taken = await assignToTeam(tx, result)
    if (taken) leaveCommand(tx, 'result assign', { team: tenant.team, org: tenant.org, objects: [result] })
    return taken
  })
  await appendLines(db)
  if (!receipt) throw new Error('Unassigned result not found.')
  return `${receipt.decision_code}, ${receipt.status}${receipt.order_id ? `, order ${receipt.order_id}` : ''}\n`
}

/** The same hooks as in the server. */
async function hooks(config: CommandContext['config']): Promise<Hooks> {
  const { contentsWith } = await import('../../app/contents.ts')
  const { encryption_keys, data_dir, public_url = '' } = config
  const known = { settings: config, vault: openVault(encryption_keys, data_dir), publicUrl: () => public_url }
  return contentsWith(known).hooks
}
