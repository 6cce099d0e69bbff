// What goes wrong between laboratories and this server: for the log, the metrics, and the list of issues. Addresses and counts, never what
// messages say.
import type { Db } from '../../platform/db/database.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import { reportIssue } from '../link-messages/issues.ts'
import type { StreamEnd, StreamFault } from './frame-stream.ts'

/** Between two lines about the same trouble. */
const LINE_MS_MIN = 60_000
const KEYS_MAX = 1000

/** Where something went wrong. */
export interface TroublePlace {
  db: Db
  /** Null: several links could be meant. */
  link_account_id: string | null
  /** Such as `mllp 192.0.2.7`. */
  source: string
}

const FAULTS: Record<StreamFault, string> = {
  half_frame: 'The connection ended within a message',
  idle: 'The laboratory paused too long within a message',
  slow: 'The laboratory took more than ten minutes for a message',
  too_long: 'The message has more than 32 MiB',
  unread: 'The laboratory does not read acknowledgments',
}

export class LinkTroubles {
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #said_ms = new Map<string, number>()

  constructor(log: Log, metrics: Metrics) {
    this.#log = log
    this.#metrics = metrics
  }

  /** A connection that was closed before a byte was read. Strangers make no issues. */
  reportRefusal(reason: string, address: string): void {
    this.#metrics.countLinkTrouble(`connection_${reason}`)
    this.#say(`${reason} ${address}`, { reason, address }, 'connection of a laboratory refused')
  }

  /** The end of a connection, with what was wrong in it. Writes lab_link_issue, later. */
  reportEnd(place: TroublePlace, { fault, stray_bytes }: StreamEnd): void {
    const { source } = place
    if (fault !== undefined) {
      this.#metrics.countLinkTrouble(fault)
      this.#say(`${fault} ${source}`, { fault, source }, 'connection of a laboratory ended')
      this.#report(place, 'half_frame', FAULTS[fault])
    }
    if (stray_bytes === 0) return
    this.#metrics.countLinkTrouble('stray_bytes')
    this.#say(`stray ${source}`, { source, bytes: stray_bytes }, 'laboratory sends bytes outside of messages')
    this.#report(place, 'stray_bytes', `${stray_bytes} bytes in one connection`)
  }

  /** A file that is not whole, and was moved to `error`. Writes lab_link_issue, later. */
  reportFile(place: TroublePlace, reason: string): void {
    this.#metrics.countLinkTrouble('file')
    this.#say(`file ${place.link_account_id}`, { 'lab_account.id': place.link_account_id }, 'file of a laboratory cannot be used')
    this.#report(place, 'unreadable', reason)
  }

  #report(
    { db, link_account_id, source }: TroublePlace,
    reason: 'half_frame' | 'stray_bytes' | 'unreadable',
    detail: string,
  ): void {
    reportIssue(db.queries, { reason, link_account_id, source, detail }).catch((error: unknown) =>
      this.#log.error({ causes: errorFields(error) }, 'issue of a link cannot be stored'),
    )
  }

  #say(key: string, fields: Record<string, unknown>, message: string): void {
    const now_ms = performance.now()
    const said_ms = this.#said_ms.get(key)
    if (said_ms !== undefined && now_ms - said_ms < LINE_MS_MIN) return
    if (this.#said_ms.size >= KEYS_MAX) this.#said_ms.clear()
    this.#said_ms.set(key, now_ms)
    this.#log.warn(fields, message)
  }
}
