// Receives the messages of laboratories, whatever carries them: finds the link, stores the bytes, and says what to answer. An answer exists
// only after the bytes are committed; if they cannot be, there is none, and the laboratory sends the message again.
import { setTimeout as sleep } from 'node:timers/promises'
import { compactSystemTime } from '../../platform/runtime/clock.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'
import { findByControlId } from '../link-messages/outbox.ts'
import { MessageGroups } from '../link-messages/message-groups.ts'
import { recordAnswer } from '../link-orders/record-answer.ts'
import type { ReceiveContext } from '../result-matching/receive.ts'
import { readHl7Header, unknownHeader, type MessageHeader } from '../hl7/message-header.ts'
import { writeLinkTime } from '../links/link-texts.ts'
import { explainNoLink, findLinkForMessage } from '../links/find-link.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { answersTo, RECEPTION_TEXTS, type Reception } from './acknowledgments.ts'
import { answeredId, hasAnswerCode } from './answered-messages.ts'
import type { ActiveLink, ActiveLinks } from './active-links.ts'
import { FairPace } from './fair-pace.ts'
import type { Peer } from './mllp-server.ts'
import { TrafficNotes } from './traffic-notes.ts'

export interface ReceivedMessage {
  /** Why a person must look at the message; undefined: it can be read and is of a known sender. Without patient data. */
  fault: string | undefined
  answers: Buffer[]
}

/** The codes for messages of senders without a link, whose profile is unknown. */
const WITHOUT_LINK: LinkProfile['acknowledgment'] = {
  mode: 'original',
  accept_condition: '',
  application_condition: '',
  honors_never: true,
  unreadable: 'AE',
  unsupported: 'AR',
  unknown_account: 'AR',
}

export class MessageReceiver {
  readonly #links: ActiveLinks
  readonly #findTenant: ReceiveContext['findTenant']
  readonly #traffic = new TrafficNotes()
  readonly #pace = new FairPace()
  readonly #groups = new MessageGroups()

  constructor(links: ActiveLinks, findTenant: ReceiveContext['findTenant']) {
    this.#links = links
    this.#findTenant = findTenant
  }

  /**
   * Receives a message at a port of this server. Its link is the one whose laboratory may connect so, and whose identity the message has. With
   * none or several the message is stored without a link. Writes lab_message.
   * Errors: the message is not stored.
   */
  async receiveAtPort(bytes: Buffer, peer: Peer): Promise<ReceivedMessage> {
    const header = headerOf(bytes)
    const choose = (links: ActiveLink[]) =>
      header ? findLinkForMessage(header, links) : links.length === 1 ? links[0] : undefined
    const candidates = await this.#links.find(
      (link) => mayConnect(link, peer),
      (links) => choose(links) !== undefined,
    )
    const link = choose(candidates)
    const place = link ?? candidates[0]
    if (!place) throw new Error('No link names the address')
    return this.#store({
      bytes,
      header,
      link,
      candidates,
      db: place.db,
      source: `mllp ${peer.address}:${peer.port}`,
      owner: link?.account_id ?? peer.address,
    })
  }

  /** Receives a message that came over a link. Writes lab_message. Errors: the message is not stored. */
  receiveFromLink(link: ActiveLink, bytes: Buffer, source: string): Promise<ReceivedMessage> {
    const header = headerOf(bytes)
    const isKnown = !header || findLinkForMessage(header, [link]) !== undefined
    return this.#store({
      bytes,
      header,
      link: isKnown ? link : undefined,
      candidates: [link],
      db: link.db,
      source,
      owner: link.account_id,
    })
  }

  async #store(options: StoreOptions): Promise<ReceivedMessage> {
    const { bytes, header, link, candidates, db, source, owner } = options
    const delay_ms = this.#pace.delayFor(owner, performance.now())
    if (delay_ms > 0) await sleep(delay_ms)
    const isAnswer = header && link && hasAnswerCode(header) && (await this.#recordAnswer(link, bytes))
    const place = link
      ? { link_account_id: link.account_id }
      : { link_account_id: null, no_link_reason: explainNoLink(header, candidates) }
    const stored = isAnswer ? undefined : await this.#groups.store(db, { bytes, source, ...place }, owner)
    if (link) this.#traffic.note(link, 'in')
    const known = header ?? headerOfOtherFormat(stored?.header?.control_id)
    // In original mode an answer is the end.
    if (isAnswer && header.acceptAcknowledgment === '' && header.applicationAcknowledgment === '')
      return { fault: undefined, answers: [] }
    const reception = classifyMessage(known, link)
    const answers = answersTo({
      header: known ?? unknownHeader(),
      reception,
      options: link?.profile.acknowledgment ?? WITHOUT_LINK,
      newControlId: () => uuid().replaceAll('-', '').slice(-20),
      sentAt: compactSystemTime(link && ((instant) => writeLinkTime(instant, link.profile.text))),
    })
    return { fault: reception === 'accepted' ? undefined : RECEPTION_TEXTS[reception], answers }
  }

  /** Records the answer to a message that went out over the link, such as one that comes later than its commit. @returns whether it is one */
  async #recordAnswer({ cell, db, account_id }: ActiveLink, bytes: Buffer): Promise<boolean> {
    const control_id = answeredId(bytes)
    const id = control_id === undefined ? undefined : await findByControlId(db.queries, account_id, control_id)
    if (id === undefined) return false
    try {
      await recordAnswer({ cell, db, findTenant: this.#findTenant }, id, bytes)
      return true
    } catch (error) {
      // It is stored as a message that cannot be used.
      if (error instanceof UnreadableMessage) return false
      throw error
    }
  }
}

interface StoreOptions {
  bytes: Buffer
  header: MessageHeader | undefined
  link: ActiveLink | undefined
  /** Those of which one could be the link. */
  candidates: readonly ActiveLink[]
  db: ActiveLink['db']
  source: string
  /** Whose turn it is. */
  owner: string
}

/** The header decides who is answered; its names may have any characters. Undefined: there is none. */
function headerOf(bytes: Buffer): MessageHeader | undefined {
  for (const options of [{}, ANY_BYTES])
    try {
      return readHl7Header(bytes, options)
    } catch {
      // The characters are of another set, or it is no header.
    }
  return undefined
}

/** In this set every byte is a character. */
const ANY_BYTES = { charset: '8859/1', ignoresDeclaredCharset: true }

/** Types of messages that links can use. */
const SUPPORTED_CODES = new Set(['ORU', 'OUL', 'ORM', 'OSU', 'ORL', 'ORR', 'ACK'])

function classifyMessage(header: MessageHeader | undefined, link: ActiveLink | undefined): Reception {
  if (!header) return 'unreadable'
  if (!link) return 'unknown_account'
  return header.format === 'json' || SUPPORTED_CODES.has(header.messageCode) ? 'accepted' : 'unsupported'
}

/** A header for the answer to a message that is not of HL7. */
function headerOfOtherFormat(control_id: string | undefined): MessageHeader | undefined {
  if (control_id === undefined) return undefined
  const header = unknownHeader()
  return { ...header, format: 'json', echo: { ...header.echo, controlId: control_id } }
}

/** Whether the laboratory of a link may send messages to a port in this way. */
export function mayConnect({ profile, isAddressAllowed }: ActiveLink, peer: Omit<Peer, 'port'>): boolean {
  const { results, orders, listener } = profile.transport
  const isUsed = results === 'mllp' || orders === 'mllp'
  return (
    isUsed &&
    listener.port === peer.local_port &&
    (peer.isTls || !listener.tls) &&
    isAddressAllowed(peer.address) &&
    hasCertificate(listener.client_certificates, peer.certificate)
  )
}

const plainFingerprint = (text: string): string => text.replaceAll(/[^0-9a-f]/giu, '').toLowerCase()

const hasCertificate = (fingerprints: readonly string[], certificate: string | undefined): boolean =>
  fingerprints.length === 0 ||
  (certificate !== undefined && fingerprints.map(plainFingerprint).includes(plainFingerprint(certificate)))
