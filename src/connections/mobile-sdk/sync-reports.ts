// Reports of phones about their own synchronization: diagnostics, of which the newest is kept. Owns phone_sync. Source: users-wearables.md 16.3.
import { iso } from '../../platform/runtime/clock.ts'
import { findUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { KeptReport, type KeptEvent, type KeptType, type SyncReport } from './sync-schema.ts'

/** The newest of each list are kept. */
const TYPES_MAX = 150
const SYNCS_MAX = 12
const EVENTS_MAX = 20
const TAGS_MAX = 10
const TEXT_MAX = 300
/** Maximum bytes of the report as JSON. */
const REPORT_BYTES_MAX = 128 * 1024

type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsOf = (value: unknown): Json => (isObject(value) ? value : {})
const newest = (value: unknown, max: number): unknown[] => (Array.isArray(value) ? value.slice(-max) : [])

/** A text that PostgreSQL can store. */
const storableText = (value: unknown): string | null =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? value.slice(0, TEXT_MAX).toWellFormed() : null
const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null)
const EARLIEST_MS = Date.UTC(1900, 0)
const LATEST_MS = Date.UTC(3000, 0)
function instant(value: unknown): string | null {
  const ms = typeof value === 'string' && value.length < 40 ? Date.parse(value) : NaN
  return ms >= EARLIEST_MS && ms < LATEST_MS ? iso(new Date(ms)) : null
}

function eventOf(value: unknown): KeptEvent {
  const { timestamp, type, count, error_details } = fieldsOf(value)
  return {
    timestamp: instant(timestamp),
    type: numberOrNull(type),
    count: numberOrNull(count),
    error_details: storableText(error_details),
  }
}

function toStoredType(value: unknown, syncs_max: number): KeptType {
  const { first_asked, data_count, syncs, system_events } = fieldsOf(value)
  return {
    first_asked: instant(first_asked),
    data_count: numberOrNull(data_count),
    syncs: newest(syncs, syncs_max).map((sync) => {
      const { start, end, tags, statuses, data_count } = fieldsOf(sync)
      return {
        start: instant(start),
        end: instant(end),
        tags: newest(tags, TAGS_MAX).flatMap((tag) => storableText(typeof tag === 'number' ? String(tag) : tag) ?? []),
        statuses: newest(statuses, EVENTS_MAX).map(eventOf),
        data_count: numberOrNull(data_count),
      }
    }),
    system_events: newest(system_events, syncs_max === 0 ? 0 : EVENTS_MAX).map(eventOf),
  }
}

/**
 * What is kept of a report: the known fields with values of the right kind, the newest entries of each list, and so many of them that it has
 * at most 128 kB; with too many types only their counts.
 */
function keptOf({ sync_progress, device_info = {} }: SyncReport): KeptReport {
  const { os_version, model, app_bundle, app_version, app_build } = device_info
  const known = Object.entries(sync_progress.backfill_types).filter(([name]) => /^\w{1,60}$/.test(name) && name !== '__proto__')
  const of = (syncs_max: number): KeptReport => ({
    device_info: {
      os_version: storableText(os_version),
      model: storableText(model),
      app_bundle: storableText(app_bundle),
      app_version: storableText(app_version),
      app_build: storableText(app_build),
    },
    backfill_types: Object.fromEntries(known.slice(0, TYPES_MAX).map(([name, value]) => [name, toStoredType(value, syncs_max)])),
  })
  for (let syncs_max = SYNCS_MAX; syncs_max > 0; syncs_max >>= 1) {
    const kept = of(syncs_max)
    if (Buffer.byteLength(JSON.stringify(kept)) <= REPORT_BYTES_MAX) return kept
  }
  return of(0)
}

/** Keeps the report of a phone in place of the one before. Writes phone_sync. Errors: 404 unknown user. */
export async function saveReport(tx: Tx, user_id: string, provider: string, report: SyncReport): Promise<{ success: boolean }> {
  if (!(await findUser(tx, user_id))) throw notFound('User not found')
  await tx.run(sql`
    insert into phone_sync (team_id, user_id, provider, received_at, report)
    values (${tx.team}, ${user_id}, ${provider}, ${tx.now}, ${JSON.stringify(keptOf(report))}::jsonb)
    on conflict (team_id, user_id, provider) do update set received_at = excluded.received_at, report = excluded.report`)
  return { success: true }
}

const Row = T.Object({ user_id: T.String(), provider: T.String(), received_at: T.String(), report: KeptReport })

/** The newest reports. @param rest further conditions, and the end of the statement */
export const syncReports = (tx: Tx, rest: Sql): Promise<Static<typeof Row>[]> =>
  tx.many(Row, sql`select user_id, provider, received_at, report from phone_sync where team_id = ${tx.team} and ${rest}`)
