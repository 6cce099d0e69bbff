// Carries text messages from the cells of a process to the gateway. As with mail: claimed by a lease, marked after it was handed over, so
// that a killed process loses none and may have sent one twice, under one reference. What is for a deleted user waits. All times are the
// database's.
import type { Cells } from '../../platform/db/cells.ts'
import type { Db } from '../../platform/db/database.ts'
import { dbNow, dbNowPlus, dbUuidOfAge } from '../../platform/db/leases.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import { Rounds } from '../../platform/runtime/poll-loop.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sendSms, type SmsOutcome, type SmsSettings } from '../../platform/sms/sms-gateway.ts'
import { sql } from '../../platform/db/sql.ts'
import { notDeletedOf } from '../../people/users/users.ts'

const POLL_MS = 1000
const LEASE_S = 60
const BATCH = 10
/** After each failure, in seconds. A message that has failed once more than this is given up. */
const PAUSES_S = [10, 60, 300, 1800, 7200]
/** An older message is no news any more. */
const LIFETIME_S = 86_400
/** A message about the order of a deleted user is looked at again after so long: the deletion may have been undone. */
const HELD_S = 600

export interface SmsCourierOptions {
  cells: Cells
  sms: SmsSettings
  log: Log
}

const Claimed = T.Object({
  order_id: T.String(),
  id: T.String(),
  recipient: T.String(),
  body: T.String(),
  attempts: T.Integer(),
  /** Its user is deleted: it was put off. */
  held: T.Boolean(),
})
type Claimed = Static<typeof Claimed>

/** Sends the text messages of the cells of this process. */
export class SmsCourier {
  readonly #options: SmsCourierOptions
  readonly #rounds = new Rounds((stopped) => this.#round(stopped), POLL_MS)

  constructor(options: SmsCourierOptions) {
    this.#options = options
  }

  start(): void {
    this.#rounds.start()
  }

  /** Claim nothing more and wait for what is being sent. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Send what is due. @returns how many messages were tried or put off */
  round(): Promise<number> {
    return this.#rounds.once()
  }

  async #round(stopped: () => boolean): Promise<number> {
    const { cells, log } = this.#options
    let tried = 0
    for (const name of cells.names) {
      if (stopped()) break
      const db = cells.of(name)
      try {
        await giveUp(db)
        const claimed = await claim(db)
        await Promise.all(claimed.filter(({ held }) => !held).map((message) => this.#send(name, db, message)))
        tried += claimed.length
      } catch (error) {
        log.error({ cell: name, causes: errorFields(error) }, 'sending text messages failed')
      }
    }
    return tried
  }

  async #send(cell: string, db: Db, message: Claimed): Promise<void> {
    const { log, sms } = this.#options
    const outcome = await sendSms(sms, { reference: message.id, to: message.recipient, text: message.body })
    await settle(db, message, outcome)
    const fields = { cell, 'message.id': message.id, attempt: message.attempts, ...(!outcome.sent && { error: outcome.error }) }
    if (outcome.sent) log.info(fields, 'text message sent')
    else log.warn(fields, outcome.again ? 'text message put off' : 'text message refused')
  }
}

/** Take up to 10 messages that are due. Those about orders of deleted users are put off, which does not count as an attempt. */
const claim = (db: Db): Promise<Claimed[]> =>
  db.queries.many(
    Claimed,
    sql`
    update patient_message p
    set due_at = case when due.held then ${dbNowPlus(HELD_S)} else ${dbNowPlus(LEASE_S)} end,
        attempts = attempts + case when due.held then 0 else 1 end
    from (select m.order_id, m.id, not ${notDeletedOf(sql`o.user_id`, sql`o.team_id`)} as held
          from patient_message m left join lab_order o on o.id = m.order_id and o.team_id = m.team_id
          where m.due_at <= ${dbNow} and m.attempts <= ${PAUSES_S.length}
          order by m.due_at limit ${BATCH} for update of m skip locked) due
    where p.order_id = due.order_id and p.id = due.id
    returning p.order_id, p.id, p.recipient, p.body, p.attempts, due.held`,
  )

/** Give up what is too old, or whose every attempt ended with the process that made it. */
const giveUp = (db: Db): Promise<number> =>
  db.queries.run(sql`
    update patient_message set state = 'failed', due_at = null, done_at = ${dbNow},
      error = case when id < ${dbUuidOfAge(LIFETIME_S)} then 'expired' else 'interrupted' end
    where due_at <= ${dbNow} and (id < ${dbUuidOfAge(LIFETIME_S)} or attempts > ${PAUSES_S.length})`)

/**
 * Write down what came of an attempt. Another worker may have the message in hand by now: a failure of ours is not its failure, but what was
 * handed over need not be tried again by anybody.
 */
async function settle(db: Db, { order_id, id, attempts }: Claimed, outcome: SmsOutcome): Promise<void> {
  const waiting = sql`order_id = ${order_id} and id = ${id} and state = 'waiting'`
  const ours = sql`${waiting} and attempts = ${attempts}`
  const pause_s = outcome.sent || !outcome.again ? undefined : PAUSES_S[attempts - 1]
  if (outcome.sent)
    await db.queries.run(
      sql`update patient_message set state = 'sent', due_at = null, error = null, done_at = ${dbNow} where ${waiting}`,
    )
  else if (pause_s === undefined)
    await db.queries.run(
      sql`update patient_message set state = 'failed', due_at = null, error = ${outcome.error}, done_at = ${dbNow} where ${ours}`,
    )
  else
    await db.queries.run(sql`update patient_message set due_at = ${dbNowPlus(pause_s)}, error = ${outcome.error} where ${ours}`)
}
