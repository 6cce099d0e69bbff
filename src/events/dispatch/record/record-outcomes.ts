// The third part of delivery: records the outcomes of attempts. Outcomes are recorded in batches that a crash may undo, since
// the attempt is then only repeated. An outcome with consequences (an endpoint is disabled, a message about a delivery is sent)
// is recorded alone and durably.
import { iso, truncateToSeconds } from '../../../platform/runtime/clock.ts'
import type { PlainTx } from '../../../platform/db/transaction.ts'
import { eventTypes as operationalTypes } from '../../delivery-queue/event-types.ts'
import { recordAttempts, returnDeliveries, stopDeliveries } from '../../delivery-queue/delivery-queue.ts'
import type { Delivery, AttemptOutcome } from '../../delivery-queue/delivery.ts'
import type { DeliveryDb } from '../../fan-out/fan-out.ts'
import { saveEndpointHealth, type EndpointHealthUpdate } from '../../delivery-queue/endpoint-leases.ts'
import { endpointReportBody, messageReportBody, queueMessage } from '../../delivery-queue/operational-messages.ts'
import type { Health } from '../../delivery-queue/retry-schedule.ts'
import { disableEndpoint } from '../../endpoints/endpoints.ts'

/** Time during which outcomes are collected before they are written together. */
const FLUSH_INTERVAL_MS = 25
const BATCH_MAX = 500
const PENDING_WRITES_MAX = 3000
const FAILING_THRESHOLD = 4

/** The consequences of an attempt, besides its own row. */
export interface RecordedState {
  schedule_length: number
  failures: number
  /** Deliveries to the endpoint stop. */
  disable: boolean
  /** The start of the failures for which the endpoint was disabled. */
  dead_since_text: string | undefined
  pause_s: number | undefined
  health: Health
  /** The health of the endpoint has changed. */
  changed: boolean
}

interface PendingRecord {
  outcome: AttemptOutcome
  done: (() => void) | undefined
  failed: ((error: unknown) => void) | undefined
}

export interface RecorderOptions {
  /** The owner: this process. */
  owner: string
  /** The monotonic clock of the process. */
  now_ms: () => number
  /** How long outcomes are collected; 0: until `flush` is called. 25 ms by default. */
  gather_ms?: number | undefined
  onError: (error: unknown) => void
  /** Called with a number of outcomes without a waiting caller that are written, or will not be. */
  onWritten: (count: number) => void
}

const operationalNames = new Set(operationalTypes.map((type) => type.name))

export class AttemptRecorder {
  readonly #db: DeliveryDb
  readonly #options: RecorderOptions
  #waiting: PendingRecord[] = []
  #pendingWrites = 0
  #healthUpdates = new Map<string, EndpointHealthUpdate>()
  #timer: NodeJS.Timeout | undefined
  /** One statement at a time, so that a delivery gets its row before what refers to it. */
  #writing: Promise<void> = Promise.resolve()

  constructor(db: DeliveryDb, options: RecorderOptions) {
    this.#db = db
    this.#options = options
  }

  get #gather_ms(): number {
    return this.#options.gather_ms ?? FLUSH_INTERVAL_MS
  }

  /** Resolves when everything that is being written is written, not outcomes still being collected. */
  settled(): Promise<void> {
    return this.#writing
  }

  /** Whether so many outcomes are unrecorded that sending should pause. */
  get hasBacklog(): boolean {
    return this.#pendingWrites > PENDING_WRITES_MAX
  }

  /**
   * Records an outcome. @returns resolves when it is written; undefined for a success without consequences, which `onWritten`
   * counts
   */
  record(outcome: AttemptOutcome, consequences: RecordedState): Promise<void> | undefined {
    const type = reportTypeFor(outcome, consequences)
    const { webhook_id } = outcome.item
    if (consequences.changed)
      this.#healthUpdates.set(webhook_id, { webhook_id, pause_s: consequences.pause_s, ...consequences.health })
    if (type !== undefined || consequences.disable) return this.#recordWithConsequences(outcome, type, consequences)
    if (outcome.succeeded) return void this.#push({ outcome, done: undefined, failed: undefined })
    return new Promise((done, failed) => this.#push({ outcome, done, failed }))
  }

  /** Writes what has been collected. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#waiting
    const learned = [...this.#healthUpdates.values()]
    this.#waiting = []
    this.#healthUpdates = new Map()
    if (batch.length || learned.length) void this.#serialize(() => this.#write(batch, learned))
    return this.#writing
  }

  /** Returns deliveries to the database, where this process or another claims them later. */
  returnDeliveries(items: Delivery[]): Promise<void> {
    return this.#serialize(() => returnDeliveries(this.#db, items))
  }

  #push(waiting: PendingRecord): void {
    this.#waiting.push(waiting)
    this.#pendingWrites++
    if (this.#waiting.length >= BATCH_MAX) void this.flush()
    else if (this.#gather_ms > 0) this.#timer ??= setTimeout(() => void this.flush(), this.#gather_ms)
  }

  #serialize(work: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(work)
    this.#writing = done.catch(() => {})
    return done
  }

  async #write(batch: PendingRecord[], learned: EndpointHealthUpdate[]): Promise<void> {
    const { owner, onError, onWritten: onRecorded } = this.#options
    // First, since the endpoint may be claimed again as soon as its attempts are done.
    await saveEndpointHealth(this.#db.asyncCommit, owner, learned).catch(onError)
    try {
      await recordAttempts(
        this.#db.asyncCommit,
        batch.map(({ outcome }) => outcome),
      )
      for (const { done } of batch) done?.()
    } catch (error) {
      for (const { failed } of batch) failed?.(error)
      // The lease of a delivery that is not recorded ends, and the delivery becomes due again.
      if (batch.some(({ failed }) => !failed)) onError(error)
    } finally {
      this.#pendingWrites -= batch.length
      onRecorded(batch.filter(({ done }) => !done).length)
    }
  }

  /** Writes the outcome and its consequences, or neither. Writes delivery, delivery_attempt, webhook, webhook_message. */
  async #recordWithConsequences(
    outcome: AttemptOutcome,
    type: string | undefined,
    { disable, dead_since_text }: RecordedState,
  ): Promise<void> {
    const { item, at } = outcome
    const { team_id, webhook_id } = item
    // What was written before about other deliveries comes first.
    await this.settled()
    await this.#db.plainTx(async (tx) => {
      await recordAttempts(tx, [{ ...outcome, last_report: type === undefined ? outcome.last_report : reportValues[type]! }])
      if (disable) await this.#disable(tx, { team_id, webhook_id, dead_since_text, at })
      if (type === undefined) return
      const body = messageReportBody(type, {
        team_id,
        webhook_id,
        msg: item.message_id,
        attempt_id: outcome.attempt_id,
        status: outcome.response_status,
        at_text: iso(truncateToSeconds(at)),
      })
      await queueMessage(tx, { team_id, type, body, at, trigger: 'scheduled' })
    })
    await this.flush()
  }

  async #disable(
    tx: PlainTx,
    {
      team_id,
      webhook_id,
      dead_since_text,
      at,
    }: { team_id: string; webhook_id: string; dead_since_text: string | undefined; at: Date },
  ): Promise<void> {
    if (!(await disableEndpoint(tx, team_id, webhook_id))) return
    await stopDeliveries(tx, team_id, webhook_id)
    const since_text = dead_since_text ?? iso(truncateToSeconds(at))
    const body = endpointReportBody({ team_id, webhook_id, since_text })
    await queueMessage(tx, { team_id, type: 'endpoint.disabled', body, at, trigger: 'scheduled' })
  }
}

const reportValues: Record<string, string | null> = {
  'message.attempt.failing': 'failing',
  'message.attempt.exhausted': 'exhausted',
  'message.attempt.recovered': null,
}

/** The message that an attempt causes, if any: only about events, and each once a round. */
function reportTypeFor(outcome: AttemptOutcome, { failures, schedule_length, disable }: RecordedState): string | undefined {
  const { item, succeeded, last_report } = outcome
  if (!item.is_event || operationalNames.has(item.type)) return undefined
  if (succeeded) return last_report === null ? undefined : 'message.attempt.recovered'
  if (disable) return undefined
  if (failures >= schedule_length) return last_report === 'exhausted' ? undefined : 'message.attempt.exhausted'
  return failures === FAILING_THRESHOLD && last_report === null ? 'message.attempt.failing' : undefined
}
