// The texts of messages to patients. They contain neither the patient's nor the test's name, because other people may see the phone's
// screen.
import type { CollectionMethod } from '../../lab/catalog/enums.ts'
import type { Channel } from './message-rules.ts'

/** Further details, which the text includes if they are known. */
export interface MessageDetails {
  /** `YYYY-MM-DD`: expected arrival of the shipped kit. */
  arrives_on?: string
  /** The page for booking the at-home appointment. */
  booking_url?: string
}

export interface MessageContext extends MessageDetails {
  /** A low-level status, or `reminder_1`, `appointment_reminder_1`, …. */
  kind: string
  method: CollectionMethod
  /** The sender; null if no name is set. */
  brand: string | null
  support_email: string | null
  /** Link to the requisition; for kits, to the parcel. */
  link: string | null
  /** Whether the requisition also goes out by email; then the text message omits its long link. */
  mailed: boolean
}

export interface MessageText {
  /** Only for an email. */
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
    appointment_pending: 'your at-home appointment has been requested. We will write again when it is confirmed.',
    appointment_scheduled: 'your at-home appointment is confirmed.',
    appointment_cancelled: 'your at-home appointment was cancelled.',
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
/** Formats as `Monday, January 7`. */
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

/** Returns the text of a message on a channel. */
export function renderMessage(context: MessageContext, channel: Channel): MessageText {
  const { kind, link, booking_url } = context
  const name = kind.replace(/_\d+$/, '')
  const sentence = renderSentence(context, name)
  const brand = context.brand && toSingleLine(context.brand)
  if (channel === 'sms') {
    const requisition = link && !context.mailed ? ` ${booking_url ? 'Requisition: ' : ''}${link}` : ''
    const booking = booking_url ? ` Book it: ${booking_url}` : ''
    return { subject: '', body: `${brand ? `${brand}: ${sentence}` : capital(sentence)}${booking}${requisition}` }
  }
  const paragraphs = [
    'Hello,',
    capital(sentence),
    ...(booking_url ? [`Book your visit:\n${booking_url}`] : []),
    ...(link ? [`Your requisition, for seven days from when it was made:\n${link}`] : []),
    ...(context.support_email ? [`Questions? Write to ${context.support_email}.`] : []),
    brand ?? 'Your laboratory service',
  ]
  return { subject: subjects[name] ?? 'Your laboratory order', body: `${paragraphs.join('\n\n')}\n` }
}
