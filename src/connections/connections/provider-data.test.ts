// The data of one provider is deleted when its connection ends, if that is asked for. Source: users-wearables.md 19 D8.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bearer, signIn } from '../../../test/support/phones.ts'
import { sentSample, events, post, read, watch } from '../../../test/support/samples.ts'
import { client, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { list, postSummary } from '../../../test/support/summaries.ts'
import { sampleAt, storeSamples, storeSummaries } from '../../../test/support/wearable-data.ts'

const START = '2026-01-31T15:00:00Z'
const END = '2026-01-31T16:00:00Z'

/** A user with all kinds of data of a phone, and with data of a ring. */
async function person() {
  const team = await createTestTeam()
  const user_id = await team.user()
  await team.api.post('/v2/link/provider/manual/apple_health_kit', { user_id })
  const device = { metadata: { _DMO: 'Watch', _DMA: 'Apple Inc.' } }
  await post(team, user_id, 'heartrate', [sentSample('09:00:00', 61, { ...watch, ...device }), sentSample('12:00:00', 70)])
  for (let i = 0; i < 2; i++)
    await post(team, user_id, 'steps', [sentSample('10:00:00', 900, { unit: 'count' })], { stage: 'historical' })
  await postSummary(team, 'activity', user_id, [{ day_summary: { calendar_date: '2026-01-31', steps_sum: 900 } }])
  await postSummary(team, 'profile', user_id, { date_of_birth: '1980-01-31', time_zone: 'America/Phoenix' })
  const stream = { components: { heart_rate: [{ anchor: START, value: [120], start_offset: [0], end_offset: [1] }] } }
  await postSummary(team, 'workouts', user_id, [{ id: 'w', sport: 'Running', start_date: START, end_date: END, stream }])
  await team.api.post(`/v2/user/${user_id}/sdk_sync_progress/apple_health_kit`, {
    sync_progress: { backfill_types: {} },
    device_info: { os_version: '18', model: 'iPhone', app_bundle: 'a', app_version: '1', app_build: '1' },
  })
  await storeSamples(team, user_id, 'heartrate', [sampleAt('2026-01-31T08:00:00', 55)])
  const day = { date: '2026-01-31T00:00:00+00:00', calendar_date: '2026-01-31', steps: 5000 }
  await storeSummaries(team, user_id, 'activity', [{ key: '2026-01-31', calendar_date: '2026-01-31', document: day }])
  return { team, user_id }
}

/** How many rows of a user each table has that names a provider. */
async function countRows({ db }: TestTeam, user_id: string, provider: string): Promise<Record<string, number>> {
  const { rows: tables } = await db.pool.query(
    `select table_name as name from information_schema.columns where table_schema = 'sandbox_us' and column_name in ('provider', 'user_id')
     group by 1 having count(*) = 2 order by 1`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const { rows } = await db.pool.query(`select count(*)::integer as n from "${name}" where user_id = $1 and provider = $2`, [
      user_id,
      provider,
    ])
    if (rows[0].n) counts[name] = rows[0].n
  }
  const { rows } = await db.pool.query(
    'select count(*)::integer as n from chunk c join series s on s.id = c.series_id where c.user_id = $1 and s.provider = $2',
    [user_id, provider],
  )
  return rows[0].n ? { ...counts, chunk: rows[0].n } : counts
}

describe('ending a connection', () => {
  test('with delete_data leaves no row and no event of its provider, and all of others', async () => {
    const { team, user_id } = await person()
    const before = await countRows(team, user_id, 'apple_health_kit')
    const tables = [
      'connection',
      'device',
      'historical_pull',
      'phone_sync',
      'resource_state',
      'series',
      'summary',
      'workout_stream',
    ]
    for (const name of [...tables, 'chunk', 'day_record', 'repeated_post']) assert(before[name]! > 0, name)
    const ofRing = await countRows(team, user_id, 'oura')
    const known = (await events(team)).map(({ data }) => data.provider ?? data.source.provider)
    assert(known.includes('apple_health_kit') && known.includes('oura'))
    assert.equal((await team.api.get(`/v2/user/${user_id}`)).body.fallback_birth_date.value, '1980-01-31')
    const { status, body } = await team.api.delete(`/v2/user/${user_id}/apple_health_kit?delete_data=true`)
    assert.deepEqual([status, body], [200, { success: true }])
    assert.deepEqual(await countRows(team, user_id, 'apple_health_kit'), {})
    assert.deepEqual(await countRows(team, user_id, 'oura'), ofRing)
    assert.deepEqual(Object.keys((await read(team, user_id, 'heartrate')).groups), ['oura'])
    const { activity } = await list(team, 'activity', user_id)
    assert.deepEqual(
      activity.map(({ steps }: { steps: number }) => steps),
      [5000],
    )
    const left = (await events(team)).map(({ data }) => data.provider ?? data.source.provider)
    assert.deepEqual([...new Set(left)], ['oura'])
    const user = (await team.api.get(`/v2/user/${user_id}`)).body
    assert.deepEqual([user.fallback_birth_date, user.fallback_time_zone], [null, null])
  })

  test('with delete_data leaves no event whose body is deleted, because it may be of its provider', async () => {
    const { team, user_id } = await person()
    await team.db.pool.query('delete from event_body where team_id = $1', [team.team])
    const path = `/v1/events?user_id=${user_id}&limit=250`
    const types = async () => (await team.api.get(path)).body.data.map(({ type }: { type: string }) => type) as string[]
    const isOfData = (type: string) => /^(?:daily|historical)\.data\./.test(type)
    assert((await types()).some(isOfData))
    assert.equal((await team.api.delete(`/v2/user/${user_id}/apple_health_kit?delete_data=true`)).status, 200)
    assert.deepEqual((await types()).filter(isOfData), [])
  })

  test('without it keeps the data, which can be deleted later, once', async () => {
    const { team, user_id } = await person()
    const path = `/v2/user/${user_id}/apple_health_kit`
    assert.equal((await team.api.delete(path)).status, 200)
    assert.deepEqual(Object.keys((await read(team, user_id, 'heartrate')).groups).toSorted(), ['apple_health_kit', 'oura'])
    assert.equal((await team.api.delete(`${path}?delete_data=false`)).status, 404)
    assert.equal((await team.api.delete(`${path}?delete_data=true`)).status, 200)
    assert.deepEqual(Object.keys((await read(team, user_id, 'heartrate')).groups), ['oura'])
    assert.equal((await team.api.delete(`${path}?delete_data=true`)).status, 404)
    const { body } = await post(team, user_id, 'heartrate', [sentSample('09:00:00', 61)])
    assert.equal(body.created, 1, 'what comes later is new')
  })

  test('by the access token of a phone deletes no data', async () => {
    const { team, user_id } = await person()
    const tokens = await signIn(team, user_id)
    const remove = (query: string) =>
      client(undefined).call('DELETE', `/v2/user/${user_id}/apple_health_kit${query}`, undefined, bearer(tokens))
    assert.equal((await remove('?delete_data=true')).status, 403)
    assert.equal((await countRows(team, user_id, 'apple_health_kit')).connection, 1)
    assert.equal((await remove('')).status, 200)
    assert(Object.keys(await countRows(team, user_id, 'apple_health_kit')).includes('series'))
  })
})
