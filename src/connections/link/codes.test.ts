// Link codes over HTTP. Source: users-wearables.md 2.1, 16.4.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { bearer, exchange, readSignInToken } from '../../../test/support/phones.ts'
import { asOwner, assembleProcess, cells, client, type Reply, type TestTeam } from '../../../test/support/server.ts'
import { generateVaultKey, Vault } from '../../platform/crypto/vault.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

const anyone = client(undefined)

const refusal = ({ status, body }: Reply): unknown[] => [status, body.detail?.error_type, body.detail?.link_error_type]

describe('a link code', () => {
  const create = (team: TestTeam, user_id: string, query = '') => team.api.post(`/v2/link/code/create?user_id=${user_id}${query}`)
  const redeem = (code: string) => anyone.post(`/v2/link/code/exchange?code=${code}&grant_type=sign_in_token`)

  test('is exchanged once, without a key, for a sign-in token of its user', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { status, body } = await create(team, user_id)
    assert.equal(status, 200)
    assert.match(body.code, /^skus[0-9a-f]{8}-[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}$/)
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
    const { team, user_id } = await createTeamWithUser()
    const { app, operations } = assembleProcess()
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
    const { team, user_id } = await createTeamWithUser()
    const at = (seconds: number) => encodeURIComponent(new Date(Date.now() + seconds * 1000).toISOString())
    assert.equal((await create(team, user_id, `&expires_at=${at(-10)}`)).status, 422)
    assert.equal((await create(team, user_id, `&expires_at=${at(86_400 + 60)}`)).status, 422)
    const { body } = await create(team, user_id, `&expires_at=${at(80_000)}`)
    assert.equal(body.expires_at, `${new Date(Date.parse(body.expires_at)).toISOString().slice(0, 19)}+00:00`)
    await asOwner(`update sandbox_us.link_code set expires_at = now() where team_id = $1`, [team.team])
    assert.equal((await redeem(body.code)).status, 401)
  })

  test('of the oldest ends when a user has more than five, and all end when the user is deleted', async () => {
    const { team, user_id } = await createTeamWithUser()
    const codes: string[] = []
    for (let i = 0; i < 6; i++) codes.push((await create(team, user_id)).body.code)
    assert.equal((await redeem(codes[0]!)).status, 401)
    assert.equal((await redeem(codes[1]!)).status, 200)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await redeem(codes[5]!)).status, 401)
    assert.deepEqual(refusal(await create(team, user_id)), [400, 'INVALID_USER_ID', undefined])
  })

  test('is stored as a hash under a key outside the database, and stays valid when a newer key is added', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { code } = (await create(team, user_id)).body
    const { rows } = await asOwner('select code_hash from sandbox_us.link_code where team_id = $1', [team.team])
    const text = code.replaceAll('-', '')
    const { code_hash } = rows[0] as { code_hash: string }
    for (const plain of [code, text])
      for (const encoding of ['base64url', 'hex', 'base64'] as const)
        assert(!code_hash.includes(createHash('sha256').update(plain).digest(encoding)), encoding)
    assert(!code_hash.includes(text.slice(-8)))
    const older = generateVaultKey()
    const vault = new Vault(() => [older])
    const issued = vault.sign(text, 'link code')
    assert.deepEqual(
      [generateVaultKey(), older].map((key) =>
        new Vault(() => [generateVaultKey(), key]).signatures(text, 'link code').includes(issued),
      ),
      [false, true],
    )
  })

  test('is accepted as people type it: in any case, with or without separators, with letters that look like digits', async () => {
    const { team, user_id } = await createTeamWithUser()
    const typed: ((code: string) => string)[] = [
      (code) => code.toUpperCase(),
      (code) => code.replaceAll('-', ''),
      (code) => ` ${code.replace(/(.{4})/g, '$1 ')} `,
      (code) => code.replaceAll('-', '\u2013'),
      (code) => code.slice(0, 4) + code.slice(4).replaceAll('0', 'O').replaceAll('1', 'l'),
    ]
    for (const change of typed) {
      const { code } = (await create(team, user_id)).body
      const { status, body } = await redeem(encodeURIComponent(change(code)))
      assert.deepEqual([status, body.user_id], [200, user_id], change('skus00000001-0001-0001'))
    }
  })

  /** Exchanges codes in a process of its own, as sent from an address. */
  const attacked = () => {
    const { app, operations } = assembleProcess()
    after(() => app.close())
    const { run } = operations.find(({ id }) => id === 'exchange_link_code')!
    return (code: string, address: string): Promise<number> =>
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
  }
  const first = (i: number): string => `skus${i.toString(16).padStart(8, '0')}`

  test('of every team is exchanged while thousands of wrong ones come from thousands of networks', async () => {
    const { team, user_id } = await createTeamWithUser()
    const statusFor = attacked()
    for (let i = 0; i < 3000; i += 100) {
      const statuses = await Promise.all(
        Array.from({ length: 100 }, (_, k) => statusFor(`${first(i + k)}-0000-0000`, `198.${(i + k) >> 8}.${(i + k) & 255}.1`)),
      )
      assert(statuses.every((status) => status === 401))
    }
    const { code } = (await create(team, user_id)).body
    assert.equal(await statusFor(code, '192.0.2.1'), 200)
  })

  test('rule 25: cannot be guessed: a network may send twenty wrong ones in a minute', async () => {
    const { team, user_id } = await createTeamWithUser()
    const statusFor = attacked()
    const statuses = (guess: (i: number) => string, n: number, address: string) =>
      Promise.all(Array.from({ length: n }, (_, i) => statusFor(guess(i), address)))
    const long = (i: number) => `${first(i)}00000000`
    assert.deepEqual((await statuses(long, 22, '192.0.2.3')).toSorted(), [...Array<number>(20).fill(401), 429, 429])
    const { code } = (await create(team, user_id)).body
    assert.equal(await statusFor(code, '192.0.2.3'), 429)
    assert.equal(await statusFor(code, '192.0.2.1'), 200)
  })

  test('of which a person knows the first half has twenty wrong guesses of the other in an hour, from all networks together', async () => {
    const { team, user_id } = await createTeamWithUser()
    const statusFor = attacked()
    const { code } = (await create(team, user_id)).body
    const other = (await create(team, user_id)).body.code
    const guess = (i: number) => `${code.slice(0, 12)}-0000-${i.toString().padStart(4, '0')}`
    const statuses: number[] = []
    for (let i = 0; i < 25; i++) statuses.push(await statusFor(guess(i), `192.0.2.${i}`))
    assert.deepEqual(statuses, [...Array<number>(20).fill(401), ...Array<number>(5).fill(429)])
    assert.equal(await statusFor(code, '198.51.100.1'), 429)
    assert.equal(await statusFor(other, '198.51.100.1'), 200)
  })

  test('of another person is exchanged, however many wrong ones one owner of an IPv6 network sends', async () => {
    const { team, user_id } = await createTeamWithUser()
    const statusFor = attacked()
    // An owner of a /48 has 65,536 networks of 64 bits.
    const statuses: number[] = []
    for (let i = 0; i < 60; i++) statuses.push(await statusFor(`${first(i)}00000000`, `2001:db8:7:${i.toString(16)}::1`))
    assert.deepEqual(statuses, [...Array<number>(20).fill(401), ...Array<number>(40).fill(429)])
    const { code } = (await create(team, user_id)).body
    assert.equal(await statusFor(code, '2001:db8:7:ffff::1'), 429)
    assert.equal(await statusFor(code, '2001:db8:8::1'), 200)
  })

  test('is not used up by an exchange that fails', async () => {
    const { team, user_id } = await createTeamWithUser()
    const { code } = (await create(team, user_id)).body
    // A process that has not read the key yet cannot sign.
    await asOwner('alter table control.sign_in_key rename to sign_in_key_away')
    const { app } = assembleProcess()
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
    const codes = [
      'x',
      'skus',
      'skus0000000',
      'skus000000000',
      'xxus00000000',
      'skusu0000000',
      'skus00000000-0000-000u',
      'sk us',
      '%00',
      '%F0%9F',
    ]
    codes.push(
      'skus00000000-0000-00000',
      'skusg0000000',
      'skus\u{ff10}0000000',
      `skus00000000${'-'.repeat(100)}`,
      '-'.repeat(2000),
    )
    const queries = codes.map((code) => `?code=${encodeURIComponent(code).replaceAll('%25', '%')}&grant_type=sign_in_token`)
    queries.push(
      '',
      '?code=skus00000000',
      '?code=skus00000000&grant_type=password',
      '?code=skus00000000&code=x&grant_type=sign_in_token',
    )
    for (const query of queries) {
      const { status } = await anyone.post(`/v2/link/code/exchange${query}`)
      assert([414, 422, 400].includes(status), `${status} ${query.slice(0, 100)}`)
    }
  })
})
