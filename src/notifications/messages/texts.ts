// The words of messages to patients. They name neither patient nor test: a text message is read by whoever holds the phone.
import type { CollectionMethod } from '../../lab/catalog/enums.ts'
import type { Channel } from './kinds.ts'

/** What is known besides, and is said where it helps. */
export interface MessageDetails {
  /** `YYYY-MM-DD`: when the kit that is on its way should arrive. */
  arrives_on?: string
  /** Where the visit is booked. */
  booking_url?: string
}

export interface MessageContext extends MessageDetails {
  /** A low-level status, or `reminder_1`, `appointment_reminder_1`, …. */
  kind: string
  method: CollectionMethod
  /** Who speaks; null: no name is set. */
  brand: string | null
  support_email: string | null
  /** Address of the requisition; for kits of the parcel. */
  link: string | null
  /** The requisition goes by e-mail, so that the text message need not carry its long address. */
  mailed: boolean
}

export interface MessageText {
  /** Of an e-mail. */
  subject: string
  body: string
}

const kit = {
  ordered: 'your test kit has been ordered. We will write again when it is on its way.',
  transit_customer: 'your test kit is on its way to you.',
  out_for_delivery: 'your test kit is out for delivery and should arrive today.',
  delivered_to_lab: 'the laboratory has received your sample.',
  reminder: 'you have a test kit that has not been sent back yet. Please take your sample and hand the parcel in.',
}
const visit = {
  ordered: 'your laboratory order has been placed. We will write again when it is ready.',
  draw_completed: 'your sample was taken and is on its way to the laboratory.',
}

const templates: Record<CollectionMethod, Record<string, string>> = {
  testkit: kit,
  walk_in_test: {
    ...visit,
    requisition_created: 'your laboratory requisition is ready. Bring it, with a photo identification, to the service center.',
    appointment_scheduled: 'your appointment at the service center is confirmed.',
    appointment_cancelled: 'your appointment at the service center was cancelled.',
    redraw_available: 'the laboratory needs another sample to finish your order. Please visit a service center once more.',
    reminder: 'your laboratory order is waiting for your visit to a service center.',
    appointment_reminder: 'please remember your appointment at the service center.',
  },
  at_home_phlebotomy: {
    ...visit,
    requisition_created: 'your laboratory order is ready, and a visit at your home can be arranged.',
    appointment_pending: 'your visit at home has been requested. We will write again when it is confirmed.',
    appointment_scheduled: 'your visit at home is confirmed.',
    appointment_cancelled: 'your visit at home was cancelled.',
  },
  on_site_collection: {
    ...visit,
    requisition_created: 'your laboratory requisition is ready. Your sample will be taken on site.',
  },
}
const commonTemplates: Record<string, string> = {
  completed: 'your laboratory results are ready.',
  cancelled: 'your laboratory order was cancelled.',
}

const subjects: Record<string, string> = {
  requisition_created: 'Your laboratory requisition is ready',
  appointment_pending: 'Your visit has been requested',
  appointment_scheduled: 'Your visit is confirmed',
  appointment_cancelled: 'Your visit was cancelled',
  redraw_available: 'Another sample is needed',
}

const BRAND_LENGTH_MAX = 60
let days: Intl.DateTimeFormat | undefined
/** `Monday, January 7` */
const formatDay = (date: string): string =>
  (days ??= new Intl.DateTimeFormat('en-US', { weekday: 'long', month: 'long', day: 'numeric', timeZone: 'UTC' })).format(
    new Date(date),
  )

const toSingleLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, BRAND_LENGTH_MAX)
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function renderSentence({ kind, method, arrives_on }: MessageContext, name: string): string {
  if (arrives_on !== undefined) return `your test kit is on its way to you and should arrive on ${formatDay(arrives_on)}.`
  const sentence = commonTemplates[name] ?? templates[method][name]
  if (sentence === undefined) throw new Error(`no message template for ${kind}`)
  return sentence
}

/** What is said on a channel. */
export function renderMessage(occasion: MessageContext, channel: Channel): MessageText {
  const { kind, link, booking_url } = occasion
  const name = kind.replace(/_\d+$/, '')
  const sentence = renderSentence(occasion, name)
  const brand = occasion.brand && toSingleLine(occasion.brand)
  if (channel === 'sms') {
    const requisition = link && !occasion.mailed ? ` ${booking_url ? 'Requisition: ' : ''}${link}` : ''
    const booking = booking_url ? ` Book it: ${booking_url}` : ''
    return { subject: '', body: `${brand ? `${brand}: ${sentence}` : capital(sentence)}${booking}${requisition}` }
  }
  const paragraphs = [
    'Hello,',
    capital(sentence),
    ...(booking_url ? [`Book your visit:\n${booking_url}`] : []),
    ...(link ? [`Your requisition, for seven days from when it was made:\n${link}`] : []),
    ...(occasion.support_email ? [`Questions? Write to ${occasion.support_email}.`] : []),
    brand ?? 'Your laboratory service',
  ]
  return { subject: subjects[name] ?? 'Your laboratory order', body: `${paragraphs.join('\n\n')}\n` }
}
