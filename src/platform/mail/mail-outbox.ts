// The email outbox, in the control plane and in each cell. An email written here is sent after the commit or, without an SMTP server, stays
// for the operator to read. Nothing here uses the network.
import type { Db } from '../db/database.ts'
import type { PlainTx } from '../db/transaction.ts'
import { messageQueue } from '../queue/message-queue.ts'
import { cleanup } from '../queue/retention.ts'
import { dbNow, dbNowPlus } from '../db/leases.ts'
import { Nullable, T, type Static } from '../schema/schema.ts'
import { sql, type Sql } from '../db/sql.ts'

const WEEK_S = 604_800
const RETENTION_S = 30 * 86_400
const LISTED_MAX = 100
const SUBJECT_LENGTH_MAX = 200
const TEXT_LENGTH_MAX = 100_000

export interface NewMail {
  /** One address. */
  to: string
  subject: string
  text: string
  /** After this the email is useless and is not sent; default: seven days. */
  lifetime_s?: number
  /** A condition of the statement that writes it: without it, or if it holds, the email is written. */
  when?: Sql
}

/**
 * Writes an email to the outbox of the transaction's scope. It is sent if and only if the transaction commits, at least once, always with
 * the same Message-ID. Writes mail. At most 200 characters of subject and 100,000 of text.
 * @returns its id
 */
export function sendMail(tx: PlainTx, { to, subject, text, lifetime_s = WEEK_S, when = sql`true` }: NewMail): string {
  if (subject.length > SUBJECT_LENGTH_MAX || text.length > TEXT_LENGTH_MAX || /[\r\n]/.test(to + subject))
    throw new Error('invalid email: subject or text too long, or line break in a header')
  const id = tx.uuid()
  tx.defer(sql`
    insert into mail (id, recipient, subject, body, created_at, expires_at, state, attempts, due_at)
    select ${id}::uuid, ${to}, ${subject}, ${text}, ${dbNow}, ${dbNowPlus(lifetime_s)}, 'waiting', 0, ${dbNow} where ${when}`)
  return id
}

/** Deletes emails, sent or not, because their subject is erased. Writes mail. */
export const eraseMail = (tx: PlainTx, ids: string[]): Promise<number> =>
  ids.length ? tx.run(sql`delete from mail where id = any (${ids}::uuid[])`) : Promise.resolve(0)

const ClaimedMail = T.Object({
  id: T.String(),
  recipient: T.String(),
  subject: T.String(),
  body: T.String(),
  created_at: T.String(),
  attempts: T.Integer(),
  fence: T.Integer(),
})
export type ClaimedMail = Static<typeof ClaimedMail>

/** The outbox as a queue. An attempt takes 60 s at most. The text of a sent email is deleted. */
export const mailQueue = messageQueue({
  name: 'mail',
  key: { id: 'uuid' },
  row: ClaimedMail,
  lease_s: 120,
  isExpired: sql`expires_at <= ${dbNow}`,
  clearedWhenSent: sql`body = null`,
  dead: { listedColumns: { created_at: T.String() } },
})

const MailLine = T.Object({
  id: T.String(),
  recipient: T.String(),
  subject: T.String(),
  created_at: T.String(),
  state: T.String(),
  attempts: T.Integer(),
  next_at: Nullable(T.String()),
  error: Nullable(T.String()),
  finished_at: Nullable(T.String()),
  body: Nullable(T.String()),
})
export type MailSummary = Static<typeof MailLine>

const line = sql`
  id, recipient, subject, date_trunc('second', created_at) as created_at, state, attempts, date_trunc('second', due_at) as next_at,
  error, date_trunc('second', finished_at) as finished_at, body`

/** The newest 100 emails of a cell or the control plane. */
export const listMail = (db: Db): Promise<MailSummary[]> =>
  db.queries.many(MailLine, sql`select ${line} from mail order by id desc limit ${LISTED_MAX}`)

/** One email; undefined if it does not exist. */
export const findMail = (db: Db, id: string): Promise<MailSummary | undefined> =>
  db.queries.maybe(MailLine, sql`select ${line} from mail where id = ${id}`)

/** Deletes emails that are older than 30 days, in every state. */
export const mailCleanup = cleanup({ table: 'mail', column: 'created_at', retention_s: RETENTION_S, control: true })
