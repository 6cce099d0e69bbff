// One attempt at a delivery: signed, sent, and its outcome for the delivery. Writes nothing.
import { uuid } from '../../../platform/runtime/uuid.ts'
import type { Delivery, AttemptOutcome } from '../../delivery-queue/delivery.ts'
import { redactHeaderValues } from '../../endpoints/custom-headers.ts'
import type { SendableEndpoint } from '../../delivery-queue/sendable-endpoint.ts'
import { retryAfterSeconds } from '../../../platform/net/retry-after.ts'
import { nextDelay, throttleDelay } from '../../delivery-queue/retry-schedule.ts'
import type { HttpResult, Sender } from './http-sender.ts'
import { signatureNames, signatures } from '../../endpoints/signature.ts'

/** An attempt with its response, or without one, and its outcome. */
export interface AttemptResult {
  outcome: AttemptOutcome
  failures: number
  /** Whether the receiver asked to stop all deliveries. */
  isGone: boolean
  end: Date
  /** The pause that the receiver asked for. */
  pause_s: number | undefined
}

export interface AttemptDependencies {
  sender: Pick<Sender, 'post'>
  /** The system clock, for signatures and displayed times. */
  clock: () => Date
  /** The monotonic clock of the process. */
  now_ms: () => number
  schedule_s: readonly number[]
  /** How often in a row an endpoint has reported overload. */
  throttles: (endpoint: string) => number
}

/**
 * Sends a delivery once. Never fails because of the receiver: that is an outcome. Source: events.md 6.1-6.5.
 * @param done called once, later; without an outcome if no request began, since this process no longer has the endpoint
 */
export function sendAttempt(
  item: Delivery,
  endpoint: SendableEndpoint,
  dependencies: AttemptDependencies,
  done: (ended: AttemptResult | undefined) => void,
): void {
  const at = dependencies.clock()
  const at_s = Math.floor(at.getTime() / 1000)
  const signature = signatures(endpoint.keys, item.msg, at_s, item.body)
  const names = signatureNames(item.msg, String(at_s), signature)
  const headers = endpoint.customList.length ? names.concat(endpoint.customList) : names
  dependencies.sender.post(endpoint, headers, item.body, (answer) =>
    done(answer.withheld ? undefined : toAttemptResult(answer, { item, endpoint, at, signature }, dependencies)),
  )
}

/** As `sendAttempt`, at the same time as often as a fault of the team says: the first attempt counts, and is done when all have ended. */
export function sendCopies(
  item: Delivery,
  endpoint: SendableEndpoint,
  dependencies: AttemptDependencies,
  done: (ended: AttemptResult | undefined) => void,
): void {
  const { copies = 1 } = item
  if (copies === 1) return sendAttempt(item, endpoint, dependencies, done)
  const ended: (AttemptResult | undefined)[] = []
  for (let n = 0; n < copies; n++)
    sendAttempt(item, endpoint, dependencies, (result) => {
      ended[n] = result
      if (Object.keys(ended).length === copies) done(ended[0])
    })
}

interface SignedAttempt {
  item: Delivery
  endpoint: SendableEndpoint
  at: Date
  signature: string
}

function toAttemptResult(
  answer: HttpResult,
  { item, endpoint, at, signature }: SignedAttempt,
  { clock, schedule_s, throttles }: AttemptDependencies,
): AttemptResult {
  const { status } = answer
  const succeeded = answer.error === null && status !== null && status >= 200 && status < 300
  const end = clock()
  const failures = item.attempts + 1
  const outcome: AttemptOutcome = {
    item,
    endpoint,
    attempt_id: uuid(),
    at,
    duration_ms: answer.duration_ms,
    response_status: status,
    response_body: redactHeaderValues(answer.body, endpoint.custom),
    error: answer.error,
    succeeded,
    signature,
    next_s: undefined,
    last_report: item.last_report,
  }
  if (succeeded) return { outcome, failures, isGone: false, end, pause_s: undefined }
  const retry_after_s = status === 429 || status === 503 ? retryAfterSeconds(answer.retry_after, end.getTime()) : undefined
  const pause_s = throttleDelay(status, retry_after_s, throttles(endpoint.id))
  const isGone = status === 410
  const delay_s = isGone ? undefined : nextDelay(schedule_s, failures, retry_after_s, Math.random())
  outcome.next_s = delay_s
  return { outcome, failures, isGone, end, pause_s }
}
