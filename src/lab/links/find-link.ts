// Which link a message belongs to, if several links share a listener. Pure.
import type { LinkProfile } from './profile/link-profile.ts'

/** The fields of a message's header that name its sender and its receiver: MSH-3, MSH-4 and MSH-6. Absent ones are empty. */
interface MessageParties {
  sendingApplication: string
  sendingFacility: string
  receivingFacility: string
}

interface LinkParties {
  profile: Pick<LinkProfile, 'identity'>
  /** Of the account at the laboratory. */
  account_number: string
}

/**
 * The link of a message: the only one whose profile accepts its sender and its receiver. If several links accept the sender, one that names
 * no receivers accepts its account number alone. A name is compared whole, or without its identifier after the first component:
 * `LAB^99D0000001^CLIA`.
 * @param links those that share the listener, and are not off
 * @returns undefined if no link accepts the message, or several do
 */
export function findLinkForMessage<L extends LinkParties>(parties: MessageParties, links: readonly L[]): L | undefined {
  const linksOfSender = links.filter(({ profile: { identity } }) => acceptsSender(parties, identity))
  const accepting = linksOfSender.filter(({ profile: { identity }, account_number }) => {
    const isAlone = linksOfSender.length === 1
    const receivers = identity.receiver_facilities
    return accepts(receivers.length || isAlone ? receivers : [account_number], parties.receivingFacility)
  })
  return accepting.length === 1 ? accepting[0] : undefined
}

const acceptsSender = (
  { sendingApplication, sendingFacility }: MessageParties,
  { sender_applications, sender_facilities }: LinkProfile['identity'],
): boolean => accepts(sender_applications, sendingApplication) && accepts(sender_facilities, sendingFacility)

/** A list without names accepts any. */
const accepts = (names: readonly string[], name: string): boolean =>
  names.length === 0 || names.includes(name) || names.includes(name.split('^', 1)[0]!)
