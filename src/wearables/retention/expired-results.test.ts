// What the results of continuous queries show after retention has deleted data that they were computed of.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { events } from '../../../test/support/samples.ts'
import { add, beats, byDay, create, daily, key, MINUTE_S, queryPath, result } from '../../../test/support/continuous-queries.ts'
import { deleteExpiredData } from '../../../test/support/retention.ts'
import { advanceClock } from '../../../test/support/orders.ts'
import type { TestTeam } from '../../../test/support/server.ts'
import { storeSummaries } from '../../../test/support/wearable-data.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

/** Deletes what is older than a day: noon of the day before it is kept, and noon two days before it is not. */
async function deleteBefore(team: TestTeam, day: string, resource: string): Promise<void> {
  const days = Math.ceil((Date.now() - Date.parse(day)) / DAY_MS)
  const { status } = await team.manage.put(`/team/${team.team}/sandbox/data_retention`, { rules: [{ resource, days }] })
  assert.equal(status, 200)
  await deleteExpiredData()
}

const changes = async ({ api }: TestTeam): Promise<{ data: object }[]> =>
  (await api.get('/v1/events?limit=50')).body.data
    .map(({ body }: { body: { event_type: string; data: { data: object }[] } }) => body)
    .filter(({ event_type }: { event_type: string }) => event_type === 'continuous_query.result_table.changed')
    .map(({ data }: { data: { data: object }[] }) => data[0])
    .toReversed()

describe('the result of a continuous query', () => {
  test('loses groups whose samples have expired, and is computed again from the rest of other groups', async () => {
    const { team, user_id } = await createTeamWithUser()
    const other = await team.user()
    const query = await create(team, daily)
    const monthly = await create(team, { ...daily, group_by: [byDay('timeseries', 'month')] })
    const steps = await create(team, {
      ...daily,
      select: [key, { func: 'sum', arg: { timeseries: 'steps', field: 'value' } }],
    })
    await add(team, user_id, ['2025-12-30T12:00:00', 40], ['2026-01-05T12:00:00', 60], ['2026-01-20T12:00:00', 80])
    await add(team, other, ['2026-01-20T12:00:00', 90])
    await advanceClock(team, MINUTE_S)
    assert.deepEqual((await result(team, user_id, monthly.id))['mean.value'], [40, 70])
    const before = await changes(team)
    await deleteBefore(team, '2026-01-15', 'heartrate')
    await advanceClock(team, 31 * MINUTE_S)
    assert.deepEqual(await result(team, user_id, query.id), { 'group_key.0': ['2026-01-20T00:00:00'], 'mean.value': [80] })
    assert.deepEqual(await result(team, user_id, monthly.id), { 'group_key.0': ['2026-01-01T00:00:00'], 'mean.value': [80] })
    assert.deepEqual((await result(team, other, query.id))['mean.value'], [90])
    assert.deepEqual((await result(team, user_id, steps.id))['group_key.0'], [])
    const changed = (await changes(team)).slice(before.length)
    assert.deepEqual(
      changed.map(({ data }) => data),
      [{ 'group_key.0': ['2026-01-01T00:00:00'], 'mean.value': [80] }],
      'a group that falls out is not reported',
    )
    assert.equal((await events(team)).length, 2, 'no event says that data was deleted')
  })

  test('loses groups whose summaries have expired', async () => {
    const { team, user_id } = await createTeamWithUser()
    const query = await create(team, {
      select: [key, { func: 'sum', arg: { activity: 'steps' } }],
      group_by: [byDay('activity')],
    })
    const days = ['2026-01-05', '2026-01-20']
    await storeSummaries(
      team,
      user_id,
      'activity',
      days.map((calendar_date, i) => ({ key: calendar_date, calendar_date, document: { steps: 100 + i } })),
    )
    await advanceClock(team, MINUTE_S)
    assert.deepEqual((await result(team, user_id, query.id))['sum.steps'], [100, 101])
    await deleteBefore(team, '2026-01-15', 'activity')
    await advanceClock(team, 31 * MINUTE_S)
    assert.deepEqual(await result(team, user_id, query.id), { 'group_key.0': ['2026-01-20T00:00:00'], 'sum.steps': [101] })
  })

  test('loses expired groups, and the values carried from them, when it is no longer evaluated', async () => {
    const { team, user_id } = await createTeamWithUser()
    const align = { carry: { mode: 'carry_forward' } }
    const archived = await create(team, { ...daily, align })
    const replaced = (await team.manage.post(`${queryPath(team)}?query_type=platform`, platform(align))).body
    const unused = await create(team, { ...daily, select: [key, { func: 'max', arg: beats }] })
    await add(team, user_id, ['2026-01-05T12:00:00', 60], ['2026-01-08T12:00:00', 70], ['2026-01-20T12:00:00', 80])
    await advanceClock(team, MINUTE_S)
    assert.equal((await result(team, user_id, archived.id))['mean.value'].length, 16)
    assert.equal((await team.manage.delete(queryPath(team, `/${archived.id}`))).status, 200)
    await create(team, daily, { slug: replaced.slug })
    await deleteBefore(team, '2026-01-07', 'heartrate')
    await advanceClock(team, 31 * MINUTE_S)
    for (const { id } of [archived, replaced]) {
      const table = await result(team, user_id, id)
      assert.deepEqual([table['group_key.0'][0], table['mean.value'].length], ['2026-01-08T00:00:00', 13])
    }
    assert.deepEqual((await result(team, user_id, unused.id))['max.value'], [70, 80])
  })
})

const platform = (align: object) => ({
  slug: `expiring-${Math.random()}`.replace('.', ''),
  title: 'A fictional query of an organization',
  query: { ...daily, align },
})
