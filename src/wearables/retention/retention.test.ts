// How long health data is kept: what teams set, what arrives too late, what is deleted.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sentSample, counts, events, post, read, type Sent } from '../../../test/support/samples.ts'
import { deleteExpiredData } from '../../../test/support/retention.ts'
import { asOwner, cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { expiredDataCleanup } from './expired-data.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** A sample of some days ago. */
const ago = (days: number, value = 60): Sent => {
  const time = new Date(Date.now() - days * DAY_MS).toISOString()
  return sentSample('00:00:00', value, { start_date: time, end_date: time })
}
const SINCE = 'start_date=2000-01-01'
const readValues = async (team: TestTeam, user_id: string, resource = 'heartrate'): Promise<number[]> => {
  const { groups } = await read(team, user_id, resource, SINCE)
  const all = Object.values(groups).flat() as { data: { value: number; systolic?: number }[] }[]
  return all.flatMap(({ data }) => data.map(({ value, systolic }) => systolic ?? value))
}
const path = ({ team }: TestTeam) => `/team/${team}/sandbox/data_retention`
const set = (team: TestTeam, rules: { resource: string | null; days: number }[]) => team.manage.put(path(team), { rules })

describe('the retention of health data', () => {
  test('has no rules at first, and shows set rules, the general one first', async () => {
    const team = await createTestTeam()
    const limits = [{ provider: 'beurer_ble', days: 3650 }]
    assert.deepEqual((await team.manage.get(path(team))).body, { rules: [], provider_limits: limits })
    const rules = [
      { resource: null, days: 100 },
      { resource: 'activity', days: 20 },
      { resource: 'heartrate', days: 10 },
    ]
    const { status, body } = await set(team, rules.toReversed())
    assert.deepEqual([status, body], [200, { rules, provider_limits: limits }])
    assert.deepEqual((await team.manage.get(path(team))).body.rules, rules)
    await set(team, [])
    assert.deepEqual((await team.manage.get(path(team))).body.rules, [])
  })

  test('rejects two rules for one resource, resources that there are not and numbers out of bounds', async () => {
    const team = await createTestTeam()
    for (const rules of [
      [
        { resource: null, days: 1 },
        { resource: null, days: 2 },
      ],
      [
        { resource: 'heartrate', days: 1 },
        { resource: 'heartrate', days: 1 },
      ],
      [{ resource: 'aura', days: 1 }],
      [{ resource: null, days: 0 }],
      [{ resource: null, days: 36_501 }],
    ]) {
      const { status, body } = await set(team, rules)
      assert.equal(status, 422, JSON.stringify(body))
    }
    assert.deepEqual((await team.manage.get(path(team))).body.rules, [])
  })

  test('has the rules of one of two changes at the same time, not of both', async () => {
    const team = await createTestTeam()
    const one = [{ resource: 'heartrate', days: 10 }]
    const other = [{ resource: 'steps', days: 20 }]
    for (let i = 0; i < 5; i++) {
      await Promise.all([set(team, one), set(team, other)])
      const { rules } = (await team.manage.get(path(team))).body
      assert.equal(rules.length, 1, JSON.stringify(rules))
    }
  })

  test('of a team whose deletion fails does not stop that of other teams', async () => {
    const [failing, team] = [await createTestTeam(), await createTestTeam()]
    for (const one of [failing, team]) {
      const user_id = await one.user()
      await post(one, user_id, 'heartrate', [ago(11)])
      await set(one, [{ resource: 'heartrate', days: 10 }])
    }
    const chunks = async ({ db, team }: TestTeam) =>
      (await db.pool.query('select count(*)::integer as n from chunk where team_id = $1', [team])).rows[0].n
    const refusal = `sandbox_us.refuse_${failing.team.replaceAll('-', '')}`
    await asOwner(`
      create function ${refusal}() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before delete on sandbox_us.chunk for each row
        when (old.team_id = '${failing.team}') execute function ${refusal}()`)
    try {
      // Without limits of providers only teams with rules are looked at, which are those of this file.
      const cleanup = expiredDataCleanup({ cells, provider_retention: new Map() })
      const db = cells.db('sandbox-us')
      for (let i = 0; (await chunks(team)) > 0; i++) {
        assert(i < 1000)
        await cleanup.remove(db, cells.control, () => false).catch(() => {})
      }
      assert.equal(await chunks(failing), 1)
    } finally {
      await asOwner(`drop function ${refusal} cascade`)
    }
  })

  test('deletes samples and summaries by the rule of their resource, and no others', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const ages = [1, 9, 12, 40, 200]
    await post(
      team,
      user_id,
      'heartrate',
      ages.map((days) => ago(days, days)),
    )
    await post(
      team,
      user_id,
      'steps',
      ages.map((days) => ago(days, days)),
    )
    const untouched = await createTestTeam()
    const other = await untouched.user()
    await post(untouched, other, 'heartrate', [ago(200)])
    for (const days of ages)
      await team.api.post(`/v2/summary/activity/${user_id}`, {
        stage: 'daily',
        time_zone: 'UTC',
        provider: 'apple_health_kit',
        data: [
          { day_summary: { calendar_date: new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10), steps_sum: days } },
        ],
      })
    const before = (await events(team)).length
    const rules = [
      { resource: null, days: 100 },
      { resource: 'activity', days: 20 },
      { resource: 'heartrate', days: 10 },
    ]
    const preview = async () => (await team.manage.post(`${path(team)}/preview`, { rules })).body
    const { data: expired, ...counted } = await preview()
    assert.deepEqual(counted, { users: 1, is_complete: true })
    assert.deepEqual(expired.map(({ resource, count }: { resource: string; count: number }) => [resource, count]).toSorted(), [
      ['activity', 2],
      ['heartrate', 3],
      ['steps', 1],
    ])
    const dayOf = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
    const { first_day, last_day } = expired.find(({ resource }: { resource: string }) => resource === 'activity')
    assert.deepEqual([first_day, last_day], [dayOf(200), dayOf(40)])
    assert.deepEqual((await team.manage.get(path(team))).body.rules, [], 'nothing is set')
    assert.equal((await readValues(team, user_id)).length, ages.length, 'nothing is deleted')
    await set(team, rules)
    await deleteExpiredData()
    assert.deepEqual((await preview()).data, [])
    assert.deepEqual(await readValues(team, user_id), [9, 1])
    assert.deepEqual(await readValues(team, user_id, 'steps'), [40, 12, 9, 1])
    const { activity } = (await team.api.get(`/v2/summary/activity/${user_id}?${SINCE}`)).body
    assert.deepEqual(
      activity.map(({ steps }: { steps: number }) => steps),
      [12, 9, 1],
    )
    assert.equal((await events(team)).length, before, 'no events')
    assert.deepEqual(await readValues(untouched, other), [60])
    const { data } = (await team.api.get(`/v2/introspect/resources?user_id=${user_id}`)).body
    const { oldest_data } = data[0].provider.apple_health_kit.heartrate
    assert(Date.parse(oldest_data) > Date.now() - 10.01 * DAY_MS, oldest_data)
  })

  test('drops data that arrives after its retention, without an event', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await set(team, [{ resource: 'heartrate', days: 10 }])
    assert.deepEqual(counts((await post(team, user_id, 'heartrate', [ago(11), ago(9)])).body), [1, 1, 0, 1])
    assert.deepEqual(counts((await post(team, user_id, 'steps', [ago(11)])).body), [1, 1, 0, 0])
    assert.equal((await events(team)).filter(({ event_type }) => event_type.includes('heartrate')).length, 1)
  })

  test("an operator's limit for a provider counts for teams without rules, and a rule cannot extend it", async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const pressure = (days: number, value: number) => ({
      systolic: { ...ago(days, value), unit: 'mmHg' },
      diastolic: { ...ago(days, 70), unit: 'mmHg' },
    })
    const send = (...data: object[]) => post(team, user_id, 'blood_pressure', data, { provider: 'beurer_ble' })
    assert.deepEqual(counts((await send(pressure(3651, 120), pressure(3649, 121))).body), [1, 1, 0, 1])
    await set(team, [{ resource: null, days: 30_000 }])
    assert.deepEqual(counts((await send(pressure(3651, 120))).body), [0, 0, 0, 1])
    assert.deepEqual(counts((await post(team, user_id, 'blood_pressure', [pressure(3651, 122)])).body), [1, 1, 0, 0])
    // This was stored before the operator set the limit.
    const { rowCount } = await team.db.pool.query(
      `update chunk c set hour = c.hour - interval '3 days' from series s
       where s.id = c.series_id and s.team_id = $1 and s.provider = 'beurer_ble' and s.resource = 'blood_pressure'`,
      [team.team],
    )
    assert.equal(rowCount, 1)
    await deleteExpiredData()
    assert.deepEqual(await readValues(team, user_id, 'blood_pressure'), [122])
  })

  test("follows the team's clock", async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await post(team, user_id, 'heartrate', [ago(1)])
    await set(team, [{ resource: 'heartrate', days: 10 }])
    await deleteExpiredData()
    assert.equal((await readValues(team, user_id)).length, 1)
    await team.db.pool.query('update team set clock_offset_s = 10 * 86400 where id = $1', [team.team])
    await team.db.pool.query('update data_retention_check set next_at = now() where team_id = $1', [team.team])
    await deleteExpiredData()
    assert.equal((await readValues(team, user_id)).length, 0)
  })

  test('checks more users than one transaction takes, and continues where an interrupted process stopped', async () => {
    const team = await createTestTeam()
    await team.db.pool.query(
      `with u as (insert into "user" (id, team_id, client_user_id, created_on)
                  select gen_random_uuid(), $1, 'retention-' || i, now() from generate_series(1, 250) as i returning id)
       insert into summary (team_id, user_id, kind, provider, key, id, source_type, calendar_date, document, created_at, updated_at)
       select $1, u.id, 'activity', 'oura', day::text, gen_random_uuid(), 'ring', current_date - day, '{}', now(), now()
       from u, unnest(array[1, 30]) as day`,
      [team.team],
    )
    const left = async () =>
      (await team.db.pool.query('select count(*)::integer as n from summary where team_id = $1', [team.team])).rows[0].n
    await set(team, [{ resource: null, days: 7 }])
    const db = cells.db('sandbox-us')
    for (let batches = 0; (await left()) === 500; batches++) {
      assert(batches < 1000)
      await expiredDataCleanup({ cells, provider_retention: new Map() }).remove(db, cells.control, () => false)
    }
    assert.equal(await left(), 400)
    await deleteExpiredData()
    assert.equal(await left(), 250)
  })
})
