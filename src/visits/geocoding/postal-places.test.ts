import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../../test/support/any-text.ts'
import { sql } from '../../platform/db/sql.ts'
import { cells } from '../../../test/support/server.ts'
import { findPlace } from './postal-places.ts'

const { queries } = cells.db('sandbox-us')
const placeIn = (country: string, postal_code: string, city?: string) => findPlace(queries, { country, postal_code, city })

test('a US place is found by ZIP and by ZIP+4, with every spelling of the country', async () => {
  const phoenix = { lat: 33.4557, lng: -112.0686, city: 'Phoenix', state: 'AZ' }
  for (const country of ['US', 'us', 'USA', 'United States']) {
    assert.deepEqual(await placeIn(country, '85004'), phoenix)
    assert.deepEqual(await placeIn(country, '85004-1234'), phoenix)
  }
})

test('a place in another country is the one of the city, else the mean of all places with the code', async () => {
  await queries.run(sql`
    insert into postal_code_location (country, postal_code, city, state, lat, lng) values
      ('DE', '10115', 'Musterstadt', 'Berlin', 52.5, 13.25), ('DE', '10115', 'Beispielhausen', 'Berlin', 52.25, 13.75),
      ('GB', 'SW1A', 'Testminster', 'England', 51.5, -0.125), ('FJ', '1', 'West', '', -17, 179.5), ('FJ', '1', 'East', '', -17, -179.5),
      ('PR', '00901', 'San Ejemplo', 'San Juan', 18.5, -66.125)`)
  assert.deepEqual(await placeIn('Germany', '10115', 'MUSTERSTADT'), {
    lat: 52.5,
    lng: 13.25,
    city: 'Musterstadt',
    state: 'Berlin',
  })
  assert.deepEqual(await placeIn('DE', '10 115'), { lat: 52.375, lng: 13.5, city: 'Beispielhausen', state: 'Berlin' })
  assert.equal((await placeIn('United Kingdom', 'sw1a 1aa'))?.city, 'Testminster')
  assert.equal(Math.abs((await placeIn('FJ', '1'))!.lng), 180)
  assert.equal((await placeIn('US', '00901'))?.city, 'San Ejemplo')
})

test('an unknown place is undefined', async () => {
  for (const [country, code] of [
    ['US', '00000'],
    ['US', ''],
    ['DE', '99999'],
    ['Nowhere', '85004'],
    ['', ''],
    ['US', '9'.repeat(5000)],
  ] as const)
    assert.equal(await placeIn(country, code), undefined)
})

test('never throws for arbitrary input', async () => {
  const text = anyText()
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('US', 'GB', 'CA', 'DE'), text, text, async (country, postal_code, city) => {
      const place = await placeIn(country, postal_code, city)
      assert.ok(place === undefined || typeof place.lat === 'number')
    }),
    { numRuns: 60 },
  )
})
