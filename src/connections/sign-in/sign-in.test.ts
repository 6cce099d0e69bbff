// How a phone signs in, and how its tokens end. Source: users-wearables.md 16.2, 16.4.
import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { Problem } from '../../platform/runtime/problem.ts'
import {
  askForTokens,
  bearer,
  exchange,
  EXCHANGE,
  readSignInToken,
  refresh,
  signIn,
  createSignInToken,
} from '../../../test/support/phones.ts'
import {
  asOwner,
  assembleProcess,
  cells,
  client,
  createTestTeam,
  settings,
  url,
  type TestTeam,
} from '../../../test/support/server.ts'

const read = (user_id: string, tokens: { access_token: string }) => client(undefined).get(`/v2/user/${user_id}`, bearer(tokens))

const errorOf = ({ status, body }: Awaited<ReturnType<typeof exchange>>) => [status, body.detail?.error_type]

const createTeamWithUser = async (): Promise<{ team: TestTeam; user_id: string }> => {
  const team = await createTestTeam()
  return { team, user_id: await team.user() }
}

describe('a sign-in token', () => {
  test('is a JWT that clients can verify, signed with the published key', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { status, body } = await team.api.post(`/v2/user/${user_id}/sign_in_token`)
    assert.deepEqual([status, body.user_id], [200, user_id])
    const { public_key, user_token, header, claims } = readSignInToken(body.sign_in_token as string)
    assert.deepEqual(header, { alg: 'RS256', typ: 'JWT' })
    assert.equal(claims.iss, 'id-signer-stg-us@vital-id-stg-us.iam.gserviceaccount.com')
    assert.deepEqual([claims.uid, claims.tenant_id], [user_id, team.team])
    assert.equal((claims.claims as Record<string, unknown>).vital_team_id, team.team)
    const [head, payload, signature] = user_token.split('.')
    const signed = Buffer.from(`${head}.${payload}`)
    assert(verify('RSA-SHA256', signed, createPublicKey(public_key), Buffer.from(signature!, 'base64url')))
    assert.equal((await team.api.post(`/v2/user/${randomUUID()}/sign_in_token`)).status, 404)
  })

  test('is exchanged on both paths for tokens that reach the user', async () => {
    const { team, user_id } = await createTeamWithUser()
    for (const path of ['/v1/token', '/auth/v1/token']) {
      const { status, body } = await exchange(await createSignInToken(team, user_id), path)
      assert.deepEqual([status, body.expires_in], [200, 3600])
      for (const token of [body.access_token, body.refresh_token]) assert.match(token, /^[\w.-]+$/)
      assert.equal((await read(user_id, body)).body.user_id, user_id)
      assert.equal((await read(user_id.toUpperCase(), body)).body.user_id, user_id)
    }
  })

  test('is exchanged again after a lost answer, and no more once the phone has refreshed', async () => {
    const { team, user_id } = await createTeamWithUser()
    const token = await createSignInToken(team, user_id)
    await exchange(token)
    const { body } = await exchange(token)
    assert.equal((await read(user_id, body)).status, 200)
    const { body: later } = await refresh(body.refresh_token)
    assert.deepEqual(errorOf(await exchange(token)), [401, 'reauthentication_required'])
    assert.equal((await read(user_id, later)).status, 401)
  })

  test('that was changed, has expired, or that another key signed, is not valid', async (t) => {
    const { team, user_id } = await createTeamWithUser()
    const token = await createSignInToken(team, user_id)
    const [head, payload, signature] = token.split('.') as [string, string, string]
    const encoded = (claims: object) => Buffer.from(JSON.stringify(claims)).toString('base64url')
    const claims = JSON.parse(Buffer.from(payload, 'base64').toString()) as object
    const other = encoded({ ...claims, uid: await team.user() })
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const forged = sign('RSA-SHA256', Buffer.from(`${head}.${other}`), privateKey).toString('base64url')
    const none = `${encoded({ alg: 'none', typ: 'JWT' })}.${other}.`
    for (const wrong of [`${head}.${other}.${signature}`, `${head}.${other}.${forged}`, none, `${none}x`, 'x', `${token}.x`])
      assert.deepEqual(errorOf(await exchange(wrong)), [401, 'invalid_token'])
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 16 * 60_000 })
    assert.deepEqual(errorOf(await exchange(token)), [401, 'invalid_token'])
  })

  test('does not sign in a deleted user', async () => {
    const { team, user_id } = await createTeamWithUser()
    const token = await createSignInToken(team, user_id)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.deepEqual(errorOf(await exchange(token)), [401, 'invalid_token'])
  })
})

describe('a refresh token', () => {
  test('is stored as a hash only', async () => {
    const { team, user_id } = await createTeamWithUser()
    const tokens = await signIn(team, user_id)
    const { rows } = await asOwner('select s::text as text from sandbox_us.phone_session s where team_id = $1', [team.team])
    const text = JSON.stringify(rows)
    assert(text.includes(user_id))
    for (const token of [tokens.refresh_token, tokens.access_token]) assert(!text.includes(token.slice(-40)))
  })

  test('rule 15: works again after a lost answer, and every token that it led to works', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { refresh_token } = await signIn(team, user_id)
    const answers = [
      await refresh(refresh_token),
      await refresh(refresh_token),
      ...(await Promise.all([refresh(refresh_token), refresh(refresh_token)])),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    for (const { body } of answers) assert.equal((await read(user_id, body)).status, 200)
    assert.equal((await refresh(answers[0]!.body.refresh_token)).status, 200)
  })

  test('that another in use has replaced ends the session', async () => {
    const { team, user_id } = await createTeamWithUser()
    const first = await signIn(team, user_id)
    const { body: second } = await refresh(first.refresh_token)
    const { body: third } = await refresh(second.refresh_token)
    assert.equal((await read(user_id, third)).status, 200)
    assert.deepEqual(errorOf(await refresh(first.refresh_token)), [401, 'reauthentication_required'])
    assert.equal((await read(user_id, third)).status, 401)
    assert.deepEqual(errorOf(await refresh(third.refresh_token)), [401, 'invalid_token'])
  })

  test('of a session that was not used for 180 days asks to sign in again', async () => {
    const { team, user_id } = await createTeamWithUser()
    const tokens = await signIn(team, user_id)
    await asOwner(`update sandbox_us.phone_session set expires_at = now() where team_id = $1`, [team.team])
    assert.deepEqual(errorOf(await refresh(tokens.refresh_token)), [401, 'reauthentication_required'])
  })

  test('is not accepted as an access token, and an access token not as a refresh token', async () => {
    const { team, user_id } = await createTeamWithUser()
    const tokens = await signIn(team, user_id)
    assert.equal((await read(user_id, { access_token: tokens.refresh_token })).status, 401)
    assert.deepEqual(errorOf(await refresh(tokens.access_token)), [401, 'invalid_token'])
    assert.deepEqual(errorOf(await exchange(tokens.refresh_token)), [401, 'invalid_token'])
  })
})

describe('an access token', () => {
  test('expires after 75 minutes', async (t) => {
    const { team, user_id } = await createTeamWithUser()
    const tokens = await signIn(team, user_id)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 74 * 60_000 })
    assert.equal((await read(user_id, tokens)).status, 200)
    t.mock.timers.setTime(Date.now() + 2 * 60_000)
    assert.equal((await read(user_id, tokens)).status, 401)
  })

  test('ends on sign-out of its phone; tokens of other phones and users stay', async () => {
    const { team, user_id } = await createTeamWithUser()
    const [phone, tablet, other] = [await signIn(team, user_id), await signIn(team, user_id), await team.user()]
    const others = await signIn(team, other)
    const path = `/v2/user/${user_id}/revoke_app_api_key`
    assert.equal((await client(undefined).post(path, undefined, bearer(phone))).status, 200)
    assert.equal((await read(user_id, phone)).status, 401)
    assert.deepEqual(errorOf(await refresh(phone.refresh_token)), [401, 'invalid_token'])
    assert.equal((await read(user_id, tablet)).status, 200)
    assert.equal((await team.api.post(path)).status, 200)
    assert.equal((await read(user_id, tablet)).status, 401)
    assert.equal((await read(other, others)).status, 200)
  })

  test('ends when its user is deleted, and does not return when the deletion is undone', async () => {
    const { team, user_id } = await createTeamWithUser()
    const tokens = await signIn(team, user_id)
    assert.equal((await read(user_id, tokens)).status, 200)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await read(user_id, tokens)).status, 401)
    assert.deepEqual(errorOf(await refresh(tokens.refresh_token)), [401, 'invalid_token'])
    assert.equal((await team.api.post(`/v2/user/undo_delete?user_id=${user_id}`)).status, 200)
    assert.equal((await read(user_id, tokens)).status, 401)
    assert.deepEqual(errorOf(await refresh(tokens.refresh_token)), [401, 'invalid_token'])
  })

  test('of the oldest session ends when a user has more than 20', async () => {
    const { team, user_id } = await createTeamWithUser()
    const first = await signIn(team, user_id)
    const second = await signIn(team, user_id)
    for (let i = 0; i < 19; i++) await signIn(team, user_id)
    assert.deepEqual(errorOf(await refresh(first.refresh_token)), [401, 'invalid_token'])
    assert.equal((await refresh(second.refresh_token)).status, 200)
  })

  test('lets a phone connect its user, post samples and read them', async () => {
    const { team, user_id } = await createTeamWithUser()
    const headers = bearer(await signIn(team, user_id))
    const phone = client(undefined)
    const connected = await phone.post('/v2/link/provider/manual/apple_health_kit', { user_id }, headers)
    assert.equal(connected.status, 200)
    const at = { start_date: '2026-01-31T09:30:00Z', end_date: '2026-01-31T09:30:00Z' }
    const posted = await phone.post(
      `/v2/timeseries/${user_id}/heartrate`,
      { stage: 'daily', provider: 'apple_health_kit', data: [{ value: 61, unit: 'bpm', ...at }] },
      headers,
    )
    assert.deepEqual([posted.status, posted.body.created], [200, 1])
    const { body } = await phone.get(`/v2/timeseries/${user_id}/heartrate/grouped?start_date=2026-01-31`, headers)
    assert.equal(body.groups.apple_health_kit[0].data[0].value, 61)
  })

  test('shares no idempotency keys with its team', async () => {
    const { team, user_id } = await createTeamWithUser()
    const phone = client(undefined)
    const path = '/v2/link/provider/manual/apple_health_kit'
    const key = { 'x-idempotency-key': randomUUID() }
    const headers = { ...key, ...bearer(await signIn(team, user_id)) }
    assert.equal((await phone.post(path, { user_id }, headers)).status, 200)
    assert.equal((await team.api.post(path, { user_id: await team.user() }, key)).status, 200)
    assert.equal((await phone.post(path, { user_id }, headers)).status, 200)
  })
})

describe('the token endpoint', () => {
  test('looks up at most as many tokens as the limit for wrong keys of an address, and no token without the right form', async () => {
    const { app, operations } = assembleProcess({ settings: { ...settings, wrong_keys_per_min: 2 }, publicUrl: () => url })
    after(() => app.close())
    const { run } = operations.find(({ id }) => id === 'exchange_token')!
    const statusFor = async (refresh_token: string, address: string): Promise<number> => {
      try {
        await run({ tenant: undefined as never, cells, address }, { body: { grant_type: 'refresh_token', refresh_token } })
      } catch (error) {
        if (error instanceof Problem) return error.status
        throw error
      }
      return 200
    }
    const { team, user_id } = await createTeamWithUser()
    const { refresh_token } = await signIn(team, user_id)
    const wrong = refresh_token.replace(user_id, randomUUID())
    let taken = 0
    const count = () => taken++
    cells.db('sandbox-us').pool.on('acquire', count)
    const statuses = [await statusFor('rt_x', '192.0.2.1')]
    assert.equal(taken, 0)
    for (let i = 0; i < 3; i++) statuses.push(await statusFor(wrong, '192.0.2.1'))
    cells.db('sandbox-us').pool.off('acquire', count)
    assert.deepEqual(statuses, [401, 401, 429, 429])
    assert.equal(await statusFor(refresh_token, '192.0.2.1'), 429)
    assert.equal(await statusFor(refresh_token, '192.0.2.2'), 200)
  })

  test('does not count tokens of ended sessions against an address, which other phones may share', async () => {
    const { app, operations } = assembleProcess({ settings: { ...settings, wrong_keys_per_min: 2 }, publicUrl: () => url })
    after(() => app.close())
    const { run } = operations.find(({ id }) => id === 'exchange_token')!
    const call = (refresh_token: string) =>
      Promise.resolve(
        run(
          { tenant: undefined as never, cells, address: '192.0.2.7' },
          { body: { grant_type: 'refresh_token', refresh_token } },
        ),
      )
    const { team, user_id } = await createTeamWithUser()
    const [ended, other] = [await signIn(team, user_id), await signIn(team, await team.user())]
    await team.db.pool.query(`update phone_session set ended_at = now() where team_id = $1 and user_id = $2`, [
      team.team,
      user_id,
    ])
    for (let i = 0; i < 5; i++) await assert.rejects(call(ended.refresh_token), { status: 401 })
    await call(other.refresh_token)
  })

  test('rejects forms that are incomplete, unknown or doubled', async () => {
    const wrong: Record<string, string>[] = [
      {},
      { grant_type: 'password' },
      { grant_type: 'refresh_token' },
      { grant_type: EXCHANGE, subject_token: 'x' },
      { grant_type: EXCHANGE, subject_token_type: 'urn:junction:sign-in-token' },
      { grant_type: 'refresh_token', refresh_token: 'x'.repeat(5000) },
    ]
    for (const form of wrong) assert.equal((await askForTokens(form)).status, 422, JSON.stringify(form))
    const body = 'grant_type=refresh_token&refresh_token=x&refresh_token=y'
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
    assert.equal((await fetch(`${url}/v1/token`, { method: 'POST', body, headers })).status, 422)
  })
})
