// The loop that sends to brokers, one per cell and process: lanes that have something are taken, each is emptied batch by batch, what
// a broker acknowledged is crossed out. At least once: nothing is crossed out before, and what is not crossed out is sent again.
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Db } from '../../platform/db/database.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import { VaultError, type Vault } from '../../platform/crypto/vault.ts'
import type { FindDeletedUsers } from '../fan-out/destination.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import {
  claimBrokerQueues,
  hasClaimableQueue,
  postponeUserEvents,
  nextEvents,
  postpone,
  releaseBrokerQueue,
  renewBrokerQueue,
  deleteEvents,
  type BrokerQueue,
  type QueuedEvent,
} from './broker-queue.ts'
import { Brokers } from './adapters/adapters.ts'
import { toMessage, errorCode, type SendOutcome, type BrokerSession } from './broker-message.ts'
import { loadDestinations } from './pipelines.ts'
import { mayPublish, type PubSubProjects } from './pubsub-projects.ts'

const POLL_MS = 500
/** Claims are at least so far apart, so that each finds a batch. */
const CLAIM_INTERVAL_MS = 5
/** Lanes served at once by a process in a cell; half of them at most are ones that failed last time. */
const CONCURRENCY_MAX = 50
const FAILING_CONCURRENCY_MAX = 25
/** A batch may take longer than a lease. */
const RENEW_MS = 1500
/** Before the second attempt, doubled each time. */
const RETRY_S_FIRST = 1
const RETRY_S_MAX = 300

export interface PipelineOptions {
  vault: Vault
  targets: TargetPolicy
  findDeletedUsers: FindDeletedUsers
  log: Log
  metrics: Metrics
  pubsub_projects: PubSubProjects
  /** Host and port of a Pub/Sub emulator, instead of the service. */
  pubsub_emulator_host: string | undefined
  /** Pauses after failures are this many times as long. */
  patience?: number
}

/** Sends in one cell. */
export class CellPipelineWorker {
  readonly #cell: CellName
  readonly #db: Db
  readonly #options: PipelineOptions
  readonly #owner = uuid()
  readonly #brokers: Brokers
  readonly #activeQueues = new Map<Promise<void>, boolean>()
  #wake = () => {}
  #woken = false
  #stopped = false
  #loop: Promise<void> | undefined

  constructor(cell: CellName, db: Db, options: PipelineOptions) {
    this.#cell = cell
    this.#db = db
    this.#options = options
    const { targets, pubsub_emulator_host } = options
    this.#brokers = new Brokers({
      targets,
      pubsub_emulator_host,
      sandbox: cell.startsWith('sandbox'),
      connections_max: 2 * CONCURRENCY_MAX,
    })
  }

  start(): void {
    this.#loop = this.#run()
  }

  /** There is something to send. */
  wake = (): void => {
    this.#woken = true
    this.#wake()
  }

  /** Take no more lanes, wait for the batches in the air, close connections. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.wake()
    await this.#loop
    await Promise.all(this.#activeQueues.keys())
    this.#brokers.close()
  }

  /** Send what is due, and return. */
  async drain(): Promise<void> {
    while ((await this.#claim()) > 0) await Promise.all(this.#activeQueues.keys())
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false
      const claimed = await this.#claim().catch(async (error: unknown) => {
        this.#logError(error, 'claiming pipelines failed')
        await sleep(POLL_MS)
        return 0
      })
      if (!this.#stopped) await sleep(CLAIM_INTERVAL_MS)
      if (claimed > 0 || this.#woken || this.#stopped) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  #logError(error: unknown, message: string): void {
    if (!this.#stopped) this.#options.log.error({ cell: this.#cell, causes: errorFields(error) }, message)
  }

  #reportUnreadable({ team_id, destination }: BrokerQueue, cause: unknown): void {
    this.#options.metrics.unreadable(this.#cell, 'pipeline')
    this.#options.log.error(
      { cell: this.#cell, 'team.id': team_id, destination, causes: errorFields(cause) },
      'the credentials of a broker cannot be decrypted; nothing is sent to it until they can be',
    )
  }

  /** @returns how many lanes were taken */
  async #claim(): Promise<number> {
    if (!(await hasClaimableQueue(this.#db))) return 0
    const failing = [...this.#activeQueues.values()].filter(Boolean).length
    const sound = await claimBrokerQueues(this.#db, this.#owner, {
      failing: false,
      max: CONCURRENCY_MAX - this.#activeQueues.size,
    })
    const max = Math.min(FAILING_CONCURRENCY_MAX - failing, CONCURRENCY_MAX - this.#activeQueues.size - sound.length)
    const queues = [...sound, ...(await claimBrokerQueues(this.#db, this.#owner, { failing: true, max }))]
    for (const queue of queues) {
      const served = this.#drainQueue(queue)
        .catch((error: unknown) => this.#logError(error, 'serving a pipeline failed'))
        .finally(() => {
          this.#activeQueues.delete(served)
          this.wake()
        })
      this.#activeQueues.set(served, queue.failures > 0)
    }
    return queues.length
  }

  /** Empty a lane, or find that its broker cannot be reached; then let others have it. */
  async #drainQueue(queue: BrokerQueue): Promise<void> {
    const renew = () => renewBrokerQueue(this.#db, this.#owner, queue).catch(() => false)
    const timer = setInterval(() => void renew(), RENEW_MS)
    const reason = await this.#sendAll(queue).finally(() => clearInterval(timer))
    const failures = reason === undefined ? 0 : queue.failures + 1
    await releaseBrokerQueue(this.#db, this.#owner, queue, { failures, pause_s: failures === 0 ? 0 : this.#backoff(failures) })
    if (reason === undefined) return
    const { team_id, destination } = queue
    this.#options.log.warn({ cell: this.#cell, 'team.id': team_id, destination, failures, error: reason }, 'broker not reached')
  }

  /** @returns why the broker cannot be reached; undefined: there is nothing more to send, or not for us */
  async #sendAll(queue: BrokerQueue): Promise<string | undefined> {
    let line: BrokerSession | undefined
    try {
      const loaded = await loadDestinations(this.#db, this.#options.vault, queue.team_id)
      if (!loaded) return undefined
      const { org_id, known } = loaded
      const project = queue.destination === 'cloud_pubsub' ? known.cloud_pubsub?.project : undefined
      // Asked again here: it may have been taken from the list since, or have been configured before there was one.
      if (project !== undefined && !mayPublish(this.#options.pubsub_projects, org_id, project)) return 'project not allowed'
      const opened = await this.#brokers.open(queue.destination, known).catch(errorCode)
      if (typeof opened === 'string') return opened
      line = opened
      while (!this.#stopped) {
        if (!(await renewBrokerQueue(this.#db, this.#owner, queue))) break
        if (line.ordered) await postponeUserEvents(this.#db, queue)
        const waiting = await nextEvents(this.#db, queue)
        if (waiting.length === 0) break
        const reason = await this.#send(queue, line, waiting)
        if (reason !== undefined) return reason
        queue.failures = 0
      }
      return undefined
    } catch (error) {
      if (!(error instanceof VaultError)) this.#logError(error, 'serving a pipeline failed')
      else this.#reportUnreadable(queue, error)
      return error instanceof VaultError ? 'credentials cannot be decrypted' : errorCode(error)
    } finally {
      await line?.close()
    }
  }

  /** One batch. @returns why the broker was lost, if it was */
  async #send(queue: BrokerQueue, line: BrokerSession, waiting: QueuedEvent[]): Promise<string | undefined> {
    const { team_id } = queue
    const people = waiting.map(({ user_id }) => ({ team_id, user_id }))
    const deleted = await this.#options.findDeletedUsers(this.#db.queries, people)
    const isUserDeleted = ({ user_id }: { user_id: string | null }) => user_id !== null && deleted.has(user_id)
    const goes = waiting.filter((item) => !isUserDeleted(item))
    const started = performance.now()
    const outcomes = goes.length ? await line.send(goes.map((item) => toMessage(team_id, item))) : []
    const duration_ms = Math.round(performance.now() - started)
    const of = (is: SendOutcome['is']) => goes.filter((_, i) => outcomes[i]?.is === is)
    const dropped = waiting.filter(isUserDeleted)
    await deleteEvents(
      this.#db.asyncCommit,
      [...dropped, ...of('taken')].map(({ id }) => id),
    )
    await postpone(
      this.#db.asyncCommit,
      this.#owner,
      queue,
      of('refused').map(({ id, attempts }) => ({ id, pause_s: this.#backoff(attempts + 1) })),
    )
    const counts = { taken: of('taken').length, refused: of('refused').length, lost: of('lost').length }
    const errors = [...new Set(outcomes.flatMap((fate) => ('reason' in fate ? fate.reason : [])))]
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
      'events sent to a broker',
    )
    return outcomes.find((fate) => fate.is === 'lost')?.reason
  }

  /** 1 s, 2 s, 4 s … five minutes, give or take a fifth. */
  #backoff(failures: number): number {
    const pause_s = Math.min(RETRY_S_MAX, RETRY_S_FIRST * 2 ** Math.min(20, failures - 1))
    return pause_s * (0.8 + 0.4 * Math.random()) * (this.#options.patience ?? 1)
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
