// Link codes over HTTP. Source: users-wearables.md 2.1, 16.4.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { bearer, exchange, readSignInToken } from '../../../test/support/phones.ts'
import { asOwner, assembled, cells, client, createTestTeam, type Reply, type TestTeam } from '../../../test/support/server.ts'
import { Problem } from '../../platform/runtime/problem.ts'

const anyone = client(undefined)

async function given() {
  const team = await createTestTeam()
  return { team, user_id: await team.user() }
}

const refusal = ({ status, body }: Reply): unknown[] => [status, body.detail?.error_type, body.detail?.link_error_type]

describe('a link code', () => {
  const create = (team: TestTeam, user_id: string, more = '') => team.api.post(`/v2/link/code/create?user_id=${user_id}${more}`)
  const redeem = (code: string) => anyone.post(`/v2/link/code/exchange?code=${code}&grant_type=sign_in_token`)

  test('is exchanged once, without a key, for a sign-in token of its user', async () => {
    const { team, user_id } = await given()
    const { status, body } = await create(team, user_id)
    assert.equal(status, 200)
    assert.match(body.code, /^skus[0-9a-f]{8}$/)
    assert.equal(body.exchange_url, `tryvital://tryvital?code=${body.code}`)
    const ahead_s = (Date.parse(body.expires_at) - Date.now()) / 1000
    assert(ahead_s > 3500 && ahead_s <= 3600, String(ahead_s))
    const given_ = await redeem(body.code)
    assert.equal(given_.status, 200)
    assert.deepEqual([given_.body.user_id, given_.body.team], [user_id, { name: 'Test team', logo_url: null }])
    const phone = await exchange(readSignInToken(given_.body.sign_in_token).user_token)
    assert.equal((await anyone.get(`/v2/user/${user_id}`, bearer(phone.body))).body.user_id, user_id)
    assert.deepEqual(refusal(await redeem(body.code)), [401, 'INVALID_REQUEST', undefined])
  })

  test('rule 25: is exchanged once by twenty concurrent requests', async () => {
    const { team, user_id } = await given()
    const { app, operations } = assembled()
    after(() => app.close())
    const { run } = operations.find(({ id }) => id === 'exchange_link_code')!
    const { code } = (await create(team, user_id)).body
    const asked = Array.from({ length: 20 }, async (_, i) => {
      const context = { tenant: undefined as never, cells, address: `192.0.2.${i}` }
      return run(context, { query: { code, grant_type: 'sign_in_token' } }).then(
        () => 200,
        (error: unknown) => (error instanceof Problem ? error.status : 500),
      )
    })
    assert.deepEqual((await Promise.all(asked)).toSorted(), [200, ...Array<number>(19).fill(401)])
  })

  test('expires when it says, which is at most a day ahead', async () => {
    const { team, user_id } = await given()
    const at = (seconds: number) => encodeURIComponent(new Date(Date.now() + seconds * 1000).toISOString())
    assert.equal((await create(team, user_id, `&expires_at=${at(-10)}`)).status, 422)
    assert.equal((await create(team, user_id, `&expires_at=${at(86_400 + 60)}`)).status, 422)
    const { body } = await create(team, user_id, `&expires_at=${at(80_000)}`)
    assert.equal(body.expires_at, `${new Date(Date.parse(body.expires_at)).toISOString().slice(0, 19)}+00:00`)
    await asOwner(`update sandbox_us.link_code set expires_at = now() where team_id = $1`, [team.team])
    assert.equal((await redeem(body.code)).status, 401)
  })

  test('of the oldest ends when a user has more than five, and all end when the user is deleted', async () => {
    const { team, user_id } = await given()
    const codes: string[] = []
    for (let i = 0; i < 6; i++) codes.push((await create(team, user_id)).body.code)
    assert.equal((await redeem(codes[0]!)).status, 401)
    assert.equal((await redeem(codes[1]!)).status, 200)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await redeem(codes[5]!)).status, 401)
    assert.deepEqual(refusal(await create(team, user_id)), [400, 'INVALID_USER_ID', undefined])
  })

  test('is stored as a hash only', async () => {
    const { team, user_id } = await given()
    const { code } = (await create(team, user_id)).body
    const { rows } = await asOwner('select c::text as text from sandbox_us.link_code c where team_id = $1', [team.team])
    assert(JSON.stringify(rows).includes(user_id) && !JSON.stringify(rows).includes(code))
  })

  test('rule 25: cannot be guessed: a network may send ten wrong ones in an hour, whatever else it sends', async () => {
    const { team, user_id } = await given()
    const { app, operations } = assembled()
    after(() => app.close())
    const { run } = operations.find(({ id }) => id === 'exchange_link_code')!
    const statusFor = async (code: string, address: string): Promise<number> => {
      try {
        await run({ tenant: undefined as never, cells, address }, { query: { code, grant_type: 'sign_in_token' } })
      } catch (error) {
        if (error instanceof Problem) return error.status
        throw error
      }
      return 200
    }
    const wrong = Array.from({ length: 12 }, (_, i) => `skus${i.toString(16).padStart(8, '0')}`)
    const statuses = await Promise.all(wrong.map((code) => statusFor(code, '192.0.2.1')))
    assert.deepEqual(statuses.toSorted(), [...Array<number>(10).fill(401), 429, 429])
    const { code } = (await create(team, user_id)).body
    assert.equal(await statusFor(code, '192.0.2.1'), 429)
    assert.equal(await statusFor(code, '192.0.2.2'), 200)
  })

  test('of anybody else is exchanged, however many wrong ones one owner of an IPv6 network sends', async () => {
    const { team, user_id } = await given()
    const { app, operations } = assembled()
    after(() => app.close())
    const { run } = operations.find(({ id }) => id === 'exchange_link_code')!
    const statusFor = (code: string, address: string): Promise<number> =>
      run(
        { tenant: undefined as never, cells, address, headers: {}, query: {}, body: undefined },
        { query: { code, grant_type: 'sign_in_token' } },
      ).then(
        () => 200,
        (error: unknown) => {
          if (error instanceof Problem) return error.status
          throw error
        },
      )
    // An owner of a /48 has 65,536 networks of 64 bits.
    const addresses = Array.from({ length: 60 }, (_, i) => `2001:db8:7:${i.toString(16)}::1`)
    const statuses: number[] = []
    for (const [i, address] of addresses.entries())
      statuses.push(await statusFor(`skus${i.toString(16).padStart(8, '0')}`, address))
    assert.deepEqual(statuses, [...Array<number>(10).fill(401), ...Array<number>(50).fill(429)])
    const { code } = (await create(team, user_id)).body
    assert.equal(await statusFor(code, '2001:db8:7:ffff::1'), 429)
    assert.equal(await statusFor(code, '2001:db8:8::1'), 200)
  })

  test('is not used up by an exchange that fails', async () => {
    const { team, user_id } = await given()
    const { code } = (await create(team, user_id)).body
    // A process that has not read the key yet cannot sign.
    await asOwner('alter table control.sign_in_key rename to sign_in_key_away')
    const { app } = assembled()
    after(() => app.close())
    try {
      const { statusCode } = await app.inject({
        method: 'POST',
        url: `/v2/link/code/exchange?code=${code}&grant_type=sign_in_token`,
      })
      assert.equal(statusCode, 500)
    } finally {
      await asOwner('alter table control.sign_in_key_away rename to sign_in_key')
    }
    assert.equal((await redeem(code)).status, 200)
    assert.equal((await redeem(code)).status, 401)
  })

  test('is refused in another form', async () => {
    for (const query of ['', '?code=x&grant_type=sign_in_token', '?code=skus00000000', '?code=skus00000000&grant_type=password'])
      assert.equal((await anyone.post(`/v2/link/code/exchange${query}`)).status, 422, query)
  })
})
