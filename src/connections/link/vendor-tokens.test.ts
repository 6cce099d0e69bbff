// What a provider answers with its tokens: texts that cannot be stored or sent leave no user connected, and no error of ours.
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { connectedProviders, cookieOf, get, createTeamWithLink, peer, press } from '../../../test/support/link-pages.ts'
import { asOwner } from '../../../test/support/server.ts'

afterEach(() => {
  peer.answer = {}
})

async function returnFromVendor(answer: Record<string, unknown>) {
  const { team, user_id, link_token } = await createTeamWithLink()
  const left = await press(`/link/consent?token=${link_token}&provider=strava`)
  const back = await peer.decide(left.to!)
  peer.account += 1
  peer.answer = answer
  const { status, location } = await get(back, cookieOf(left.headers))
  return { team, user_id, status, result: location && new URL(location).searchParams.get('state') }
}

describe('the return from a provider', () => {
  test('connects a user whose scopes have texts that no scope has, without these', async () => {
    for (const scope of [
      'read,\0,activity:read_all',
      'read \ud800 activity:read_all',
      `read ${'é'.repeat(9)} activity:read_all`,
    ]) {
      const { team, user_id, status, result } = await returnFromVendor({ scope })
      assert.deepEqual(
        [status, result, await connectedProviders(team, user_id)],
        [307, 'success', ['strava']],
        JSON.stringify(scope),
      )
      const { rows } = await asOwner('select scopes from sandbox_us.provider_grant where user_id = $1', [user_id])
      assert.deepEqual(rows, [{ scopes: ['read', 'activity:read_all'] }])
    }
  })

  test('creates no connection for tokens that headers cannot contain, or for a list of scopes that is too long', async () => {
    for (const answer of [
      { access_token: 'a\r\nx-injected: 1' },
      { access_token: 'a\0' },
      { access_token: '\ud800' },
      { access_token: 'a'.repeat(100_000) },
      { refresh_token: 'r\0' },
      { refresh_token: 'r'.repeat(100_000) },
      { scope: 's '.repeat(50_000) },
    ]) {
      const { team, user_id, status, result } = await returnFromVendor(answer)
      assert.deepEqual(
        [status, result, await connectedProviders(team, user_id)],
        [307, 'error', []],
        JSON.stringify(answer).slice(0, 60),
      )
    }
  })
})
