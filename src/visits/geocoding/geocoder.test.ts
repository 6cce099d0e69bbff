import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { cells, expire } from '../../../test/support/server.ts'
import { createGeocoder } from './geocoder.ts'
import { placeCleanups } from './postal-places.ts'

const db = cells.db('sandbox-eu')

/** Starts a geocoder that replies with `answer`, and records its requests. */
async function peer(answer: (request: IncomingMessage, reply: ServerResponse) => void) {
  const asked: string[] = []
  const server = createServer((request, reply) => {
    asked.push(request.url!)
    answer(request, reply)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const failures: string[] = []
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/find?key=fictional`
  return { asked, failures, locate: createGeocoder({ url: () => url, onFailure: (reason) => failures.push(reason) }) }
}

const says = (status: number, body: string) => (_: unknown, reply: ServerResponse) => void reply.writeHead(status).end(body)
const berlin = { country: 'Germany', postal_code: '10 115', city: 'Musterstadt' }

test('an unknown place is requested once, by country, postal code and city only', async () => {
  const { asked, locate } = await peer(says(200, '{"lat":52.5,"lng":13.25,"city":"Musterstadt","state":"Berlin","more":1}'))
  const place = { lat: 52.5, lng: 13.25, city: 'Musterstadt', state: 'Berlin' }
  const both = await Promise.all([locate(db, berlin), locate(db, berlin)])
  assert.deepEqual(both, [place, place])
  assert.deepEqual(await locate(db, berlin), place)
  assert.deepEqual(asked, ['/find?key=fictional&country=DE&postal_code=10115&city=musterstadt'])
})

test('known places and invalid queries cause no request', async () => {
  const { asked, locate } = await peer(says(500, ''))
  assert.equal((await locate(db, { country: 'US', postal_code: '85004' }))?.city, 'Phoenix')
  assert.equal(await locate(db, { country: 'Nowhere', postal_code: '1' }), undefined)
  assert.equal(await locate(db, { country: 'DE', postal_code: '' }), undefined)
  assert.deepEqual(asked, [])
})

test('caches negative results', async () => {
  const { asked, failures, locate } = await peer(says(404, 'no'))
  for (let i = 0; i < 2; i++) assert.equal(await locate(db, { country: 'DE', postal_code: '00001' }), undefined)
  assert.deepEqual([asked.length, failures], [1, []])
})

test('backs off after a failure and caches nothing', async () => {
  for (const [answer, reason] of [
    [says(500, 'oops'), 'the response has status 500'],
    [says(302, ''), 'the response has status 302'],
    [says(200, 'oops'), 'the response is not a JSON object'],
    [says(200, '{"lat":"52","lng":13}'), 'the response has no coordinates'],
    [says(200, '{"lat":152,"lng":13}'), 'the response has no coordinates'],
    [says(200, JSON.stringify({ lat: 1, lng: 1, city: 'x'.repeat(20_000) })), 'the response is too long'],
    [(_: unknown, reply: ServerResponse) => void reply.destroy(), 'UND_ERR_SOCKET'],
  ] as const) {
    const { asked, failures, locate } = await peer(answer)
    for (let i = 0; i < 2; i++) assert.equal(await locate(db, { country: 'DE', postal_code: '00002' }), undefined)
    assert.deepEqual([asked.length, failures], [1, [reason]])
  }
  const { locate } = await peer(says(200, '{"lat":1,"lng":2}'))
  assert.deepEqual(await locate(db, { country: 'DE', postal_code: '00002' }), { lat: 1, lng: 2, city: '', state: '' })
})

test('a request to a geocoder that does not respond times out', async () => {
  const { failures, locate } = await peer(() => {})
  assert.equal(await locate(db, { country: 'DE', postal_code: '00003' }), undefined)
  assert.deepEqual(failures, ['TimeoutError'])
})

test('without a configured geocoder no request is made', async () => {
  assert.equal(await createGeocoder({ url: () => undefined })(db, { country: 'DE', postal_code: '00004' }), undefined)
})

test('cached places expire after half a year, negative results after a day', async () => {
  await db.queries.run(sql`
    insert into geocoding_cache (country, postal_code, city, lat, lng, result_city, result_state, fetched_at) values
      ('IS', '1', '', 64, -22, 'Old', '', '2001-01-01'), ('IS', '2', '', null, null, '', '', '2001-01-01')`)
  const { locate, asked } = await peer(says(404, ''))
  assert.equal((await locate(db, { country: 'IS', postal_code: '1' }))?.city, 'Old')
  assert.equal(await locate(db, { country: 'IS', postal_code: '2' }), undefined)
  assert.deepEqual(asked, [])
  await expire(db, ...placeCleanups)
  assert.equal(await locate(db, { country: 'IS', postal_code: '1' }), undefined)
  assert.equal(await locate(db, { country: 'IS', postal_code: '2' }), undefined)
  assert.equal(asked.length, 2)
  await expire(db, ...placeCleanups)
  assert.equal(await locate(db, { country: 'IS', postal_code: '1' }), undefined)
  assert.equal(asked.length, 2)
})
