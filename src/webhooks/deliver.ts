// The loop that delivers, one per cell and process: fans out what was announced, claims what is due, sends it, writes down what came
// of it. At least once: nothing is marked before it has happened, and what is not marked is sent again.
import { plusSeconds, iso, wholeSeconds } from '../platform/clock.ts'
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
  type Outcome,
} from './deliveries.ts'
import { fanOut, type DeletedAmong } from './fan-out.ts'
import { openHeaders } from './headers.ts'
import { Lanes } from './lanes.ts'
import { messageId } from './operational.ts'
import { Recorder } from './recorder.ts'
import { after, nextDelay, retryAfter, throttle } from './retries.ts'
import { openSecret } from './secrets.ts'
import { Sender } from './send.ts'
import { signatureHeaders, signingKey } from './signature.ts'
import type { Targets } from './targets.ts'

const POLL_MS = 500
/** Under load claims are this far apart, so that each takes a batch. */
const PACE_MS = 5
/** As far as rounds are apart that find nothing: most transactions leave nothing to deliver. */
const IDLE_PACE_MS = 25
const RENEW_MS = 1500

export interface DeliveryOptions {
  vault: Vault
  targets: Targets
  deletedAmong: DeletedAmong
  /** The machine's clock. */
  clock: () => Date
  schedule_s: readonly number[]
  log: Log
  metrics: Metrics
  product: string
  attempt_ms_max?: number
}

type Ready = Endpoint & { keys: ReturnType<typeof signingKey>[]; custom: Record<string, string> }

/** Delivers in one cell. */
export class CellDelivery {
  readonly #cell: CellName
  readonly #db: Db
  readonly #options: DeliveryOptions
  readonly #owner = uuid()
  readonly #lanes = new Lanes()
  readonly #sender: Sender
  readonly #recorder: Recorder
  readonly #flights = new Set<Promise<void>>()
  /** The last attempt in the air for an object at an endpoint: its events go one after another. */
  readonly #objects = new Map<string, Promise<void>>()
  #wake = () => {}
  #woken = false
  #stopped = false
  #renewed_ms = 0
  #loop: Promise<void> | undefined

  constructor(cell: CellName, db: Db, options: DeliveryOptions) {
    this.#cell = cell
    this.#db = db
    this.#options = options
    const { targets, product, attempt_ms_max } = options
    const sandbox = cell.startsWith('sandbox')
    this.#sender = new Sender({ targets, sandbox, product, ...(attempt_ms_max !== undefined && { attempt_ms_max }) })
    this.#recorder = new Recorder(db, this.#owner, (error) => this.#report(error, 'recording deliveries failed'))
  }

  start(): void {
    this.#db.onEvents = this.wake
    this.#loop = this.#run()
  }

  wake = (): void => {
    this.#woken = true
    this.#wake()
  }

  /** Claim nothing more, wait for what is in the air, let others have the lanes. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.wake()
    await this.#loop
    await this.#landed()
    await releaseLanes(this.#db, this.#owner).catch(() => 0)
    this.#sender.close()
  }

  /** Deliver what is due, and what falls due meanwhile, and return. */
  async drain(): Promise<void> {
    for (;;) {
      const more = await fanOut(this.#db, this.#options.deletedAmong, this.#options.clock())
      const claimed = await this.#claim()
      await this.#landed()
      if (!more && claimed === 0) break
    }
    await releaseLanes(this.#db, this.#owner)
  }

  async #landed(): Promise<void> {
    while (this.#flights.size) await Promise.all(this.#flights)
    await this.#recorder.flush()
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false
      const more = await this.#round()
      if (this.#stopped) return
      await sleep(more ? PACE_MS : IDLE_PACE_MS)
      if (more || this.#woken) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  /** @returns whether there may be more to do at once */
  async #round(): Promise<boolean> {
    try {
      await this.#renew()
      const more = await fanOut(this.#db, this.#options.deletedAmong, this.#options.clock())
      return (await this.#claim()) > 0 || more
    } catch (error) {
      this.#report(error, 'delivering failed')
      await sleep(POLL_MS)
      return false
    }
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
      if (goes) this.#launch(item, endpoint, now)
      else dropped.push(item.id)
    }
    await dropDeliveries(this.#db.queries, dropped)
    return claimed.length
  }

  #prepare(endpoint: Endpoint): Ready {
    const { vault } = this.#options
    return {
      ...endpoint,
      keys: endpoint.secrets.map((sealed) => signingKey(openSecret(vault, endpoint.id, sealed))),
      custom: openHeaders(vault, endpoint.id, endpoint.headers),
    }
  }

  #launch(item: Claimed, endpoint: Ready, claimed_at: Date): void {
    const health = { first_failure_at: date(endpoint.first_failure_at), failing_since: date(endpoint.failing_since) }
    this.#lanes.take(endpoint.id, { rate_limit: endpoint.rate_limit, health }, claimed_at.getTime())
    const object = `${endpoint.id} ${item.object_id ?? item.id}`
    const before = this.#objects.get(object)
    const flight = this.#fly(item, endpoint, claimed_at, before)
      .catch((error: unknown) => {
        // It is not marked, so it falls due again when its lease ends.
        this.#lanes.give(endpoint.id, false, false)
        this.#report(error, 'a delivery failed')
      })
      .finally(() => {
        this.#flights.delete(flight)
        if (this.#objects.get(object) === flight) this.#objects.delete(object)
        this.wake()
      })
    this.#objects.set(object, flight)
    this.#flights.add(flight)
  }

  async #fly(item: Claimed, endpoint: Ready, claimed_at: Date, before: Promise<void> | undefined): Promise<void> {
    const { clock } = this.#options
    await before
    if (clock().getTime() - claimed_at.getTime() > (LEASE_S * 1000) / 3) {
      await putBack(this.#db, [item.id], clock())
      return this.#lanes.give(endpoint.id, true, false)
    }
    const body = Buffer.from(item.body!)
    const at = clock()
    const msg = item.event_id ?? item.message_id!
    const signed = signatureHeaders(endpoint.keys, messageId(msg), Math.floor(at.getTime() / 1000), body)
    const answer = await this.#sender.post(endpoint.url, { ...endpoint.custom, ...signed }, body)
    const succeeded = answer.error === null && answer.status !== null && answer.status >= 200 && answer.status < 300
    const end = clock()
    const asked_s = answer.status === 429 || answer.status === 503 ? retryAfter(answer.retry_after, end) : undefined
    const pause_s = throttle(answer.status, asked_s, this.#lanes.throttles(endpoint.id))
    const failures = item.attempts + 1
    const gone = answer.status === 410
    const delay_s = succeeded || gone ? undefined : nextDelay(this.#options.schedule_s, failures, asked_s, Math.random())
    const outcome: Outcome = {
      claimed: item,
      attempt_id: uuid(),
      at,
      duration_ms: answer.duration_ms,
      response_status: answer.status,
      response_body: answer.body,
      error: answer.error,
      succeeded,
      signature: signed['webhook-signature']!,
      custom_headers: Object.keys(endpoint.custom),
      next_at: delay_s === undefined ? undefined : plusSeconds(end, delay_s),
      reported: item.reported,
    }
    const health = after(this.#lanes.health(endpoint.id), succeeded, end)
    this.#lanes.setHealth(endpoint.id, health)
    await this.#recorder.record(outcome, {
      schedule_length: this.#options.schedule_s.length,
      failures,
      disable: gone || health.dead,
      dead_since_text: health.dead ? iso(wholeSeconds(health.failing_since ?? end)) : undefined,
      throttled_until: pause_s === undefined ? undefined : plusSeconds(end, pause_s),
      health,
      changed:
        pause_s !== undefined ||
        health.first_failure_at?.getTime() !== this.#known(endpoint).first ||
        health.failing_since?.getTime() !== this.#known(endpoint).since,
    })
    this.#lanes.give(endpoint.id, succeeded, pause_s !== undefined)
    this.#options.metrics.delivery(this.#cell, succeeded ? 'success' : 'failure', answer.duration_ms / 1000)
    this.#options.log.info(
      {
        cell: this.#cell,
        'team.id': item.team_id,
        'webhook.id': endpoint.id,
        'message.id': messageId(msg),
        type: item.type,
        attempt: failures,
        ...(answer.status !== null && { status: answer.status }),
        ...(answer.error !== null && { error: answer.error }),
        duration_ms: answer.duration_ms,
      },
      'delivery attempted',
    )
  }

  #known(endpoint: Endpoint): { first: number | undefined; since: number | undefined } {
    return { first: date(endpoint.first_failure_at)?.getTime(), since: date(endpoint.failing_since)?.getTime() }
  }
}

const date = (text: string | null): Date | undefined => (text === null ? undefined : new Date(text))
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
