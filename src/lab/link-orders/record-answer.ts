// What a laboratory answers to a message of an order: the state of the message and of the order, in one transaction. Source: lab-links.md 8.2.
import { findLink } from '../accounts/account-links.ts'
import { readOrderAnswer, type OrderAnswer } from '../hl7/order-answer.ts'
import { charsetOptions } from '../hl7/read-message.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'
import type { OutgoingState } from '../link-messages/message-store.ts'
import { findOutgoing, saveAnswer, type AnsweredState, type OutgoingMessage } from '../link-messages/outgoing-messages.ts'
import { findAndLockOrder, saveOrder } from '../orders/change-order.ts'
import type { LockedOrder } from '../orders/locked-order.ts'
import type { OrderNumber } from '../result-matching/incoming-result.ts'
import { recordNumbers } from '../result-matching/order-numbers.ts'
import type { ReceiveContext } from '../result-matching/receive.ts'
import { getShipment } from '../testkits/shipments.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { addNotes, endFailure, showFailure } from '../orders/order-problems.ts'
import { listOrderMessages, openRefusals, type OrderMessageOfLink } from './order-messages.ts'
import type { OrderAction } from './test-segments.ts'

/**
 * Records the answer of a laboratory to a message. The same answer again changes nothing, and one that comes after another completes it: an
 * ORL after an ACK. Writes lab_message, lab_order, lab_order_number. Emits labtest.order.updated.
 * Errors: UnreadableMessage the answer cannot be read or answers another message; 404 unknown message. Nothing is changed then.
 * @returns the state of the message
 */
export async function recordAnswer(
  { cell, db, findTenant }: ReceiveContext,
  message_id: string,
  bytes: Uint8Array,
): Promise<OutgoingState> {
  const sent = await findOutgoing(db.queries, message_id)
  if (!sent) throw notFound('Message not found')
  const link = await findLink(db.queries, sent.link_account_id)
  const profile = link!.profile
  const answer = readOrderAnswer(bytes, charsetOptions(profile))
  if (answer.control_id !== sent.control_id) throw new UnreadableMessage('The answer is not to this message')
  const tenant = await findTenant(cell, sent.team_id)
  if (!tenant) return recordOfDeletedTeam(db, sent, { answer, bytes, profile })
  return db.tx(tenant, async (tx) => {
    const lockedOrder = await findAndLockOrder(tx, sent.order_id)
    const messages = await listOrderMessages(tx, sent.order_id)
    const message = messages.find(({ id }) => id === message_id)
    if (!lockedOrder || !message) throw notFound('Message not found')
    const state = nextState(message, answer)
    // Repetitions differ in their times. An acceptance may bring further numbers.
    if (state === message.state && (answer.code !== 'AA' || message.answer?.equals(bytes))) return state
    saveAnswer(tx, message, toAnsweredState(state, { answer, bytes, profile }))
    const answeredMessages = messages.map((item) => (item === message ? { ...message, state, answer: Buffer.from(bytes) } : item))
    applyAnswer(tx, lockedOrder, { message: { ...message, state }, messages: answeredMessages, answer, profile })
    if (lockedOrder.isChanged) await saveOrder(tx, lockedOrder)
    return state
  })
}

/** A message of a deleted team is not sent again, and its order is left alone. */
function recordOfDeletedTeam(db: Db, message: OutgoingMessage, response: ReceivedAnswer): Promise<OutgoingState> {
  return db.plainTx(async (tx) => {
    const state = nextState({ state: message.state, action: 'new' }, response.answer)
    saveAnswer(tx, message, toAnsweredState(state, response))
    return state
  })
}

interface ReceivedAnswer {
  answer: OrderAnswer
  bytes: Uint8Array
  profile: LinkProfile
}

/** After `CA` another answer follows, unless our messages ask for none. */
const toAnsweredState = (state: OutgoingState, { answer, bytes, profile }: ReceivedAnswer): AnsweredState => ({
  state,
  isAwaited: state === 'committed' && !['NE', 'ER'].includes(profile.acknowledgment.application_condition),
  answer: bytes,
  error: createError(state, answer),
})

const createError = (state: OutgoingState, answer: OrderAnswer): string | null =>
  state === 'refused' ? `The laboratory answered ${codesOf(answer)}` : null

/** ORC-1 of an order that the laboratory does not take, cancel or change. */
const REFUSALS: Record<OrderAction, readonly string[]> = { new: ['UA', 'DE', 'OC'], cancel: ['UC', 'DE'], change: ['UX', 'DE'] }

/** The state of a message after an answer. Of a message that a person has dealt with it stays. An acceptance is ended by a refusal of its order alone. */
function nextState(
  { state, action }: Pick<OrderMessageOfLink, 'state' | 'action'>,
  { code, orders }: OrderAnswer,
): OutgoingState {
  if (state === 'done') return state
  if (orders.some(({ control }) => REFUSALS[action].includes(control))) return 'refused'
  if (state === 'accepted') return state
  if (code === 'AA') return 'accepted'
  return code === 'CA' && state !== 'refused' ? 'committed' : 'refused'
}

/** `AE`, or `AA UA`: contains nothing of the patient. */
const codesOf = ({ code, orders }: OrderAnswer): string =>
  [code, ...new Set(orders.map(({ control }) => control))].filter((text) => /^[A-Z]{2}$/u.test(text)).join(' ')

interface AnswerToMessage {
  message: OrderMessageOfLink
  /** All messages about the order, oldest first, in their states after the answer. */
  messages: OrderMessageOfLink[]
  answer: OrderAnswer
  profile: LinkProfile
}

function applyAnswer(tx: Tx, lockedOrder: LockedOrder, context: AnswerToMessage): void {
  const { message, answer } = context
  if (message.state === 'refused') return applyRefusal(lockedOrder, context)
  if (message.state !== 'accepted') return
  const numbers = answer.orders.flatMap(numbersOf)
  recordNumbers(tx, lockedOrder.order.id, { link: { account_id: message.link_account_id }, numbers })
  if (message.action === 'new') acceptOrder(tx, lockedOrder, context)
  if (message.action === 'cancel' && isCancelConfirmed(context) && lockedOrder.canTransitionTo('cancelled'))
    lockedOrder.transitionTo('cancelled')
}

const numbersOf = ({ filler, accessions, group }: OrderAnswer['orders'][number]): OrderNumber[] =>
  [
    { kind: 'filler' as const, number: filler },
    { kind: 'group' as const, number: group },
    ...accessions.map((number) => ({ kind: 'accession' as const, number })),
  ].filter(({ number }) => number !== '' && number.length <= NUMBER_LENGTH_MAX)

const NUMBER_LENGTH_MAX = 200

/** The laboratory has the order when it has accepted every message of it, and what it refused in a later one. */
function acceptOrder(tx: Tx, lockedOrder: LockedOrder, { messages }: AnswerToMessage): void {
  const isOpen = messages.some(({ action, state }) => action === 'new' && !DECIDED_STATES.has(state))
  if (isOpen || openRefusals(messages).length > 0) return
  if (lockedOrder.lowLevelStatus !== 'ordered') return endFailure(lockedOrder)
  if (lockedOrder.order.details.type === 'testkit') getShipment(tx, lockedOrder)
  lockedOrder.transitionTo('requisition_created')
}

const DECIDED_STATES = new Set<OutgoingState>(['accepted', 'refused', 'done'])

/** `CR` confirms. Another acceptance says of the message alone that it was accepted: by the profile that is enough. */
const isCancelConfirmed = ({ answer: { orders }, profile }: AnswerToMessage): boolean =>
  profile.order_content.cancels === 'acknowledged' || (orders.length > 0 && orders.every(({ control }) => control === 'CR'))

/** An order that the laboratory refuses shows that; one that it does not cancel stays. The notes have the laboratory's words. */
function applyRefusal(lockedOrder: LockedOrder, { message, answer }: AnswerToMessage): void {
  const texts = [answer.text, ...answer.orders.map(({ text }) => text)].filter((text) => text !== null)
  const subject = { new: 'refuses the order', cancel: 'does not cancel the order', change: 'does not change the order' }[
    message.action
  ]
  if (message.action === 'new') showFailure(lockedOrder)
  addNotes(
    lockedOrder,
    [...new Set(texts)].map((text) => `The laboratory ${subject}: ${text.replaceAll('\n', ' ')}`).join('\n') ||
      `The laboratory ${subject}`,
  )
}
