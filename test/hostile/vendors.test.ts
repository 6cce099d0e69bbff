// What the cloud of a vendor may answer at its worst: a vendor is hostile, or another party answers in its name.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { after } from 'node:test'
import { demoIn, caller } from '../support/program.ts'
import { hostile, serveForCases, type HostileCase } from './measured-server.ts'

const PULLED_MS_MAX = 60_000
const CLIENT = { client_id: 'fictional-client', client_secret: 'fictional-client-secret' }

type Answer = (request: IncomingMessage, response: ServerResponse) => void
/** What the vendor answers now, and how often it was asked. */
let answer: Answer = (_request, response) => void response.end('{}')
let asked = 0

const vendor = createServer((request, response) => {
  asked++
  request.resume()
  answer(request, response)
})
vendor.listen(0, '127.0.0.1')
await once(vendor, 'listening')
after(() => {
  vendor.close()
  vendor.closeAllConnections()
})
const address = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`

serveForCases({ PROVIDER_URLS: ['oura', 'strava', 'withings', 'google_health'].map((name) => `${name}=${address}`).join() })

const connectedAt = new Set<string>()

/** A user who is connected to the vendor with an access token that does not expire. */
async function connectProvider({ api, user, server }: HostileCase, provider: string): Promise<string> {
  const { org_id, management_key, teams } = demoIn(server.dataDir)
  if (!connectedAt.has(provider)) {
    const path = `/v1/org/${org_id}/team_custom_credentials/sandbox/us`
    const headers = { 'x-management-key': management_key }
    const made = await caller(server.url).post(path, { team_id: teams.us, provider, ...CLIENT }, headers)
    assert.equal(made.status, 200, JSON.stringify(made.body))
    connectedAt.add(provider)
  }
  const user_id = await user()
  const connection = { access_token: 'a-token', refresh_token: 'another', provider_id: user_id, expires_at: 2_147_483_647 }
  const body = { provider, connections: [{ user_id, ...connection }], wait_for_completion: true }
  const { status, body: reply } = await api.post('/v2/link/bulk_import', body)
  assert.equal(status, 200, JSON.stringify(reply))
  return user_id
}

const json = (text: string): Answer => {
  const bytes = Buffer.from(text)
  return (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(bytes)
}

/** A refresh of a user whose vendor answers so; it waits for all pulls, or until its time is over. */
const pulls = (name: string, provider: string, worst: () => Answer, requests_max = 100) =>
  hostile(
    `a vendor: ${name}`,
    async (hostileCase) => ({ user_id: await connectProvider(hostileCase, provider), worst: worst() }),
    async ({ api }, { user_id, worst: now }) => {
      ;[answer, asked] = [now, 0]
      const started = performance.now()
      const { status, body } = await api.post(`/v2/user/refresh/${user_id}?timeout=5`)
      assert([200, 202].includes(status), JSON.stringify(body))
      answer = (_request, response) => void response.writeHead(404).end()
      assert(performance.now() - started < PULLED_MS_MAX)
      assert(asked > 0 && asked <= requests_max, `${asked} requests`)
      // Its pulls end with it.
      assert.equal((await api.call('DELETE', `/v2/user/${user_id}`)).status, 200)
    },
  )

const rates = (count: number) => {
  const first_ms = Date.now() - 86_400_000
  const rows = Array.from({ length: count }, (_, i) => {
    const at = new Date(first_ms + (i % 86_000) * 1000).toISOString()
    return `{"timestamp":"${at}","bpm":${60 + (i % 40)}}`
  })
  return `{"data":[${rows.join()}]}`
}
const days = (count: number) => {
  const first_ms = Date.now() - 86_400_000 * 300
  const rows = Array.from({ length: count }, (_, i) => {
    const day = new Date(first_ms + (i % 300) * 86_400_000).toISOString().slice(0, 10)
    return `{"id":"a${i}","day":"${day}","steps":${i}}`
  })
  return `{"data":[${rows.join()}]}`
}
const tags = (count: number) =>
  `{"data":[${`{"id":"a","start_time":"${new Date().toISOString()}","comment":"x"},`.repeat(count - 1)}{}]}`

pulls('nested lists of 18 MB', 'oura', () => json(`{"data":${'['.repeat(9_000_000)}${']'.repeat(9_000_000)}}`))
pulls('400,000 rows of heart rates', 'oura', () => json(rates(400_000)))
pulls('20,000 rows of heart rates', 'oura', () => json(rates(20_000)))
pulls('5,000 rows of heart rates', 'oura', () => json(rates(5000)))
pulls('300,000 days', 'oura', () => json(days(300_000)))
pulls('200,000 tags of one instant', 'oura', () => json(tags(200_000)))
pulls('3,500 tags of one instant', 'oura', () => json(tags(3500)))
pulls('two million numbers', 'strava', () => json(`{"id":1,"data":[${'0,'.repeat(2_000_001)}0]}`))
pulls('200,000 different names of fields', 'oura', () =>
  json(`{"data":[{${Array.from({ length: 200_000 }, (_, i) => `"n${i}":0`).join()}}]}`),
)
pulls('one text of 19 MB', 'oura', () => json(`{"data":[{"day":"${'9'.repeat(19_000_000)}"}]}`))
pulls('pages without end', 'oura', () => json('{"data":[],"next_token":"more"}'), 2000)
pulls('a body without end', 'oura', () => (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const chunk = Buffer.alloc(1_000_000, '[')
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', more)
  more()
})
pulls('a byte a second', 'oura', () => (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.write(' '), 1000)
  response.on('close', () => clearInterval(timer))
})
pulls('a gzip bomb', 'oura', () => {
  const bomb = gzipSync(Buffer.alloc(500_000_000, '['))
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb)
  }
})
pulls('redirects to itself', 'oura', () => (request, response) => {
  response.writeHead(307, { location: address + request.url }).end()
})
pulls('429 with Retry-After: 0', 'oura', () => (_request, response) => {
  response.writeHead(429, { 'retry-after': '0' }).end()
})
