// What a phone may post at its worst.
import assert from 'node:assert/strict'
import { hostile, serveForCases, type HostileCase } from './measured-server.ts'

serveForCases()

const SECOND_MS = 1000
const FIRST_MS = Date.UTC(2026, 0, 5)

const envelope = { stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit' }

interface Shape {
  count: number
  /** What a sample has beside its value. */
  sample?: (i: number) => Record<string, unknown>
  /** Between two samples. */
  step_ms?: number
}

function postOf({ count, sample = () => ({}), step_ms = SECOND_MS }: Shape): string {
  const data = Array.from({ length: count }, (_, i) => {
    const at = new Date(FIRST_MS + i * step_ms).toISOString()
    return { value: 60 + (i % 50), unit: 'bpm', start_date: at, end_date: at, ...sample(i) }
  })
  return JSON.stringify({ ...envelope, data })
}

/** Posts samples of heart rates, which must have this status. */
const heartRates = (name: string, status: number, shape: Shape) =>
  hostile(
    name,
    async ({ user }: HostileCase) => ({ path: `/v2/timeseries/${await user()}/heartrate`, body: postOf(shape) }),
    async ({ api }, { path, body }) => {
      const reply = await api.post(path, body)
      assert.equal(reply.status, status, JSON.stringify(reply.body).slice(0, 500))
    },
  )

heartRates('1,000 samples of one source', 200, { count: 1000 })
heartRates('100,000 samples of one source', 200, { count: 100_000 })
