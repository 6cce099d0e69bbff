// The outbox of mail: the table `mail`. Nothing here sends anything.
import type { PlainTx } from '../platform/db.ts'
import { sql } from '../platform/sql.ts'

export interface Mail {
  recipient: string
  subject: string
  body: string
}

/** Leave a mail of an organization to be sent after the commit. Writes mail. */
export const queueMail = (tx: PlainTx, org_id: string, { recipient, subject, body }: Mail): Promise<number> =>
  tx.run(sql`
    insert into mail (id, org_id, recipient, subject, body, created_at)
    values (${tx.uuid()}, ${org_id}, ${recipient}, ${subject}, ${body}, ${tx.now})`)
