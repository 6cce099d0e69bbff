// One attempt at a delivery: signed, sent, and what its answer means for the delivery. Writes nothing.
import { plusSeconds } from '../platform/clock.ts'
import { uuid } from '../platform/uuid.ts'
import type { Claimed, Endpoint, Outcome } from './deliveries.ts'
import { withoutValues } from './headers.ts'
import { messageId } from './operational.ts'
import { nextDelay, retryAfter, throttle } from './retries.ts'
import type { Sender } from './send.ts'
import { signatureNames, signatures, type signingKey } from './signature.ts'

/** An endpoint with its secrets opened. */
export type Ready = Endpoint & {
  keys: ReturnType<typeof signingKey>[]
  custom: Record<string, string>
  /** Names and values of the custom headers by turns, and the names. */
  customList: string[]
  customNames: string[]
}

/** An attempt that has been answered, or not, and what follows. */
export interface Ended {
  outcome: Outcome
  /** The id of the message, as receivers see it. */
  msg: string
  failures: number
  /** The receiver wants nothing any more. */
  gone: boolean
  end: Date
  throttled_until: Date | undefined
}

/** Send a delivery once. Never fails because of the receiver: that is an outcome. Source: events.md 6.1-6.5. */
export async function attempt(
  item: Claimed,
  endpoint: Ready,
  means: {
    sender: Sender
    /** The machine's clock. */
    clock: () => Date
    schedule_s: readonly number[]
    /** How often in a row the endpoint has asked to be left alone. */
    throttles: () => number
    /** The attempt that must be over before this one begins. */
    before: Promise<void> | undefined
  },
): Promise<Ended> {
  const { sender, clock, schedule_s, throttles, before } = means
  if (before) await before
  const body = Buffer.from(item.body!)
  const at = clock()
  const msg = messageId(item.event_id ?? item.message_id!)
  const at_s = Math.floor(at.getTime() / 1000)
  const signature = signatures(endpoint.keys, msg, at_s, body)
  const answer = await sender.post(endpoint, [...endpoint.customList, ...signatureNames(msg, String(at_s), signature)], body)
  const succeeded = answer.error === null && answer.status !== null && answer.status >= 200 && answer.status < 300
  const end = clock()
  const asked_s = answer.status === 429 || answer.status === 503 ? retryAfter(answer.retry_after, end) : undefined
  const pause_s = throttle(answer.status, asked_s, throttles())
  const failures = item.attempts + 1
  const gone = answer.status === 410
  const delay_s = succeeded || gone ? undefined : nextDelay(schedule_s, failures, asked_s, Math.random())
  const outcome: Outcome = {
    claimed: item,
    attempt_id: uuid(),
    at,
    duration_ms: answer.duration_ms,
    response_status: answer.status,
    response_body: withoutValues(answer.body, endpoint.custom),
    error: answer.error,
    succeeded,
    signature,
    custom_headers: endpoint.customNames,
    next_at: delay_s === undefined ? undefined : plusSeconds(end, delay_s),
    reported: item.reported,
  }
  return { outcome, msg, failures, gone, end, throttled_until: pause_s === undefined ? undefined : plusSeconds(end, pause_s) }
}
