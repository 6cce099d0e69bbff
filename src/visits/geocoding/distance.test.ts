import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { boxesAround, chordFromMiles, milesBetween, milesFromChord, timeZoneAt, unitVector } from './distance.ts'
import { formats } from '../../platform/schema/formats.ts'

const point = fc.record({
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lng: fc.double({ min: -180, max: 180, noNaN: true }),
})

test('milesBetween returns great-circle distances', () => {
  const [nashville, losAngeles] = [
    { lat: 36.12, lng: -86.67 },
    { lat: 33.94, lng: -118.4 },
  ]
  assert.equal(Math.round(milesBetween(nashville, losAngeles)), 1794)
  assert.equal(milesBetween(nashville, nashville), 0)
  assert.equal(Math.round(milesBetween({ lat: 0, lng: 179.5 }, { lat: 0, lng: -179.5 })), 69)
  assert.equal(Math.round(milesBetween({ lat: 90, lng: 0 }, { lat: -90, lng: 77 })), 12437)
})

test('distance is the same in both directions and at most half the circumference of the Earth', () => {
  fc.assert(
    fc.property(point, point, (a, b) => {
      const miles = milesBetween(a, b)
      assert.ok(Math.abs(miles - milesBetween(b, a)) < 1e-6)
      assert.ok(miles >= 0 && miles < 12_438)
    }),
  )
})

test('converting miles to a chord and back returns the same miles', () => {
  fc.assert(
    fc.property(point, point, (a, b) => {
      const [from, to] = [unitVector(a), unitVector(b)]
      const line = Math.hypot(...from.map((figure, i) => figure - to[i]!))
      // Near the antipode neither is exact.
      const miles = milesBetween(a, b)
      assert.ok(Math.abs(milesFromChord(line) - miles) < (miles > 12_000 ? 1 : 1e-6), `${milesFromChord(line)} and ${miles}`)
      assert.ok(Math.abs(milesFromChord(chordFromMiles(miles)) - miles) < (miles > 12_000 ? 1 : 1e-6))
    }),
  )
})

test('boxesAround contains every point within the radius, also at the poles and at the 180th meridian', () => {
  const offset = fc.double({ min: -6, max: 6, noNaN: true })
  fc.assert(
    fc.property(point, offset, offset, fc.constantFrom(10, 25, 100), (center, north, east, radius) => {
      const lat = Math.max(-90, Math.min(90, center.lat + north))
      const other = { lat, lng: ((((center.lng + east + 180) % 360) + 360) % 360) - 180 }
      if (milesBetween(center, other) > radius) return
      const inside = boxesAround(center, radius).some(
        (box) =>
          other.lat >= box.south - 1e-9 &&
          other.lat <= box.north + 1e-9 &&
          other.lng >= box.west - 1e-9 &&
          other.lng <= box.east + 1e-9,
      )
      assert.ok(inside, `${JSON.stringify(other)} is near ${JSON.stringify(center)}`)
    }),
    { numRuns: 2000 },
  )
})

test('a point on land or at sea has a time zone, and an invalid point has no time zone', async () => {
  assert.equal(await timeZoneAt(33.4557, -112.0686), 'America/Phoenix')
  assert.equal(await timeZoneAt(40.7484, -73.9967), 'America/New_York')
  for (const [lat, lng] of [
    [91, 0],
    [0, 181],
    [Number.NaN, 0],
  ] as const)
    assert.equal(await timeZoneAt(lat, lng), undefined)
  await fc.assert(
    fc.asyncProperty(point, async ({ lat, lng }) => {
      const zone = (await timeZoneAt(lat, lng))!
      assert.equal(formats['iana-time-zone']!(zone), zone)
    }),
  )
})
