// Messages of links to laboratories. Only `links message` prints patient data.
import { stat, readFile } from 'node:fs/promises'
import type { Call } from '../command-tree.ts'
import { requireFound, requireCell, requireId, whenLogged } from '../command-input.ts'
import { printRows } from '../command-output.ts'
import { commandHooks } from '../command-hooks.ts'
import { findMessage, listMessages, markDone } from '../../lab/link-messages/message-store.ts'
import { MESSAGE_BYTES_MAX, receiveMessage, replayMessage, type MessageReceipt } from '../../lab/link-messages/receive-message.ts'
import { sendAgain } from '../../lab/link-orders/send-orders.ts'
import type { ReceiveContext } from '../../lab/result-matching/receive.ts'
import { leaveCommand } from '../../platform/access-log/access-line.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { loadTenant } from '../../tenancy/teams/teams.ts'

type Options = { cell?: string; team?: string; attention?: boolean; json?: boolean }
const NOT_FOUND = 'Message not found.'

/** `links receive`. The file is a message as it would come over the link. */
export async function receiveFile(call: Call<Options>): Promise<string> {
  const account = requireId(call.args[0], 'The lab account')
  const bytes = await readBytes(call.args[1]!)
  return printOutcome(call, 'links receive', (context) => receiveMessage(context, account, bytes))
}

/** `links replay`. */
export async function replay(call: Call<Options>): Promise<string> {
  const id = requireId(call.args[0], 'The message')
  return printOutcome(call, 'links replay', async (context) => requireFound(await replayMessage(context, id), NOT_FOUND))
}

/** `links messages`. */
export async function printMessages(call: Call<Options>): Promise<string> {
  const { db } = requireCell(call)
  const { attention = false, json } = call.values
  return printRows(
    json,
    await db.plainTx((tx) => listMessages(tx, { attention })),
    ({ id, created_at, lab, state, control_id, reuses_control_id, error }) => {
      const notes = [reuses_control_id && 'control id of another message', error].filter(Boolean).join('; ')
      return `${id}  ${created_at}  ${(lab ?? '-').padEnd(13)}  ${state.padEnd(8)}  ${control_id ?? '-'}  ${notes}`.trimEnd()
    },
    'There are none.',
  )
}

/** `links message`. */
export async function printMessage(call: Call<Options>): Promise<string> {
  const { db } = requireCell(call)
  const id = requireId(call.args[0], 'The message')
  const shown = db.plainTx(async (tx) => {
    const message = await findMessage(tx, id)
    if (message) leaveMessage(tx, call, 'links message', message)
    return message
  })
  return requireFound(await whenLogged(db, shown), NOT_FOUND).bytes.toString('utf8')
}

/** `links done`. */
export async function finish(call: Call<Options>): Promise<string> {
  const { db } = requireCell(call)
  const id = requireId(call.args[0], 'The message')
  requireFound(await markDone(db.queries, id), NOT_FOUND)
  return 'Message marked as done.\n'
}

/** `links send-order`. */
export async function sendOrder(call: Call<Options>): Promise<string> {
  const { cells, args, values, config } = call
  const { name, db } = requireCell(call)
  const order = requireId(args[0], 'The order')
  const tenant = requireFound(await loadTenant(cells, name, requireId(values.team, '--team')), 'Team not found.')
  db.hooks ??= await commandHooks(config)
  const sent = db.tx(tenant, async (tx) => {
    await sendAgain(tx, order)
    leaveCommand(
      tx,
      { actor: call.actor, operation: 'links send-order' },
      { team: tenant.team, org: tenant.org, objects: [order] },
    )
  })
  await whenLogged(db, sent.catch(throwDetail))
  return 'Order queued for its laboratory.\n'
}

/** Runs work on a message, leaves its line in the access log, and prints what became of the message. */
async function printOutcome(
  call: Call<Options>,
  operation: string,
  work: (context: ReceiveContext) => Promise<Omit<MessageReceipt, 'isRepetition'> & { isRepetition?: boolean }>,
): Promise<string> {
  const { cells, config } = call
  const { name, db } = requireCell(call)
  db.hooks ??= await commandHooks(config)
  const receipt = await work({ cell: name, db, findTenant: (cell, team) => loadTenant(cells, cell, team) }).catch(throwDetail)
  const leaving = db.plainTx(async (tx) => leaveMessage(tx, call, operation, (await findMessage(tx, receipt.message_id))!))
  await whenLogged(db, leaving)
  const { message_id, state, error, order_id, isRepetition } = receipt
  const parts = [isRepetition && 'repetition', state, order_id && `order ${order_id}`, error].filter(Boolean)
  return `${message_id}  ${parts.join(', ')}\n`
}

function throwDetail(error: unknown): never {
  if (error instanceof Problem && typeof error.body.detail === 'string')
    throw new Error(`${error.body.detail.replace(/\.$/u, '')}.`)
  throw error
}

type Logged = NonNullable<Awaited<ReturnType<typeof findMessage>>>

function leaveMessage(
  tx: Parameters<typeof leaveCommand>[0],
  { actor }: Call,
  operation: string,
  { id, team_id, users }: Logged,
): void {
  leaveCommand(tx, { actor, operation }, { ...(team_id !== null && { team: team_id }), objects: [id], users })
}

async function readBytes(path: string): Promise<Buffer> {
  const size = await stat(path).then(({ size: length }) => length, unreadable(path))
  if (size > MESSAGE_BYTES_MAX) throw new Error(`${path} has more than ${MESSAGE_BYTES_MAX} bytes.`)
  return readFile(path).catch(unreadable(path))
}

const unreadable = (path: string) => (error: NodeJS.ErrnoException) => {
  throw new Error(`${path} cannot be read (${error.code}).`)
}
