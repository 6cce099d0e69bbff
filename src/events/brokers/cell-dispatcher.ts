// Sends events to the brokers of teams in one cell: claims brokers with waiting events, and sends to each batch by batch until
// none is left. At least once: an event is deleted only after its broker has acknowledged it.
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Db } from '../../platform/db/database.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import { QueueRunner, type Claimed, type HandlerResult, type RunEnd } from '../../platform/queue/queue-runner.ts'
import { QueueWorker } from '../../platform/queue/queue-worker.ts'
import { VaultError, type Vault } from '../../platform/crypto/vault.ts'
import type { FindDeletedUsers, EventDestination } from '../fan-out/destination.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import {
  BrokerQueue,
  postponeUserEvents,
  nextEvents,
  deleteEvents,
  type ClaimedBroker,
  type QueuedEvent,
} from './broker-queue.ts'
import { Brokers } from './adapters/adapters.ts'
import { toMessage, errorCode, type SendOutcome, type BrokerSession } from './broker-message.ts'
import { loadDestinations, mayPublish, type PubSubProjects } from './pipelines.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { brokerDestination } from './broker-destination.ts'

/** Brokers that a process sends to at once in a cell; at most half of them failed last time. */
const SLOTS = 50
const SLOTS_FAILING = 25
/** A batch may take longer than a lease. */
const TICK_MS = 500
/** The pause before the second attempt, doubled each time. */
const RETRY_S_FIRST = 1
const RETRY_S_MAX = 300

export interface PipelineOptions {
  vault: Vault
  targets: TargetPolicy
  findDeletedUsers: FindDeletedUsers
  log: Log
  metrics: Metrics
  pubsub_projects: PubSubProjects
  /** Host and port of a Pub/Sub emulator that replaces the service. */
  pubsub_emulator_host: string | undefined
  /** The factor of pauses after failures. */
  pauseFactor?: number
}

/** Sends in one cell. */
export class CellPipelineWorker {
  readonly #cell: CellName
  readonly #db: Db
  readonly #options: PipelineOptions
  readonly #brokers: Brokers
  readonly #queue: BrokerQueue
  readonly #worker: QueueWorker<ClaimedBroker>
  #stopped = false

  constructor(cell: CellName, db: Db, options: PipelineOptions) {
    this.#cell = cell
    this.#db = db
    this.#options = options
    const { targets, pubsub_emulator_host } = options
    this.#brokers = new Brokers({
      targets,
      pubsub_emulator_host,
      sandbox: cell.startsWith('sandbox'),
      connections_max: 2 * SLOTS,
    })
    const queue = (this.#queue = new BrokerQueue(db))
    const onError = (error: unknown, message: string) => this.#logError(error, message)
    this.#worker = new QueueWorker({
      runner: new QueueRunner({
        queue,
        attemptsOf: ({ consecutive_failures }) => consecutive_failures + 1,
        attemptsMax: () => Infinity,
        backoffSeconds: (failures) => this.#backoff(failures),
        onEnd: (broker, end) => this.#logEnd(broker, end),
        onError,
        tick_ms: TICK_MS,
      }),
      claim: async ({ total, claimed }) => {
        const failing_max = SLOTS_FAILING - (claimed.get('failing') ?? 0)
        return { rows: await queue.claimBrokers({ max: total, failing_max }), more: false }
      },
      handle: (claimed) => this.#drainQueue(claimed),
      slots: { slots: SLOTS, groupOf: ({ consecutive_failures }) => (consecutive_failures > 0 ? 'failing' : 'sound') },
      onError,
      // Events queued for a broker while another process had it.
      onCompleted: () => this.wake(),
    })
  }

  start(): void {
    this.#worker.start()
  }

  /** Wakes the loop after events were queued. */
  wake = (): void => this.#worker.wake()

  /** Claims no more brokers, waits for the batches in flight, closes connections. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#worker.stop()
    this.#brokers.close()
  }

  /** Sends what is due, and returns. */
  async drain(): Promise<void> {
    while ((await this.#worker.runOnce()) > 0);
  }

  #logError(error: unknown, message: string): void {
    if (!this.#stopped) this.#options.log.error({ cell: this.#cell, causes: errorFields(error) }, message)
  }

  #reportUnreadable({ team_id, destination }: ClaimedBroker, cause: unknown): void {
    this.#options.metrics.unreadable(this.#cell, 'pipeline')
    this.#options.log.error(
      { cell: this.#cell, 'team.id': team_id, destination, causes: errorFields(cause) },
      'the credentials of a broker cannot be decrypted; nothing is sent to it until they can be',
    )
  }

  #logEnd({ team_id, destination, consecutive_failures }: ClaimedBroker, { outcome, error }: RunEnd): void {
    if (outcome !== 'retried') return
    const fields = { cell: this.#cell, 'team.id': team_id, destination, failures: consecutive_failures + 1, error }
    this.#options.log.warn(fields, 'broker unreachable')
  }

  /** Sends the waiting events of a broker until none is left or the broker is unreachable. */
  async #drainQueue(claimed: Claimed<ClaimedBroker>): Promise<HandlerResult> {
    const error = await this.#sendAll(claimed)
    return error === undefined ? undefined : { error, isRetryable: true }
  }

  /** @returns why the broker is unreachable; undefined: nothing is left to send, or another process has the broker */
  async #sendAll({ row: queue, lease }: Claimed<ClaimedBroker>): Promise<string | undefined> {
    let line: BrokerSession | undefined
    try {
      const loaded = await loadDestinations(this.#db, this.#options.vault, queue.team_id)
      if (!loaded) return undefined
      const { org_id, known } = loaded
      const project = queue.destination === 'cloud_pubsub' ? known.cloud_pubsub?.project : undefined
      // Checked again here: the list may have changed since, or the pipeline may be older than the list.
      if (project !== undefined && !mayPublish(this.#options.pubsub_projects, org_id, project)) return 'project not allowed'
      const opened = await this.#brokers.open(queue.destination, known).catch(errorCode)
      if (typeof opened === 'string') return opened
      line = opened
      while (!this.#stopped && !lease.end) {
        // It may have been changed or deleted since.
        if ((await this.#queue.renew([queue])).length === 0) break
        if (line.ordered) await postponeUserEvents(this.#db, queue)
        const waiting = await nextEvents(this.#db, queue)
        if (waiting.length === 0) break
        const reason = await this.#send(queue, line, waiting)
        if (reason !== undefined) return reason
        queue.consecutive_failures = 0
      }
      return undefined
    } catch (error) {
      if (!(error instanceof VaultError)) this.#logError(error, 'pipeline worker failed')
      else this.#reportUnreadable(queue, error)
      return error instanceof VaultError ? 'credentials cannot be decrypted' : errorCode(error)
    } finally {
      await line?.close()
    }
  }

  /** Sends one batch. @returns the failure if the broker was unreachable */
  async #send(queue: ClaimedBroker, line: BrokerSession, waiting: QueuedEvent[]): Promise<string | undefined> {
    const { team_id } = queue
    const people = waiting.map(({ user_id }) => ({ team_id, user_id }))
    const deleted = await this.#options.findDeletedUsers(this.#db.queries, people)
    const isUserDeleted = ({ user_id }: { user_id: string | null }) => user_id !== null && deleted.has(user_id)
    const goes = waiting.filter((item) => !isUserDeleted(item))
    const started = performance.now()
    const outcomes = goes.length ? await line.send(goes.map((item) => toMessage(team_id, item))) : []
    const duration_ms = Math.round(performance.now() - started)
    const withStatus = (status: SendOutcome['status']) => goes.filter((_, i) => outcomes[i]?.status === status)
    const dropped = waiting.filter(isUserDeleted)
    await deleteEvents(
      this.#db.asyncCommit,
      [...dropped, ...withStatus('acknowledged')].map(({ id }) => id),
    )
    await this.#queue.postponeEvents(
      queue,
      withStatus('rejected').map(({ id, attempts }) => ({ id, pause_s: this.#backoff(attempts + 1) })),
    )
    const counts = {
      acknowledged: withStatus('acknowledged').length,
      rejected: withStatus('rejected').length,
      unreachable: withStatus('unreachable').length,
    }
    const errors = [...new Set(outcomes.flatMap((outcome) => ('reason' in outcome ? outcome.reason : [])))]
    this.#options.metrics.countPipelineEvents(this.#cell, queue.destination, counts)
    this.#options.log.info(
      {
        cell: this.#cell,
        'team.id': team_id,
        destination: queue.destination,
        ...counts,
        duration_ms,
        ...(errors.length && { errors }),
      },
      'events sent to broker',
    )
    return outcomes.find((outcome) => outcome.status === 'unreachable')?.reason
  }

  /** 1 s, 2 s, 4 s … five minutes, randomized by a fifth. */
  #backoff(failures: number): number {
    const pause_s = Math.min(RETRY_S_MAX, RETRY_S_FIRST * 2 ** Math.min(20, failures - 1))
    return pause_s * (0.8 + 0.4 * Math.random()) * (this.#options.pauseFactor ?? 1)
  }
}

/** Sends events to brokers in every cell of a process; started and stopped with its worker. */
export interface PipelineWorker {
  /** The destination for the events of a cell. */
  destinations: (cell: CellName) => EventDestination[]
  start(): void
  /** Waits for the batches in flight. */
  stop(): Promise<void>
  /** Sends what is due and returns; for tests. */
  drain(): Promise<void>
}

export function createPipelineWorker(cells: Cells, options: PipelineOptions): PipelineWorker {
  const all = new Map(cells.names.map((name) => [name, new CellPipelineWorker(name, cells.of(name), options)]))
  const forEachCell = async (call: (cell: CellPipelineWorker) => Promise<void>) =>
    void (await Promise.all([...all.values()].map(call)))
  return {
    destinations: (cell) => [brokerDestination(options.findDeletedUsers, () => all.get(cell)?.wake())],
    start: () => all.forEach((cell) => cell.start()),
    stop: () => forEachCell((cell) => cell.stop()),
    drain: () => forEachCell((cell) => cell.drain()),
  }
}
