// The text messages that a sandbox has written to its fictional patients. Failed ones: dead-letters.ts.
import { UsageError, type Call } from '../command-tree.ts'
import { cellWord, chosenCells, requireFound, isId, whenLogged, type Place } from '../command-input.ts'
import { printJson, printList } from '../command-output.ts'
import { listTextMessages, type TextMessage } from '../../notifications/messages/messages.ts'
import { leaveCommands, type OperatorCommand } from '../../platform/access-log/access-line.ts'

type Options = { cell?: string; json?: boolean }
type Found = TextMessage & { cell: Place['name'] }

/** The sandbox of `--cell`; with `all` every sandbox that is served. Errors: UsageError for a production cell. */
function sandboxes(call: Call<Options>): Place[] {
  if (cellWord(call).startsWith('production')) throw new UsageError('--cell must be a sandbox: sms shows what patients receive.')
  return chosenCells(call).filter(({ name }) => name.startsWith('sandbox'))
}

/** `sms list`: the newest 100 of each sandbox. Writes access_line. */
export async function printMessages(call: Call<Options>): Promise<string> {
  const rows: Found[] = []
  for (const place of sandboxes(call)) rows.push(...(await messagesIn(place, { actor: call.actor, operation: 'sms list' })))
  if (call.values.json) return printJson(rows)
  return printList(
    rows,
    ({ id, cell, created_at, state, recipient, kind }) =>
      `${id}  ${cell.padEnd(13)}  ${created_at}  ${state}  ${recipient}  ${kind}`,
    `No text messages in ${cellWord(call)}.`,
  )
}

/** `sms show`. Writes access_line. Errors: Error if no sandbox has the message. */
export async function printMessage(call: Call<Options>): Promise<string> {
  const [id] = call.args
  if (!isId(id)) throw new UsageError('sms show requires the id of a text message.')
  const rows: Found[] = []
  for (const place of sandboxes(call)) rows.push(...(await messagesIn(place, { actor: call.actor, operation: 'sms show' }, id)))
  const message = requireFound(rows[0], `Text message not found in ${cellWord(call)}.`)
  if (call.values.json) return printJson(message)
  const { cell, created_at, state, recipient, body } = message
  return `Cell     ${cell}\nWritten  ${created_at}\nState    ${state}\nTo       ${recipient}\n\n${body}\n`
}

async function messagesIn({ name, db }: Place, command: OperatorCommand, id?: string): Promise<Found[]> {
  const read = db.plainTx(async (tx) => {
    const messages = await listTextMessages(tx, id)
    const shown = messages.map(({ team_id, user_id, id: object }) => ({ team_id, user_id, object }))
    leaveCommands(tx, command, shown)
    return messages
  })
  return (await whenLogged(db, read)).map((message) => ({ cell: name, ...message }))
}
