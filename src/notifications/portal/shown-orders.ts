// What the portal shows of a user's orders, and of the messages about them. Only reads.
import { collectionZone } from '../../lab/orders/collection-zone.ts'
import type { Order } from '../../lab/orders/schema.ts'
import { requisitionPath } from '../../lab/documents/requisition-links.ts'
import { latestDemographics } from '../../people/users/demographics.ts'
import { notDeletedHere } from '../../people/users/users.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { utcDate } from '../../platform/runtime/clock.ts'
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import { T } from '../../platform/schema/schema.ts'
import { readAppointment } from '../../visits/appointments/locked-appointment.ts'
import type { Appointment } from '../../visits/appointments/schema.ts'
import type { Channel } from '../messages/message-rules.ts'
import { optedOutChannels } from '../messages/opt-outs.ts'
import { createBookingUrl, enabledChannels } from '../messages/settings.ts'
import { askTeam, canBookVisit, needsRequisition, stateWords, type LowLevelStatus } from './order-words.ts'

/** The newest orders of a user that are shown. */
export const ORDERS_MAX = 20
/** For so long a link to a requisition is valid on a page that was opened. */
const REQUISITION_S = 1800

export interface ShownLink {
  href: string
  text: string
}

export interface ShownOrder {
  name: string
  title: string
  sentence: string
  /** Further sentences. */
  facts: string[]
  links: ShownLink[]
  /** Whether the patient should ask the team. */
  asksTeam: boolean
}

export interface PortalPaths {
  vault: Vault
  /** The path of the server, without a final slash. */
  base_path: string
}

const Document = T.Object({ document: T.String() })

/** The newest orders of a user, or one of them; empty if the user is deleted. */
export async function shownOrders(tx: Tx, paths: PortalPaths, user_id: string, order_id?: string): Promise<ShownOrder[]> {
  const rows = await tx.many(
    Document,
    sql`
    select document from lab_order
    where team_id = ${tx.team} and user_id = ${user_id} and ${order_id === undefined ? sql`true` : sql`id = ${order_id}`}
      and ${notDeletedHere(tx, sql`${user_id}::uuid`)}
    order by created_at desc, id desc limit ${ORDERS_MAX}`,
  )
  return Promise.all(
    rows.map(async ({ document }) => {
      const order = JSON.parse(document) as Order
      const text = await readAppointment(tx, order.id)
      const zone = await collectionZone(tx, order)
      return shownOrder(tx, paths, { order, zone }, text === undefined ? undefined : (JSON.parse(text) as Appointment))
    }),
  )
}

/** An order and the time zone of its place of collection. */
interface PlacedOrder {
  order: Order
  zone: string
}

function shownOrder(tx: Tx, paths: PortalPaths, { order, zone }: PlacedOrder, appointment: Appointment | undefined): ShownOrder {
  const { method } = order.lab_test
  const status = order.last_event.status.split('.').at(-1) as LowLevelStatus
  const starts = order.activate_by !== null && order.activate_by > utcDate(tx.now) ? order.activate_by : undefined
  return {
    name: order.lab_test.name,
    ...(starts === undefined
      ? stateWords(method, status)
      : { title: 'Planned', sentence: `Your order starts on ${dayInWords(starts)}.` }),
    facts: [
      `Ordered on ${dayInWords(dayIn(new Date(order.created_at), zone))}.`,
      ...(appointment ? appointmentFacts(appointment, zone) : []),
    ],
    links: [
      ...parcelLinks(order, status),
      ...bookingLinks(tx, order, status, appointment),
      ...requisitionLinks(tx, paths, order, status),
    ],
    asksTeam: askTeam.has(status),
  }
}

const WEB = /^https?:\/\//i

/** Where the parcel is, for as long as it is on its way. Carriers' addresses come from outside. */
function parcelLinks({ details }: Order, status: string): ShownLink[] {
  const shipment = details.type === 'testkit' ? details.data.shipment : undefined
  const isReturning = status === 'transit_lab' || status === 'problem_in_transit_lab'
  const isComing = status === 'transit_customer' || status === 'out_for_delivery' || status === 'problem_in_transit_customer'
  const href = isReturning ? shipment?.inbound_tracking_url : isComing ? shipment?.outbound_tracking_url : undefined
  return href && WEB.test(href) ? [{ href, text: isReturning ? 'Track your sample' : 'Track your test kit' }] : []
}

/** The team's own page, while an at-home appointment can be booked. */
function bookingLinks(tx: Tx, order: Order, status: string, appointment: Appointment | undefined): ShownLink[] {
  if (order.lab_test.method !== 'at_home_phlebotomy' || appointment || !canBookVisit.has(status)) return []
  const href = createBookingUrl(tx, order.id)
  return href === undefined ? [] : [{ href, text: 'Book your visit' }]
}

const requisitionLinks = (tx: Tx, { vault, base_path }: PortalPaths, order: Order, status: string): ShownLink[] =>
  order.requisition_form_url !== null && order.lab_test.method !== 'testkit' && needsRequisition.has(status)
    ? [
        {
          href: base_path + requisitionPath(vault, tx.tenant, order.id, REQUISITION_S),
          text: 'Open your requisition (PDF)',
        },
      ]
    : []

function appointmentFacts(appointment: Appointment, zone: string): string[] {
  const { start_at, iana_timezone, address, external_id, type, event_status } = appointment
  if (event_status === 'completed') return []
  const place = [address.first_line, address.second_line, address.unit, address.city, address.state, address.zip_code]
  return [
    ...(start_at === null ? [] : [`Appointment: ${instantInWords(start_at, iana_timezone ?? zone)}.`]),
    `${type === 'phlebotomy' ? 'Visit at' : 'Service center'}: ${place.filter(Boolean).join(', ')}.`,
    ...(external_id === null ? [] : [`Confirmation code: ${external_id}.`]),
  ]
}

const DAY = { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' } as const
const dayInWords = (date: string): string => new Intl.DateTimeFormat('en-US', { ...DAY, timeZone: 'UTC' }).format(new Date(date))

const instantInWords = (instant: string, zone: string): string =>
  new Intl.DateTimeFormat('en-US', {
    ...DAY,
    hour: 'numeric',
    minute: '2-digit',
    timeZone: zone,
    timeZoneName: 'short',
  }).format(new Date(instant))

export interface ShownChannel {
  channel: Channel
  /** Whether the team sends messages on it. */
  isOffered: boolean
  isOn: boolean
  /** A part of the number or the address; undefined if there is none. */
  recipient: string | undefined
}

/** The channels of messages to a user. */
export async function shownChannels(tx: Tx, user_id: string): Promise<ShownChannel[]> {
  const [off, person] = await Promise.all([optedOutChannels(tx, user_id), latestDemographics(tx, user_id)])
  const offered = enabledChannels(tx.tenant.settings, {})
  const recipients = {
    sms: person && `the number that ends in ${person.phone_number.slice(-2)}`,
    email: person && maskedAddress(person.email),
  }
  return (['sms', 'email'] as const).map((channel) => ({
    channel,
    isOffered: offered[channel],
    isOn: !off.has(channel),
    recipient: recipients[channel],
  }))
}

/** `t…@example.com`: enough to recognize one's own. */
const maskedAddress = (email: string): string => `${email.slice(0, 1)}…${email.slice(email.lastIndexOf('@'))}`
