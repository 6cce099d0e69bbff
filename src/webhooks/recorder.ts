// Writing down what came of attempts: a batch at a time where a crash may undo it, since the attempt is merely repeated then; each
// for itself, and durably, where something follows from it: an endpoint disabled, a message about a message.
import type { Db } from '../platform/db.ts'
import { iso, wholeSeconds } from '../platform/clock.ts'
import { sql } from '../platform/sql.ts'
import { T } from '../platform/schema.ts'
import { operationalTypes } from './catalogue.ts'
import { learn, record, type Learned, type Outcome } from './deliveries.ts'
import { aboutEndpoint, aboutMessage, queueMessage } from './operational.ts'
import type { Health } from './retries.ts'

/** Outcomes of this long are written together. */
const GATHER_MS = 5
const FAILING_AFTER = 4

/** What an attempt means beyond its own row. */
export interface Consequences {
  schedule_length: number
  failures: number
  /** The endpoint is not to be sent to any more. */
  disable: boolean
  /** Given up for having failed since then. */
  dead_since_text: string | undefined
  throttled_until: Date | undefined
  health: Health
  /** Something about the endpoint is to be remembered. */
  changed: boolean
}

interface Waiting {
  outcome: Outcome
  done: () => void
  failed: (error: unknown) => void
}

const about = new Set(operationalTypes.map((type) => type.name))

export class Recorder {
  readonly #db: Db
  readonly #owner: string
  readonly #onError: (error: unknown) => void
  #waiting: Waiting[] = []
  #learned = new Map<string, Learned>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(db: Db, owner: string, onError: (error: unknown) => void) {
    this.#db = db
    this.#owner = owner
    this.#onError = onError
  }

  /** Write an outcome down; done when it is written. */
  async record(outcome: Outcome, consequences: Consequences): Promise<void> {
    const type = messageType(outcome, consequences)
    if (consequences.changed)
      this.#learned.set(outcome.claimed.webhook_id, {
        webhook_id: outcome.claimed.webhook_id,
        throttled_until: consequences.throttled_until,
        ...consequences.health,
      })
    if (type !== undefined || consequences.disable) return this.#conclude(outcome, type, consequences)
    return new Promise((done, failed) => {
      this.#waiting.push({ outcome, done, failed })
      this.#timer ??= setTimeout(() => void this.flush(), GATHER_MS)
    })
  }

  /** Write what waits. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#waiting
    const learned = [...this.#learned.values()]
    this.#waiting = []
    this.#learned = new Map()
    if (batch.length || learned.length) this.#writing = this.#writing.then(() => this.#write(batch, learned))
    return this.#writing
  }

  async #write(batch: Waiting[], learned: Learned[]): Promise<void> {
    // First, since the endpoint may be claimed again as soon as its attempts are done.
    await learn(this.#db.relaxed, this.#owner, learned).catch(this.#onError)
    try {
      await record(
        this.#db.relaxed,
        batch.map((item) => item.outcome),
      )
      for (const item of batch) item.done()
    } catch (error) {
      for (const item of batch) item.failed(error)
    }
  }

  /** The outcome and what follows from it, or neither. Writes delivery, delivery_attempt, webhook, webhook_message. */
  async #conclude(outcome: Outcome, type: string | undefined, { disable, dead_since_text }: Consequences): Promise<void> {
    const { claimed } = outcome
    const { team_id, webhook_id } = claimed
    const at = outcome.at
    await this.#db.plainTx(async (tx) => {
      await record(tx, [{ ...outcome, reported: type === undefined ? outcome.reported : reportedAs[type]! }])
      if (disable) await this.#disable(tx, { team_id, webhook_id, dead_since_text, at })
      if (type === undefined) return
      const body = aboutMessage(type, {
        team_id,
        webhook_id,
        msg: claimed.event_id!,
        attempt_id: outcome.attempt_id,
        status: outcome.response_status,
        at_text: iso(wholeSeconds(at)),
      })
      await queueMessage(tx, { team_id, type, body, at, trigger: 'scheduled' })
    })
    await this.flush()
  }

  async #disable(
    tx: Parameters<Parameters<Db['plainTx']>[0]>[0],
    {
      team_id,
      webhook_id,
      dead_since_text,
      at,
    }: { team_id: string; webhook_id: string; dead_since_text: string | undefined; at: Date },
  ): Promise<void> {
    const disabled = await tx.maybe(
      T.Object({ id: T.String() }),
      sql`update webhook set disabled = true where id = ${webhook_id} and team_id = ${team_id} and not disabled returning id`,
    )
    if (!disabled) return
    await tx.run(sql`
      update delivery set state = 'stopped', due_at = null
      where webhook_id = ${webhook_id} and team_id = ${team_id} and due_at is not null`)
    const since_text = dead_since_text ?? iso(wholeSeconds(at))
    const body = aboutEndpoint({ team_id, webhook_id, since_text })
    await queueMessage(tx, { team_id, type: 'endpoint.disabled', body, at, trigger: 'scheduled' })
  }
}

const reportedAs: Record<string, string | null> = {
  'message.attempt.failing': 'failing',
  'message.attempt.exhausted': 'exhausted',
  'message.attempt.recovered': null,
}

/** The message that an attempt gives rise to, if any: about events only, and each once a round. */
function messageType(outcome: Outcome, { failures, schedule_length, disable }: Consequences): string | undefined {
  const { claimed, succeeded, reported } = outcome
  if (claimed.event_id === null || about.has(claimed.type ?? '')) return undefined
  if (succeeded) return reported === null ? undefined : 'message.attempt.recovered'
  if (disable) return undefined
  if (failures >= schedule_length) return reported === 'exhausted' ? undefined : 'message.attempt.exhausted'
  return failures === FAILING_AFTER && reported === null ? 'message.attempt.failing' : undefined
}
