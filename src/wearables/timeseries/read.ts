// Reading timeseries: samples by source, page by page, and the deprecated plain lists. Source: users-wearables.md 10, 19 D5-D7.
import { getUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { cursor, numberPart, readCursor } from '../../platform/http/cursors.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { readBound, type RangeQuery } from '../resources/range-query.ts'
import type { TimeseriesName } from '../resources/timeseries.ts'
import { chunkColumns, chunkRow, HOUR_MS, samplesOf, sourceOf, sourceRow, type FoundSample, type SampleSource } from './chunks.ts'
import { hypnogramOf } from './hypnogram.ts'
import { sampleWriter, sampleSource } from './samples.ts'

/** Samples in a page. */
export const PAGE = 10_000
/** Samples in a plain list, which has no pages. */
const PLAIN_MAX = 100_000
const EARLIEST_MS = Date.UTC(1900, 0, 1)
/** The digits of a sample's instant in ms, of a series' id. */
const DIGITS_MAX = 15

const Row = T.Object({
  ...chunkRow,
  ...sourceRow,
  before: T.Integer(),
})

/** The instants of a range, both included: a date begins at midnight, or ends before the next one, in UTC. */
function rangeOf(tx: Tx, { start_date, end_date }: RangeQuery): { from_ms: number; to_ms: number } {
  // Samples are not older; and PostgreSQL has no year 0.
  const from_ms = Math.max(readBound('start_date', start_date).at.getTime(), EARLIEST_MS)
  if (end_date === undefined || end_date === '') return { from_ms, to_ms: tx.now.getTime() + 999 }
  const end = readBound('end_date', end_date)
  if (end.at.getTime() < EARLIEST_MS) return { from_ms, to_ms: EARLIEST_MS }
  return { from_ms, to_ms: end.at.getTime() + (end.dateOnly ? 24 * HOUR_MS - 1 : 999) }
}

/** Before 1970 it is negative. */
const instantInMs = (text: string): boolean => /^-?\d{1,15}$/.test(text)

interface Place {
  series: number
  at_ms: number
}

/**
 * Reads the chunks of a range from a place on, in the order of series and time, until those that lie wholly in the range hold more than
 * `samples_max` samples. Chunks at the ends of the range, and the one of the place, may hold samples that are not asked for.
 */
const readChunks = (
  tx: Tx,
  user_id: string,
  resource: TimeseriesName,
  { provider, from_ms, to_ms, after }: { provider: string | undefined; from_ms: number; to_ms: number; after: Place | undefined },
  samples_max: number,
) => {
  const instant = (ms: number) => new Date(ms).toISOString()
  const hourOf = (ms: number) => instant(Math.floor(ms / HOUR_MS) * HOUR_MS)
  const place = after && sql`(${after.series}::bigint, ${hourOf(after.at_ms)}::timestamptz)`
  const beyond = place ? sql`and (c.series_id, c.hour) >= ${place}` : sql``
  const isCounted = sql`c.hour >= ${instant(from_ms)}::timestamptz and c.hour <= ${instant(to_ms - HOUR_MS)}::timestamptz ${
    place ? sql`and (c.series_id, c.hour) > ${place}` : sql``
  }`
  const ofProvider = provider ? sql`and s.provider = ${provider}` : sql``
  return tx.many(
    Row,
    sql`
    with places as materialized (
      select c.series_id, c.hour, s.provider, s.source_type, s.app_id, s.device_id, s.workout_id, s.sport,
             coalesce(sum(case when ${isCounted} then c.samples end)
                        over (order by c.series_id, c.hour rows between unbounded preceding and 1 preceding), 0)::bigint as before
      from chunk c
      join series s on s.id = c.series_id and s.team_id = c.team_id and s.user_id = c.user_id
      where c.team_id = ${tx.team} and c.user_id = ${user_id} and s.resource = ${resource} ${ofProvider}
        and c.hour >= ${hourOf(from_ms)}::timestamptz and c.hour <= ${instant(to_ms)}::timestamptz ${beyond})
    select ${chunkColumns}, p.provider, p.source_type, p.app_id, p.device_id, p.workout_id, p.sport, p.before
    from places p
    join chunk c on c.series_id = p.series_id and c.hour = p.hour and c.team_id = ${tx.team} and c.user_id = ${user_id}
    where p.before <= ${samples_max} order by c.series_id, c.hour`,
  )
}

interface Found extends FoundSample {
  series: number
}

function* within(rows: Static<typeof Row>[], from_ms: number, to_ms: number, after: Place | undefined): Generator<Found> {
  for (const row of rows) {
    const source = sourceOf(row)
    for (const sample of samplesOf(row)) {
      if (sample.at_ms < from_ms || sample.at_ms > to_ms) continue
      if (after && row.series_id === after.series && sample.at_ms <= after.at_ms) continue
      yield { series: row.series_id, source, sample }
    }
  }
}

/** Stages in the order of their sources, which have numbers here since they have no series. Later stages of a source at one instant count. */
function stagesBySource(stages: FoundSample[]): Found[] {
  const names = [...new Set(stages.map(({ source }) => JSON.stringify(source)))].toSorted()
  const numbers = new Map(names.map((name, i) => [name, i + 1]))
  return stages
    .map((one) => ({ ...one, series: numbers.get(JSON.stringify(one.source))! }))
    .toSorted((a, b) => a.series - b.series || a.sample.at_ms - b.sample.at_ms)
}

/**
 * Lists the samples of a user by provider and source, at most 10,000 in a page.
 * Errors: 400 a cursor of another list; 404 unknown user; 422 an invalid date.
 */
export async function readGrouped(
  tx: Tx,
  user_id: string,
  resource: TimeseriesName,
  query: RangeQuery & { cursor?: string | undefined; next_cursor?: string | undefined },
) {
  const { from_ms, to_ms } = rangeOf(tx, query)
  const provider = query.provider || undefined
  const list = `timeseries ${user_id} ${resource} ${query.start_date} ${query.end_date ?? ''} ${provider ?? ''}`
  const text = query.next_cursor ?? query.cursor
  const [series, at_ms] = text ? readCursor(list, text, [numberPart(DIGITS_MAX), instantInMs]) : []
  const after = series === undefined ? undefined : { series: Number(series), at_ms: Number(at_ms) }
  await getUser(tx, user_id)
  const found =
    resource === 'hypnogram' ? stagesBySource(await hypnogramOf(tx, user_id, { provider, from_ms, to_ms })) : undefined
  const pages = found
    ? found.filter(
        ({ series, sample }) => !after || series > after.series || (series === after.series && sample.at_ms > after.at_ms),
      )
    : within(await readChunks(tx, user_id, resource, { provider, from_ms, to_ms, after }, PAGE), from_ms, to_ms, after)
  const write = sampleWriter(resource)
  const groups = new Map<string, { source: SampleSource; series: number; data: string[] }[]>()
  let shown = 0
  let last: Found | undefined
  let next: string | null = null
  for (const found of pages) {
    if (shown === PAGE) {
      next = cursor(list, [String(last!.series), String(last!.sample.at_ms)])
      break
    }
    const { source } = found
    const ofProvider = groups.get(source.provider) ?? []
    groups.set(source.provider, ofProvider)
    let group = ofProvider.find((one) => one.series === found.series)
    if (!group) ofProvider.push((group = { source, series: found.series, data: [] }))
    group.data.push(write(found.sample, source))
    shown++
    last = found
  }
  const written = [...groups].map(
    ([name, list]) =>
      `${JSON.stringify(name)}:[${list.map(({ source, data }) => `{"source":${JSON.stringify(sampleSource(source))},"data":[${data.join()}]}`).join()}]`,
  )
  const end = JSON.stringify(next)
  return new PreserializedJson<GroupedReply>(`{"groups":{${written.join()}},"next":${end},"next_cursor":${end}}`)
}

/** What `readGrouped` returns is checked against the schema of the operation. */
// oxlint-disable-next-line typescript/no-explicit-any -- JSON text
type GroupedReply = any

/** The samples of a range, oldest first. Errors: 422 more than `samples_max`. */
export async function samplesBetween(
  tx: Tx,
  user_id: string,
  resource: TimeseriesName,
  { provider, from_ms, to_ms }: { provider?: string | undefined; from_ms: number; to_ms: number },
  samples_max: number,
): Promise<FoundSample[]> {
  const rows = await readChunks(tx, user_id, resource, { provider, from_ms, to_ms, after: undefined }, samples_max)
  const found = [...within(rows, from_ms, to_ms, undefined)].sort((a, b) => a.sample.at_ms - b.sample.at_ms)
  if (found.length > samples_max)
    throw invalidField(['query', 'start_date'], `the range has more than ${samples_max} samples; read the grouped list`)
  return found
}

/**
 * Lists the samples of a user, oldest first, without their sources.
 * Errors: 404 unknown user; 422 an invalid date, or a range with more than 100,000 samples.
 */
export async function readPlain(tx: Tx, user_id: string, resource: TimeseriesName, query: RangeQuery) {
  const { from_ms, to_ms } = rangeOf(tx, query)
  await getUser(tx, user_id)
  const provider = query.provider || undefined
  const write = sampleWriter(resource)
  const range = { provider, from_ms, to_ms }
  const found = await (resource === 'hypnogram'
    ? hypnogramOf(tx, user_id, range)
    : samplesBetween(tx, user_id, resource, range, PLAIN_MAX))
  return new PreserializedJson<GroupedReply>(`[${found.map(({ sample, source }) => write(sample, source)).join()}]`)
}
