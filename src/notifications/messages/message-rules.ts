// Message rules: the statuses that make a message, by collection method and channel. Data. Source: lab-testing.md 23.
import type { CollectionMethod } from '../../lab/catalog/enums.ts'

export const channels = ['sms', 'email'] as const
export type Channel = (typeof channels)[number]

/** A message goes to each enabled channel, or with `first_only` only to the first of them that the patient accepts. */
interface ChannelRule {
  channels: readonly Channel[]
  first_only?: true
}

/** The channels of a reminder. */
export const textMessage = { channels: ['sms'], first_only: false } as const

const smsOnly: ChannelRule = { channels: ['sms'] }
const both: ChannelRule = { channels: ['sms', 'email'] }
const emailElseSms: ChannelRule = { channels: ['email', 'sms'], first_only: true }

/** Low-level status → channels. A status that is not listed makes no message. */
const messageRules: Record<CollectionMethod, Readonly<Record<string, ChannelRule>>> = {
  testkit: {
    ordered: smsOnly,
    transit_customer: smsOnly,
    out_for_delivery: smsOnly,
    delivered_to_lab: smsOnly,
    completed: smsOnly,
    cancelled: smsOnly,
  },
  walk_in_test: {
    ordered: smsOnly,
    requisition_created: both,
    appointment_scheduled: smsOnly,
    appointment_cancelled: smsOnly,
    redraw_available: both,
    completed: smsOnly,
    cancelled: smsOnly,
  },
  at_home_phlebotomy: {
    ordered: smsOnly,
    requisition_created: both,
    appointment_pending: emailElseSms,
    appointment_scheduled: emailElseSms,
    appointment_cancelled: emailElseSms,
    draw_completed: smsOnly,
    completed: smsOnly,
    cancelled: smsOnly,
  },
  on_site_collection: {
    ordered: smsOnly,
    requisition_created: both,
    draw_completed: smsOnly,
    completed: smsOnly,
    cancelled: smsOnly,
  },
}

/** The statuses of a collection method that make a message, in the order of an order's life, each with its channels. */
export const rulesOf = (method: CollectionMethod): [status: string, channels: readonly Channel[]][] =>
  Object.entries(messageRules[method]).map(([status, rule]) => [status, rule.channels])

/** Returns the enabled channels of a status: each of them gets the message, or with `first_only` the first that the patient accepts. */
export function selectChannels(
  method: CollectionMethod,
  lowLevelStatus: string,
  enabledByChannel: Readonly<Record<Channel, boolean>>,
): { channels: Channel[]; first_only: boolean } {
  const rule = messageRules[method][lowLevelStatus]
  return { channels: rule?.channels.filter((channel) => enabledByChannel[channel]) ?? [], first_only: rule?.first_only ?? false }
}

const HOUR_S = 3600
const DAY_S = 24 * HOUR_S

/** Times of the reminders after a status began, while the order stays in it. Text messages only. */
export const reminders: Record<CollectionMethod, { low: string; after_s: readonly number[] } | undefined> = {
  testkit: { low: 'with_customer', after_s: [2 * DAY_S, 7 * DAY_S] },
  walk_in_test: { low: 'requisition_created', after_s: [24 * HOUR_S, 72 * HOUR_S, 7 * DAY_S] },
  at_home_phlebotomy: undefined,
  on_site_collection: undefined,
}

/** Times of the reminders before a PSC appointment that was booked here. Text messages only. */
export const appointmentReminders: readonly number[] = [24 * HOUR_S, 2 * HOUR_S]

/** Every status that makes a message or starts a series of reminders. */
export const triggeringStatuses: ReadonlySet<string> = new Set([
  ...Object.values(messageRules).flatMap((steps) => Object.keys(steps)),
  ...Object.values(reminders).flatMap((series) => (series ? [series.low] : [])),
])
