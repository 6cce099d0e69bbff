// The loop that delivers, one per cell and process: fans out what was announced, claims what is due, sends it, writes down what came
// of it. At least once: nothing is marked before it has happened, and what is not marked is sent again.
import { iso, wholeSeconds } from '../platform/clock.ts'
import type { CellName, Db } from '../platform/db.ts'
import { errorFields, type Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { uuid } from '../platform/uuid.ts'
import type { Vault } from '../platform/vault.ts'
import {
  claimDue,
  dropDeliveries,
  LEASE_S,
  loadEndpoints,
  putBack,
  releaseLanes,
  renewLanes,
  type Claimed,
  type Endpoint,
} from './deliveries.ts'
import { attempt, type Ended, type Ready } from './attempt.ts'
import { ANNOUNCEMENTS_MAX, endpointSink, fanOut, type DeletedAmong, type Sink } from './fan-out.ts'
import { openHeaders } from './headers.ts'
import { Lanes } from './lanes.ts'
import { Recorder } from './recorder.ts'
import { after } from './retries.ts'
import { Rounds } from './rounds.ts'
import { openSecret } from './secrets.ts'
import { Sender } from './send.ts'
import { signingKey } from './signature.ts'
import type { Targets } from './targets.ts'

/** What another process announces is seen after so long, without being told. */
const FAN_OUT_POLL_MS = 100
/** What falls due by the clock. */
const CLAIM_POLL_MS = 500
/** After something went wrong. */
const REST_MS = 500
const RENEW_MS = 1500

export interface DeliveryOptions {
  vault: Vault
  targets: Targets
  deletedAmong: DeletedAmong
  /** Where events of a cell go besides, asked in this order and before the endpoints. */
  sinks?: (cell: CellName) => Sink[]
  /** The machine's clock. */
  clock: () => Date
  schedule_s: readonly number[]
  log: Log
  metrics: Metrics
  product: string
  attempt_ms_max?: number
}

/** What waits in hand: claimed and not yet sent. */
interface Waiting {
  item: Claimed
  endpoint: Ready
  claimed_at: Date
}

/** Delivers in one cell. */
export class CellDelivery {
  readonly #cell: CellName
  readonly #db: Db
  readonly #options: DeliveryOptions
  readonly #owner = uuid()
  readonly #lanes = new Lanes<Waiting>()
  readonly #sinks: Sink[]
  readonly #sender: Sender
  readonly #recorder: Recorder
  readonly #flights = new Set<Promise<void>>()
  /** The last attempt in the air for an object at an endpoint: its events go one after another. */
  readonly #objects = new Map<string, Promise<void>>()
  readonly #fanning = this.#rounds(() => this.#fan(), FAN_OUT_POLL_MS)
  readonly #claiming = this.#rounds(() => this.#send(), CLAIM_POLL_MS)
  #stopped = false
  #renewed_ms = 0

  constructor(cell: CellName, db: Db, options: DeliveryOptions) {
    this.#cell = cell
    this.#db = db
    this.#options = options
    const { targets, product, attempt_ms_max } = options
    this.#sinks = [...(options.sinks?.(cell) ?? []), endpointSink(options.deletedAmong)]
    const sandbox = cell.startsWith('sandbox')
    this.#sender = new Sender({ targets, sandbox, product, ...(attempt_ms_max !== undefined && { attempt_ms_max }) })
    this.#recorder = new Recorder(db, this.#owner, (error) => this.#report(error, 'recording deliveries failed'))
  }

  start(): void {
    this.#db.onEvents = () => {
      this.#fanning.wake()
      this.#claiming.wake()
    }
    this.#fanning.start()
    this.#claiming.start()
  }

  /** Claim nothing more, wait for what is in the air, let others have the lanes. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all([this.#fanning.stop(), this.#claiming.stop()])
    for (const id of this.#lanes.inUse) await this.#putBack(this.#lanes.clear(id))
    await this.#landed()
    await releaseLanes(this.#db, this.#owner).catch(() => 0)
    this.#sender.close()
  }

  /** Deliver what is due, and what falls due meanwhile, and return. */
  async drain(): Promise<void> {
    for (;;) {
      const taken = await fanOut(this.#db, this.#sinks, this.#options.clock())
      const claimed = await this.#claim()
      await this.#landed()
      if (taken === 0 && claimed === 0) break
    }
    await releaseLanes(this.#db, this.#owner)
  }

  async #landed(): Promise<void> {
    while (this.#flights.size) await Promise.all(this.#flights)
    await this.#recorder.flush()
  }

  /** Queue deliveries of what was announced. Apart from sending, which goes on meanwhile. */
  async #fan(): Promise<boolean> {
    const taken = await fanOut(this.#db, this.#sinks, this.#options.clock())
    if (taken) this.#claiming.wake(true)
    return taken === ANNOUNCEMENTS_MAX
  }

  async #send(): Promise<boolean> {
    await this.#renew()
    return (await this.#claim()) > 0
  }

  /** A round that fails is reported and followed by a rest. */
  #rounds(work: () => Promise<boolean>, poll_ms: number): Rounds {
    return new Rounds(async () => {
      try {
        return await work()
      } catch (error) {
        this.#report(error, 'delivering failed')
        await sleep(REST_MS)
        return false
      }
    }, poll_ms)
  }

  /** Lanes whose attempts take long are not claimed from meanwhile, and are still ours. */
  async #renew(): Promise<void> {
    const now = this.#options.clock()
    if (now.getTime() - this.#renewed_ms < RENEW_MS) return
    this.#renewed_ms = now.getTime()
    await renewLanes(this.#db, this.#owner, this.#lanes.inUse, now)
  }

  #report(error: unknown, message: string): void {
    if (!this.#stopped) this.#options.log.error({ cell: this.#cell, causes: errorFields(error) }, message)
  }

  /** Claim what there is room for and send it. @returns how many */
  async #claim(): Promise<number> {
    const now = this.#options.clock()
    const room = this.#lanes.room(now.getTime())
    if (room.total <= 0) return 0
    const claimed = await claimDue(this.#db, this.#owner, now, room)
    if (claimed.length === 0) return 0
    const people = claimed.flatMap(({ team_id, user_id }) => (user_id === null ? [] : [{ team_id, user_id }]))
    const [endpoints, deleted] = await Promise.all([
      loadEndpoints(this.#db, [...new Set(claimed.map((item) => item.webhook_id))], now),
      people.length ? this.#options.deletedAmong(this.#db.queries, people) : new Set<string>(),
    ])
    const ready = new Map(endpoints.map((endpoint) => [endpoint.id, this.#prepare(endpoint)]))
    const dropped: number[] = []
    for (const item of claimed) {
      const endpoint = ready.get(item.webhook_id)
      const goes = endpoint && item.body !== null && !(item.user_id !== null && deleted.has(item.user_id))
      if (!goes) dropped.push(item.id)
      else this.#lanes.add(endpoint.id, { item, endpoint, claimed_at: now }, lineOf(endpoint), now.getTime())
    }
    for (const id of this.#lanes.inUse) this.#pump(id)
    await dropDeliveries(this.#db.queries, dropped)
    return claimed.length
  }

  /** Send what waits for an endpoint, as far as there is room. */
  #pump(id: string): void {
    const now = this.#options.clock()
    const late: Waiting[] = []
    for (const waiting of this.#lanes.leaving(id, now.getTime())) {
      if (now.getTime() - waiting.claimed_at.getTime() > (LEASE_S * 1000) / 3) {
        this.#lanes.give(id)
        late.push(waiting)
      } else this.#launch(waiting)
    }
    void this.#putBack(late)
  }

  /** Others may have it, or this process later: its lease may end before it has been sent. */
  async #putBack(waiting: Waiting[]): Promise<void> {
    this.#lanes.release(waiting.length)
    await putBack(
      this.#db,
      waiting.map(({ item }) => item.id),
    ).catch((error: unknown) => this.#report(error, 'putting deliveries back failed'))
  }

  #prepare(endpoint: Endpoint): Ready {
    const { vault } = this.#options
    const custom = openHeaders(vault, endpoint.id, endpoint.headers)
    return {
      ...endpoint,
      keys: endpoint.secrets.map((sealed) => signingKey(openSecret(vault, endpoint.id, sealed))),
      custom,
      customList: Object.entries(custom).flat(),
      customNames: Object.keys(custom),
    }
  }

  #launch({ item, endpoint }: Waiting): void {
    const object = `${endpoint.id} ${item.object_id ?? item.id}`
    const before = this.#objects.get(object)
    const { clock, schedule_s } = this.#options
    const throttles = () => this.#lanes.throttles(endpoint.id)
    const answered = attempt(item, endpoint, { sender: this.#sender, clock, schedule_s, throttles, before })
    const flight = answered
      .then(
        (ended) => this.#settle(item, endpoint, ended),
        (error: unknown) => {
          this.#lanes.give(endpoint.id)
          throw error
        },
      )
      // Of a delivery that is not marked the lease ends, and it falls due again.
      .catch((error: unknown) => this.#report(error, 'a delivery failed'))
      .finally(() => {
        this.#flights.delete(flight)
        this.#lanes.release(1)
      })
    this.#flights.add(flight)
    const over = answered.then(ignore, ignore).finally(() => {
      if (this.#objects.get(object) === over) this.#objects.delete(object)
    })
    this.#objects.set(object, over)
  }

  /** Write an attempt down. A success makes room at once; after a failure nothing more leaves before its consequences are written. */
  async #settle(item: Claimed, endpoint: Ready, { outcome, msg, failures, gone, end, throttled_until }: Ended): Promise<void> {
    const { succeeded } = outcome
    const { id } = endpoint
    const health = after(this.#lanes.health(id), succeeded, end)
    this.#lanes.setHealth(id, health)
    const { first, since } = this.#known(endpoint)
    const written = this.#recorder.record(outcome, {
      schedule_length: this.#options.schedule_s.length,
      failures,
      disable: gone || health.dead,
      dead_since_text: health.dead ? iso(wholeSeconds(health.failing_since ?? end)) : undefined,
      throttled_until,
      health,
      changed:
        throttled_until !== undefined ||
        health.first_failure_at?.getTime() !== first ||
        health.failing_since?.getTime() !== since,
    })
    this.#lanes.learn(id, succeeded, end.getTime(), throttled_until?.getTime())
    const free = () => {
      this.#lanes.give(id)
      this.#pump(id)
      if (this.#lanes.isHungry(id)) this.#claiming.wake(true)
    }
    try {
      if (succeeded) free()
      else await this.#putBack(this.#lanes.clear(id))
      await written
    } finally {
      if (!succeeded) free()
    }
    this.#options.metrics.delivery(this.#cell, succeeded ? 'success' : 'failure', outcome.duration_ms / 1000)
    this.#options.log.info(
      {
        cell: this.#cell,
        'team.id': item.team_id,
        'webhook.id': id,
        'message.id': msg,
        type: item.type,
        attempt: failures,
        ...(outcome.response_status !== null && { status: outcome.response_status }),
        ...(outcome.error !== null && { error: outcome.error }),
        duration_ms: outcome.duration_ms,
      },
      'delivery attempted',
    )
  }

  #known(endpoint: Endpoint): { first: number | undefined; since: number | undefined } {
    return { first: date(endpoint.first_failure_at)?.getTime(), since: date(endpoint.failing_since)?.getTime() }
  }
}

const ignore = () => {}
const lineOf = (endpoint: Endpoint) => ({
  rate_limit: endpoint.rate_limit,
  health: { first_failure_at: date(endpoint.first_failure_at), failing_since: date(endpoint.failing_since) },
})
const date = (text: string | null): Date | undefined => (text === null ? undefined : new Date(text))
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
