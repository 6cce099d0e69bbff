// Operations with a link token, called by a page of a customer in a browser. Source: https://fetch.spec.whatwg.org/#http-cors-protocol.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestTeam, url } from '../../../test/support/server.ts'

const ORIGIN = 'https://clinic.example'
const PROVIDERS = '/v2/link/providers'

const preflight = (path: string, method: string) =>
  fetch(url + path, {
    method: 'OPTIONS',
    headers: {
      origin: ORIGIN,
      'access-control-request-method': method,
      'access-control-request-headers': 'content-type,x-vital-link-token',
    },
  })

describe('a browser that shows a page of another origin', () => {
  test('may call the operations of link tokens, after a preflight', async () => {
    for (const [method, path] of [
      ['GET', PROVIDERS],
      ['GET', '/v2/link/provider/oauth/oura'],
      ['POST', '/v2/link/provider/password/peloton'],
      ['POST', '/v2/link/provider/password/peloton/complete_mfa'],
      ['POST', '/v2/link/provider/email/freestyle_libre'],
      ['GET', '/v2/team/link/config'],
    ] as const) {
      const { status, headers } = await preflight(path, method)
      assert.equal(status, 204, path)
      assert.deepEqual(
        ['origin', 'methods', 'headers', 'credentials'].map((name) => headers.get(`access-control-allow-${name}`)),
        ['*', method, '*', null],
        path,
      )
      assert.equal(headers.get('access-control-max-age'), '600')
    }
  })

  test('may read their answers, errors too', async () => {
    const team = await createTestTeam()
    const { body } = await team.api.post('/v2/link/token', { user_id: await team.user() })
    for (const [token, status] of [
      [body.link_token, 200],
      ['none', 401],
    ]) {
      const reply = await fetch(url + PROVIDERS, { headers: { origin: ORIGIN, 'x-vital-link-token': token } })
      assert.equal(reply.status, status)
      assert.equal(reply.headers.get('access-control-allow-origin'), '*')
      assert.match(reply.headers.get('access-control-expose-headers')!, /retry-after/)
    }
  })

  test('may call no operation of keys, and no path or method that there is not', async () => {
    const team = await createTestTeam()
    for (const [method, path, status] of [
      ['GET', '/v2/user', 405],
      ['POST', '/v2/link/token', 405],
      ['DELETE', PROVIDERS, 405],
      ['GET', '/v2/link/nothing', 404],
    ] as const) {
      const reply = await preflight(path, method)
      assert.deepEqual([reply.status, reply.headers.get('access-control-allow-origin')], [status, null], path)
    }
    const { status, headers } = await team.api.get('/v2/user', { origin: ORIGIN })
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [200, null])
  })
})
