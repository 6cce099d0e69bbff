// What goes wrong between laboratories and this server, for the log and the metrics. Addresses and counts, never what messages say.
import type { Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import type { StreamEnd } from './frame-stream.ts'

/** Between two lines about the same trouble. */
const LINE_MS_MIN = 60_000
const KEYS_MAX = 1000

export class LinkTroubles {
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #said_ms = new Map<string, number>()

  constructor(log: Log, metrics: Metrics) {
    this.#log = log
    this.#metrics = metrics
  }

  /** A connection that was closed before a byte was read. */
  reportRefusal(reason: string, address: string): void {
    this.#metrics.countLinkTrouble(`connection_${reason}`)
    this.#say(`${reason} ${address}`, { reason, address }, 'connection of a laboratory refused')
  }

  /** The end of a connection, with what was wrong in it. @param source such as `mllp 192.0.2.7` */
  reportEnd(source: string, { fault, stray_bytes }: StreamEnd): void {
    if (fault !== undefined) {
      this.#metrics.countLinkTrouble(fault)
      this.#say(`${fault} ${source}`, { fault, source }, 'message of a laboratory is not complete')
    }
    if (stray_bytes === 0) return
    this.#metrics.countLinkTrouble('stray_bytes')
    this.#say(`stray ${source}`, { source, bytes: stray_bytes }, 'laboratory sends bytes outside of messages')
  }

  /** Files that were moved to `error`. */
  reportFaultyFiles(account_id: string, files: number): void {
    this.#metrics.countLinkTrouble('file')
    this.#say(`file ${account_id}`, { 'lab_account.id': account_id, files }, 'files of a laboratory cannot be used')
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
