// The messages of an order over its link, as they were written and answered: what the laboratory may have.
import { toOrderAnswer } from '../hl7/order-answer.ts'
import { Hl7Message } from '../hl7/hl7-message.ts'
import { listOutgoing, type OutgoingMessage } from '../link-messages/outgoing-messages.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { OrderAction } from './test-segments.ts'

export type OrderMessageOfLink = OutgoingMessage & {
  action: OrderAction
  /** The tests of the message: our number, and the code of the laboratory. */
  tests: { number: string; code: string }[]
}

const ACTIONS: Record<string, OrderAction> = { NW: 'new', CA: 'cancel', XO: 'change' }

/** The messages about an order, oldest first. The caller has locked the order. */
export const listOrderMessages = async (tx: Tx, order_id: string): Promise<OrderMessageOfLink[]> =>
  (await listOutgoing(tx, order_id)).map((message) => {
    const text = readAscii(message.bytes)
    return { ...message, action: ACTIONS[text.get('ORC-1')] ?? 'new', tests: testsOf(text) }
  })

/** A message of which only ASCII is read: one without MSH-18 may be of any character set, those of Unicode with a mark or zeros too. */
const readAscii = (bytes: Buffer): Hl7Message =>
  new Hl7Message(
    bytes
      .toString('latin1')
      .replaceAll('\0', '')
      .replace(/^[^\w]*[\u00ef\u00bb\u00bf\u00fe\u00ff]+/u, ''),
    '8859/1',
  )

const testsOf = ({ segments }: Hl7Message): OrderMessageOfLink['tests'] =>
  segments
    .filter(({ id }) => id === 'OBR')
    .map((segment) => ({ number: segment.get(2), code: segment.get(4) || segment.get(4, 4) }))

/** Whether the order may be at the laboratory: one of the messages is on its way, or was not refused. */
export const mayHaveOrder = (messages: readonly OrderMessageOfLink[]): boolean =>
  messages.some(
    ({ action, state, attempts, reason, answer }) =>
      action === 'new' &&
      // Of what a person has marked as done nobody knows more than that it was sent.
      (state === 'refused' || reason === REFUSED ? hasAcceptedPart(answer) : state !== 'done' || attempts > 0),
  )

/** The reason of a message that was refused, whatever a person has done since. */
const REFUSED = 'refused_order'

const hasAcceptedPart = (answer: Buffer | null): boolean => answer !== null && acceptedNumbers(answer).size > 0

/** The messages that were refused, and whose tests no later message has. */
export const openRefusals = (messages: readonly OrderMessageOfLink[]): OrderMessageOfLink[] =>
  messages.filter(
    (message, i) =>
      message.action === 'new' &&
      message.state === 'refused' &&
      !messages.slice(i + 1).some((later) => later.action === 'new' && later.state !== 'done' && sharesTests(later, message)),
  )

const sharesTests = (a: OrderMessageOfLink, b: OrderMessageOfLink): boolean =>
  a.tests.some(({ code }) => b.tests.some((test) => test.code === code))

/**
 * The codes of the tests that the laboratory has accepted while it refused others of the order: those of accepted messages, and those
 * that the answer to a refused message accepts by their own numbers.
 */
export function acceptedTests(messages: readonly OrderMessageOfLink[]): Set<string> {
  const codes = new Set<string>()
  for (const { action, state, tests, answer } of messages) {
    if (action !== 'new') continue
    const numbers = state === 'refused' && answer ? acceptedNumbers(answer) : new Set<string>()
    const hasOwnNumbers = new Set(tests.map(({ number }) => number)).size === tests.length && tests.length > 1
    for (const { number, code } of tests) if (state === 'accepted' || (hasOwnNumbers && numbers.has(number))) codes.add(code)
  }
  return codes
}

/** ORC-2 of the orders that an answer accepts. */
const acceptedNumbers = (answer: Buffer): Set<string> =>
  new Set(
    toOrderAnswer(readAscii(answer))
      .orders.filter(({ control }) => control === 'OK')
      .map(({ placer }) => placer),
  )
