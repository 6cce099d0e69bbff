// The simulated laboratory: takes orders, answers, and reports on them by a plan or at a command. All that it knows is in its journal, so that it
// goes on after a crash where it was: it answers a repetition as before, and sends the same bytes until they are acknowledged.
import type { Interpretation } from '../../lab-values/interpret.ts'
import type { ExpectedMarker } from '../../lab/catalog/analytes.ts'
import { readHl7Header } from '../../lab/hl7/message-header.ts'
import { acknowledgeMessage, writeAnswers } from './answers.ts'
import type { Journal, JournalLine } from './journal.ts'
import { toHl7Time } from './message-parts.ts'
import { readOrderMessage, type OrderedCode, type OrderMessage } from './order-message.ts'
import { reportSteps, writeReport, type LaboratoryOrder, type ReportStep } from './result-messages.ts'

/** How the laboratory treats an order message: `half` writes half of the answer. */
export const reactions = ['accept', 'refuse', 'silence', 'half'] as const
type Reaction = (typeof reactions)[number]

export interface LaboratoryOptions {
  markersOf: (codes: readonly OrderedCode[]) => ExpectedMarker[]
  interpretation: Interpretation
  /** What is reported on each accepted order, one after the other. */
  plan: readonly ReportStep[]
  /** Orders are answered by ACK alone, without numbers. */
  isPlain: boolean
  pdf?: Buffer
  currentTime: () => Date
}

/** A message that waits for its acknowledgment. */
export interface QueuedMessage {
  controlId: string
  bytes: Buffer
}

export interface Laboratory {
  /** The frames to answer an order message, or a query for the status of the system, with; `isHalf`: of the last one only a half. */
  receive(bytes: Buffer): { answers: Buffer[]; isHalf: boolean }
  /** Queues the message of a step. @param placer the order; absent: the newest one. Errors: Error no such order, a cancelled one */
  report(step: ReportStep, placer?: string): void
  /** The next step of the plan for an order; undefined if there is none. */
  nextStep(placer: string): ReportStep | undefined
  /** The oldest message that is not acknowledged. */
  nextMessage(): QueuedMessage | undefined
  /** Notes the answer to a message. It is sent no more, whatever the answer says. */
  acknowledge(controlId: string, code: string): void
  setReaction(reaction: Reaction): void
  orders(): readonly string[]
}

/** Creates a laboratory, with what its journal says of earlier. */
export function createLaboratory(journal: Journal, options: LaboratoryOptions): Laboratory {
  const state = createState()
  for (const line of journal.lines) state.apply(line)
  let reaction: Reaction = 'accept'
  const record = (line: JournalLine) => {
    journal.append(line)
    state.apply(line)
  }
  const newContext = () => ({
    controlId: `LP${options.currentTime().getTime()}${state.nextNumber()}`,
    time: toHl7Time(options.currentTime()),
  })
  return {
    receive: (bytes) => {
      const received = reaction
      if (received === 'silence') {
        journal.append({ event: 'ignored', bytes: bytes.toString('base64') })
        return { answers: [], isHalf: false }
      }
      const isRefused = received === 'refuse'
      const header = readHl7Header(bytes, { charset: 'UNICODE UTF-8' })
      if (header.messageCode === STATUS_QUERY) {
        const answer = isRefused ? ({ code: 'AE', text: REFUSAL } as const) : ({ code: 'AA' } as const)
        return { answers: acknowledgeMessage(header, answer, newContext()), isHalf: received === 'half' }
      }
      const message = readOrderMessage(bytes)
      if (!isRefused) record({ event: 'order', bytes: bytes.toString('base64'), time: toHl7Time(options.currentTime()) })
      const answers = writeAnswers(
        message,
        answerTo(message, state.order(message.placer), isRefused),
        newContext(),
        options.isPlain,
      )
      return { answers, isHalf: received === 'half' }
    },
    report: (step, placer = state.placers().at(-1)) => {
      const order = state.order(placer ?? '')
      if (!order) throw new Error(placer === undefined ? 'There is no order yet.' : `There is no order ${placer}.`)
      if (order.isCancelled) throw new Error(`The order ${order.placer} is cancelled.`)
      const context = newContext()
      const bytes = writeReport(order, step, context, options)
      record({ event: 'report', placer: order.placer, step, control_id: context.controlId, bytes: bytes.toString('base64') })
    },
    nextStep: (placer) => {
      const order = state.order(placer)
      return !order || order.isCancelled ? undefined : options.plan[state.reportCount(placer)]
    },
    nextMessage: state.nextMessage,
    acknowledge: (controlId, code) => record({ event: 'answer', control_id: controlId, code }),
    setReaction: (next) => (reaction = next),
    orders: state.placers,
  }
}

const REFUSAL = 'Refused by the simulated laboratory'
/** MSH-9.1 of a query for the status of the system (NMQ^N01), which is acknowledged and nothing more. */
const STATUS_QUERY = 'NMQ'

/** A request to cancel is granted unless results were reported. */
function answerTo({ control, tests }: OrderMessage, order: LaboratoryOrder | undefined, isRefused: boolean) {
  if (isRefused || !order) return { code: 'AE', control: 'UA', text: REFUSAL } as const
  const fillers = tests.map(
    ({ code, placer }) => order.fillers[order.tests.findIndex((test) => test.code === code && test.placer === placer)]!,
  )
  if (control === 'CA') return { code: 'AA', control: order.isCancelled ? 'CR' : 'UC', fillers } as const
  return { code: 'AA', control: control === 'XO' || control === 'RP' ? 'XR' : 'OK', fillers } as const
}

/** What the lines of the journal amount to. */
function createState() {
  const orders = new Map<string, LaboratoryOrder>()
  const reported = new Map<string, ReportStep[]>()
  const queue = new Map<string, QueuedMessage>()
  let fillerCount = 0
  let number = 0
  const applyOrder = (message: OrderMessage, time: string): void => {
    const { control, placer } = message
    const order = orders.get(placer)
    if (control === 'CA') {
      const hasResults = reported.get(placer)?.some((step) => step !== 'status') ?? false
      if (order && !hasResults) orders.set(placer, { ...order, isCancelled: true })
      return
    }
    // A repetition or a change keeps the numbers of the tests, and a further message of the order adds to them.
    const isKnown = (test: OrderedCode) => order?.tests.some((item) => item.code === test.code && item.placer === test.placer)
    const additions = message.tests.filter((test) => !isKnown(test))
    orders.set(placer, {
      ...message,
      tests: [...(order?.tests ?? []), ...additions],
      fillers: [...(order?.fillers ?? []), ...additions.map(() => `LP-${++fillerCount}`)],
      receivedAt: order?.receivedAt ?? time,
      isCancelled: false,
    })
  }
  return {
    order: (placer: string) => orders.get(placer),
    placers: () => [...orders.keys()],
    reportCount: (placer: string) => reported.get(placer)?.length ?? 0,
    nextMessage: (): QueuedMessage | undefined => queue.values().next().value,
    /** Tells control ids of one millisecond apart. */
    nextNumber: () => (number = (number + 1) % 1000),
    apply: (line: JournalLine): void => {
      if (line.event === 'order') applyOrder(readOrderMessage(Buffer.from(line.bytes, 'base64')), line.time)
      if (line.event === 'report') {
        reported.set(line.placer, [...(reported.get(line.placer) ?? []), line.step])
        queue.set(line.control_id, { controlId: line.control_id, bytes: Buffer.from(line.bytes, 'base64') })
      }
      if (line.event === 'answer') queue.delete(line.control_id)
    },
  }
}

/** A step, or undefined. */
export const findStep = (text: string): ReportStep | undefined => reportSteps.find((step) => step === text)
