// The message with which a check asks a laboratory for an acknowledgment: a query for the status of its system (NMQ^N01), marked as a test. It
// names no patient and no order. Source: HL7 version 2.5.1, chapter 14. Pure.
import { headerSegment, writeBytes } from '../link-orders/header-segment.ts'
import { placeOfField, SegmentBuilder } from '../link-orders/segment-builder.ts'
import { writeLinkTime } from '../links/link-texts.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'

interface EchoRequest {
  profile: LinkProfile
  account_number: string
  /** At most 20 characters. */
  control_id: string
  now: Date
}

/** The bytes of the message. Its header is that of orders, whatever the mode: MSH-11 is `T`. Errors: Unsendable. */
export function writeEcho({ profile, account_number, control_id, now }: EchoRequest): Buffer {
  const { account_fields, constants } = profile.order_content
  const header = headerSegment(profile, { code: 'NMQ', trigger: 'N01', control_id, processing_id: 'T', now })
  for (const name of account_fields) setHeaderField(header, name, [account_number])
  for (const [name, text] of Object.entries(constants)) setHeaderField(header, name, text.split('^'))
  header.setText(11, 1, 'T')
  if (!expectsAnswer(profile)) header.setText(15, 1, 'AL')
  return writeBytes([header, new SegmentBuilder('NCK', { 1: writeLinkTime(now, profile.text) })], profile)
}

/** Whether a laboratory that keeps to MSH-15 and MSH-16 of the profile answers a message that it accepts. */
const expectsAnswer = ({ acknowledgment: { accept_condition, application_condition } }: LinkProfile): boolean =>
  (accept_condition === '' && application_condition === '') ||
  [accept_condition, application_condition].some((condition) => condition === 'AL' || condition === 'SU')

/** Sets a field that the profile names, if it is of the header. */
function setHeaderField(header: SegmentBuilder, name: string, components: readonly string[]): void {
  const { segment, field, component } = placeOfField(name)
  if (segment === 'MSH') for (const [i, text] of components.entries()) header.setText(field, component + i, text)
}
