// Reading timeseries: samples by source, page by page, and the deprecated plain lists. Source: users-wearables.md 10, 19 D5-D7.
import { getUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { cursor, numberPart, readCursor } from '../../platform/http/list-pages.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { readBound, type RangeQuery } from '../resources/range-query.ts'
import type { TimeseriesName } from '../resources/timeseries.ts'
import { chunkColumns, chunkRow, sampleAt, type Sample } from './chunk-rows.ts'
import { sourceOf, sourceRow, type FoundSample, type SampleSource } from './chunks.ts'
import { readHypnogram } from './hypnogram.ts'
import { sampleFormatter, sampleSource } from './samples.ts'
import { HOUR_MS } from '../../platform/runtime/durations.ts'
import { flatMapInSlices } from '../../platform/runtime/loop-work.ts'

/** Samples in a page. */
const PAGE = 10_000
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

/**
 * The instants of a range, both included: a date begins at midnight, or ends before the next one, in UTC. An end in whole seconds includes
 * its second, since timestamps are shown without fractions; an end with a fraction is exact.
 */
function readRange(tx: Tx, { start_date, end_date }: RangeQuery): { from_ms: number; to_ms: number } {
  // Samples are not older; and PostgreSQL has no year 0.
  const from_ms = Math.max(readBound('start_date', start_date).instant.getTime(), EARLIEST_MS)
  if (end_date === undefined || end_date === '') return { from_ms, to_ms: tx.now.getTime() + 999 }
  const { instant, dateOnly } = readBound('end_date', end_date)
  const end_ms = instant.getTime()
  if (end_ms < EARLIEST_MS) return { from_ms, to_ms: EARLIEST_MS }
  return { from_ms, to_ms: end_ms + (dateOnly ? 24 * HOUR_MS - 1 : end_ms % 1000 === 0 ? 999 : 0) }
}

/** Before 1970 it is negative. */
const instantInMs = (text: string): boolean => /^-?\d{1,15}$/.test(text)

/** A range, and where a page of it begins. */
export type SampleQuery = RangeQuery & { cursor?: string | undefined; next_cursor?: string | undefined }

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
  {
    provider,
    from_ms,
    to_ms,
    position: after,
  }: { provider: string | undefined; from_ms: number; to_ms: number; position: Place | undefined },
  samples_max: number,
) => {
  const instant = (ms: number) => new Date(ms).toISOString()
  const hourOf = (ms: number) => instant(Math.floor(ms / HOUR_MS) * HOUR_MS)
  const place = after && sql`(${after.series}::bigint, ${hourOf(after.at_ms)}::timestamptz)`
  const beyond = place ? sql`and (c.series_id, c.hour) >= ${place}` : sql``
  const isCounted = sql`c.hour >= ${instant(from_ms)}::timestamptz and c.hour <= ${instant(to_ms - HOUR_MS)}::timestamptz ${
    place ? sql`and (c.series_id, c.hour) > ${place}` : sql``
  }`
  const ofProvider = provider ? sql`and provider = ${provider}` : sql``
  // As an array, so that the index of chunks is searched by series whatever the database knows of how many there are.
  const ids = sql`array(
    select id from series where team_id = ${tx.team} and user_id = ${user_id} and resource = ${resource} ${ofProvider})`
  return tx.many(
    Row,
    sql`
    with places as materialized (
      select c.series_id, c.hour, s.provider, s.source_type, s.app_id, s.device_id, s.workout_id, s.sport,
             coalesce(sum(case when ${isCounted} then c.samples end)
                        over (order by c.series_id, c.hour rows between unbounded preceding and 1 preceding), 0)::bigint as before
      from chunk c
      join series s on s.id = c.series_id and s.team_id = c.team_id and s.user_id = c.user_id
      where c.team_id = ${tx.team} and c.user_id = ${user_id} and c.series_id = any (${ids})
        and c.hour >= ${hourOf(from_ms)}::timestamptz and c.hour <= ${instant(to_ms)}::timestamptz ${beyond})
    select ${chunkColumns}, p.provider, p.source_type, p.app_id, p.device_id, p.workout_id, p.sport, p.before
    from places p
    join chunk c on c.series_id = p.series_id and c.hour = p.hour and c.team_id = ${tx.team} and c.user_id = ${user_id}
      and c.series_id = any (${ids})
    where p.before <= ${samples_max} order by c.series_id, c.hour`,
  )
}

interface Found extends FoundSample {
  series: number
}

/** Called for each sample in the order of series and time. @returns whether to go on */
type Visit = (sample: Sample, source: SampleSource, series: number) => boolean

function visitRows(rows: Static<typeof Row>[], from_ms: number, to_ms: number, position: Place | undefined, visit: Visit): void {
  for (const row of rows) {
    const source = sourceOf(row)
    const { hour_ms, at } = row
    const first_ms = position?.series === row.series_id ? Math.max(from_ms, position.at_ms + 1) : from_ms
    for (let i = 0; i < at.length; i++) {
      const at_ms = hour_ms + at[i]!
      if (at_ms < first_ms) continue
      if (at_ms > to_ms) break
      if (!visit(sampleAt(row, i), source, row.series_id)) return
    }
  }
}

function visitFound(foundSamples: Found[], position: Place | undefined, visit: Visit): void {
  for (const { series, source, sample } of foundSamples) {
    if (position && (series < position.series || (series === position.series && sample.at_ms <= position.at_ms))) continue
    if (!visit(sample, source, series)) return
  }
}

/** Stages in the order of their sources, which have numbers here since they have no series. Later stages of a source at one instant count. */
function stagesBySource(stages: FoundSample[]): Found[] {
  const names = [...new Set(stages.map(({ source }) => JSON.stringify(source)))].toSorted()
  const numbers = new Map(names.map((name, i) => [name, i + 1]))
  return stages
    .map((foundSample) => ({ ...foundSample, series: numbers.get(JSON.stringify(foundSample.source))! }))
    .toSorted((a, b) => a.series - b.series || a.sample.at_ms - b.sample.at_ms)
}

/**
 * Lists the samples of a user by provider and source, at most 10,000 in a page.
 * @param type samples of other types are left out, and count as part of the page
 * Errors: 400 a cursor of another list; 404 unknown user; 422 an invalid date.
 */
export async function readGrouped(tx: Tx, user_id: string, resource: TimeseriesName, query: SampleQuery, type?: string) {
  const { from_ms, to_ms } = readRange(tx, query)
  const provider = query.provider || undefined
  const list = `timeseries ${user_id} ${type ?? resource} ${query.start_date} ${query.end_date ?? ''} ${provider ?? ''}`
  const given = query.next_cursor ?? query.cursor
  const [series, at_ms] = given ? readCursor(list, given, [numberPart(DIGITS_MAX), instantInMs]) : []
  const after = series === undefined ? undefined : { series: Number(series), at_ms: Number(at_ms) }
  await getUser(tx, user_id)
  const groups = new Map<string, SourceGroup>()
  let group: SourceGroup | undefined
  let count = 0
  let [last_series, last_ms] = [0, 0]
  let next: string | null = null
  const visit: Visit = (sample, source, series) => {
    if (count === PAGE) {
      next = cursor(list, [String(last_series), String(last_ms)])
      return false
    }
    count++
    if (type === undefined || sample.type === type) {
      // They come in the order of their series.
      if (!group || last_series !== series) group = addSeries(groups, source)
      group.samples.push(sample)
    }
    last_series = series
    last_ms = sample.at_ms
    return true
  }
  if (resource === 'hypnogram')
    visitFound(stagesBySource(await readHypnogram(tx, user_id, { provider, from_ms, to_ms })), after, visit)
  else
    visitRows(
      await readChunks(tx, user_id, resource, { provider, from_ms, to_ms, position: after }, PAGE),
      from_ms,
      to_ms,
      after,
      visit,
    )
  const format = sampleFormatter(resource)
  const byProvider: Record<string, object[]> = {}
  for (const { source, series_count, samples } of groups.values()) {
    if (series_count > 1) samples.sort((a, b) => a.at_ms - b.at_ms)
    const data = samples.map((sample) => format(sample, source))
    ;(byProvider[source.provider] ??= []).push({ source: sampleSource(tx, source), data })
  }
  const page = { groups: byProvider, next, next_cursor: next }
  return new PreserializedJson<GroupedReply>(JSON.stringify(page), { searchForUsers: false })
}

/** The samples of one source in a page. Apps are one source, because samples do not name them. */
interface SourceGroup {
  source: SampleSource
  series_count: number
  samples: Sample[]
}

/** The group of a series, which it may share with the series of other apps. */
function addSeries(groups: Map<string, SourceGroup>, source: SampleSource): SourceGroup {
  const { app_id: _app, ...shown } = source
  const key = JSON.stringify(Object.values(shown))
  const group = groups.get(key) ?? { source, series_count: 0, samples: [] }
  group.series_count++
  groups.set(key, group)
  return group
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
  const rows = await readChunks(tx, user_id, resource, { provider, from_ms, to_ms, position: undefined }, samples_max)
  const found: FoundSample[] = []
  visitRows(rows, from_ms, to_ms, undefined, (sample, source) => found.push({ sample, source }) > 0)
  found.sort((a, b) => a.sample.at_ms - b.sample.at_ms)
  if (found.length > samples_max)
    throw invalidField(['query', 'start_date'], `the range has more than ${samples_max} samples; read the grouped list`)
  return found
}

/**
 * Lists the samples of a user, oldest first, without their sources.
 * @param type samples of other types are left out
 * Errors: 404 unknown user; 422 an invalid date, or a range with more than 100,000 samples.
 */
export async function readPlain(tx: Tx, user_id: string, resource: TimeseriesName, query: RangeQuery, type?: string) {
  const { from_ms, to_ms } = readRange(tx, query)
  await getUser(tx, user_id)
  const provider = query.provider || undefined
  const format = sampleFormatter(resource)
  const range = { provider, from_ms, to_ms }
  const found = await (resource === 'hypnogram'
    ? readHypnogram(tx, user_id, range)
    : samplesBetween(tx, user_id, resource, range, PLAIN_MAX))
  const texts = await flatMapInSlices(found, ({ sample, source }) =>
    type === undefined || sample.type === type ? JSON.stringify(format(sample, source)) : [],
  )
  return new PreserializedJson<GroupedReply>(`[${texts.join()}]`, { searchForUsers: false })
}
