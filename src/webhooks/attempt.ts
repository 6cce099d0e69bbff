// One attempt at a delivery: signed, sent, and what its answer means for the delivery. Writes nothing.
import { plusSeconds } from '../platform/clock.ts'
import { uuid } from '../platform/uuid.ts'
import type { Delivery, Outcome } from './deliveries.ts'
import { withoutValues } from './headers.ts'
import { messageId } from './operational.ts'
import type { Ready } from './ready.ts'
import { nextDelay, retryAfter, throttle } from './retries.ts'
import type { Sender } from './send.ts'
import { signatureNames, signatures } from './signature.ts'

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

export interface Means {
  sender: Sender
  /** The machine's clock. */
  clock: () => Date
  schedule_s: readonly number[]
  /** How often in a row an endpoint has asked to be left alone. */
  throttles: (endpoint: string) => number
}

/** Send a delivery once. Never fails because of the receiver: that is an outcome. Source: events.md 6.1-6.5. */
export async function attempt(item: Delivery, endpoint: Ready, means: Means): Promise<Ended> {
  const { sender, clock, schedule_s, throttles } = means
  const at = clock()
  const msg = messageId(item.event_id ?? item.message_id!)
  const at_s = Math.floor(at.getTime() / 1000)
  const signature = signatures(endpoint.keys, msg, at_s, item.body)
  const headers = signatureNames(msg, String(at_s), signature)
  if (endpoint.customList.length) headers.push(...endpoint.customList)
  const answer = await sender.post(endpoint, headers, item.body)
  const succeeded = answer.error === null && answer.status !== null && answer.status >= 200 && answer.status < 300
  const end = clock()
  const failures = item.attempts + 1
  const outcome: Outcome = {
    item,
    endpoint,
    attempt_id: uuid(),
    at,
    duration_ms: answer.duration_ms,
    response_status: answer.status,
    response_body: withoutValues(answer.body, endpoint.custom),
    error: answer.error,
    succeeded,
    signature,
    next_at: undefined,
    reported: item.reported,
  }
  if (succeeded) return { outcome, msg, failures, gone: false, end, throttled_until: undefined }
  const asked_s = answer.status === 429 || answer.status === 503 ? retryAfter(answer.retry_after, end) : undefined
  const pause_s = throttle(answer.status, asked_s, throttles(endpoint.id))
  const gone = answer.status === 410
  const delay_s = gone ? undefined : nextDelay(schedule_s, failures, asked_s, Math.random())
  if (delay_s !== undefined) outcome.next_at = plusSeconds(end, delay_s)
  return { outcome, msg, failures, gone, end, throttled_until: pause_s === undefined ? undefined : plusSeconds(end, pause_s) }
}
