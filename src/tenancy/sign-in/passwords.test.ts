import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createInvite } from '../../../test/contract/operations/requests.ts'
import { CONSOLE_HEADERS, createMember, PASSWORD, signedIn, type TestMember } from '../../../test/support/console-sessions.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { assembleProcess, cells, client, createTestTeam, expire, settings, url } from '../../../test/support/server.ts'
import { createMemberLink, createSetupLink, linkCleanup } from './one-time-links.ts'

const page = {
  post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
    client(undefined).post(`/console/api/${path}`, body, { ...CONSOLE_HEADERS, ...headers }),
}
const signIn = (email: string, password: string) => page.post('sign-in/password', { email, password })
const sessionOf = async (reply: { headers: Headers }) => {
  const cookie = reply.headers.getSetCookie()[0]!.split(';')[0]!
  return client(undefined).get('/console/api/session', { ...CONSOLE_HEADERS, cookie })
}
const memberLink = ({ id }: TestMember): Promise<string> => cells.control.plainTx((tx) => createMemberLink(tx, id))
const address = (): string => `testa-${randomUUID()}@example.com`
const WRONG = { detail: 'Email or password is wrong' }

describe('signing in with a password', () => {
  test('starts a session, however the address is written', async () => {
    const member = await createMember(await createTestTeam())
    const reply = await signIn(member.email.toUpperCase(), PASSWORD)
    assert.deepEqual([reply.status, reply.body], [200, { status: 'signed_in' }])
    assert.equal((await sessionOf(reply)).body.member.id, member.id)
  })

  test('answers the same about a wrong password, an unknown account and one without a password, and takes as long', async () => {
    const team = await createTestTeam()
    const { email } = await createMember(team)
    const without = (
      await client(undefined).post('/v1/invite/accept', { token: await createInvite(team), name: 'Testa Fictional' })
    ).body
    /** Microseconds of the processor that a request costs this process: no other load changes them much. */
    const cost = async (account: string): Promise<number> => {
      const start = process.cpuUsage()
      const reply = await signIn(account, 'some other fictional text')
      assert.deepEqual([reply.status, reply.body, reply.headers.getSetCookie()], [401, WRONG, []])
      const { user, system } = process.cpuUsage(start)
      return user + system
    }
    /** The least of several: what else the process does only adds to it. */
    const measureLeast = async (account: string): Promise<number> => {
      const costs: number[] = []
      for (let i = 0; i < 4; i++) costs.push(await cost(account))
      return Math.min(...costs)
    }
    const known = await measureLeast(email)
    for (const account of [address(), without.email]) {
      const least = await measureLeast(account)
      assert(least > known / 2, `${least} µs beside ${known}`)
    }
  })

  test('gives a new token for any earlier cookie, which stays what it was', async () => {
    const team = await createTestTeam()
    const [attacker, victim] = [await createMember(team), await createMember(team)]
    const planted = await signedIn(team, attacker)
    const cookie = planted.headers.cookie!
    const reply = await page.post('sign-in/password', { email: victim.email, password: PASSWORD }, { cookie })
    assert.equal((await sessionOf(reply)).body.member.id, victim.id)
    assert.notEqual(reply.headers.getSetCookie()[0]!.split(';')[0], cookie)
    assert.equal((await planted.get('/console/api/session')).body.member.id, attacker.id)
    const used = await page.post(
      'one-time-links/use',
      { token: await memberLink(victim), password: 'nine fictional gardens' },
      { cookie },
    )
    assert.equal((await sessionOf(used)).body.member.id, victim.id)
    assert.equal((await planted.get('/console/api/session')).body.member.id, attacker.id)
  })

  test('is limited alike for accounts that exist and that do not, also when a mail is asked for', async () => {
    const { app } = assembleProcess({ settings: { ...settings, wrong_keys_per_min: 3 } })
    const { email } = await createMember(await createTestTeam())
    const ask = async (path: string, payload: object, remoteAddress: string) => {
      const headers = { ...CONSOLE_HEADERS, 'content-type': 'application/json' }
      const { statusCode, body } = await app.inject({
        method: 'POST',
        url: `/console/api/${path}`,
        headers,
        payload,
        remoteAddress,
      })
      return `${statusCode} ${body}`
    }
    const answersFor = async (account: string, network: string) => {
      const answers: string[] = []
      for (let i = 0; i < 5; i++) {
        const password = 'a wrong fictional text'
        answers.push(await ask('sign-in/password', { email: account, password }, `${network}.${i}`))
        answers.push(await ask('password-reset', { email: account }, `${network}.${i}`))
      }
      return answers
    }
    const known = await answersFor(email, '192.0.2')
    assert(
      known.some((answer) => answer.startsWith('401 ')) && known.some((answer) => answer.startsWith('429 ')),
      known.join('\n'),
    )
    assert.deepEqual(await answersFor(address(), '198.51.100'), known)
  })

  test('is refused to pages of other origins, and without the header of the console', async () => {
    const { email } = await createMember(await createTestTeam())
    const body = { email, password: PASSWORD }
    assert.equal((await page.post('sign-in/password', body, { origin: 'https://elsewhere.example' })).status, 403)
    assert.equal((await client(undefined).post('/console/api/sign-in/password', body, { origin: url })).status, 403)
  })

  test('is limited for an address, whatever accounts it tries, and for an account, wherever from', async () => {
    const { app } = assembleProcess({ settings: { ...settings, wrong_keys_per_min: 4 } })
    const { email } = await createMember(await createTestTeam())
    const ask = async (account: string, remoteAddress: string, password = 'a wrong fictional text') =>
      (
        await app.inject({
          method: 'POST',
          url: '/console/api/sign-in/password',
          headers: { ...CONSOLE_HEADERS, 'content-type': 'application/json' },
          payload: { email: account, password },
          remoteAddress,
        })
      ).statusCode
    const sprayed = await Promise.all(Array.from({ length: 8 }, () => ask(address(), '192.0.2.1')))
    assert.deepEqual(sprayed.toSorted(), [401, 401, 401, 401, 429, 429, 429, 429])
    const guessed = await Promise.all(Array.from({ length: 8 }, (_, i) => ask(email, `198.51.100.${i}`)))
    assert.deepEqual(guessed.toSorted(), [401, 401, 401, 401, 429, 429, 429, 429])
    assert.equal(await ask(email, '203.0.113.1', PASSWORD), 429)
    assert.equal(await ask((await createMember(await createTestTeam())).email, '203.0.113.1', PASSWORD), 200)
  })
})

describe('a new password', () => {
  const refused: [why: string, password: string][] = [
    ['short', 'tulip 4711'],
    ['common', '1q2w3e4r5t6y'],
    ['common with digits around it', 'Password1234!'],
    ['digits', '123456789012'],
    ['a text again and again', 'tulip-tulip-tulip-'],
    ['the address', ''],
    ['the name', 'Testa Fictional'],
  ]
  for (const [why, password] of refused)
    test(`is refused if it is ${why}`, async () => {
      const member = await createMember(await createTestTeam())
      const token = await memberLink(member)
      const reply = await page.post('one-time-links/use', { token, password: password || member.email })
      assert.equal(reply.status, 422)
      assert.deepEqual(reply.body.detail[0].loc, ['body', 'password'])
      assert(!JSON.stringify(reply.body).includes(password || member.email))
      // The link goes on working.
      assert.equal((await page.post('one-time-links/inspect', { token })).status, 200)
    })

  test('replaces the current one, which must be given, and ends the other sessions', async () => {
    const team = await createTestTeam()
    const member = await createMember(team)
    const [one, two] = [await signedIn(team, member), await signedIn(team, member)]
    const change = async (current_password: string, password: string) =>
      (await one.call('PUT', '/console/api/password', { current_password, password })).status
    assert.equal(await change('not the current one', 'nine fictional gardens'), 400)
    assert.equal(await change(PASSWORD, 'short'), 422)
    assert.equal(await change(PASSWORD, 'nine fictional gardens'), 200)
    assert.deepEqual([(await one.get('/console/api/session')).status, (await two.get('/console/api/session')).status], [200, 401])
    assert.equal((await signIn(member.email, PASSWORD)).status, 401)
    assert.equal((await signIn(member.email, 'nine fictional gardens')).status, 200)
    const { rows } = await cells.control.pool.query('select subject from mail where recipient = $1', [member.email])
    assert.deepEqual(rows, [{ subject: 'Your password was changed' }])
    const { rows: stored } = await cells.control.pool.query('select password_hash from member_password where member_id = $1', [
      member.id,
    ])
    assert.match(stored[0].password_hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })
})

describe('a one-time link', () => {
  const password = 'nine fictional gardens'

  test('of an invite makes a member who has signed in, once', async () => {
    const team = await createTestTeam()
    const email = address()
    const token = await createInvite(team, { email })
    const { body } = await page.post('one-time-links/inspect', { token })
    assert.deepEqual(body, { kind: 'invitation', email, name: null })
    assert.deepEqual((await page.post('one-time-links/use', { token, password })).body.detail[0].loc, ['body', 'name'])
    const use = () => page.post('one-time-links/use', { token, name: 'Testa Fictional', password })
    const replies = await Promise.all(Array.from({ length: 20 }, use))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array<number>(19).fill(404)])
    const session = await sessionOf(replies.find(({ status }) => status === 200)!)
    assert.deepEqual([session.body.member.email, session.body.org.id], [email, team.org_id])
    assert.equal((await page.post('one-time-links/inspect', { token })).status, 404)
    assert.equal((await signIn(email, password)).status, 200)
  })

  test('is in the mail of an invite, for the console', async () => {
    const team = await createTestTeam()
    const email = address()
    const token = await createInvite(team, { email })
    const { rows } = await cells.control.pool.query('select body from mail where recipient = $1', [email])
    assert(rows[0].body.includes(`${url}/console/invite#token=${token}\n`))
  })

  test('to reset a password is mailed to members, and the answer does not tell who is one', async () => {
    const team = await createTestTeam()
    const member = await createMember(team)
    const former = await signedIn(team, member)
    for (const email of [address(), member.email]) {
      const { status, body } = await page.post('password-reset', { email })
      assert.deepEqual([status, body], [200, {}])
    }
    let text = ''
    await eventually(async () => {
      text = (await cells.control.pool.query('select body from mail where recipient = $1', [member.email])).rows[0]?.body ?? ''
      return text !== ''
    })
    const token = /reset#token=(ol_[\w-]{43})/.exec(text)![1]!
    const other = await memberLink(member)
    assert.deepEqual((await page.post('one-time-links/inspect', { token })).body, {
      kind: 'reset',
      email: member.email,
      name: 'Testa Fictional',
    })
    const replies = await Promise.all(Array.from({ length: 20 }, () => page.post('one-time-links/use', { token, password })))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array<number>(19).fill(404)])
    assert.deepEqual(replies.flatMap(({ headers }) => headers.getSetCookie()).length, 1, 'one session begins')
    assert.equal((await former.get('/console/api/session')).status, 401)
    for (const used of [token, other])
      assert.equal((await page.post('one-time-links/use', { token: used, password })).status, 404)
    assert.equal((await signIn(member.email, password)).status, 200)
  })

  test('ends by time, and only its hash is stored', async () => {
    const member = await createMember(await createTestTeam())
    const token = await memberLink(member)
    const { rows } = await cells.control.pool.query('select l::text as row from one_time_link l where member_id = $1', [
      member.id,
    ])
    assert(!rows[0].row.includes(token.slice(3)))
    await cells.control.pool.query(`update one_time_link set expires_at = now() - interval '1 second' where member_id = $1`, [
      member.id,
    ])
    assert.equal((await page.post('one-time-links/use', { token, password })).status, 404)
    await expire(cells.control, linkCleanup)
    assert.equal((await cells.control.pool.query('select from one_time_link where member_id = $1', [member.id])).rowCount, 0)
  })

  test('of the first administrator works once, while no member has a password', async () => {
    await createMember(await createTestTeam())
    const create = () => cells.control.plainTx(createSetupLink)
    assert.equal(await create(), undefined)
    await cells.control.pool.query('delete from member_password')
    const [token, other] = [(await create())!, (await create())!]
    assert.deepEqual((await page.post('one-time-links/inspect', { token })).body, { kind: 'setup', email: null, name: null })
    assert.equal((await page.post('one-time-links/use', { token, name: 'Testa First', password })).status, 422)
    const email = address()
    const use = (link: string) => page.post('one-time-links/use', { token: link, name: 'Testa First', email, password })
    const reply = await use(token)
    assert.equal(reply.status, 200)
    assert.equal((await sessionOf(reply)).body.role, 'org_admin')
    assert.deepEqual([(await use(token)).status, (await use(other)).status], [404, 404])
    assert.equal(await create(), undefined)
  })
})
