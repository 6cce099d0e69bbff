// Whether a message is of the laboratory of a link, by sender and account. Pure.
import type { MessageHeader } from '../hl7/message-header.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'

type Header = Pick<MessageHeader, 'sendingApplication' | 'sendingFacility' | 'receivingFacility'>

/** Each field is one that the profile accepts; a list without entries accepts any. */
export const isFromLaboratory = (
  { sender_applications, sender_facilities, receiver_facilities }: LinkProfile['identity'],
  { sendingApplication, sendingFacility, receivingFacility }: Header,
): boolean =>
  isAccepted(sender_applications, sendingApplication) &&
  isAccepted(sender_facilities, sendingFacility) &&
  isAccepted(receiver_facilities, receivingFacility)

/** A name is compared whole, or without its identifier after the first component: `LAB^99D0000001^CLIA`. */
const isAccepted = (names: readonly string[], name: string): boolean =>
  names.length === 0 || names.includes(name) || names.includes(name.split('^', 1)[0]!)
