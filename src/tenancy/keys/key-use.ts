// Key usage: when keys were last used, and from which address. Requests record it in memory; the records are written together once a
// minute, so that no request waits and a busy key costs one row update a minute. A killed process loses its records. Source:
// management-auth.md A8.
import { iso, truncateToSeconds } from '../../platform/runtime/clock.ts'
import type { Db } from '../../platform/db/database.ts'
import { raw, sql } from '../../platform/db/sql.ts'

const FLUSH_INTERVAL_MS = 60_000
/** Records of more keys than this are written at once. */
const FLUSH_RECORDS_MAX = 5000
const keyKinds = ['api_key', 'management_key'] as const
type Kind = (typeof keyKinds)[number]

interface UsageRecord {
  at_ms: number
  address: string
}

export class KeyUsageTracker {
  readonly #control: Db
  readonly #clock: () => Date
  readonly #notes: Record<Kind, Map<string, UsageRecord>> = { api_key: new Map(), management_key: new Map() }
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #onError: (error: unknown) => void = () => {}

  /** @param clock the system clock */
  constructor(control: Db, clock: () => Date) {
    this.#control = control
    this.#clock = clock
  }

  /** Writes once a minute from now on. */
  start(onError: (error: unknown) => void): void {
    this.#onError = onError
    this.#timer = setInterval(() => void this.flush(), FLUSH_INTERVAL_MS)
    this.#timer.unref()
  }

  /** Writes the remaining records. */
  stop(): Promise<void> {
    clearInterval(this.#timer)
    return this.flush()
  }

  /** Records that a key was used now. Costs no statement. */
  recordUse(kind: Kind, id: string, address: string): void {
    const notes = this.#notes[kind]
    const at_ms = this.#clock().getTime()
    const recordUse = notes.get(id)
    if (recordUse) {
      recordUse.at_ms = at_ms
      recordUse.address = address
      return
    }
    notes.set(id, { at_ms, address })
    if (notes.size >= FLUSH_RECORDS_MAX) void this.flush()
  }

  /** Writes all records, after the ones that are being written. Never rejects: records that could not be written wait for the next time. */
  flush(): Promise<void> {
    return (this.#writing = this.#writing.then(async () => {
      for (const kind of keyKinds) await this.#write(kind)
    }))
  }

  async #write(kind: Kind): Promise<void> {
    const notes = this.#notes[kind]
    if (notes.size === 0) return
    this.#notes[kind] = new Map()
    try {
      await saveUsage(this.#control, kind, notes)
    } catch (error) {
      this.#onError(error)
      if (notes.size >= FLUSH_RECORDS_MAX) return
      for (const [id, note] of notes) if (!this.#notes[kind].has(id)) this.#notes[kind].set(id, note)
    }
  }
}

/** Keeps the later of two records, in any order of writes. Writes api_key, management_key. */
async function saveUsage(control: Db, kind: Kind, notes: Map<string, UsageRecord>): Promise<void> {
  // All processes use the same order, so that two of them do not deadlock.
  const ids = [...notes.keys()].toSorted()
  const ats = ids.map((id) => iso(truncateToSeconds(new Date(notes.get(id)!.at_ms))))
  const addresses = ids.map((id) => notes.get(id)!.address)
  await control.asyncCommit.run(sql`
    update ${raw(kind)} as k set last_used_at = v.at, last_used_ip = v.address
    from unnest(${ids}::uuid[], ${ats}::timestamptz[], ${addresses}::text[]) as v (id, at, address)
    where k.id = v.id and (k.last_used_at is null or k.last_used_at <= v.at)`)
}
