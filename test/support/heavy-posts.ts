// Posts of a phone of any size, and a query of what they store.
import type { TestTeam } from './server.ts'

const FIRST_MS = Date.UTC(2026, 0, 1)

/** A post of so many heart rates, of a second each. */
export const samplesBody = (count: number) => ({
  stage: 'daily',
  time_zone: 'America/Phoenix',
  provider: 'apple_health_kit',
  data: Array.from({ length: count }, (_, i) => {
    const at = new Date(FIRST_MS + i * 1000).toISOString()
    return { value: 60 + (i % 50), unit: 'count/min', start_date: at, end_date: at, source_bundle: 'com.apple.health.FICTION' }
  }),
})

/** Counts the heart rates of a user by a query. */
export const countHeartRates = ({ api }: TestTeam, user_id: string) =>
  api.post(`/aggregate/v1/user/${user_id}/query`, {
    timeframe: { type: 'relative', anchor: '2026-01-31', past: { value: 1, unit: 'month' } },
    queries: [{ select: [{ func: 'count', arg: { timeseries: 'heartrate', field: 'value' } }] }],
  })
