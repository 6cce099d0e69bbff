// Carries mail from the outboxes of a process's places to its server of mail. A mail is claimed by a lease and marked after it was
// sent, so a killed process loses none, and may have sent one twice.
import type { Cells } from '../db/cells.ts'
import type { Db } from '../db/database.ts'
import type { Queries } from '../db/transaction.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { claimMail, giveUpMail, holdMail, settleMail, type ClaimedMail } from './mail-outbox.ts'
import { Rounds } from '../runtime/poll-loop.ts'
import { Smtp, type SmtpSettings } from './smtp.ts'

const POLL_MS = 1000

export interface CourierOptions {
  cells: Cells
  smtp: SmtpSettings
  log: Log
  /** Which of these mails of a cell must not be sent now, for example because whom they are about is deleted; they are asked about again. */
  held: (queries: Queries, mail_ids: readonly string[]) => Promise<ReadonlySet<string>>
}

/** Sends mail of the control plane and of the cells of this process. */
export class MailCourier {
  readonly #options: CourierOptions
  readonly #smtp: Smtp
  readonly #rounds = new Rounds((stopped) => this.#round(stopped), POLL_MS)

  constructor(options: CourierOptions) {
    this.#options = options
    this.#smtp = new Smtp(options.smtp)
  }

  start(): void {
    this.#rounds.start()
  }

  /** Claim nothing more and wait for what is being sent. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Send what is due. @returns how many mails were tried or put off */
  round(): Promise<number> {
    return this.#rounds.once()
  }

  async #round(stopped: () => boolean): Promise<number> {
    const { cells, held, log } = this.#options
    let tried = 0
    for (const name of ['control', ...cells.names] as const) {
      if (stopped()) break
      const db = name === 'control' ? cells.control : cells.of(name)
      try {
        await giveUpMail(db)
        const claimed = await claimMail(db)
        const waiting = name === 'control' || claimed.length === 0 ? NONE : await held(db.queries, idsOf(claimed))
        await Promise.all(claimed.map((mail) => (waiting.has(mail.id) ? holdMail(db, mail) : this.#send(name, db, mail))))
        tried += claimed.length
      } catch (error) {
        log.error({ cell: name, causes: errorFields(error) }, 'sending mail failed')
      }
    }
    return tried
  }

  async #send(cell: string, db: Db, mail: ClaimedMail): Promise<void> {
    const sending = await this.#smtp.send(mail)
    await settleMail(db, mail, sending)
    const fields = { cell, 'mail.id': mail.id, attempt: mail.attempts, ...(!sending.sent && { error: sending.error }) }
    if (sending.sent) this.#options.log.info(fields, 'mail sent')
    else this.#options.log.warn(fields, sending.again ? 'mail put off' : 'mail refused')
  }
}

const NONE: ReadonlySet<string> = new Set()
const idsOf = (mails: readonly ClaimedMail[]) => mails.map(({ id }) => id)
