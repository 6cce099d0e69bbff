import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stateCode, usStates } from '../../people/person/countries.ts'
import { zipTable } from './zip-codes.ts'

test('a ZIP code has its place, also the first and the last of the file', async () => {
  const zips = await zipTable()
  assert.deepEqual(zips.get('85004'), { lat: 33.4557, lng: -112.0686, city: 'Phoenix', state: 'AZ' })
  assert.deepEqual(zips.get('99553'), { lat: 54.143, lng: -165.7854, city: 'Akutan', state: 'AK' })
  assert.deepEqual(zips.get('00501')?.state, 'NY')
  for (const [zip, state] of [
    ['09001', 'AE'],
    ['34002', 'AA'],
    ['96365', 'AP'],
  ] as const)
    assert.deepEqual([zips.get(zip)?.city, zips.get(zip)?.state], ['APO', state])
  for (const unknown of ['00000', '99999', '8500', '850041', '-8500', '1e3', '', '85 04'])
    assert.equal(zips.get(unknown), undefined)
})

test('every ZIP code of the table is a point in a state, a territory or at a military post, in order', async () => {
  const seen: string[] = []
  for (const [zip, { lat, lng, city, state }] of await zipTable()) {
    assert.ok(Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && (lat !== 0 || lng !== 0), zip)
    assert.ok(city, zip)
    assert.ok(stateCode(state) === state || state === 'MH', `${zip} is in "${state}"`)
    seen.push(zip)
  }
  assert.ok(seen.length > 41_000)
  assert.deepEqual(seen.toSorted(), seen)
  const states = new Set([...(await zipTable()).values()].map(({ state }) => state))
  for (const state of usStates) assert.ok(states.has(state), state)
})
