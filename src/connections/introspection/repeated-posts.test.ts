// Clients that send the same data again and again: found, counted and shown.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sentSample, post } from '../../../test/support/samples.ts'
import { asOwner, createTestTeam, metrics, type TestTeam } from '../../../test/support/server.ts'

const readRepeatedPosts = async ({ api }: TestTeam, query = '') => (await api.get(`/v2/introspect/repeated_posts${query}`)).body
const storeRepeatedPost = ({ team }: TestTeam, user_id: string, posts: number, age = '1 hour') =>
  asOwner(
    `update sandbox_us.repeated_post set posts = $3, first_at = last_at - $4::interval where team_id = $1 and user_id = $2`,
    [team, user_id, posts, age],
  )
const rows = async ({ db, team }: TestTeam) =>
  (await db.pool.query<{ posts: number }>('select posts from repeated_post where team_id = $1', [team])).rows.map(
    ({ posts }) => posts,
  )
const readRepeatedTotal = async () => {
  const { values } = await metrics.registry.getSingleMetric('drawbridge_repeated_posts_total')!.get()
  return values.find(({ labels }) => labels.cell === 'sandbox-us')?.value ?? 0
}
const same = [sentSample('09:30:00', 70)]

test('a client that repeats a post a hundred times within a day is shown to the team and counted once', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const before = await readRepeatedTotal()
  for (let i = 0; i < 3; i++) await post(team, user_id, 'heartrate', same)
  assert.deepEqual(await rows(team), [2])
  await storeRepeatedPost(team, user_id, 98)
  await post(team, user_id, 'heartrate', same)
  assert.deepEqual(await readRepeatedPosts(team), { data: [], next_cursor: null })
  for (let i = 0; i < 2; i++) {
    await post(team, user_id, 'heartrate', same)
    // New data in between does not hide it.
    await post(team, user_id, 'heartrate', [sentSample('10:30:00', 80 + i)])
  }
  const { data } = await readRepeatedPosts(team)
  const { first_post_at, last_post_at, ...one } = data[0]
  assert.deepEqual([data.length, one], [1, { user_id, provider: 'apple_health_kit', resource: 'heartrate', posts: 101 }])
  assert(Date.parse(first_post_at) < Date.parse(last_post_at))
  assert.equal(await readRepeatedTotal(), before + 1)
})

test('the count begins again a day after its first post, and ends a day after its last one', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  for (let i = 0; i < 2; i++) await post(team, user_id, 'heartrate', same)
  await storeRepeatedPost(team, user_id, 500, '25 hours')
  assert.equal((await readRepeatedPosts(team)).data.length, 1)
  await post(team, user_id, 'heartrate', same)
  assert.deepEqual([await rows(team), (await readRepeatedPosts(team)).data], [[1], []])
  await storeRepeatedPost(team, user_id, 500)
  await asOwner(`update sandbox_us.repeated_post set last_at = last_at - interval '25 hours' where team_id = $1`, [team.team])
  assert.deepEqual((await readRepeatedPosts(team)).data, [])
})

test('posts that change something, have no data or are rejected do not count; posts to a paused connection do', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  await post(team, user_id, 'heartrate', [])
  await post(team, user_id, 'heartrate', same)
  await post(team, user_id, 'heartrate', [sentSample('09:30:00', 71)])
  assert.equal((await post(team, user_id, 'heartrate', [sentSample('09:30:00', 'NaN' as never)])).status, 422)
  assert.deepEqual(await rows(team), [])
  await asOwner(`update sandbox_us.connection set status = 'paused' where team_id = $1`, [team.team])
  await post(team, user_id, 'heartrate', [])
  await post(team, user_id, 'heartrate', same)
  assert.deepEqual(await rows(team), [1])
})

test('pages lead through users and resources, filters keep one user or provider, and a deleted user is hidden', async () => {
  const team = await createTestTeam()
  const users = [await team.user(), await team.user()].toSorted()
  const [first, second] = users as [string, string]
  for (const [user_id, resource, provider] of [
    [first, 'steps', 'health_connect'],
    [first, 'heartrate', 'health_connect'],
    [second, 'heartrate', 'apple_health_kit'],
  ] as const)
    for (let i = 0; i < 2; i++) await post(team, user_id, resource, same, { provider })
  for (const user_id of users) await storeRepeatedPost(team, user_id, 100)
  const found: string[] = []
  for (let next: string | null = ''; next !== null;) {
    const page = await readRepeatedPosts(team, `?limit=1${next && `&next_cursor=${next}`}`)
    found.push(...page.data.map((entry: { user_id: string; resource: string }) => `${entry.user_id} ${entry.resource}`))
    next = page.next_cursor
  }
  assert.deepEqual(found, [`${first} heartrate`, `${first} steps`, `${second} heartrate`])
  assert.equal((await readRepeatedPosts(team, `?user_id=${first}`)).data.length, 2)
  assert.equal((await readRepeatedPosts(team, '?provider=apple_health_kit')).data.length, 1)
  assert.equal((await team.api.get('/v2/introspect/repeated_posts?next_cursor=abc')).status, 400)
  await team.api.delete(`/v2/user/${first}`)
  assert.equal((await readRepeatedPosts(team)).data.length, 1)
})
