// Sends orders to laboratories: writes the messages of an order in the transaction that makes them necessary, for the transport of the link of
// its account. Orders go over links that are live for their team, and over no other. Source: lab-links.md 8.2.
import { createHash } from 'node:crypto'
import type { AccountLink } from '../accounts/account-links.ts'
import { findAccount } from '../accounts/accounts.ts'
import { findLink } from '../accounts/account-links.ts'
import { findLab } from '../catalog/labs.ts'
import { readRequisitionContent } from '../documents/requisition-content.ts'
import { isLiveFor, processingId } from '../links/link-modes.ts'
import { labLinkFor, specimenNumber } from '../links/links.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { reportIssue } from '../link-messages/issues.ts'
import { queueOutgoing, type OutgoingState } from '../link-messages/message-store.ts'
import { deleteUnsent, listOutgoing, withdrawUnsent } from '../link-messages/outgoing-messages.ts'
import { findAndLockOrder, saveOrder, updateOrder } from '../orders/change-order.ts'
import { closedStatuses } from '../orders/lifecycle.ts'
import type { LockedOrder } from '../orders/locked-order.ts'
import { recordNumbers } from '../result-matching/order-numbers.ts'
import type { CellName } from '../../settings/cells.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { defineHandler, defineJob, enqueueAgain } from '../../platform/queue/outbox.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { addNotes, endFailure, isFailing, showFailure } from '../orders/order-problems.ts'
import { writeOrder } from './order-message.ts'
import { acceptedTests, listOrderMessages, mayHaveOrder, openRefusals } from './order-messages.ts'
import type { OrderAction } from './test-segments.ts'
import { Unsendable } from './unsendable.ts'

/** The hook of `orderDue`: sends an order whose account has a live link, when it is ready. Writes lab_message, lab_order_number. */
export async function sendDueOrder(tx: Tx, lockedOrder: LockedOrder, answer: { isTaken: boolean }): Promise<void> {
  const link = await findLiveLink(tx, lockedOrder)
  if (!link) return
  answer.isTaken = true
  if (isReady(lockedOrder, link)) await sendOnce(tx, lockedOrder, link)
  else if (lockedOrder.order.patient_details && !isKit(lockedOrder)) prepareDraw(lockedOrder, link)
}

/** An order that is sent after its draw: the sample is taken with our own requisition and its number. */
function prepareDraw(lockedOrder: LockedOrder, { profile }: AccountLink): void {
  assignNumber(lockedOrder, profile)
  if (lockedOrder.lowLevelStatus === 'ordered') lockedOrder.transitionTo('requisition_created')
}

/**
 * The hook of `orderStepped`: sends a kit that was registered and an order whose sample was drawn, and tells the laboratory of a draw and of a
 * cancellation. An order that cannot be sent now, because the link is not live, shows a failure. Writes lab_message, lab_order_number.
 */
export async function sendOnStep(tx: Tx, lockedOrder: LockedOrder, status: string): Promise<void> {
  if (status === 'cancelled') return cancelAtLaboratory(tx, lockedOrder)
  if ((status !== 'registered' && status !== 'draw_completed') || hasOtherDetail(lockedOrder) || isPlacedElsewhere(lockedOrder))
    return
  const link = await findOrderLink(tx, lockedOrder)
  if (!link) return
  const { sends, sends_changes } = link.profile.order_content
  const isDue = status === 'registered' || sends === 'collected'
  if (!isLiveFor(link, tx.team)) {
    if (isDue && !labLinkFor(tx.tenant, lockedOrder.order.lab_test.lab!.slug)) showFailure(lockedOrder)
  } else if (isDue) await sendOnce(tx, lockedOrder, link)
  else if (sends_changes && mayHaveOrder(await listOrderMessages(tx, lockedOrder.order.id)))
    await queueMessages(tx, lockedOrder, link, 'change')
}

/** Whether the order has only another detail of its status, such as the failure that is shown or ended. */
const hasOtherDetail = ({ order: { events } }: LockedOrder): boolean => events.at(-1)?.status === events.at(-2)?.status

/** An imported order, and one that is being created for a result: the laboratory has them already. */
const isPlacedElsewhere = ({ order, transitions }: LockedOrder): boolean =>
  order.events.some(({ status }) => status.endsWith('.requisition_bypassed')) || transitions.includes('ordered')

/**
 * The hook of `cancelAsked`: an order that the laboratory may have is cancelled when the laboratory confirms it, unless the profile says at
 * once, or the link is not live and cannot ask it. Messages that were not sent are withdrawn. Writes lab_message.
 */
export async function askToCancel(tx: Tx, lockedOrder: LockedOrder, answer: { isPending: boolean }): Promise<void> {
  const link = await findLiveLink(tx, lockedOrder)
  if (!link || link.profile.order_content.cancels === 'at_once' || !(await mayHaveSent(tx, lockedOrder))) return
  answer.isPending = true
  await cancelAtLaboratory(tx, lockedOrder)
}

/** Withdraws what was not sent of an order. Writes lab_message. @returns whether the laboratory may have the order all the same */
async function mayHaveSent(tx: Tx, { order }: LockedOrder): Promise<boolean> {
  const messages = await listOrderMessages(tx, order.id)
  const unsent = messages.filter(({ action, state }) => action !== 'cancel' && state === 'queued').map(({ id }) => id)
  const withdrawn = unsent.length > 0 ? await withdrawUnsent(tx, unsent) : []
  return mayHaveOrder(messages.filter(({ id }) => !withdrawn.includes(id)))
}

/**
 * Asks the laboratory to cancel an order, if it may have the order and has had no such message. Over a link that is not live the message waits.
 */
async function cancelAtLaboratory(tx: Tx, lockedOrder: LockedOrder): Promise<void> {
  const link = await findOrderLink(tx, lockedOrder)
  if (!link || !(await mayHaveSent(tx, lockedOrder))) return
  const messages = await listOrderMessages(tx, lockedOrder.order.id)
  const isAsked = messages.some(({ action, state }) => action === 'cancel' && !UNASKED_STATES.has(state))
  if (!isAsked) await queueMessages(tx, lockedOrder, link, 'cancel')
}

const UNASKED_STATES = new Set<OutgoingState>(['refused', 'expired', 'done'])

/** The link of an order's account, if orders go over it. */
async function findOrderLink(tx: Tx, { order: { lab_account_id } }: LockedOrder): Promise<AccountLink | undefined> {
  const link = lab_account_id === null ? undefined : await findLink(tx, lab_account_id)
  return link && link.profile.transport.orders !== 'none' ? link : undefined
}

/** As `findOrderLink`, if the link is live for the team. */
async function findLiveLink(tx: Tx, lockedOrder: LockedOrder): Promise<AccountLink | undefined> {
  const link = await findOrderLink(tx, lockedOrder)
  return link && isLiveFor(link, tx.team) ? link : undefined
}

const isKit = ({ order }: LockedOrder): boolean => order.details.type === 'testkit'

/**
 * A kit waits for its patient, and by the profile for its sample id, and an order for its draw. At a walk-in order the laboratory itself draws.
 */
function isReady(lockedOrder: LockedOrder, { profile }: AccountLink): boolean {
  const { order, lowLevelStatus } = lockedOrder
  if (!order.patient_details) return false
  if (isKit(lockedOrder)) return profile.order_content.kits === 'laboratory' || order.sample_id !== null
  const isDrawnElsewhere = order.details.type === 'at_home_phlebotomy' || order.details.type === 'on_site_collection'
  return !isDrawnElsewhere || profile.order_content.sends === 'placed' || lowLevelStatus === 'draw_completed'
}

/** Sends an order, unless it may be at the laboratory. That of a deleted user waits. */
async function sendOnce(tx: Tx, lockedOrder: LockedOrder, link: AccountLink): Promise<void> {
  if (lockedOrder.isHidden) return sendLater(tx, lockedOrder.order.id)
  if (!mayHaveOrder(await listOrderMessages(tx, lockedOrder.order.id))) await queueMessages(tx, lockedOrder, link, 'new')
}

/** Shorter numbers would repeat. */
const NUMBER_LENGTH_MIN = 8

/** Gives the order the number under which the laboratory will know it, if it has none. */
function assignNumber(lockedOrder: LockedOrder, { order_number }: LinkProfile): void {
  const { order } = lockedOrder
  if (order.sample_id !== null || order_number.number !== 'sample_id') return
  const { length_max = Infinity, prefix } = order_number
  const [long, short] = [specimenNumber('DBL', order.id), specimenNumber('', order.id)]
  const length = Math.max(length_max - prefix.length, NUMBER_LENGTH_MIN)
  order.sample_id = long.length <= length ? long : short.slice(-length)
  lockedOrder.markChanged()
}

/**
 * Writes and queues the messages of an action. An order that cannot be sent shows a failure with the reason in its notes, and is an issue of the
 * link. Writes lab_message, lab_order_number, lab_link_issue. The caller writes the order.
 * @param acceptedCodes of tests that the laboratory has, which are left out
 */
async function queueMessages(
  tx: Tx,
  lockedOrder: LockedOrder,
  link: AccountLink,
  action: OrderAction,
  acceptedCodes: ReadonlySet<string> = new Set(),
): Promise<void> {
  const { order, internalData } = lockedOrder
  const { account_id, profile } = link
  assignNumber(lockedOrder, profile)
  const [lab, account, earlier] = await Promise.all([
    findLab(tx, order.lab_test.lab!.id),
    findAccount(tx, account_id),
    listOutgoing(tx, order.id),
  ])
  const content = await readRequisitionContent(tx, { order, internalData, lab: lab!, account })
  let count = earlier.length
  try {
    const messages = writeOrder({
      action,
      content,
      profile,
      client_user_id: lockedOrder.clientUserId,
      acceptedCodes,
      filler_number: await findFiller(tx, order.id, account_id),
      processing_id: processingId(tx.tenant.cell as CellName, link.mode),
      now: tx.now,
      newControlId: () => createControlId(order.id, count++),
    })
    for (const { control_id, message_type, bytes } of messages)
      queueOutgoing(tx, { link_account_id: account_id, order_id: order.id, control_id, message_type, bytes })
    const numbers = [...new Set(messages.flatMap(({ placer_numbers }) => placer_numbers))]
    recordNumbers(tx, order.id, { link: { account_id }, numbers: numbers.map((number) => ({ kind: 'placer', number })) })
  } catch (error) {
    if (!(error instanceof Unsendable)) throw error
    if (action === 'new') showFailure(lockedOrder)
    const detail = error.faults.join('; ')
    await reportIssue(tx, {
      reason: 'unsendable_order',
      link_account_id: account_id,
      source: `order ${order.id}`,
      order_team_id: tx.team,
      detail,
    })
    addNotes(lockedOrder, error.faults.map((fault) => `The order cannot be sent to the laboratory: ${fault}`).join('\n'))
  }
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const CONTROL_ID_LENGTH = 20

/** The control id of a message of an order by its position: 20 letters and digits. The same message never gets two. */
function createControlId(order_id: string, position: number): string {
  const digest = createHash('sha256').update(`${order_id} ${position}`).digest()
  return Array.from(digest.subarray(0, CONTROL_ID_LENGTH), (byte) => ALPHABET[byte & 31]).join('')
}

const Filler = T.Object({ number: T.String() })

/** The laboratory's number of an order, if it has named one; of several the newest. */
async function findFiller(tx: Tx, order_id: string, account_id: string): Promise<string | null> {
  const row = await tx.maybe(
    Filler,
    sql`
    select number from lab_order_number
    where order_id = ${order_id} and team_id = ${tx.team} and link_account_id = ${account_id} and kind = 'filler'
    order by created_at desc, number limit 1`,
  )
  return row?.number ?? null
}

const sendOrder = defineJob('link_orders.send', T.Object({ order_id: T.String() }))
const HIDDEN_S = 86_400

/** Queues link_orders.send for an order of a deleted user: it is sent within a day after the deletion is undone. */
const sendLater = (tx: Tx, order_id: string): void => enqueueAgain(tx, sendOrder, { order_id }, addSeconds(tx.now, HIDDEN_S))

/** Sends an order that waited, unless it has ended. */
export const sendOrderHandler = defineHandler(sendOrder, (context, { order_id }) =>
  context.tx(async (tx) => {
    const lockedOrder = await findAndLockOrder(tx, order_id)
    if (!lockedOrder || lockedOrder.order.status === 'cancelled' || lockedOrder.order.status === 'failed') return
    const link = await findLiveLink(tx, lockedOrder)
    if (!link || !isReady(lockedOrder, link)) return
    await sendOnce(tx, lockedOrder, link)
    if (lockedOrder.isChanged) await saveOrder(tx, lockedOrder)
  }),
)

/**
 * Sends an order again that the laboratory refused or that could not be written, with what the order and the profile say now and under a new
 * control id. Writes lab_message, lab_order_number, lab_order. Emits labtest.order.updated.
 * Errors: 404 unknown order; 400 the account has no live link, the order has ended or is not ready, or the laboratory may have it.
 */
export async function sendAgain(tx: Tx, order_id: string): Promise<void> {
  await updateOrder(tx, order_id, async (lockedOrder) => {
    const link = await findLiveLink(tx, lockedOrder)
    if (!link) throw badRequest('The lab account of the order has no live link that sends orders')
    const { lowLevelStatus } = lockedOrder
    if (closedStatuses.has(lowLevelStatus) || lowLevelStatus === 'partial_results' || !isReady(lockedOrder, link))
      throw badRequest(`An order in status ${lowLevelStatus} cannot be sent`)
    const messages = (await listOrderMessages(tx, order_id)).filter(({ action }) => action === 'new')
    const isRefused = isFailing(lockedOrder)
    // What was accepted of an order that fails now is at the laboratory only if another part of it was refused.
    const active = messages.find(({ state }) => !ENDED_STATES.has(state) && !(isRefused && state === 'accepted'))
    if (active) throw badRequest(`The laboratory may have the order: its message ${active.id} is ${active.state}`)
    const isPartial = openRefusals(messages).length > 0
    endFailure(lockedOrder)
    await queueMessages(tx, lockedOrder, link, 'new', isPartial ? acceptedTests(messages) : undefined)
  })
}

/** A message in these states is not sent any more, and its order is not at the laboratory. */
const ENDED_STATES = new Set<OutgoingState>(['refused', 'done'])

/** The hook of `userDeleted`: what was not sent about the user is not sent. Writes lab_message. Queues link_orders.send. */
export async function holdOrders(tx: Tx, user_id: string): Promise<void> {
  for (const order_id of await deleteUnsent(tx, user_id)) sendLater(tx, order_id)
}
