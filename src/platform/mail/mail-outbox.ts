// The outbox of mail, in the control plane and in each cell: what is written here is sent after the commit, or, where no server of
// mail is set, waits to be read. Nothing here reaches the network. All times are the database's, so that workers whose clocks differ agree on
// what is due and what another one has.
import type { Db } from '../db/database.ts'
import type { PlainTx } from '../db/transaction.ts'
import { cleanup } from '../queue/retention.ts'
import { dbNow, dbNowPlus } from '../db/leases.ts'
import { Nullable, T, type Static } from '../schema/schema.ts'
import { sql } from '../db/sql.ts'

const WEEK_S = 604_800
const KEPT_S = 30 * 86_400
const LEASE_S = 120
/** A mail that must not be sent now is looked at again after so long. */
const HELD_S = 600
const BATCH = 5
const LISTED_MAX = 100
const SUBJECT_LENGTH_MAX = 200
const TEXT_LENGTH_MAX = 100_000
/** After each failure, in seconds. A mail that has failed once more than this is given up. */
const PAUSES_S = [30, 300, 1800, 7200, 21_600, 43_200]

export interface NewMail {
  /** One address. */
  to: string
  subject: string
  text: string
  /** It is worthless after this and is not sent then; seven days when not given. */
  lifetime_s?: number
}

/**
 * Write a mail to the outbox of the transaction's place: it is sent if and only if the transaction commits, at least once, with one
 * Message-ID however often. Writes mail. At most 200 characters of subject and 100,000 of text.
 * @returns its id
 */
export function sendMail(tx: PlainTx, { to, subject, text, lifetime_s = WEEK_S }: NewMail): string {
  if (subject.length > SUBJECT_LENGTH_MAX || text.length > TEXT_LENGTH_MAX || /[\r\n]/.test(to + subject))
    throw new Error('this cannot be a mail')
  const id = tx.uuid()
  tx.defer(sql`
    insert into mail (id, recipient, subject, body, created_at, expires_at, state, attempts, due_at)
    values (${id}, ${to}, ${subject}, ${text}, ${dbNow}, ${dbNowPlus(lifetime_s)}, 'waiting', 0, ${dbNow})`)
  return id
}

/** Erase mails, sent or not: whom they are about is erased. Writes mail. */
export const eraseMail = (tx: PlainTx, ids: string[]): Promise<number> =>
  ids.length ? tx.run(sql`delete from mail where id = any (${ids}::uuid[])`) : Promise.resolve(0)

const ClaimedMail = T.Object({
  id: T.String(),
  recipient: T.String(),
  subject: T.String(),
  body: T.String(),
  created_at: T.String(),
  attempts: T.Integer(),
})
export type ClaimedMail = Static<typeof ClaimedMail>

/** Take up to 5 mails that are due, for 120 s: if nothing is heard of them by then, they fall due again. Writes mail. */
export const claimMail = (db: Db): Promise<ClaimedMail[]> =>
  db.queries.many(
    ClaimedMail,
    sql`
    update mail set due_at = ${dbNowPlus(LEASE_S)}, attempts = attempts + 1
    where id = any (array(
      select id from mail where due_at <= ${dbNow} and expires_at > ${dbNow} and attempts <= ${PAUSES_S.length}
      order by due_at, id limit ${BATCH} for update skip locked))
    returning id, recipient, subject, body, created_at, attempts`,
  )

/** Put off a mail that was taken and must not be sent now; that does not count as an attempt. Its lifetime goes on. Writes mail. */
export const holdMail = (db: Db, { id, attempts }: ClaimedMail): Promise<number> =>
  db.queries.run(sql`
    update mail set due_at = ${dbNowPlus(HELD_S)}, attempts = attempts - 1
    where id = ${id} and attempts = ${attempts} and state = 'waiting'`)

/** What came of an attempt. `again`: it may go better later. `error` is a code. */
export type Sending = { sent: true } | { sent: false; again: boolean; error: string }

/** Write down what came of an attempt. Of what was sent the text is forgotten. Writes mail. */
export async function settleMail(db: Db, mail: ClaimedMail, sending: Sending): Promise<void> {
  if (sending.sent)
    return void (await db.queries.run(
      sql`update mail set state = 'sent', due_at = null, body = null, error = null, done_at = ${dbNow} where id = ${mail.id}`,
    ))
  const pause_s = sending.again ? PAUSES_S[mail.attempts - 1] : undefined
  // Somebody else may have it in hand by now, or have sent it.
  const ours = sql`id = ${mail.id} and attempts = ${mail.attempts} and state = 'waiting'`
  await db.queries.run(
    pause_s === undefined
      ? sql`update mail set state = 'failed', due_at = null, error = ${sending.error}, done_at = ${dbNow} where ${ours}`
      : sql`update mail set due_at = ${dbNowPlus(pause_s)}, error = ${sending.error} where ${ours}`,
  )
}

/** Give up what is too old, or whose every attempt ended with the process that made it. Writes mail. @returns how many */
export const giveUpMail = (db: Db): Promise<number> =>
  db.queries.run(sql`
    update mail set state = 'failed', due_at = null, done_at = ${dbNow},
      error = case when expires_at <= ${dbNow} then 'expired' else 'interrupted' end
    where due_at <= ${dbNow} and (expires_at <= ${dbNow} or attempts > ${PAUSES_S.length})`)

const MailLine = T.Object({
  id: T.String(),
  recipient: T.String(),
  subject: T.String(),
  created_at: T.String(),
  state: T.String(),
  attempts: T.Integer(),
  next_at: Nullable(T.String()),
  error: Nullable(T.String()),
  done_at: Nullable(T.String()),
  body: Nullable(T.String()),
})
export type MailLine = Static<typeof MailLine>

const line = sql`
  id, recipient, subject, date_trunc('second', created_at) as created_at, state, attempts, date_trunc('second', due_at) as next_at,
  error, date_trunc('second', done_at) as done_at, body`

/** The newest 100 mails of a place. */
export const listMail = (db: Db): Promise<MailLine[]> =>
  db.queries.many(MailLine, sql`select ${line} from mail order by id desc limit ${LISTED_MAX}`)

/** One mail of a place; undefined when it is not there. */
export const findMail = (db: Db, id: string): Promise<MailLine | undefined> =>
  db.queries.maybe(MailLine, sql`select ${line} from mail where id = ${id}`)

/** Mail that is older than 30 days, whatever became of it. */
export const mailCleanup = cleanup({ table: 'mail', column: 'created_at', kept_s: KEPT_S, control: true })
