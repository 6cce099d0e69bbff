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
  const accepting = listAccepting(parties, listOfSender(parties, links))
  return accepting.length === 1 ? accepting[0] : undefined
}

/**
 * Why `findLinkForMessage` finds no link: which of the names in the header does not fit. Contains no text of the message.
 * @param parties undefined: the message has no header that can be read
 */
export function explainNoLink(parties: MessageParties | undefined, links: readonly LinkParties[]): string {
  if (!parties) return 'The message has no header, and several links share the listener'
  const linksOfSender = listOfSender(parties, links)
  if (linksOfSender.length === 0) return explainSender(parties, links)
  if (listAccepting(parties, linksOfSender).length > 1) return 'Several links accept the sender and the receiver'
  const text = 'The sender fits, but the receiver in MSH-6 is not in identity.receiver_facilities'
  return linksOfSender.length === 1 ? text : `${text}, and is not the account number of a link without these`
}

const listOfSender = <L extends LinkParties>(parties: MessageParties, links: readonly L[]): L[] =>
  links.filter(({ profile: { identity } }) => acceptsSender(parties, identity))

const listAccepting = <L extends LinkParties>({ receivingFacility }: MessageParties, linksOfSender: readonly L[]): L[] =>
  linksOfSender.filter(({ profile: { identity }, account_number }) => {
    const isAlone = linksOfSender.length === 1
    const receivers = identity.receiver_facilities
    return accepts(receivers.length || isAlone ? receivers : [account_number], receivingFacility)
  })

function explainSender({ sendingApplication, sendingFacility }: MessageParties, links: readonly LinkParties[]): string {
  const identities = links.map(({ profile }) => profile.identity)
  if (!identities.some(({ sender_applications }) => accepts(sender_applications, sendingApplication)))
    return 'The sender in MSH-3 is not in identity.sender_applications'
  if (!identities.some(({ sender_facilities }) => accepts(sender_facilities, sendingFacility)))
    return 'The sender in MSH-4 is not in identity.sender_facilities'
  return 'The senders in MSH-3 and MSH-4 are those of different links'
}

const acceptsSender = (
  { sendingApplication, sendingFacility }: MessageParties,
  { sender_applications, sender_facilities }: LinkProfile['identity'],
): boolean => accepts(sender_applications, sendingApplication) && accepts(sender_facilities, sendingFacility)

/** A list without names accepts any. */
const accepts = (names: readonly string[], name: string): boolean =>
  names.length === 0 || names.includes(name) || names.includes(name.split('^', 1)[0]!)
