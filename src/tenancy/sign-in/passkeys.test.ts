import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CONSOLE_HEADERS, createMember, PASSWORD, signedIn, type TestMember } from '../../../test/support/console-sessions.ts'
import { SoftwarePasskey } from '../../../test/support/software-passkey.ts'
import { client, createTestTeam, url } from '../../../test/support/server.ts'

/** Passkeys belong to a name, never to an address. */
const ORIGIN = url.replace('127.0.0.1', 'localhost')
const headers = { ...CONSOLE_HEADERS, origin: ORIGIN, host: new URL(ORIGIN).host }
const post = (path: string, body: unknown, cookie = '') =>
  client(undefined).post(`/console/api/${path}`, body, { ...headers, ...(cookie && { cookie }) })
const readCookie = (reply: { headers: Headers }, name: string): string =>
  reply.headers
    .getSetCookie()
    .map((text) => text.split(';')[0]!)
    .find((text) => text.startsWith(`${name}=`) && !text.endsWith('=')) ?? ''
const attemptOf = (reply: { headers: Headers }) => readCookie(reply, 'drawbridge_sign_in')

/** A member with a passkey, and a page on which the member has signed in. */
async function memberWithPasskey() {
  const team = await createTestTeam()
  const member = await createMember(team)
  const { token } = await signedIn(team, member)
  const session = `drawbridge_session=${token}`
  const passkey = new SoftwarePasskey()
  const start = await post('passkeys/options', {}, session)
  const response = passkey.register(start.body, ORIGIN)
  const add = (name = 'Laptop') => post('passkeys', { name, response }, `${session}; ${attemptOf(start)}`)
  const { status, body } = await add()
  assert.equal(status, 200)
  return { member, passkey, session, passkey_id: body.id as string, add }
}

const signInWith = async (passkey: SoftwarePasskey) => {
  const start = await post('sign-in/passkey/options', {})
  return post('sign-in/passkey', { response: passkey.signIn(start.body, ORIGIN) }, attemptOf(start))
}
const signInWithPassword = ({ email }: TestMember) => post('sign-in/password', { email, password: PASSWORD })
const memberOf = async (reply: { headers: Headers }) =>
  (await client(undefined).get('/console/api/session', { ...headers, cookie: readCookie(reply, 'drawbridge_session') })).body
    .member

describe('a passkey', () => {
  test('signs its member in alone, each time with another challenge', async () => {
    const { member, passkey } = await memberWithPasskey()
    const reply = await signInWith(passkey)
    assert.deepEqual([reply.status, reply.body], [200, { status: 'signed_in' }])
    assert.equal((await memberOf(reply)).id, member.id)
    const start = await post('sign-in/passkey/options', {})
    const answer = () => post('sign-in/passkey', { response }, attemptOf(start))
    const response = passkey.signIn(start.body, ORIGIN)
    assert.deepEqual([(await answer()).status, (await answer()).status], [200, 401])
    const other = await post('sign-in/passkey/options', {})
    assert.equal((await post('sign-in/passkey', { response }, attemptOf(other))).status, 401)
  })

  test('is asked for after the password, and that of another member does not count', async () => {
    const { member, passkey } = await memberWithPasskey()
    const stranger = await memberWithPasskey()
    const ask = async () => {
      const reply = await signInWithPassword(member)
      assert.deepEqual([reply.status, reply.body.status], [200, 'second_factor'])
      assert.equal(readCookie(reply, 'drawbridge_session'), '')
      return reply
    }
    const first = await ask()
    const wrong = stranger.passkey.signIn(first.body.options, ORIGIN)
    assert.equal((await post('sign-in/passkey', { response: wrong }, attemptOf(first))).status, 401)
    const second = await ask()
    const reply = await post('sign-in/passkey', { response: passkey.signIn(second.body.options, ORIGIN) }, attemptOf(second))
    assert.equal((await memberOf(reply)).id, member.id)
  })

  test('is refused if it answers a page of another origin, is unknown, or alone shows no owner', async () => {
    const { passkey } = await memberWithPasskey()
    Object.assign(passkey.flaws, { origin: 'https://elsewhere.example' })
    assert.equal((await signInWith(passkey)).status, 401)
    Object.assign(passkey.flaws, { origin: undefined, isUnverified: true })
    assert.equal((await signInWith(passkey)).status, 401)
    Object.assign(passkey.flaws, { isUnverified: false })
    assert.equal((await signInWith(passkey)).status, 200)
    assert.equal((await signInWith(new SoftwarePasskey())).status, 401)
  })

  test('is added once, listed, and removed by its member alone; then the password is enough', async () => {
    const { member, session, passkey, passkey_id, add } = await memberWithPasskey()
    const stranger = await memberWithPasskey()
    assert.equal((await add()).status, 400)
    const list = async () => (await client(undefined).get('/console/api/passkeys', { ...headers, cookie: session })).body.passkeys
    assert.deepEqual(
      (await list()).map(({ id, name }: Record<string, string>) => [id, name]),
      [[passkey_id, 'Laptop']],
    )
    const remove = (cookie: string) =>
      client(undefined).call('DELETE', `/console/api/passkeys/${passkey_id}`, undefined, { ...headers, cookie })
    assert.equal((await remove(stranger.session)).status, 404)
    assert.equal((await remove(session)).status, 200)
    assert.deepEqual(await list(), [])
    assert.equal((await signInWith(passkey)).status, 401)
    assert.deepEqual((await signInWithPassword(member)).body, { status: 'signed_in' })
  })
})
