// What patients are told of, by how the sample is collected and on which channel. Data. Source: lab-testing.md 23.
import type { CollectionMethod } from '../../lab/catalog/enums.ts'

export const channels = ['sms', 'email'] as const
export type Channel = (typeof channels)[number]

/** On each channel, or on the first of them that is switched on. */
interface ChannelRule {
  channels: readonly Channel[]
  first_only?: true
}

const sms: ChannelRule = { channels: ['sms'] }
const both: ChannelRule = { channels: ['sms', 'email'] }
const emailElseSms: ChannelRule = { channels: ['email', 'sms'], first_only: true }

/** Low-level status → channels. What does not stand here nobody is told of. */
export const messageRules: Record<CollectionMethod, Readonly<Record<string, ChannelRule>>> = {
  testkit: {
    ordered: sms,
    transit_customer: sms,
    out_for_delivery: sms,
    delivered_to_lab: sms,
    completed: sms,
    cancelled: sms,
  },
  walk_in_test: {
    ordered: sms,
    requisition_created: both,
    appointment_scheduled: sms,
    appointment_cancelled: sms,
    redraw_available: both,
    completed: sms,
    cancelled: sms,
  },
  at_home_phlebotomy: {
    ordered: sms,
    requisition_created: both,
    appointment_pending: emailElseSms,
    appointment_scheduled: emailElseSms,
    appointment_cancelled: emailElseSms,
    draw_completed: sms,
    completed: sms,
    cancelled: sms,
  },
  on_site_collection: {
    ordered: sms,
    requisition_created: both,
    draw_completed: sms,
    completed: sms,
    cancelled: sms,
  },
}

/** The channels of a step that are switched on. */
export function channelsOf(method: CollectionMethod, lowLevelStatus: string, on: Readonly<Record<Channel, boolean>>): Channel[] {
  const rule = messageRules[method][lowLevelStatus]
  const open = rule?.channels.filter((channel) => on[channel]) ?? []
  return rule?.first_only ? open.slice(0, 1) : open
}

const HOUR_S = 3600
const DAY_S = 24 * HOUR_S

/** While an order stays in a status its patient is reminded so long after it began. Text messages only. */
export const reminders: Record<CollectionMethod, { low: string; after_s: readonly number[] } | undefined> = {
  testkit: { low: 'with_customer', after_s: [2 * DAY_S, 7 * DAY_S] },
  walk_in_test: { low: 'requisition_created', after_s: [24 * HOUR_S, 72 * HOUR_S, 7 * DAY_S] },
  at_home_phlebotomy: undefined,
  on_site_collection: undefined,
}

/** So long before an appointment at a service center that was booked here. Text messages only. */
export const appointmentReminders: readonly number[] = [24 * HOUR_S, 2 * HOUR_S]

/** Every status that makes a message or begins a series of reminders. */
export const triggeringStatuses: ReadonlySet<string> = new Set([
  ...Object.values(messageRules).flatMap((steps) => Object.keys(steps)),
  ...Object.values(reminders).flatMap((series) => (series ? [series.low] : [])),
])
