// The texts of all messages that patients of a team may get, with the brand of the team, its booking page and example links.
import { collectionMethods, type CollectionMethod } from '../../lab/catalog/enums.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { appointmentReminders, reminders, rulesOf, textMessage, type Channel } from './message-rules.ts'
import { renderMessage } from './message-templates.ts'
import { brandOf } from './messages.ts'
import type { MessagePreviews } from './schema.ts'
import { createBookingUrl, enabledChannels } from './settings.ts'

const EXAMPLE_ORDER = '00000000-0000-7000-8000-000000000001'
const EXAMPLE_LINK = 'https://example.com/document'
/** Statuses whose messages have a link: to the parcel of a kit, else to the requisition. */
const WITH_LINK = new Set(['transit_customer', 'requisition_created', 'redraw_available'])

/** What makes a message. */
interface PlannedMessage {
  method: CollectionMethod
  /** As in `MessageContext`. */
  kind: string
  channels: readonly Channel[]
  /** Of a reminder: how long after the status began, in seconds; negative: before the appointment. */
  after_s: number | null
}

/** Each message on each of its channels, by collection method, in the order of an order's life; reminders last. */
export function previewMessages(tx: Tx): MessagePreviews {
  const enabledByChannel = enabledChannels(tx.tenant.settings, {})
  return {
    data: collectionMethods.flatMap(listPlannedMessages).flatMap((message) =>
      message.channels.map((channel) => {
        const { kind, method, channels, after_s } = message
        const mailed = enabledByChannel.email && channels.includes('email')
        const { subject, body } = renderMessage({ ...messageContext(tx, message), mailed }, channel)
        const is_enabled = enabledByChannel[channel]
        return { method, kind, channel, after_s, is_enabled, subject: channel === 'email' ? subject : null, body }
      }),
    ),
  }
}

function messageContext(tx: Tx, { method, kind }: PlannedMessage) {
  const booking_url =
    method === 'at_home_phlebotomy' && kind === 'requisition_created' ? createBookingUrl(tx, EXAMPLE_ORDER) : undefined
  return {
    ...brandOf(tx),
    ...(booking_url !== undefined && { booking_url }),
    kind,
    method,
    link: WITH_LINK.has(kind) ? EXAMPLE_LINK : null,
  }
}

function listPlannedMessages(method: CollectionMethod): PlannedMessage[] {
  const appointments = method === 'walk_in_test' ? appointmentReminders : []
  return [
    ...rulesOf(method).map(([kind, channels]) => ({ method, kind, channels, after_s: null })),
    ...remindersAt(method, 'reminder', reminders[method]?.after_s ?? []),
    ...remindersAt(
      method,
      'appointment_reminder',
      appointments.map((before_s) => -before_s),
    ),
  ]
}

const remindersAt = (method: CollectionMethod, name: string, times_s: readonly number[]): PlannedMessage[] =>
  times_s.map((after_s, index) => ({ method, kind: `${name}_${index + 1}`, channels: textMessage.channels, after_s }))
