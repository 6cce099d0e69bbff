// What users of comparable systems have suffered from, with the number of the rule that prevents it: storage, large posts, installation and
// days that are empty. Other rules: field-rules.test.ts, and where their connectors, sessions and codes are tested. Source: field-2026.md 1.3.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { connectors } from '../connectors/connectors.ts'
import { readConfig } from '../../settings/config.ts'
import { sentSample, counts, DAY, post, read, watch, type Sent } from '../../../test/support/samples.ts'
import { asOwner, connection, createTestTeam } from '../../../test/support/server.ts'
import { dayOf, recordDays } from '../../wearables/ingestion/day-records.ts'

const beats = (count: number): Sent[] => {
  let value = 62
  return Array.from({ length: count }, (_, i) => {
    value = Math.max(48, Math.min(170, value + ((i * 7919) % 5) - 2))
    const instant = new Date(Date.UTC(2026, 0, 31) + i * 5000).toISOString()
    return { ...sentSample('00:00:00', value, watch), start_date: instant, end_date: instant }
  })
}

describe('storage', () => {
  test('rule 22: a sample takes less than 8 bytes, and counting samples does not read them', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    // A day of a watch.
    const { body } = await post(team, user_id, 'heartrate', beats(17_280))
    assert.deepEqual(counts(body), [17_280, 17_280, 0, 0])
    const { rows } = await asOwner<{ samples: number; bytes: number; counted: number }>(
      `select sum(samples) as samples, sum(pg_column_size(c.*)) as bytes, sum(cardinality(at)) as counted
       from sandbox_us.chunk c where team_id = $1`,
      [team.team],
    )
    const [{ samples, bytes, counted }] = rows as [(typeof rows)[number]]
    assert.deepEqual([samples, counted], [17_280, 17_280])
    assert(bytes / samples < 8, `${bytes / samples} bytes`)
    const [{ provider }] = (await team.api.get(`/v2/introspect/resources?user_id=${user_id}`)).body.data
    assert.equal(provider.apple_health_kit.heartrate.sent_count, 17_280)
  })

  test('rule 23: a large post is stored at once, queues no samples, has a limit, and may be sent again in parts', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const sent = beats(100_001)
    const bare = sent.map(({ value, unit, start_date, end_date }) => ({ value, unit, start_date, end_date }))
    assert.equal((await post(team, user_id, 'heartrate', bare)).status, 422)
    const padded = bare.map((sample) => ({ ...sample, id: 'x'.repeat(100) }))
    assert.equal((await post(team, user_id, 'heartrate', padded)).status, 413)
    assert.deepEqual((await read(team, user_id, 'heartrate')).groups, {})
    for (const part of [sent.slice(0, 20_000), sent.slice(10_000, 30_000)])
      assert.equal((await post(team, user_id, 'heartrate', part)).status, 200)
    const { rows } = await asOwner<{ largest: number | null; samples: number }>(
      `select (select max(length(payload)) from sandbox_us.job where team_id = $1) as largest,
              (select sum(samples) from sandbox_us.chunk where team_id = $1) as samples`,
      [team.team],
    )
    assert.equal(rows[0]!.samples, 30_000)
    assert((rows[0]!.largest ?? 0) < 2000, `a job has ${rows[0]!.largest} characters`)
  })
})

describe('reasons for missing data', () => {
  test('rule 21: of each missing night it is known whether it was asked for, answered empty, received, stored or failed', async () => {
    const team = await createTestTeam()
    const { user_id } = (await team.api.post('/v2/user', { client_user_id: 'fictional-sleeper', ingestion_start: '2026-01-22' }))
      .body
    const link = { user_id, granted_permissions: ['sleep'] }
    assert.equal((await team.api.post('/v2/link/provider/manual/apple_health_kit', link)).status, 200)
    const days = (start: string, end = start) => ({ first: dayOf(Date.parse(start)), last: dayOf(Date.parse(end)) })
    const owner = { user_id, provider: 'apple_health_kit', resource: 'sleep' as const }
    await team.db.tx(team.tenant, async (tx) => {
      recordDays(tx, { ...owner, outcome: 'asked', days: days('2026-01-25', '2026-01-30') })
      recordDays(tx, { ...owner, outcome: 'answered', days: days('2026-01-28', '2026-01-29') })
      const error = { type: 'provider_unavailable' as const, message: 'HTTP 503' }
      recordDays(tx, { ...owner, outcome: 'failed', days: days('2026-01-30'), error })
    })
    const night = (id: string, day: string) => ({ id, start_date: `${day}T07:00:00Z`, end_date: `${day}T13:00:00Z`, ...watch })
    const { status } = await team.api.post(`/v2/summary/sleep/${user_id}`, {
      stage: 'daily',
      time_zone: 'America/Phoenix',
      provider: 'apple_health_kit',
      data: [night('worn', DAY), night('too early', '2026-01-10')],
    })
    assert.equal(status, 200)
    const query = `user_id=${user_id}&resource=sleep&start_date=2026-01-10&end_date=${DAY}`
    const [{ resources }] = (await team.api.get(`/v2/introspect/days?${query}`)).body.data
    const shown = new Map(resources[0].days.map((day: { date: string; status: string }) => [day.date, day.status]))
    const nights = ['01-10', '01-24', '01-25', '01-28', '01-29', '01-30', '01-31'].map((day) => shown.get(`2026-${day}`))
    assert.deepEqual(nights, ['received', 'not_asked', 'asked', 'empty', 'empty', 'failed', 'stored'])
    assert.equal(resources[0].last_error.error_message, 'HTTP 503')
    const [{ provider }] = (await team.api.get(`/v2/introspect/resources?user_id=${user_id}`)).body.data
    assert.equal(provider.apple_health_kit.sleep.last_attempt.status, 'success')
  })
})

describe('installation', () => {
  test('rule 24: the program needs one port, no port of a database, no build, and its addresses are relative', () => {
    const { port, operator_port, base_path } = readConfig({})
    assert.deepEqual([port, operator_port, base_path], [8080, undefined, ''])
    // The embedded database listens on a socket in the data folder, and on no port that another may have.
    assert.equal((connection as { host: string }).host[0], '/')
    const read = (file: string) =>
      JSON.parse(readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')) as Record<string, object>
    const { scripts } = read('package.json')
    assert.deepEqual(
      Object.keys(scripts!).filter((name) => /build|install/.test(name)),
      [],
    )
    // It removes files and builds the console, and an installation without it works as well.
    const prepare = 'node scripts/trim-packages.mjs node_modules && node console/build.ts --optional'
    assert.equal((scripts as Record<string, string>).prepare, prepare)
    assert.deepEqual(read('api/openapi.json').servers, [{ url: '/' }])
  })

  test('rule 25: the program listens on loopback unless a setting names another address', () => {
    assert.equal(readConfig({}).host, '127.0.0.1')
  })

  test('rule 25: a notification is refused while a secret is missing, or without a signature where its vendor signs', async () => {
    const http = () => Promise.reject(new Error('nobody is asked'))
    const body = Buffer.from(
      JSON.stringify({ event_type: 'update', event: 'EXERCISE', user_id: 1, id: '1', type: 'sleep.updated' }),
    )
    const outcomes: Record<string, string> = {}
    for (const connector of connectors) {
      const { provider, urls } = connector
      if (!connector.receive) continue
      for (const secret of ['', 'fictional-secret']) {
        const app = { client_id: 'fictional', client_secret: secret, details: null, urls }
        const request = {
          method: 'POST',
          headers: {},
          query: {},
          body,
          verify_token: secret,
          now_ms: Date.UTC(2026, 0, 31),
          received_ms: Date.UTC(2026, 0, 31),
        }
        const { outcome } = await connector.receive(app, request, http)
        outcomes[`${provider} ${secret ? 'without a signature' : 'without a secret'}`] = outcome
      }
    }
    assert(Object.keys(outcomes).length >= 8)
    // Strava signs nothing; such an event leads to a pull alone.
    const believed = Object.entries(outcomes).filter(([, outcome]) => outcome === 'verified')
    const unsigned = Object.entries(outcomes).filter(([name, outcome]) => outcome === 'unsigned' && !name.startsWith('strava '))
    assert.deepEqual([believed, unsigned], [[], []])
  })
})
