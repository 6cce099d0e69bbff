// The email outbox for its operator.
import { UsageError } from './org.ts'
import type { Typed } from '../command-tree.ts'
import { usersOfMail } from '../../notifications/messages/messages.ts'
import { leaveCommands } from '../../platform/access-log/access-line.ts'
import { appendLines } from '../../platform/access-log/access-log.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { Db } from '../../platform/db/database.ts'
import { listDeadLetters, retryDeadLetters, type DeadLetterOptions, type QueueCommands } from './dead-letters.ts'
import { findMail, listMail, mailQueue, type MailSummary } from '../../platform/mail/mail-outbox.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const commands: QueueCommands = {
  queue: mailQueue,
  word: 'mail',
  row: 'a mail',
  isInControl: true,
  describe: ({ created_at }) => [String(created_at)],
}

/** Runs a command for emails; it lists failed ones without recipient and text. @returns what to print */
export async function mailCommand(cells: Cells, typed: Typed<DeadLetterOptions>): Promise<string> {
  const [, what, id] = typed.positionals
  if (what === 'failed') return listDeadLetters(cells, commands, typed.values)
  if (what === 'retry') return retryDeadLetters(cells, commands, typed)
  const places: [string, Db][] = [
    ['control', cells.control],
    ...cells.names.map((name) => [name, cells.of(name)] as [string, Db]),
  ]
  if (what === 'list') {
    const lists = await Promise.all(places.map(([, db]) => listMail(db)))
    for (const [i, [, db]] of places.entries()) await log(cells, db, 'mail list', lists[i]!)
    return lists.flatMap((mails, i) => mails.map((mail) => formatRow(places[i]![0], mail))).join('') || 'No emails.\n'
  }
  if (what !== 'show') throw new UsageError('Usage: bin/drawbridge mail list | show ID | failed | retry.')
  if (!id || !UUID.test(id)) throw new UsageError('mail show requires the id of an email.')
  for (const [place, db] of places) {
    const mail = await findMail(db, id)
    if (!mail) continue
    await log(cells, db, 'mail show', [mail])
    return formatMail(place, mail)
  }
  throw new Error('Email not found.')
}

/** Records in the access log that an email of a cell was shown. The control plane has no patients. */
async function log({ control }: Cells, db: Db, operation: string, mails: MailSummary[]): Promise<void> {
  if (db === control || mails.length === 0) return
  await db.plainTx(async (tx) => {
    const found = await usersOfMail(
      tx,
      mails.map(({ id }) => id),
    )
    leaveCommands(
      tx,
      operation,
      found.map(({ mail_id, team_id, user_id }) => ({ team_id, user_id, object: mail_id })),
    )
  })
  await appendLines(db)
}

const formatState = ({ state, attempts, error, next_at }: MailSummary): string =>
  [`${state}, ${attempts} attempts`, ...(error ? [error] : []), ...(next_at && attempts ? [`next ${next_at}`] : [])].join(', ')

const formatRow = (place: string, mail: MailSummary): string =>
  `${mail.id}  ${place.padEnd(13)}  ${mail.created_at}  ${formatState(mail)}  ${mail.recipient}  ${mail.subject}\n`

const formatMail = (place: string, mail: MailSummary): string =>
  [
    `Place    ${place}`,
    `Written  ${mail.created_at}`,
    `State    ${formatState(mail)}`,
    ...(mail.done_at ? [`Ended    ${mail.done_at}`] : []),
    `To       ${mail.recipient}`,
    `Subject  ${mail.subject}`,
    '',
    mail.body ?? '(The text was deleted after the email was sent.)',
    '',
  ].join('\n')
