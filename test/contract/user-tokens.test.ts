// The access token of a phone reaches its user and nothing else, for every operation there is. Source: users-wearables.md 0, 16.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import type { Operation } from '../../src/platform/http/operation.ts'
import { bearer, signIn } from '../support/phones.ts'
import { client, createTestTeam, type Reply, type TestTeam } from '../support/server.ts'
import { managing } from './operations/management-cases.ts'
import { describeReply, testEach, forTeams, success } from './operations/operation-cases.ts'
import { keyNeeded, places, target, unknownIds, valid, type Request } from './operations/requests.ts'
import { rowsOf } from './operations/rows.ts'

const permitted = forTeams.filter(({ userTokens }) => userTokens !== undefined)
const others = forTeams.filter(({ userTokens }) => userTokens === undefined)

const ask = (operation: Operation, request: Request, headers: Record<string, string>): Promise<Reply> =>
  client(undefined).call(operation.method, target(operation.path, request), request.body, { ...keyNeeded(operation), ...headers })

/** The same request about a user, wherever it may name one. */
const aboutUser = (user_id: string, { path, query, body }: Request, { params }: Operation): Request => ({
  path: 'user_id' in ((params as { properties?: object } | undefined)?.properties ?? {}) ? { ...path, user_id } : path,
  query,
  body: typeof body === 'object' && body !== null && 'user_id' in body ? { ...body, user_id } : body,
})

const REFUSED = { detail: 'The access token of a user does not permit this' }

test('the operations that accept it are these, and each names its user, or one record of a user', () => {
  assert.deepEqual(permitted.map(({ id }) => id).toSorted(), [
    'connect_manual_provider',
    'deregister_provider',
    'generate_link_token',
    'get_activity',
    'get_activity_raw',
    'get_body',
    'get_body_raw',
    'get_connected_providers',
    'get_devices_raw',
    'get_electrocardiogram',
    'get_meal',
    'get_menstrual_cycle',
    'get_profile',
    'get_profile_raw',
    'get_sdk_sync_state',
    'get_sleep',
    'get_sleep_cycle',
    'get_sleep_raw',
    'get_sleep_stream',
    'get_sleep_with_streams',
    'get_timeseries',
    'get_timeseries_blood_pressure',
    'get_timeseries_cholesterol_hdl',
    'get_timeseries_cholesterol_ldl',
    'get_timeseries_cholesterol_total',
    'get_timeseries_cholesterol_triglycerides',
    'get_timeseries_grouped',
    'get_user',
    'get_user_device',
    'get_user_devices',
    'get_workout_stream',
    'get_workouts',
    'get_workouts_raw',
    'post_activity',
    'post_blood_pressure',
    'post_body',
    'post_electrocardiogram',
    'post_meal',
    'post_menstrual_cycle',
    'post_profile',
    'post_sdk_sync_progress',
    'post_sleep',
    'post_timeseries',
    'post_workouts',
    'refresh_user_data',
    'revoke_app_api_key',
    'start_sdk_historical_stage',
  ])
  for (const operation of permitted) {
    const named = places(operation).map(({ part, path }) => [part, ...path].join('.'))
    const expected: Record<string, string[]> = {
      get_workout_stream: ['path.workout_id'],
      get_sleep_stream: ['path.sleep_id'],
      get_user_device: ['path.user_id', 'path.device_id'],
    }
    assert.deepEqual(named, expected[operation.id] ?? [`${operation.userTokens}.user_id`], operation.id)
  }
  assert(contents.operations.every(({ auth, userTokens }) => auth === 'team' || userTokens === undefined))
})

describe("a user's access token", async () => {
  const [team, stranger] = [await createTestTeam(), await createTestTeam()]
  const [own, other, foreign] = [await team.user(), await team.user(), await stranger.user()]
  const tokens = await signIn(team, own)
  const headers = bearer(tokens)
  /** What was asked without a right leaves a line in the access log, and nothing else. */
  const LOGS = new Set(['access_line', 'access_log', 'access_day'])
  const state = async (owner: TestTeam) => Object.entries(await rowsOf(owner)).filter(([name]) => !LOGS.has(name))
  let earlier: unknown
  before(async () => {
    earlier = [await state(team), await state(stranger)]
  })
  after(async () => {
    assert.deepEqual([await state(team), await state(stranger)], earlier)
  })

  testEach('is refused by every other operation of the team, also about its own user', others, async (operation) => {
    for (const user_id of [own, other, foreign]) {
      const reply = await ask(operation, aboutUser(user_id, unknownIds(operation), operation), headers)
      assert.deepEqual([reply.status, reply.body], [403, REFUSED], describeReply(reply))
    }
  })

  const aboutUsers = permitted.filter(({ userTokens }) => userTokens !== 'record')
  testEach('reaches no other user of the team, of another team, or that does not exist', aboutUsers, async (operation) => {
    for (const user_id of [other, foreign, randomUUID()]) {
      const reply = await ask(operation, aboutUser(user_id, unknownIds(operation), operation), headers)
      assert.deepEqual([reply.status, reply.body], [403, REFUSED], describeReply(reply))
    }
  })

  const aboutRecords = permitted.filter(({ userTokens }) => userTokens === 'record')
  testEach('reaches no record of another user of the team', aboutRecords, async (operation) => {
    const another = await createTestTeam()
    const request = await valid(another, operation)
    const headersOf = async (user_id: string) => bearer(await signIn(another, user_id))
    const unknown = await ask(operation, unknownIds(operation), await headersOf(await another.user()))
    const reply = await ask(operation, request, await headersOf(await another.user()))
    assert.equal(reply.status, 404, describeReply(reply))
    assert.deepEqual(reply.body, unknown.body)
  })

  testEach('is no management key', managing, async (operation) => {
    const reply = await ask(operation, unknownIds(operation, team), headers)
    assert.equal(reply.status, 401, describeReply(reply))
  })

  test('is refused by a path that names another user, whatever user the query names', async () => {
    assert.equal((await client(undefined).get(`/v2/user/${other}?user_id=${own}`, headers)).status, 403)
  })
})

describe("a user's access token reaches its own user", async () => {
  const team = await createTestTeam()
  /** The user of the record in the path. */
  const ownerOf = async ({ path }: Request): Promise<string> =>
    (await team.db.pool.query('select user_id from summary where id = $1', [Object.values(path)[0]])).rows[0].user_id

  testEach('by an operation that accepts it', permitted, async (operation) => {
    const request = await valid(team, operation)
    const user_id =
      request.path.user_id ?? (request.body as { user_id?: string } | undefined)?.user_id ?? (await ownerOf(request))
    const reply = await ask(operation, request, bearer(await signIn(team, user_id)))
    assert(success(reply), describeReply(reply))
  })
})
