// Messages to patients. Owns patient_message: the messages of each order and their delivery state. Every message is recorded; it is sent
// only if a gateway or mail server is configured. Recipients and texts never appear in logs.
import type { Order } from '../../lab/orders/schema.ts'
import { hasOrder } from '../../lab/orders/orders.ts'
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { notFound } from '../../platform/http/errors.ts'
import { sendMail } from '../../platform/mail/mail-outbox.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { join, sql, type Sql } from '../../platform/db/sql.ts'
import type { Channel } from './message-rules.ts'
import { PatientMessage, type PatientMessages } from './schema.ts'
import { renderMessage, type MessageDetails } from './message-templates.ts'
import { notDeletedOf } from '../../people/users/users.ts'

const LISTED_MAX = 200

const PHONE = /^\+[1-9]\d{6,14}$/
const EMAIL = /^[^\s@<>]+@[^\s@<>]+$/

/** The recipient on a channel; undefined if there is no valid number or address. */
function recipientOf({ patient_details: patient, shipping_details: parcel }: Order, channel: Channel): string | undefined {
  if (channel === 'email') return patient?.email && EMAIL.test(patient.email) ? patient.email : undefined
  const digits = (patient ? patient.phone_number : parcel?.phone_number)?.replace(/[ ().-]/g, '')
  return digits && PHONE.test(digits) ? digits : undefined
}

interface Brand {
  company_name?: string
  support_email?: string
}

interface NewMessage {
  order_id: string
  id: string
  kind: string
  channel: Channel
  recipient: string
  body: string
  mail_id: string | null
  carried: boolean
}

/**
 * Records a message about an order on these channels: one insert for all messages of a transaction, and a mail for each email. Records
 * nothing if the patient has no valid number or address. Writes patient_message, mail.
 * @param smsEnabled whether a gateway is configured
 * @param help further details for the text
 */
export function recordMessages(
  tx: Tx,
  order: Order,
  kind: string,
  channels: readonly Channel[],
  smsEnabled: boolean,
  help: MessageDetails = {},
): void {
  const { company_name = null, support_email = null } = (tx.tenant.settings.brand_information ?? {}) as Brand
  const context = {
    ...help,
    kind,
    method: order.lab_test.method,
    brand: company_name,
    support_email: support_email || null,
    link: linkOf(order, kind),
    mailed: channels.includes('email'),
  }
  for (const channel of channels) {
    const recipient = recipientOf(order, channel)
    if (recipient === undefined) continue
    const { subject, body } = renderMessage(context, channel)
    const mail_id = channel === 'email' ? sendMail(tx, { to: recipient, subject, text: body }) : null
    const carried = channel === 'sms' && smsEnabled
    tx.deferBatched({ order_id: order.id, id: tx.uuid(), kind, channel, recipient, body, mail_id, carried }, insertMessages)
  }
}

/** The link of a message: the parcel, or the requisition. */
function linkOf({ details, requisition_form_url }: Order, kind: string): string | null {
  if (details.type === 'testkit')
    return kind === 'transit_customer' ? (details.data.shipment?.outbound_tracking_url ?? null) : null
  return kind === 'requisition_created' || kind === 'redraw_available' ? requisition_form_url : null
}

const insertMessages = (tx: Tx, messages: NewMessage[]): Sql => {
  const rows = messages.map(
    ({ order_id, id, kind, channel, recipient, body, mail_id, carried }) =>
      sql`(${order_id}::uuid, ${id}::uuid, ${tx.team}::uuid, ${kind}, ${channel}, ${recipient}, ${body}, ${tx.now}::timestamptz, ${mail_id}::uuid,
           ${carried ? 'waiting' : 'recorded'}, case when ${carried}::boolean then ${dbNow} end)`,
  )
  return sql`
    insert into patient_message (order_id, id, team_id, kind, channel, recipient, body, created_at, mail_id, state, due_at)
    values ${join(rows, ', ')}`
}

/**
 * Returns the messages of an order, oldest first, at most 200. The delivery state of an email comes from the email outbox. Errors: 404
 * unknown order.
 */
export async function listMessages(tx: Tx, order_id: string): Promise<PatientMessages> {
  if (!(await hasOrder(tx, order_id))) throw notFound('Order not found')
  const data = await tx.many(
    PatientMessage,
    sql`
    select p.id, p.order_id, p.kind, p.channel, p.recipient, p.body, p.created_at,
      case when p.mail_id is null then p.state else m.state end as state, coalesce(m.error, p.error) as error
    from patient_message p left join mail m on m.id = p.mail_id
    where p.order_id = ${order_id} and p.team_id = ${tx.team} order by p.id limit ${LISTED_MAX}`,
  )
  return { data }
}

const Reached = T.Object({ mail_id: T.String(), team_id: T.String(), user_id: T.String() })

/** Returns the users of the orders that these mails are about. For the operator, who reads the outbox of a cell. */
export const usersOfMail = (queries: Pick<Queries, 'many'>, mail_ids: readonly string[]): Promise<Static<typeof Reached>[]> =>
  queries.many(
    Reached,
    sql`
    select p.mail_id, p.team_id, o.user_id from patient_message p join lab_order o on o.id = p.order_id and o.team_id = p.team_id
    where p.mail_id = any (${[...mail_ids]}::uuid[])`,
  )

const Held = T.Object({ mail_id: T.String() })

/** Returns which of these mails are about orders of deleted users. They are not sent unless the deletion is undone. */
export async function heldMail(queries: Pick<Queries, 'many'>, mail_ids: readonly string[]): Promise<Set<string>> {
  const rows = await queries.many(
    Held,
    sql`
    select p.mail_id from patient_message p join lab_order o on o.id = p.order_id and o.team_id = p.team_id
    where p.mail_id = any (${[...mail_ids]}::uuid[]) and not ${notDeletedOf(sql`o.user_id`, sql`o.team_id`)}`,
  )
  return new Set(rows.map(({ mail_id }) => mail_id))
}
