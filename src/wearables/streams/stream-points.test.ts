// Streams from values at instants, and the lines that ways come to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mapOf, sentPolyline, STREAM_MAX, StreamPoints } from './stream-points.ts'

test('the polyline of a way is that of the example of the format, and its summary has fewer points', () => {
  const points = new StreamPoints()
  const places = [
    [38.5, -120.2],
    [40.7, -120.95],
    [43.252, -126.453],
  ] as const
  for (const [i, [lat, lng]] of places.entries()) {
    points.put('lat', i * 1000, lat)
    points.put('lng', i * 1000, lng)
  }
  // A second without a place is no part of the way.
  points.put('heartrate', 9000, 120)
  assert.equal(mapOf(points.stream('key')!)!.polyline, '_p~iF~ps|U_ulLnnqC_mqNvxq`@')
  const long = new StreamPoints()
  for (let i = 0; i < 20_000; i++) {
    long.put('lat', i * 1000, 60 + i / 1e5)
    long.put('lng', i * 1000, 24)
  }
  const { polyline, summary_polyline } = mapOf(long.stream('key')!)!
  assert(summary_polyline!.length < 3000 && polyline!.length < 30_000 && polyline!.length > summary_polyline!.length)
})

test('one place does not make a way, and a workout without places has no way', () => {
  const points = new StreamPoints()
  points.put('lat', 0, 60)
  points.put('lng', 0, 24)
  points.put('heartrate', 1000, 120)
  assert.equal(mapOf(points.stream('key')!), null)
  assert.equal(new StreamPoints().stream('key'), undefined)
})

test('values that cannot be meant are left out, the last one of a second counts, and a stream has a limit', () => {
  const points = new StreamPoints()
  for (const value of [0, -1, 301, NaN, Infinity, null, undefined]) points.put('heartrate', 0, value)
  points.put('lat', 0, 91)
  points.put('power', NaN, 100)
  assert.equal(points.stream('key'), undefined)
  points.put('heartrate', 5100, 100)
  points.put('heartrate', 5900, 110.4)
  points.put('power', 1000, 200)
  assert.deepEqual(points.stream('key'), { key: 'key', time: [1, 5], lists: { heartrate: [null, 110], power: [200, null] } })
  for (let i = 0; i < STREAM_MAX + 10; i++) points.put('distance', i * 1000, i)
  assert.equal(points.stream('key')!.time.length, STREAM_MAX)
})

test('a line that a vendor sends is kept if it has the characters of one', () => {
  assert.equal(sentPolyline('_p~iF~ps|U'), '_p~iF~ps|U')
  for (const value of ['', 'a b', 'x'.repeat(100_001), 7, null, '\0']) assert.equal(sentPolyline(value), null)
})
