// A broker of a pipeline as a destination: RabbitMQ, Event Hubs with Blob Storage, or Pub/Sub. It takes a batch of events at a time. An event
// that the broker rejects is tried again later, without end, until its row is too old. A broker that is unreachable is paused, and its
// events keep their order. Writes nothing. Source: events.md 8.1, 8.2.
import { VaultError, type Vault } from '../../platform/crypto/vault.ts'
import { withTimeout } from '../../platform/runtime/with-timeout.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import type { Brokers } from '../brokers/adapters/adapters.ts'
import { errorCode, unreachable, type BrokerSession, type Message, type SendOutcome } from '../brokers/broker-message.ts'
import { decryptDestinations, mayPublish, type PubSubProjects } from '../brokers/pipelines.ts'
import type { Broker, Configured } from '../brokers/schema.ts'
import type { Delivery, Destination, Outcome, Target } from './destination.ts'
import type { DestinationRow } from './destination-rows.ts'
import { brokerDelay, healthy } from './retry-schedule.ts'

/** Connecting and sending; with the wait before it shorter than the lease of a delivery. */
const BATCH_MS_MAX = 15_000

export interface BrokerTarget extends Target {
  kind: Broker
  org_id: string
  settings: Configured
}

export interface BrokerAnswer {
  outcome: SendOutcome
  begun_at: Date
  duration_ms: number
}

export interface BrokerOptions {
  vault: Vault
  brokers: Brokers
  pubsub_projects: PubSubProjects
  schedule_s: readonly number[]
  clock: () => Date
  now_ms: () => number
  /** Whether a batch may be sent: called right before, since connecting takes time. */
  mayBegin: (target: Target) => boolean
}

export class BrokerDestination implements Destination<BrokerTarget, BrokerAnswer> {
  readonly #options: BrokerOptions

  constructor(options: BrokerOptions) {
    this.#options = options
  }

  prepare({ id, team_id, kind, org_id, settings }: DestinationRow): BrokerTarget {
    if (settings === null) throw new VaultError('the pipeline has no settings')
    const decrypted = decryptDestinations(this.#options.vault, { team_id, destinations: settings })
    return {
      id,
      team_id,
      kind: kind as Broker,
      address: settings,
      rate_limit: null,
      isBatch: true,
      health: healthy,
      org_id,
      settings: decrypted,
    }
  }

  deliver(target: BrokerTarget, deliveries: Delivery[], onDone: (answers: BrokerAnswer[]) => void): void {
    void this.#sendWithin(target, deliveries, onDone)
  }

  outcome(_target: BrokerTarget, delivery: Delivery, { outcome, begun_at, duration_ms }: BrokerAnswer, pauses: number): Outcome {
    const delay_s = (failures: number) => brokerDelay(this.#options.schedule_s, failures, Math.random())
    if (outcome.status === 'unreachable')
      return { attempt: undefined, duration_ms, pause_s: delay_s(pauses + 1), isGone: false, unreachable: outcome.reason }
    if (outcome.status === 'heldBack') return { attempt: undefined, duration_ms, pause_s: undefined, isGone: false }
    const succeeded = outcome.status === 'acknowledged'
    const attempt = {
      delivery,
      attempt_id: uuid(),
      begun_at,
      duration_ms,
      response_status: null,
      response_body: '',
      error: outcome.status === 'rejected' ? outcome.reason : null,
      succeeded,
      signature: '',
      custom_headers: [],
      next_s: succeeded ? undefined : delay_s(delivery.attempts + 1),
      last_report: null,
    }
    return { attempt, duration_ms, pause_s: undefined, isGone: false }
  }

  /** Sends a batch before its deadline. Never throws. */
  async #sendWithin(target: BrokerTarget, deliveries: Delivery[], onDone: (answers: BrokerAnswer[]) => void): Promise<void> {
    const { clock, now_ms } = this.#options
    const [begun_at, begun_ms] = [clock(), now_ms()]
    const outcomes = await withTimeout(BATCH_MS_MAX, this.#send(target, deliveries)).catch((error: unknown) =>
      deliveries.map(() => unreachable(errorCode(error))),
    )
    const duration_ms = Math.round(now_ms() - begun_ms)
    onDone(outcomes.map((outcome) => ({ outcome, begun_at, duration_ms })))
  }

  async #send(target: BrokerTarget, deliveries: Delivery[]): Promise<SendOutcome[]> {
    const { brokers, pubsub_projects, mayBegin } = this.#options
    const project = target.kind === 'cloud_pubsub' ? target.settings.cloud_pubsub?.project : undefined
    // Checked again here: the list may have changed since, or the pipeline may be older than the list.
    if (project !== undefined && !mayPublish(pubsub_projects, target.org_id, project))
      return deliveries.map(() => unreachable('project not allowed'))
    let session: BrokerSession | undefined
    try {
      session = await brokers.open(target.kind, target.settings)
      if (!mayBegin(target)) return deliveries.map(() => ({ status: 'heldBack' }))
      return await session.send(deliveries.map(toMessage))
    } finally {
      await session?.close()
    }
  }
}

const toMessage = ({ msg, type, team_id, user_id, created_at, body }: Delivery): Message => ({
  idempotency_key: msg,
  type,
  team_id,
  user_id,
  order_key: user_id ?? team_id,
  created_at_text: created_at,
  body,
})
