// Offsets of zones of the IANA database and of its links.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { localDate, validZone, zoneOffset } from './zones.ts'

const HOUR = 3600

test('a link has the offsets of the zone that it means, in both halves of every year', () => {
  const lines = readFileSync(new URL('../../../test/support/time-zones.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n')
  const links = lines.map((line) => line.split(' ')).filter(([, target]) => target !== undefined) as [string, string][]
  assert.equal(links.length, 151)
  for (const [link, target] of links)
    for (const year of [1975, 1990, 2007, 2016, 2026])
      for (const month of [0, 6]) {
        const at_ms = Date.UTC(year, month, 15, 12)
        assert.equal(zoneOffset(link, at_ms), zoneOffset(target, at_ms), `${link} ${year}`)
      }
})

test('zones without an area, and Etc zones, have the offsets of their names', () => {
  const [winter, summer] = [Date.UTC(2026, 0, 15, 12), Date.UTC(2026, 6, 15, 12)]
  const expected: [string, number, number][] = [
    ['UTC', 0, 0],
    ['GMT', 0, 0],
    ['GB', 0, HOUR],
    ['Japan', 9 * HOUR, 9 * HOUR],
    ['US/Pacific', -8 * HOUR, -7 * HOUR],
    ['EST', -5 * HOUR, -5 * HOUR],
    ['EST5EDT', -5 * HOUR, -4 * HOUR],
    ['NZ', 13 * HOUR, 12 * HOUR],
    ['Etc/GMT+5', -5 * HOUR, -5 * HOUR],
    ['Etc/GMT-14', 14 * HOUR, 14 * HOUR],
  ]
  for (const [zone, inWinter, inSummer] of expected)
    assert.deepEqual([validZone(zone), zoneOffset(zone, winter), zoneOffset(zone, summer)], [zone, inWinter, inSummer], zone)
  assert.equal(localDate('Etc/GMT+5', Date.UTC(2026, 0, 31, 3)), '2026-01-30')
})

test('abbreviations, offsets and unknown names are not zones', () => {
  for (const zone of ['PST', 'IST', 'AST', '+02:00', 'Mars/Base', 'SystemV/PST8', '']) assert.equal(validZone(zone), null, zone)
})
