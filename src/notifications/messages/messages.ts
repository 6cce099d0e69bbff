// Messages to patients. Owns patient_message: the messages of each order and their delivery state. Every message is recorded; it is sent
// only if a gateway or mail server is configured. Recipients and texts never appear in logs.
import type { Order } from '../../lab/orders/schema.ts'
import { hasOrder } from '../../lab/orders/orders.ts'
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { notFound } from '../../platform/http/errors.ts'
import { sendMail } from '../../platform/mail/mail-outbox.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { join, joinConditions, sql, type Sql } from '../../platform/db/sql.ts'
import { notOptedOut } from './opt-outs.ts'
import type { Channel } from './message-rules.ts'
import { PatientMessage, type PatientMessages } from './schema.ts'
import { renderMessage, type MessageDetails } from './message-templates.ts'
import { userNotDeleted } from '../../people/users/users.ts'

const LISTED_MAX = 200

const PHONE = /^\+[1-9]\d{6,14}$/
const EMAIL = /^[^\s@<>]+@[^\s@<>]+$/

/** The recipient on a channel; undefined if there is no valid number or address. */
function getRecipient({ patient_details: patient, shipping_details: parcel }: Order, channel: Channel): string | undefined {
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
  user_id: string
  id: string
  kind: string
  channel: Channel
  recipient: string
  body: string
  mail_id: string | null
  carried: boolean
  /** Channels that the patient must have turned off. */
  instead_of: Channel[]
}

/**
 * Records a message about an order on these channels: one insert for all messages of a transaction, and a mail for each email. Records
 * nothing if the patient has no valid number or address, or has turned the channel off. Writes patient_message, mail.
 * @param to the channels, and whether only the first of them that the patient has not turned off gets the message
 * @param smsEnabled whether a gateway is configured
 * @param help further details for the text
 */
export function recordMessages(
  tx: Tx,
  order: Order,
  kind: string,
  { channels, first_only }: { channels: readonly Channel[]; first_only: boolean },
  smsEnabled: boolean,
  help: MessageDetails = {},
): void {
  const context = {
    ...help,
    ...brandOf(tx),
    kind,
    method: order.lab_test.method,
    link: getLink(order, kind),
    mailed: channels.includes('email'),
  }
  const { id: order_id, user_id } = order
  for (const [place, channel] of channels.entries()) {
    const recipient = getRecipient(order, channel)
    if (recipient === undefined) continue
    const { subject, body } = renderMessage(context, channel)
    const instead_of = first_only ? channels.slice(0, place) : []
    const when = isAccepted(tx, { user_id, channel, instead_of })
    const mail_id = channel === 'email' ? sendMail(tx, { to: recipient, subject, text: body, when }) : null
    const carried = channel === 'sms' && smsEnabled
    tx.deferBatched(
      { order_id, user_id, id: tx.uuid(), kind, channel, recipient, body, mail_id, carried, instead_of },
      insertMessages,
    )
  }
}

/** Who messages of the team are from, and who answers questions. */
export function brandOf({ tenant }: Pick<Tx, 'tenant'>): { brand: string | null; support_email: string | null } {
  const { company_name = null, support_email = null } = (tenant.settings.brand_information ?? {}) as Brand
  return { brand: company_name, support_email: support_email || null }
}

/** Condition that the patient has not turned a channel off, but each of the channels that it replaces. */
const isAccepted = (tx: Tx, { user_id, channel, instead_of }: Pick<NewMessage, 'user_id' | 'channel' | 'instead_of'>): Sql =>
  joinConditions([
    notOptedOut(tx, sql`${user_id}::uuid`, sql`${channel}`),
    ...instead_of.map((instead) => sql`not ${notOptedOut(tx, sql`${user_id}::uuid`, sql`${instead}`)}`),
  ])

/** The link of a message: the parcel, or the requisition. */
function getLink({ details, requisition_form_url }: Order, kind: string): string | null {
  if (details.type === 'testkit')
    return kind === 'transit_customer' ? (details.data.shipment?.outbound_tracking_url ?? null) : null
  return kind === 'requisition_created' || kind === 'redraw_available' ? requisition_form_url : null
}

const insertMessages = (tx: Tx, messages: NewMessage[]): Sql => {
  const rows = messages.map((message) => {
    const { order_id, id, kind, channel, recipient, body, mail_id, carried } = message
    return sql`
      select ${order_id}::uuid, ${id}::uuid, ${tx.team}::uuid, ${kind}, ${channel}, ${recipient}, ${body}, ${tx.now}::timestamptz,
             ${mail_id}::uuid, ${carried ? 'waiting' : 'recorded'}, case when ${carried}::boolean then ${dbNow} end
      where ${isAccepted(tx, message)}`
  })
  return sql`
    insert into patient_message (order_id, id, team_id, kind, channel, recipient, body, created_at, mail_id, state, due_at)
    ${join(rows, ' union all ')}`
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

const SMS_LISTED_MAX = 100
const TextMessage = T.Object({
  id: T.String(),
  team_id: T.String(),
  user_id: T.String(),
  order_id: T.String(),
  kind: T.String(),
  recipient: T.String(),
  body: T.String(),
  created_at: T.String(),
  state: T.String(),
})
export type TextMessage = Static<typeof TextMessage>

/** Returns the newest 100 text messages to patients of a cell, or one of them by its id. For the operator of a sandbox. */
export const listTextMessages = (queries: Pick<Queries, 'many'>, id?: string): Promise<TextMessage[]> =>
  queries.many(
    TextMessage,
    sql`
    select p.id, p.team_id, o.user_id, p.order_id, p.kind, p.recipient, p.body, p.created_at, p.state
    from patient_message p join lab_order o on o.id = p.order_id and o.team_id = p.team_id
    where p.channel = 'sms' and ${id === undefined ? sql`true` : sql`p.id = ${id}`} order by p.id desc limit ${SMS_LISTED_MAX}`,
  )

const Held = T.Object({ mail_id: T.String() })

/** Returns which of these mails are about orders of deleted users. They are not sent unless the deletion is undone. */
export async function heldMail(queries: Pick<Queries, 'many'>, mail_ids: readonly string[]): Promise<Set<string>> {
  const rows = await queries.many(
    Held,
    sql`
    select p.mail_id from patient_message p join lab_order o on o.id = p.order_id and o.team_id = p.team_id
    where p.mail_id = any (${[...mail_ids]}::uuid[]) and not ${userNotDeleted(sql`o.user_id`, sql`o.team_id`)}`,
  )
  return new Set(rows.map(({ mail_id }) => mail_id))
}
