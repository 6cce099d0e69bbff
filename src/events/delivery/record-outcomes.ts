// The end of an attempt: its outcome is recorded. Outcomes are recorded in batches that a crash may undo, since the attempt is then only
// repeated. An outcome with consequences (an endpoint is disabled, a message about a delivery is sent) is recorded alone and durably.
import { iso, truncateToSeconds } from '../../platform/runtime/clock.ts'
import { disableEndpoint } from '../endpoints/endpoints.ts'
import type { Attempt, Delivery } from './destination.ts'
import { recordAttempts, returnDeliveries, stopDeliveries } from './delivery-rows.ts'
import { saveHealth, type HealthUpdate } from './destination-rows.ts'
import type { DeliveryDb } from './leases.ts'
import type { DestinationQueues } from './limits.ts'
import { endpointReport, eventTypes, messageReport, queueMessage } from './operational-messages.ts'

/** Time during which outcomes are collected before they are written together. */
const FLUSH_INTERVAL_MS = 25
const BATCH_MAX = 500
const PENDING_WRITES_MAX = 3000
const FAILING_THRESHOLD = 4

/** The consequences of an attempt, in addition to its own row. */
export interface Consequences {
  /** The number of attempts after which a delivery has failed. */
  schedule_length: number
  /** Deliveries to the endpoint stop. */
  disable: boolean
  /** The start of the failures for which the endpoint was disabled. */
  dead_since_text: string | undefined
  /** The new health and pause of the destination, if they have changed. */
  health: HealthUpdate | undefined
}

interface PendingRecord {
  attempt: Attempt
  resolve: (() => void) | undefined
  reject: ((error: unknown) => void) | undefined
}

export interface RecorderOptions {
  /** The owner: this process. */
  owner: string
  /** They count deliveries until their outcome is written. */
  queues: DestinationQueues
  /** How long outcomes are collected; 0: until `flush` is called. 25 ms by default. */
  gather_ms?: number | undefined
  onError: (error: unknown) => void
}

const operationalNames = new Set(eventTypes.map((type) => type.name))

export class AttemptRecorder {
  readonly #db: DeliveryDb
  readonly #options: RecorderOptions
  #waiting: PendingRecord[] = []
  #pendingWrites = 0
  #healthUpdates = new Map<string, HealthUpdate>()
  #timer: NodeJS.Timeout | undefined
  /** One statement at a time, so that a delivery gets its row before what refers to it. */
  #writing: Promise<void> = Promise.resolve()

  constructor(db: DeliveryDb, options: RecorderOptions) {
    this.#db = db
    this.#options = options
  }

  /** Resolves when everything that is being written is written, not outcomes still being collected. */
  whenWritten(): Promise<void> {
    return this.#writing
  }

  /** Whether so many outcomes are unrecorded that sending should pause. */
  get hasBacklog(): boolean {
    return this.#pendingWrites > PENDING_WRITES_MAX
  }

  /**
   * Records an attempt. @returns resolves when it is written; undefined for a success without consequences, which is no
   * longer buffered when it is written
   */
  record(attempt: Attempt, consequences: Consequences): Promise<void> | undefined {
    const type = reportType(attempt, consequences)
    if (consequences.health) this.recordHealth(consequences.health)
    if (type !== undefined || consequences.disable) return this.#recordWithConsequences(attempt, type, consequences)
    if (attempt.succeeded) return void this.#push({ attempt, resolve: undefined, reject: undefined })
    return new Promise((resolve, reject) => this.#push({ attempt, resolve, reject }))
  }

  /** Records the health of a destination, with the next batch of attempts. */
  recordHealth(health: HealthUpdate): void {
    this.#healthUpdates.set(health.id, health)
    this.#scheduleFlush()
  }

  /** Writes what has been collected. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#waiting
    const health = [...this.#healthUpdates.values()]
    this.#waiting = []
    this.#healthUpdates = new Map()
    if (batch.length || health.length) void this.#serialize(() => this.#write(batch, health))
    return this.#writing
  }

  /** Returns deliveries to the database, where this process or another claims them later. */
  returnDeliveries(deliveries: Delivery[]): Promise<void> {
    return this.#serialize(() => returnDeliveries(this.#db, deliveries))
  }

  #push(record: PendingRecord): void {
    this.#waiting.push(record)
    this.#pendingWrites++
    if (this.#waiting.length >= BATCH_MAX) void this.flush()
    else this.#scheduleFlush()
  }

  #scheduleFlush(): void {
    const { gather_ms = FLUSH_INTERVAL_MS } = this.#options
    if (gather_ms > 0) this.#timer ??= setTimeout(() => void this.flush(), gather_ms)
  }

  #serialize(work: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(work)
    this.#writing = done.catch(() => {})
    return done
  }

  async #write(batch: PendingRecord[], health: HealthUpdate[]): Promise<void> {
    const { owner, onError, queues } = this.#options
    // First, since the destination may be claimed again as soon as its attempts are done.
    await saveHealth(this.#db.asyncCommit, owner, health).catch(onError)
    try {
      await recordAttempts(
        this.#db.asyncCommit,
        batch.map(({ attempt }) => attempt),
      )
      for (const { resolve } of batch) resolve?.()
    } catch (error) {
      for (const { reject } of batch) reject?.(error)
      // The lease of a delivery that is not recorded ends, and the delivery becomes due again.
      if (batch.some(({ reject }) => !reject)) onError(error)
    } finally {
      this.#pendingWrites -= batch.length
      queues.release(batch.filter(({ resolve }) => !resolve).length)
    }
  }

  /** Writes the outcome and its consequences, or neither. Writes delivery, delivery_attempt, webhook, webhook_message. */
  async #recordWithConsequences(
    attempt: Attempt,
    type: string | undefined,
    { disable, dead_since_text }: Consequences,
  ): Promise<void> {
    const { delivery, attempt_id, response_status, begun_at } = attempt
    const { team_id, destination_id: webhook_id, message_id } = delivery
    // What was written before about other deliveries comes first.
    await this.whenWritten()
    await this.#db.plainTx(async (tx) => {
      await recordAttempts(tx, [{ ...attempt, last_report: type === undefined ? attempt.last_report : reportValues[type]! }])
      const at_text = iso(truncateToSeconds(begun_at))
      if (disable && (await disableEndpoint(tx, team_id, webhook_id))) {
        await stopDeliveries(tx, team_id, webhook_id)
        const data = endpointReport({ team_id, webhook_id, since_text: dead_since_text ?? at_text })
        const body = JSON.stringify({ type: 'endpoint.disabled', data })
        await queueMessage(tx, { team_id, type: 'endpoint.disabled', body, created_at: begun_at, trigger: 'scheduled' })
      }
      if (type === undefined) return
      const data = messageReport({ team_id, webhook_id, msg: message_id, attempt_id, status: response_status, at_text })
      await queueMessage(tx, { team_id, type, body: JSON.stringify({ type, data }), created_at: begun_at, trigger: 'scheduled' })
    })
    await this.flush()
  }
}

const reportValues: Record<string, string | null> = {
  'message.attempt.failing': 'failing',
  'message.attempt.exhausted': 'exhausted',
  'message.attempt.recovered': null,
}

/** The message that an attempt causes, if any: only about events for endpoints, and each once a round. */
function reportType(attempt: Attempt, { schedule_length, disable }: Consequences): string | undefined {
  const { delivery, succeeded, last_report } = attempt
  if (!delivery.destination_id.startsWith('ep_') || !delivery.is_event || operationalNames.has(delivery.type)) return undefined
  if (succeeded) return last_report === null ? undefined : 'message.attempt.recovered'
  if (disable) return undefined
  const failures = delivery.attempts + 1
  if (failures >= schedule_length) return last_report === 'exhausted' ? undefined : 'message.attempt.exhausted'
  return failures === FAILING_THRESHOLD && last_report === null ? 'message.attempt.failing' : undefined
}
