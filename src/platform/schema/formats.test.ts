// Formats of single values: text, ids, email addresses, time zones, instants, dates.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Fault } from './fault.ts'
import { isTimeZone, parseTimestamp } from './formats.ts'
import { validate, RuleError } from './request-validation.ts'
import { usualInstant } from './usual-timestamps.ts'
import { DateOnly, Email, OpenEnum, Text, Timestamp, TimeZone, Uuid, type TSchema } from './schema.ts'

const Color = OpenEnum(['red', 'Green', 'blue-ish'])
const even = Text({ rule: (value) => (value.length % 2 ? new RuleError('must be even') : value.toUpperCase()) })

/** The parsed value; for a rejected one the type of the only error. */
function outcome(schema: TSchema, input: unknown, mode: 'json' | 'text' = 'json'): { value: unknown } | { rejection: string } {
  const faults: Fault[] = []
  const value = validate(schema, input, ['body'], faults, mode)
  assert.ok(faults.length <= 1)
  return faults[0] ? { rejection: faults[0].type } : { value }
}

describe('text', () => {
  test('counts characters as people do, not UTF-16 units', () => {
    assert.deepEqual(outcome(Text({ maxLength: 3 }), '🧪🧪🧪'), { value: '🧪🧪🧪' })
    assert.deepEqual(outcome(Text({ maxLength: 3 }), '🧪🧪🧪🧪'), { rejection: 'string_too_long' })
    assert.deepEqual(outcome(Text({ minLength: 2 }), '🧪🧪'), { value: '🧪🧪' })
  })

  test('is normalized by its rule', () => {
    assert.deepEqual(outcome(even, 'abcd'), { value: 'ABCD' })
  })

  test('of an enumeration is taken in any case and kept as listed', () => {
    for (const [given, value] of [
      ['red', 'red'],
      ['RED', 'red'],
      ['green', 'Green'],
      ['BLUE-ISH', 'blue-ish'],
    ] as const) {
      assert.deepEqual(outcome(Color, given), { value })
      assert.deepEqual(outcome(Color, given, 'text'), { value })
    }
  })

  test('that is a uuid is taken in any case and kept in lower case', () => {
    const id = '0190AbCd-EF01-7234-89ab-CDEF01234567'
    assert.deepEqual(outcome(Uuid, id), { value: id.toLowerCase() })
    for (const other of [
      id.replaceAll('-', ''),
      `{${id}}`,
      `urn:uuid:${id}`,
      ` ${id}`,
      `${id}\n`,
      id.slice(1),
      id.replace('A', 'G'),
      '',
    ])
      assert.deepEqual(outcome(Uuid, other), { rejection: 'uuid_parsing' }, JSON.stringify(other))
  })

  test('that is an email address needs one @ and a domain, and at most 254 characters', () => {
    for (const good of ['testa@example.com', 'testa+kit@mail.example.co.uk', "o'testa@example.org", 'tésta@exämple.com'])
      assert.deepEqual(outcome(Email, good), { value: good })
    for (const bad of [
      '',
      'testa',
      'testa@',
      '@example.com',
      'testa@example',
      'testa@@example.com',
      'testa@example..com',
      'testa@.example.com',
      'testa@example.com.',
      'testa @example.com',
      'testa@example.com\n',
      'Testa <testa@example.com>',
      'a@example.com,b@example.com',
    ])
      assert.deepEqual(outcome(Email, bad), { rejection: 'value_error' }, JSON.stringify(bad))
    assert.deepEqual(outcome(Email, `${'t'.repeat(242)}@example.com`), { value: `${'t'.repeat(242)}@example.com` })
    assert.deepEqual(outcome(Email, `${'t'.repeat(243)}@example.com`), { rejection: 'string_too_long' })
  })

  test('that is a time zone is a name of the IANA database, links included, and nothing else', () => {
    // Release 2025b, without `Factory`, which stands for no zone: a name a line, and for a link the zone that it means.
    const names = readFileSync(new URL('../../../test/support/time-zones.txt', import.meta.url), 'utf8')
      .trim()
      .split('\n')
    assert.equal(names.length, 597)
    for (const line of names) {
      const [name = ''] = line.split(' ')
      assert.deepEqual(outcome(TimeZone, name), { value: name })
    }
    const abbreviations = ['PST', 'CST', 'IST', 'JST', 'AST', 'ACT', 'BST', 'NST', 'UTC+5', 'GMT+5', 'Z']
    const places = ['Europe', 'Paris', 'Europe/Atlantis', 'europe paris', 'Etc/', 'Etc/Unknown', 'Factory', 'SystemV/PST8']
    for (const zone of [...abbreviations, ...places, '+02:00', '-08', 'Etc/GMT+15', `Europe/${'x'.repeat(50)}`, '']) {
      assert.equal(isTimeZone(zone), false, zone)
      assert.deepEqual(outcome(TimeZone, zone), { rejection: 'value_error' }, zone)
    }
  })
})

describe('an instant', () => {
  const instants: [string, string][] = [
    ['2024-05-06T07:08:09.000Z', '2024-05-06T07:08:09.000Z'],
    ['2024-05-06T07:08:09Z', '2024-05-06T07:08:09.000Z'],
    ['2024-05-06T07:08:09z', '2024-05-06T07:08:09.000Z'],
    ['2024-05-06T07:08:09+05:00', '2024-05-06T02:08:09.000Z'],
    ['2024-05-06T07:08:09-05:30', '2024-05-06T12:38:09.000Z'],
    ['2024-05-06T07:08:09.000+02:00', '2024-05-06T05:08:09.000Z'],
    ['2024-05-06T07:08:09+0200', '2024-05-06T05:08:09.000Z'],
    ['2024-05-06T07:08:09+02', '2024-05-06T05:08:09.000Z'],
    ['2024-05-06T07:08:09+00:00', '2024-05-06T07:08:09.000Z'],
    ['2024-05-06T07:08:09', '2024-05-06T07:08:09.000Z'],
    ['2024-05-06T07:08', '2024-05-06T07:08:00.000Z'],
    ['2024-05-06 07:08:09', '2024-05-06T07:08:09.000Z'],
    ['2024-05-06 07:08:09 +02:00', '2024-05-06T05:08:09.000Z'],
    ['2024-05-06t07:08:09', '2024-05-06T07:08:09.000Z'],
    ['2024/05/06', '2024-05-06T00:00:00.000Z'],
    ['2024/05/06 07:08:09', '2024-05-06T07:08:09.000Z'],
    ['2024-05-06', '2024-05-06T00:00:00.000Z'],
    ['2024-05-06T07:08:09.1', '2024-05-06T07:08:09.100Z'],
    ['2024-05-06T07:08:09.12', '2024-05-06T07:08:09.120Z'],
    ['2024-05-06T07:08:09,123', '2024-05-06T07:08:09.123Z'],
    ['2024-05-06T07:08:09.123456Z', '2024-05-06T07:08:09.123Z'],
    ['2024-05-06T07:08:09.999999999Z', '2024-05-06T07:08:09.999Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000Z'],
    ['2024-12-31T23:59:59Z', '2024-12-31T23:59:59.000Z'],
    ['2024-01-01T00:30:00+01:00', '2023-12-31T23:30:00.000Z'],
    ['2024-02-29T23:30:00-01:00', '2024-03-01T00:30:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['0099-02-28', '0099-02-28T00:00:00.000Z'],
    ['0004-02-29', '0004-02-29T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ]
  for (const [given, meant] of instants)
    test(`may be written ${given}`, () => assert.deepEqual(outcome(Timestamp, given), { value: meant }))

  const none = [
    '',
    '2024',
    '2024-05',
    '2024-5-6',
    '24-05-06',
    '20240506',
    '2024-05-06T',
    '2024-05-06T07',
    '2024-05-06T07:08:9',
    '2024-05-06T07:08:09.',
    '2024-05-06T07:08:09.1234567890',
    '2024-05-06T07:08:09 Europe/Paris',
    '2024-05-06T07:08:09Z ',
    ' 2024-05-06T07:08:09Z',
    '2024-05-06T07:08:09Z\n',
    '2024-05-06T24:00:00',
    '2024-05-06T07:60:00',
    '2024-05-06T07:08:60',
    '2024-00-06',
    '2024-13-06',
    '2024-05-00',
    '2024-04-31',
    '2023-02-29',
    '1900-02-29',
    '2100-02-29',
    '0000-01-01',
    '10000-01-01',
    '+2024-05-06',
    '-2024-05-06',
    '2024-05-06T07:08:09+24:00',
    '2024-05-06T07:08:09+99:99',
    '2024-05-06T07:08:09+05:60',
    '2024-05-06T07:08:09+5',
    // Written within the years that have four digits, meant outside of them.
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    'yesterday',
    '1714979289',
  ]
  for (const given of none)
    test(`may not be written ${JSON.stringify(given)}`, () =>
      assert.deepEqual(outcome(Timestamp, given), { rejection: 'datetime_parsing' }))

  test('is text, not a number of seconds', () => {
    assert.deepEqual(outcome(Timestamp, 1714979289), { rejection: 'string_type' })
  })

  test('is the same instant whether it is read by its usual form or by the calendar', () => {
    const pad = (n: number, length = 2) => String(n).padStart(length, '0')
    const parts = fc.tuple(
      fc.integer({ min: 0, max: 9999 }),
      ...[13, 32, 25, 61, 61].map((max) => fc.integer({ min: 0, max })),
      fc.constantFrom('', '.000', '.250', '.1', '.x00', '.00x', '.0x0'),
      fc.constantFrom('Z', 'z', '', '+00:00'),
    ) as fc.Arbitrary<[number, number, number, number, number, number, string, string]>
    fc.assert(
      fc.property(parts, ([year, month, day, hour, minute, second, fraction, zone]) => {
        const text = `${pad(year, 4)}-${pad(month)}-${pad(day)}T${pad(hour)}:${pad(minute)}:${pad(second)}${fraction}${zone}`
        const at = parseTimestamp(text)?.instant
        assert.deepEqual(outcome(Timestamp, text), at ? { value: at.toISOString() } : { rejection: 'datetime_parsing' }, text)
        assert.equal(usualInstant(text) ?? at?.getTime(), at?.getTime(), text)
      }),
      { numRuns: 3000 },
    )
  })

  test('reports whether it was a date only', () => {
    assert.equal(parseTimestamp('2024-05-06')?.dateOnly, true)
    assert.equal(parseTimestamp('2024/05/06')?.dateOnly, true)
    assert.equal(parseTimestamp('2024-05-06T00:00')?.dateOnly, false)
  })
})

describe('a date', () => {
  test('may be a date or an instant at midnight, of which the date as written is kept', () => {
    for (const [given, date] of [
      ['1990-01-31', '1990-01-31'],
      ['1990/01/31', '1990-01-31'],
      ['2024-02-29', '2024-02-29'],
      ['1990-01-31T00:00', '1990-01-31'],
      ['1990-01-31T00:00:00', '1990-01-31'],
      ['1990-01-31 00:00:00', '1990-01-31'],
      ['1990-01-31T00:00:00Z', '1990-01-31'],
      ['1990-01-31T00:00:00.000Z', '1990-01-31'],
      ['1990-01-31T00:00:00.000000+05:00', '1990-01-31'],
      ['1990-01-31T00:00-05:00', '1990-01-31'],
    ] as const)
      assert.deepEqual(outcome(DateOnly, given), { value: date }, given)
  })

  test('may not be an instant at any other time of day', () => {
    for (const given of [
      '1990-01-31T12:00:00Z',
      '1990-01-31T00:00:01',
      '1990-01-31T00:00:30Z',
      '1990-01-31T00:00:00.001Z',
      '1990-01-31T00:00:00.000000001',
      '1990-01-31 00:01',
    ])
      assert.deepEqual(outcome(DateOnly, given), { rejection: 'date_from_datetime_inexact' }, given)
  })

  test('must be in the calendar', () => {
    for (const given of ['2023-02-29', '1990-02-30', '1990-13-01', '0000-01-01', '31.01.1990', '01/31/1990', '1990-1-31', ''])
      assert.deepEqual(outcome(DateOnly, given), { rejection: 'date_from_datetime_parsing' }, given)
  })
})
