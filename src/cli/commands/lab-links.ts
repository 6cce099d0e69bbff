// Messages of links to laboratories. Only `links message` prints patient data.
import { writeFile } from 'node:fs/promises'
import { UsageError, type Call } from '../command-tree.ts'
import { requireCell, requireChoice, requireFound, requireId, whenLogged } from '../command-input.ts'
import { printRows } from '../command-output.ts'
import { readSmallFile } from '../file-import.ts'
import { commandHooks } from '../command-hooks.ts'
import { issueReasons } from '../../lab/link-messages/issue-reasons.ts'
import { finishIssue, listIssues, type Issue } from '../../lab/link-messages/issues.ts'
import { finish, listMessages, readMessage, resend } from '../../lab/link-messages/managed-messages.ts'
import { findMessage, readMessageBytes } from '../../lab/link-messages/message-store.ts'
import { COMMENT_LENGTH_MAX, messageStates } from '../../lab/link-messages/schema.ts'
import { MESSAGE_BYTES_MAX, receiveMessage, replayMessage, type MessageReceipt } from '../../lab/link-messages/receive-message.ts'
import { sendAgain } from '../../lab/link-orders/send-orders.ts'
import type { ReceiveContext } from '../../lab/result-matching/receive.ts'
import { leaveCommand } from '../../platform/access-log/access-line.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { loadTenant } from '../../tenancy/teams/teams.ts'

type Options = {
  cell?: string
  team?: string
  account?: string
  order?: string
  state?: string
  direction?: string
  reason?: string
  comment?: string
  limit?: string
  output?: string
  json?: boolean
}
const NOT_FOUND = 'Message not found.'

/** `links receive`. The file is a message as it would come over the link. */
export async function receiveFile(call: Call<Options>): Promise<string> {
  const account = requireId(call.args[0], 'The lab account')
  const bytes = await readSmallFile(call.args[1]!, MESSAGE_BYTES_MAX)
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
  const { account, order, state, direction, limit, json } = call.values
  const query = {
    ...(account !== undefined && { account_id: requireId(account, '--account') }),
    ...(order !== undefined && { order_id: requireId(order, '--order') }),
    ...(state !== undefined && { state: [requireChoice(messageStates, state, '--state')] }),
    ...(direction !== undefined && { direction: requireChoice(['in', 'out'] as const, direction, '--direction') }),
    limit: limitOf(limit),
  }
  return printRows(
    json,
    (await db.plainTx((tx) => listMessages(tx, query, undefined))).data,
    ({ id, created_at, lab, direction: way, state: shownState, control_id, error }) =>
      `${id}  ${created_at}  ${(lab ?? '-').padEnd(13)}  ${way.padEnd(3)}  ${shownState.padEnd(9)}  ${control_id ?? '-'}  ${error ?? ''}`.trimEnd(),
    'There are none.',
  )
}

const LIMIT = 50
const LIMIT_MAX = 250

function limitOf(word: string | undefined): number {
  const limit = Number(word ?? LIMIT)
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) throw new UsageError(`--limit must be 1 to ${LIMIT_MAX}.`)
  return limit
}

/** `links message`. */
export async function printMessage(call: Call<Options>): Promise<string> {
  const { output } = call.values
  const message = await onMessage(call, 'links message', (tx, id) => readMessage(tx, id, undefined))
  if (output === undefined) return `${message.text}\n${message.answer === null ? '' : `\nAnswer:\n${message.answer}\n`}`
  const bytes = await readMessageBytes(requireCell(call).db.queries, message.id)
  await writeFile(output, bytes, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${output} cannot be written (${error.code}).`)
  })
  return `${bytes.length} bytes written to ${output}.\n`
}

/** `links resend`. */
export async function resendMessage(call: Call<Options>): Promise<string> {
  await onMessage(call, 'links resend', (tx, id) => resend(tx, id, undefined))
  return 'Message queued.\n'
}

/** `links done`, for a message or an issue. */
export async function markDone(call: Call<Options>): Promise<string> {
  const { db } = requireCell(call)
  const id = requireId(call.args[0], 'The message or issue')
  const { comment } = call.values
  if (comment !== undefined && (comment === '' || comment.length > COMMENT_LENGTH_MAX))
    throw new UsageError(`--comment must have 1 to ${COMMENT_LENGTH_MAX} characters.`)
  if (await findMessage(db.queries, id)) {
    await onMessage(call, 'links done', (tx) => finish(tx, id, undefined, comment))
    return 'Message marked as done.\n'
  }
  await reportingProblems(finishIssue(db.queries, id, { comment }))
  return 'Issue marked as done.\n'
}

/** `links issues`. */
export async function printIssues(call: Call<Options>): Promise<string> {
  const { db } = requireCell(call)
  const { account, reason, state = 'open', limit, json } = call.values
  const filter = {
    ...(account !== undefined && { account_id: requireId(account, '--account') }),
    ...(reason !== undefined && { reason: [requireChoice(issueReasons, reason, '--reason')] }),
    state: requireChoice(['open', 'done'] as const, state, '--state'),
    limit: limitOf(limit),
  }
  return printRows(json, (await listIssues(db.queries, filter)).data, describeIssue, 'There are none.')
}

function describeIssue(issue: Issue): string {
  const { id, updated_at, lab, source, reason, count, state, message_id, order_id, text, detail, remedy, comment } = issue
  const place = [lab ?? '-', source, `${count} times`, state === 'done' && 'done'].filter(Boolean).join(', ')
  const ids = [message_id !== null && `Message: ${message_id}`, order_id !== null && `Order: ${order_id}`]
  const lines = [text, detail, remedy, ...ids, comment !== null && `Comment: ${comment}`].filter(Boolean)
  return `${id}  ${updated_at}  ${reason}  ${place}\n${lines.map((line) => `    ${line}`).join('\n')}`
}

/** Runs work on the message of the first argument, and leaves its line in the access log. */
async function onMessage<R>(call: Call<Options>, operation: string, work: (tx: PlainTx, id: string) => Promise<R>): Promise<R> {
  const { db } = requireCell(call)
  const id = requireId(call.args[0], 'The message')
  return reportingProblems(
    whenLogged(
      db,
      db.plainTx(async (tx) => {
        const result = await work(tx, id)
        leaveMessage(tx, call, operation, (await findMessage(tx, id))!)
        return result
      }),
    ),
  )
}

/** Problems as the errors of commands. */
async function reportingProblems<R>(work: Promise<R>): Promise<R> {
  return work.catch((error: unknown) => {
    if (error instanceof Problem && typeof error.body.detail === 'string')
      throw new Error(`${error.body.detail.replace(/\.$/u, '')}.`)
    throw error
  })
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
  await whenLogged(db, reportingProblems(sent))
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
  const receipt = await reportingProblems(work({ cell: name, db, findTenant: (cell, team) => loadTenant(cells, cell, team) }))
  const leaving = db.plainTx(async (tx) => leaveMessage(tx, call, operation, (await findMessage(tx, receipt.message_id))!))
  await whenLogged(db, leaving)
  const { message_id, state, error, order_id, isRepetition } = receipt
  const parts = [isRepetition && 'repetition', state, order_id && `order ${order_id}`, error].filter(Boolean)
  return `${message_id}  ${parts.join(', ')}\n`
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
