// Health data of test people, stored as a connection stores it. Times are local wall times with an offset.
import { sql } from '../../src/platform/db/sql.ts'
import { getUser } from '../../src/people/users/users.ts'
import { ingestSamples, ingestSummaries, type IncomingSample } from '../../src/wearables/ingestion/ingest.ts'
import type { SourceType, TimeseriesName } from '../../src/wearables/resources/timeseries.ts'
import type { SummaryKind } from '../../src/wearables/summaries/schema.ts'
import type { IncomingSummary } from '../../src/wearables/summaries/summaries.ts'
import { tenantOf } from './orders.ts'
import type { TestTeam } from './server.ts'

export interface DataSource {
  provider?: string
  source_type?: SourceType
  app_id?: string | null
}

/** A sample at a local wall time, `2026-01-31T09:30:00`, in a zone so many hours east of UTC. */
export function sampleAt(wall: string, value: number, { hours = 0, ...more }: { hours?: number } & Partial<IncomingSample> = {}) {
  const at_ms = Date.parse(`${wall}Z`) - hours * 3_600_000
  return { at_ms, value, second: null, length_ms: null, zone_s: hours * 3600, type: null, ...more }
}

export const storeSamples = async (
  team: TestTeam,
  user_id: string,
  resource: TimeseriesName,
  samples: Omit<IncomingSample, 'source_type' | 'app_id'>[],
  { provider = 'oura', source_type = 'ring', app_id = null }: DataSource = {},
) =>
  team.db.tx(await tenantOf(team), async (tx) =>
    ingestSamples(tx, await getUser(tx, user_id), resource, {
      provider,
      samples: samples.map((sample) => ({ ...sample, source_type, app_id })),
      historical: false,
    }),
  )

export const storeSummaries = async (
  team: TestTeam,
  user_id: string,
  kind: SummaryKind,
  records: (Pick<IncomingSummary, 'key' | 'calendar_date' | 'query_values'> & { document: Record<string, unknown> })[],
  { provider = 'oura', source_type = 'ring', app_id = null }: DataSource = {},
) =>
  team.db.tx(await tenantOf(team), async (tx) =>
    ingestSummaries(tx, await getUser(tx, user_id), kind, {
      provider,
      records: records.map((record) => ({ ...record, source_type, app_id })) as IncomingSummary[],
      historical: false,
    }),
  )

/** A night that ends on a day at a local wall time, so many hours east of UTC. */
export function night(
  calendar_date: string,
  document: Record<string, unknown> = {},
  { from = '22:00', until = '06:00', hours = -7 } = {},
) {
  const stop = Date.parse(`${calendar_date}T${until}:00Z`) - hours * 3_600_000
  const evening = Date.parse(`${calendar_date}T${from}:00Z`) - hours * 3_600_000
  const start = evening < stop ? evening : evening - 86_400_000
  const text = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}+00:00`
  return {
    key: `night-${calendar_date}-${from}`,
    calendar_date,
    document: {
      calendar_date,
      bedtime_start: text(start),
      bedtime_stop: text(stop),
      type: 'long_sleep',
      timezone_offset: hours * 3600,
      duration: (stop - start) / 1000,
      ...document,
    },
  }
}

/** A summary of any kind, as it is stored. */
export const storeDocument = (
  { db, tenant }: TestTeam,
  user_id: string,
  kind: string,
  key: string,
  calendar_date: string,
  document: object,
) =>
  db.tx(tenant, (tx) =>
    tx.run(sql`
      insert into summary (team_id, user_id, kind, provider, key, id, source_type, app_id, calendar_date, document, created_at, updated_at)
      values (${tx.team}, ${user_id}, ${kind}, 'cronometer', ${key}, ${tx.uuid()}, 'app', null, ${calendar_date}::date,
        ${JSON.stringify(document)}::jsonb, ${tx.now}, ${tx.now})`),
  )
