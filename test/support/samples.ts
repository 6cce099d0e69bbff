// Samples as a phone posts them, and what a team reads and receives of them.
import type { TestTeam } from './server.ts'

export interface Sent {
  value: number
  unit: string
  start_date: string
  end_date: string
  [field: string]: unknown
}
/** The day of the samples. */
export const DAY = '2026-01-31'
export const sentSample = (time: string, value: number, overrides: Partial<Sent> = {}): Sent => ({
  value,
  unit: '',
  start_date: `${DAY}T${time}Z`,
  end_date: `${DAY}T${time}Z`,
  ...overrides,
})
export const watch = { source_bundle: 'com.apple.health.0000', product_type: 'Watch6,1' }
export const post = ({ api }: TestTeam, user_id: string, resource: string, data: unknown[], overrides: object = {}) =>
  api.post(`/v2/timeseries/${user_id}/${resource}`, {
    stage: 'daily',
    time_zone: 'America/Phoenix',
    provider: 'apple_health_kit',
    data,
    ...overrides,
  })
export const read = async ({ api }: TestTeam, user_id: string, resource: string, query = `start_date=${DAY}&end_date=${DAY}`) =>
  (await api.get(`/v2/timeseries/${user_id}/${resource}/grouped?${query}`)).body
export const counts = (body: Record<string, unknown>) => [body.accepted, body.created, body.updated, body.dropped]

export interface Emitted {
  event_type: string
  data: { data: { timestamp: string; value: number }[]; source: Record<string, unknown> } & Record<string, unknown>
}
/** Events about data, oldest first. */
export async function events({ api }: TestTeam): Promise<Emitted[]> {
  const all: Emitted[] = []
  for (let next: string | null = ''; next !== null;) {
    const { data, next_cursor }: { data: { body: Emitted }[]; next_cursor: string | null } = (
      await api.get(`/v1/events?limit=50${next ? `&next_cursor=${next}` : ''}`)
    ).body
    all.push(...data.map((event) => event.body))
    next = next_cursor
  }
  return all.filter(({ event_type }) => event_type.includes('.data.')).toReversed()
}
/** The types of all stored events about data, oldest first: also those that only pipelines with `push_historical_data` get. */
export async function storedTypes({ db, team }: TestTeam): Promise<string[]> {
  const { rows } = await db.pool.query<{ type: string }>(
    "select type from event where team_id = $1 and type like '%.data.%' order by id",
    [team],
  )
  return rows.map(({ type }) => type)
}
export const types = (events: Emitted[]) => events.map(({ event_type }) => event_type)
