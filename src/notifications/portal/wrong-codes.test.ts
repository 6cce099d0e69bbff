// Guessing codes of the portal: an address that has sent too many wrong ones is answered without a look-up.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createOrder } from '../../../test/support/orders.ts'
import { assembleProcess, createTestTeam, settings } from '../../../test/support/server.ts'

test('codes are not looked up once their address has used up its quota of invalid credentials', async () => {
  const { pages, app } = assembleProcess({
    settings: { ...settings, wrong_keys_per_min: 2 },
    publicUrl: () => 'http://localhost',
  })
  after(() => app.close())
  const team = await createTestTeam()
  const { user_id } = await createOrder(team)
  const codeOf = async () => {
    const { body } = await team.api.post(`/v2/user/${user_id}/create_portal_url`, { context: 'communications' })
    return new URL(body.url as string).pathname.slice('/p/'.length)
  }
  const { answer } = pages.find(({ path, method }) => path === '/p/{code}' && method !== 'POST')!
  const open = async (code: string, address = '192.0.2.1') => {
    const request = { params: { code }, form: new URLSearchParams(), query: {}, headers: {}, address, logChange: () => {} }
    return (await answer(request)).status
  }
  const [used, fresh] = [await codeOf(), await codeOf()]
  assert.equal(await open(used), 200)
  const wrong = `${fresh.slice(0, -6)}${fresh.endsWith('A') ? 'BBBBBB' : 'AAAAAA'}`
  assert.deepEqual([await open(wrong), await open('x'), await open(wrong)], [401, 401, 429])
  // Looked up, it would be found.
  assert.equal(await open(fresh), 429)
  assert.equal(await open(used), 200)
  assert.equal(await open(fresh, '192.0.2.2'), 200)
})
