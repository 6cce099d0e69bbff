// The largest answers.
import assert from 'node:assert/strict'
import { hostile, serveForCases, type HostileCase } from './measured-server.ts'
import { bodyOf, recordBodies } from './phone-bodies.ts'

serveForCases()

const SAMPLES = 99_000
const FIRST_MS = Date.UTC(2026, 0, 5)
const RANGE = 'start_date=2020-01-01&end_date=2027-01-01'

let filled: Promise<string> | undefined

/** A user with much data, for all cases. */
async function fillUser({ api, user }: HostileCase): Promise<string> {
  const user_id = await user()
  const data = Array.from({ length: SAMPLES }, (_, i) => {
    const at = new Date(FIRST_MS + i * 1000).toISOString()
    return { value: 5 + (i % 9), unit: 'mmol/L', start_date: at, end_date: at }
  })
  const body = JSON.stringify({ stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit', data })
  assert.equal((await api.post(`/v2/timeseries/${user_id}/glucose`, body)).status, 200)
  for (const post of recordBodies.filter(({ name, path }) => /sleep|meal|body|electro/.test(path) && !name.includes('part'))) {
    const { status } = await api.post(`/v2/${post.path.replace('{user_id}', user_id)}`, bodyOf(post))
    assert.equal(status, post.status, post.name)
  }
  return user_id
}

/** Reads and does not parse what it has read: that would be the client's work. */
const read = (name: string, path: (user_id: string) => string, status = 200, body?: object) =>
  hostile(
    name,
    async (means) => path(await (filled ??= fillUser(means))),
    async ({ url, key }, where) => {
      const headers = { 'x-service-api-key': key, ...(body && { 'content-type': 'application/json' }) }
      const response = await fetch(url + where, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
      await response.arrayBuffer()
      assert.equal(response.status, status)
    },
  )

read(`a plain list of ${SAMPLES} samples`, (user_id) => `/v2/timeseries/${user_id}/glucose?${RANGE}`)
read('a page of samples', (user_id) => `/v2/timeseries/${user_id}/glucose/grouped?${RANGE}`)
read('a plain list of too many voltages', (user_id) => `/v2/timeseries/${user_id}/electrocardiogram_voltage?${RANGE}`, 422)
read('nights with their streams', (user_id) => `/v2/summary/sleep/${user_id}/stream?start_date=2026-01-01&end_date=2026-01-09`)
for (const kind of ['sleep', 'sleep_cycle', 'body', 'meal'])
  read(`all summaries of ${kind}`, (user_id) => `/v2/summary/${kind}/${user_id}?${RANGE}`)
read('all raw nights', (user_id) => `/v2/summary/sleep/${user_id}/raw?${RANGE}`)
read('250 events of up to a megabyte each', () => '/v1/events?limit=250')
read('the state of all resources of a user', (user_id) => `/v2/introspect/resources?user_id=${user_id}`)
read('the OpenAPI document', () => '/openapi.json')
const minute = { date_trunc: { value: 1, unit: 'minute' }, arg: { index: 'timeseries' } }
read('a query over all samples', (user_id) => `/aggregate/v1/user/${user_id}/query`, 200, {
  timeframe: { type: 'relative', anchor: '2026-01-31', past: { value: 1, unit: 'month' } },
  queries: Array.from({ length: 8 }, () => ({
    select: [{ arg: { timeseries: 'glucose', field: 'value' }, func: 'mean' }],
    group_by: [minute],
  })),
})
