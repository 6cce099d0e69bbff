// The email outbox for its operator. Failed emails: dead-letters.ts.
import { UsageError, type Call } from '../command-tree.ts'
import { cellWord, controlAndCells, isId, whenLogged } from '../command-input.ts'
import { printJson, printList } from '../command-output.ts'
import { usersOfMail } from '../../notifications/messages/messages.ts'
import { leaveCommands, type OperatorCommand } from '../../platform/access-log/access-line.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { Db } from '../../platform/db/database.ts'
import { findMail, listMail, type MailSummary } from '../../platform/mail/mail-outbox.ts'

type Options = { cell?: string; json?: boolean }

/** `mail list`. */
export async function printOutbox(call: Call<Options>): Promise<string> {
  const lists = await Promise.all(controlAndCells(call).map(async (place) => ({ ...place, mails: await listMail(place.db) })))
  for (const { db, mails } of lists) await log(call.cells, db, { actor: call.actor, operation: 'mail list' }, mails)
  const rows = lists.flatMap(({ name, mails }) => mails.map((mail) => ({ name, mail })))
  // The texts are left to `show`, as in the lines.
  if (call.values.json) return printJson(rows.map(({ name, mail }) => ({ cell: name, ...mail, body: undefined })))
  return printList(
    rows,
    ({ name, mail }) =>
      `${mail.id}  ${name.padEnd(13)}  ${mail.created_at}  ${formatState(mail)}  ${mail.recipient}  ${mail.subject}`,
    `No emails in ${cellWord(call)}.`,
  )
}

/** `mail show`. */
export async function printMail(call: Call<Options>): Promise<string> {
  const [id] = call.args
  if (!isId(id)) throw new UsageError('mail show requires the id of an email.')
  for (const { name, db } of controlAndCells(call)) {
    const mail = await findMail(db, id)
    if (!mail) continue
    await log(call.cells, db, { actor: call.actor, operation: 'mail show' }, [mail])
    return call.values.json ? printJson({ cell: name, ...mail }) : formatMail(name, mail)
  }
  throw new Error(`Email not found in ${cellWord(call)}.`)
}

/** Records in the access log that an email of a cell was shown. The control plane has no patients. */
async function log({ control }: Cells, db: Db, command: OperatorCommand, mails: MailSummary[]): Promise<void> {
  if (db === control || mails.length === 0) return
  const ids = mails.map(({ id }) => id)
  const logged = db.plainTx(async (tx) => {
    const mailUsers = await usersOfMail(tx, ids)
    leaveCommands(
      tx,
      command,
      mailUsers.map(({ mail_id, team_id, user_id }) => ({ team_id, user_id, object: mail_id })),
    )
  })
  await whenLogged(db, logged)
}

const formatState = ({ state, attempts, error, next_at }: MailSummary): string =>
  [`${state}, ${attempts} attempts`, ...(error ? [error] : []), ...(next_at && attempts ? [`next ${next_at}`] : [])].join(', ')

const formatMail = (place: string, mail: MailSummary): string =>
  [
    `Place    ${place}`,
    `Written  ${mail.created_at}`,
    `State    ${formatState(mail)}`,
    ...(mail.finished_at ? [`Ended    ${mail.finished_at}`] : []),
    `To       ${mail.recipient}`,
    `Subject  ${mail.subject}`,
    '',
    mail.body ?? '(The text was deleted after the email was sent.)',
    '',
  ].join('\n')
