// Summaries: what a day, a night, a workout or a measurement comes to. Owns the table summary. Source: users-wearables.md 9; events.md 4.1, 5.
import { getUser, notDeletedHere } from '../../people/users/users.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { PlainTx, Tx } from '../../platform/db/transaction.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { yieldIfLong } from '../../platform/runtime/loop-work.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { IncomingDevice } from '../devices/devices.ts'
import { wireSource, wireSourceId, type DataSource } from '../resources/data-source.ts'
import { DeletedData, ExpiredData, type Expiry } from '../resources/expiry.ts'
import { readBound, type RangeQuery } from '../resources/range-query.ts'
import type { SourceType } from '../resources/timeseries.ts'
import type { QueryValues } from './query-values.ts'
import { emptyDocument, summaryKinds, type Document, type SummaryKind } from './schema.ts'
import type { User } from '../../people/users/schema.ts'
import { localDate } from '../resources/zones.ts'

/** The document of one summary, as JSON. */
const DOCUMENT_BYTES_MAX = 256_000
/** The summaries or records in one response, as JSON. */
const READ_BYTES_MAX = 16_000_000
/** Rows that are read together: the database finds out the size of no more of them than these. */
const PAGE = 1_000
/** Summaries in one response. */
const READ_MAX = 20_000
/** Nights with their stages in one response. */
const STAGES_READ_MAX = 2_000

export interface IncomingSummary<K extends SummaryKind = SummaryKind> {
  /** The provider's id of the record, or the day: what it is known by for ever. */
  key: string
  source_type: SourceType
  app_id: string | null
  /** The local day; null for a profile, and for a record of the body of which the provider knows no time: then the key does not count. */
  calendar_date: string | null
  document: Document<K>
  /** What recorded it. Absent or null: unknown. */
  device?: IncomingDevice | null
  /** The record as the provider sent it, without samples. Absent: the stored one stays. */
  raw?: Record<string, unknown>
  /** What only queries show. */
  query_values?: QueryValues
  /** Time zone of a profile, an IANA name that this server knows. */
  time_zone?: string | null
}

export const SummaryRow = T.Object({
  id: T.String(),
  provider: T.String(),
  source_type: T.String(),
  app_id: Nullable(T.String()),
  device_id: Nullable(T.String()),
  document: T.Unknown(),
  computed_hr_zones: Nullable(T.Array(T.Integer())),
  created_at: T.String(),
  updated_at: T.String(),
})
/** The columns of a summary, for `toSummary`. */
export const summaryRowColumns = sql`id, provider, source_type, app_id, device_id, document, computed_hr_zones, created_at, updated_at`
const Written = T.Object({ ...SummaryRow.properties, key: T.String() })

/** A summary as the API and events show it. */
export type Summary = { id: string; user_id: string } & Record<string, unknown>

/** The summary in a row. What its source has sent counts, not what was computed. */
export function toSummary(tx: Tx, kind: SummaryKind, user_id: string, row: Static<typeof SummaryRow>): Summary {
  const { id, created_at, updated_at, document, computed_hr_zones } = row
  const source = wireSource(tx, row.provider, row.source_type as SourceType, row)
  const flat = flatFields(kind, id, source)
  const computed =
    computed_hr_zones && !(document as Partial<Document<'workouts'>>).hr_zones ? { hr_zones: computed_hr_zones } : undefined
  return { id, user_id, ...emptyDocument(kind), ...(document as object), ...computed, ...flat, source, created_at, updated_at }
}

/** What a summary of some kinds says once more of its source, and of itself. */
function flatFields(kind: SummaryKind, id: string, { provider, type, app_id, device_id }: DataSource): Record<string, unknown> {
  switch (kind) {
    case 'sleep_cycle':
    case 'menstrual_cycle':
    case 'electrocardiogram':
      return { source_provider: provider, source_type: type, source_app_id: app_id, source_device_id: device_id }
    case 'meal': {
      const source_id = wireSourceId(provider)
      return { source_app_id: app_id, source_device_id: device_id, provider_id: id, source_id, priority_id: source_id }
    }
    default:
      return {}
  }
}

export interface WrittenSummary {
  key: string
  is_new: boolean
  summary: Summary
}

/** Whether a summary can be stored: its document has at most 256 kB as JSON. */
export const isStorable = ({ document }: Pick<IncomingSummary, 'document'>): boolean =>
  Buffer.byteLength(JSON.stringify(document)) <= DOCUMENT_BYTES_MAX

/**
 * Writes summaries of one kind of a user. A record that is there keeps its id and gets the fields that are given, also if it is given twice.
 * A profile that leaves a field out says nothing about it: what is known stays. Writes summary.
 * Errors: 422 a document of more than 256 kB.
 * @returns the records that are new or have changed, by `key`
 */
export async function writeSummaries(
  tx: Tx,
  user_id: string,
  kind: SummaryKind,
  provider: string,
  incoming: Given[],
): Promise<WrittenSummary[]> {
  if (!incoming.length) return []
  const records = oneByKey(kind, incoming).map((record) => ({ ...record, id: tx.uuid() }))
  const written: WrittenSummary[] = []
  for (const part of await partsOf(records)) {
    const rows = await writePart(tx, user_id, kind, provider, part)
    const ids = new Set(part.ids)
    for (const row of rows) {
      const is_new = row.created_at === row.updated_at && ids.has(row.id)
      written.push({ key: row.key, is_new, summary: toSummary(tx, kind, user_id, row) })
      const turn = yieldIfLong()
      if (turn) await turn
    }
  }
  return written
}

/** What one statement writes. */
const PART_CHARACTERS_MAX = 1_000_000

interface Part {
  ids: string[]
  /** The records, as JSON. */
  json: string[]
}

/** Divides records into parts by their size as JSON, in slices. Most posts are one. Errors: 422 a document of more than 256 kB. */
async function partsOf(records: (Given & { id: string })[]): Promise<Part[]> {
  const parts: Part[] = []
  let size = Infinity
  // In the order of the statements, so that two posts with the same records do not wait for each other.
  for (const record of records.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    const turn = yieldIfLong()
    if (turn) await turn
    const json = JSON.stringify(record)
    // Most records are smaller than a document may be.
    if (Buffer.byteLength(json) > DOCUMENT_BYTES_MAX && !isStorable(record))
      throw invalidField(['body', 'data'], 'has a record that comes to a summary of more than 256 kB')
    if (size + json.length > PART_CHARACTERS_MAX) {
      parts.push({ ids: [], json: [] })
      size = 0
    }
    const part = parts.at(-1)!
    part.ids.push(record.id)
    part.json.push(json)
    size += json.length
  }
  return parts
}

const writePart = (tx: Tx, user_id: string, kind: SummaryKind, provider: string, { json }: Part) =>
  tx.locking.many(
    Written,
    sql`
    insert into summary (team_id, user_id, kind, provider, key, id, source_type, app_id, device_id, calendar_date, document, raw, created_at, updated_at)
    select ${tx.team}, ${user_id}, ${kind}, ${provider}, g.key, g.id, g.source_type, g.app_id, g.device_id, g.calendar_date, g.document, g.raw, ${tx.now}, ${tx.now}
    from jsonb_to_recordset(${`[${json.join()}]`}::jsonb)
      as g (key text, id uuid, source_type text, app_id text, device_id uuid, calendar_date date, document jsonb, raw jsonb)
    order by g.key collate "C"
    on conflict (team_id, user_id, kind, provider, key) do update
    set document = summary.document || excluded.document, raw = coalesce(excluded.raw, summary.raw), calendar_date = excluded.calendar_date, source_type = excluded.source_type,
        app_id = excluded.app_id, device_id = coalesce(excluded.device_id, summary.device_id), updated_at = excluded.updated_at
    where (summary.document || excluded.document, summary.source_type, summary.app_id, summary.device_id)
          is distinct from (summary.document, excluded.source_type, excluded.app_id, coalesce(excluded.device_id, summary.device_id))
    returning ${summaryRowColumns}, key`,
  )

type Given = Omit<IncomingSummary, 'device' | 'time_zone'> & { device_id: string | null }

/** Several records with one key as one: the later one adds its fields, and replaces common ones. */
function oneByKey(kind: SummaryKind, incoming: Given[]): Given[] {
  const records = new Map<string, Given>()
  for (const one of incoming) {
    const document = kind === 'profile' ? withoutNulls(one.document) : one.document
    const before = records.get(one.key)
    const merged = before && {
      ...((one.raw ?? before.raw) && { raw: one.raw ?? before.raw }),
      device_id: one.device_id ?? before.device_id,
      document: { ...before.document, ...document },
    }
    records.set(one.key, { ...one, document, ...merged } as Given)
  }
  return [...records.values()]
}

const withoutNulls = (document: object): object =>
  Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null))

const Known = T.Object({ key: T.String(), id: T.String() })

/** The ids of the records with these keys. */
export async function summaryIds(
  tx: Tx,
  user_id: string,
  kind: SummaryKind,
  provider: string,
  keys: string[],
): Promise<Map<string, string>> {
  const rows = await tx.many(
    Known,
    sql`
    select key, id from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = ${kind} and provider = ${provider} and key = any (${keys}::text[])`,
  )
  return new Map(rows.map(({ key, id }) => [key, id]))
}

/** Deletes records that their provider has deleted. Writes summary. @returns the number of records that were there */
export const deleteSummaries = (
  tx: Tx,
  user_id: string,
  kinds: SummaryKind[],
  provider: string,
  keys: string[],
): Promise<number> =>
  tx.run(sql`
    delete from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = any (${kinds}::text[]) and provider = ${provider}
      and key = any (${keys}::text[])`)

/** The local days that a range names: those of its two ends, both included. */
function dayRange(tx: Tx, { start_date, end_date }: RangeQuery): [from: string, to: string] {
  const day = (name: 'start_date' | 'end_date', text: string) => readBound(name, text).instant.toISOString().slice(0, 10)
  return [
    day('start_date', start_date),
    end_date ? day('end_date', end_date) : iso(new Date(tx.now.getTime() + 86_400_000)).slice(0, 10),
  ]
}

/** Place of a row in a range, and the size of its page up to it. */
export const placeInRange = { id: T.String(), day: T.String(), bytes: T.Integer() }
interface RangeRow<S extends T.TSchema> {
  /** Has the fields of `placeInRange`, and those that `columns` select. */
  row: S
  columns: Sql
  /** The column of JSON whose size counts. */
  content: Sql
  rows_max: number
  /** What the rows are called in errors. */
  noun: string
}

/**
 * Reads the rows of the summaries of one kind of a user in a range, by day, oldest first.
 * Errors: 404 unknown user; 422 an invalid date, a range with more than `rows_max` rows, or with more than 16 MB of `content`.
 */
export async function readRange<S extends T.TSchema>(
  tx: Tx,
  { user_id, kind, query }: { user_id: string; kind: SummaryKind; query: RangeQuery },
  { row, columns, content, rows_max, noun }: RangeRow<S>,
): Promise<Static<S>[]> {
  const tooMany = (amount: string) =>
    invalidField(['query', 'start_date'], `the range has more than ${amount} ${noun}; ask for a shorter range`)
  const [from, to] = dayRange(tx, query)
  await getUser(tx, user_id)
  const ofProvider = query.provider ? sql`and provider = ${query.provider}` : sql``
  const found: Static<S>[] = []
  let [bytes, beyond] = [0, sql``]
  for (;;) {
    const page = (await tx.many(
      row,
      sql`
      select ${columns}, calendar_date::text as day, bytes
      from (
        select *, (sum(size) over (order by calendar_date, id))::bigint as bytes
        from (
          select *, coalesce(octet_length(${content}::text), 0) as size from summary
          where team_id = ${tx.team} and user_id = ${user_id} and kind = ${kind} ${ofProvider}
            and calendar_date between ${from}::date and ${to}::date ${beyond}
          order by calendar_date, id limit ${PAGE}) p) s
      where bytes - size <= ${READ_BYTES_MAX - bytes}::bigint order by calendar_date, id`,
    )) as (Static<S> & Static<T.TObject<typeof placeInRange>>)[]
    found.push(...page)
    const last = page.at(-1)
    if (!last) return found
    bytes += last.bytes
    if (bytes > READ_BYTES_MAX) throw tooMany(`${READ_BYTES_MAX / 1_000_000} MB of`)
    if (found.length > rows_max) throw tooMany(String(rows_max))
    if (page.length < PAGE) return found
    beyond = sql`and (calendar_date, id) > (${last.day}::date, ${last.id}::uuid)`
  }
}

const Listed = T.Object({ ...SummaryRow.properties, ...placeInRange })

/**
 * Lists the summaries of one kind of a user by day, oldest first.
 * Errors: 404 unknown user; 422 an invalid date, or a range with more than 20,000 summaries or 16 MB of them.
 */
export async function listSummaries(tx: Tx, user_id: string, kind: SummaryKind, query: RangeQuery): Promise<Summary[]> {
  const rows = await readRange(
    tx,
    { user_id, kind, query },
    {
      row: Listed,
      columns: summaryRowColumns,
      content: sql`document`,
      rows_max: kind === 'sleep_cycle' ? STAGES_READ_MAX : READ_MAX,
      noun: 'summaries',
    },
  )
  return rows.map((row) => toSummary(tx, kind, user_id, row))
}

const RowOfUser = T.Object({ ...SummaryRow.properties, user_id: T.String() })

/** The night with this id, of any user who is not deleted; undefined if there is none. */
export async function findSleep(tx: Tx, id: string): Promise<Summary | undefined> {
  const row = await tx.maybe(
    RowOfUser,
    sql`
    select s.id, s.provider, s.source_type, s.app_id, s.device_id, s.document, s.computed_hr_zones, s.created_at, s.updated_at, s.user_id from summary s
    where s.team_id = ${tx.team} and s.id = ${id} and s.kind = 'sleep' and ${notDeletedHere(tx, sql`s.user_id`)}`,
  )
  return row && toSummary(tx, 'sleep', row.user_id, row)
}

/** The profile of a user, the newest of several. Errors: 404 unknown user, or no profile. */
export async function readProfile(tx: Tx, user_id: string, provider: string | undefined): Promise<Summary> {
  await getUser(tx, user_id)
  const ofProvider = provider ? sql`and provider = ${provider}` : sql``
  const row = await tx.maybe(
    SummaryRow,
    sql`
    select ${summaryRowColumns} from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = 'profile' ${ofProvider} order by updated_at desc, id desc limit 1`,
  )
  if (!row) throw notFound('The user has no profile')
  return toSummary(tx, 'profile', user_id, row)
}

/**
 * Erases the summaries of a user, of one provider or of all; streams go with their workouts. Writes summary.
 * @returns what was erased of each kind; a profile counts at its last change
 */
export const eraseSummaries = (tx: Tx, user_id: string, provider?: string): Promise<DeletedData[]> =>
  tx.locking.many(
    DeletedData,
    sql`
    with d as (
      delete from summary
      where team_id = ${tx.team} and user_id = ${user_id} ${provider === undefined ? sql`` : sql`and provider = ${provider}`}
      returning user_id, kind, calendar_date, updated_at),
    e as (select user_id, kind, coalesce(calendar_date::timestamp at time zone 'UTC', updated_at) as at from d)
    select user_id, kind as resource, (extract(epoch from min(at)) * 1000)::bigint as from_ms,
      (extract(epoch from max(at)) * 1000)::bigint as to_ms, count(*) as rows
    from e group by user_id, kind`,
  )

/** Deletes summaries of days before the retention of their kind and provider. Writes summary. */
export const deleteExpiredSummaries = (tx: PlainTx, expiry: Expiry): Promise<DeletedData[]> =>
  tx.many(
    DeletedData,
    sql`
    with ${cutoffsOf(expiry)},
    deleted as (delete from summary where team_id = ${expiry.team_id} and ctid = any (array(
      select s.id_of_row ${expiredSummaries(expiry)}
      limit ${expiry.rows_max})) returning user_id, kind, calendar_date)
    select user_id, kind as resource, (extract(epoch from min(calendar_date)) * 1000)::bigint as from_ms,
      (extract(epoch from max(calendar_date)) * 1000)::bigint as to_ms, count(*) as rows
    from deleted group by user_id, kind`,
  )

/** Counts summaries that `deleteExpiredSummaries` would delete, up to `rows_max` of them. */
export const countExpiredSummaries = (tx: PlainTx, expiry: Expiry): Promise<ExpiredData[]> =>
  tx.many(
    ExpiredData,
    sql`
    with ${cutoffsOf(expiry)}
    select kind as resource, (extract(epoch from min(calendar_date)) * 1000)::bigint as from_ms,
      (extract(epoch from max(calendar_date)) * 1000)::bigint as to_ms, count(distinct id_of_row) as rows
    from (select k.kind, s.calendar_date, s.id_of_row ${expiredSummaries(expiry)} limit ${expiry.rows_max}) expired group by kind`,
  )

/** The day before which summaries of each kind have expired, and of those of the providers with a limit. */
function cutoffsOf({ now, days, limited }: Expiry): Sql {
  const kept = days(sql`k.kind`, sql`p.provider`)
  return sql`
    cutoffs as materialized (
      select k.kind, p.provider, (${now} at time zone 'UTC')::date - d.days as cutoff
      from unnest(${summaryKinds}::text[]) as k (kind),
        (select null as provider union all select unnest(${limited}::text[])) p, lateral (select ${kept} as days) d
      where d.days is not null)`
}

/** A summary of a provider with a limit may be there twice. */
const expiredSummaries = ({ team_id, user_ids }: Expiry): Sql => sql`
      from unnest(${user_ids}::uuid[]) as u (user_id), cutoffs k,
        lateral (select x.ctid as id_of_row, x.calendar_date from summary x
                 where x.team_id = ${team_id} and x.user_id = u.user_id and x.kind = k.kind and x.calendar_date < k.cutoff
                   and (k.provider is null or x.provider = k.provider)) s`

const Offset = T.Object({ id: T.String(), offset_s: T.Integer() })

/** By the id of a night, the seconds east of UTC where it ended; nights whose offset is not known are missing. */
export async function nightOffsets(tx: Tx, user_id: string, ids: string[]): Promise<Map<string, number>> {
  if (!ids.length) return new Map()
  const rows = await tx.many(
    Offset,
    sql`
    select id, (document ->> 'timezone_offset')::integer as offset_s from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = 'sleep' and id = any (${ids}::uuid[])
      and document ->> 'timezone_offset' is not null`,
  )
  return new Map(rows.map(({ id, offset_s }) => [id, offset_s]))
}

const KEY = 'seen '
const Seen = T.Object({ day: T.String(), is_same: T.Boolean() })

/**
 * The records with a day each. One without a day that says what the newest one of this provider said is that one; else it is of today. Other kinds, and records
 * that have a day, are as they were.
 */
export async function withDays<R extends IncomingSummary>(
  tx: Tx,
  { user_id, fallback_time_zone }: User,
  kind: SummaryKind,
  provider: string,
  records: R[],
): Promise<R[]> {
  if (kind !== 'body' || records.every(({ calendar_date }) => calendar_date !== null)) return records
  const dated: R[] = []
  for (const record of records) {
    if (record.calendar_date !== null) {
      dated.push(record)
      continue
    }
    const newest = await tx.maybe(
      Seen,
      sql`
      select calendar_date::text as day, document @> ${JSON.stringify(record.document)}::jsonb as is_same from summary
      where team_id = ${tx.team} and user_id = ${user_id} and kind = ${kind} and provider = ${provider} and starts_with(key, ${KEY})
      order by calendar_date desc limit 1`,
    )
    const day = newest?.is_same ? newest.day : localDate(fallback_time_zone?.id ?? null, tx.now.getTime())
    const document = { date: `${day}T00:00:00+00:00`, calendar_date: day, ...record.document }
    dated.push({ ...record, key: KEY + day, calendar_date: day, document })
  }
  return dated
}

const nullableText = Nullable(T.String())
const Recorded = T.Object({
  key: T.String(),
  app_id: nullableText,
  calendar_date: nullableText,
  starts_at: nullableText,
  ends_at: nullableText,
  fields: T.Array(T.String()),
})
/**
 * What a stored summary is known by; `starts_at` and `ends_at` are those of a workout, a night, an electrocardiogram or a meal, `fields` those
 * that a profile or a measurement of the body has.
 */
export type RecordedSummary = Static<typeof Recorded>

const times: Partial<Record<SummaryKind, readonly [start: string, end: string]>> = {
  sleep: ['bedtime_start', 'bedtime_stop'],
  electrocardiogram: ['session_start', 'session_end'],
  meal: ['timestamp', 'timestamp'],
}

/** Kinds whose records may each have a part of what is known. */
const ofFields: readonly SummaryKind[] = ['profile', 'body']

/** A user who moves about all day has some 20 workouts of it. */
const ROWS_MAX = 50_000

/**
 * The summaries of one kind that a user has of a provider on some local days, and those without a day. At most 50,000, with those of the
 * earliest days; without their documents, which may be large.
 */
export const recordedSummaries = (
  tx: Tx,
  { user_id, kind, provider }: { user_id: string; kind: SummaryKind; provider: string },
  days: string[],
): Promise<RecordedSummary[]> => {
  const [start, end] = times[kind] ?? ['time_start', 'time_end']
  return tx.many(
    Recorded,
    sql`
    select key, app_id, calendar_date::text, document ->> ${start}::text as starts_at, document ->> ${end}::text as ends_at,
      case when ${ofFields.includes(kind)}::boolean then array(select jsonb_object_keys(jsonb_strip_nulls(document))) else '{}' end as fields
    from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = ${kind} and provider = ${provider}
      and (calendar_date is null or calendar_date = any (${days}::date[]))
    order by calendar_date limit ${ROWS_MAX}`,
  )
}

const Zoned = T.Object({ key: T.String(), zone: T.String() })

/** By key, the time zones that stored records have; those whose zone is not known are missing. */
export async function storedZones(
  tx: Tx,
  { user_id, kind, provider }: { user_id: string; kind: 'sleep' | 'workouts' | 'body' | 'electrocardiogram'; provider: string },
  keys: string[],
): Promise<Map<string, string>> {
  if (!keys.length) return new Map()
  const rows = await tx.many(
    Zoned,
    sql`
    select key, coalesce(query_values ->> 'time_zone', document ->> 'time_zone') as zone from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = ${kind} and provider = ${provider} and key = any (${keys}::text[])
      and coalesce(query_values ->> 'time_zone', document ->> 'time_zone') is not null`,
  )
  return new Map(rows.map(({ key, zone }) => [key, zone]))
}
