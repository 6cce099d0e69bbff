// What users have entered at Oura: notes, a weight, and how hard a workout was.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { OuraPeer, ouraTag, ouraWorkout } from '../../../../test/support/vendors/oura.ts'
import { pullResource } from '../../../../test/support/vendors/pulled.ts'
import { assertFailure, listRecords, listSamples } from '../../../../test/support/vendors/vendor-server.ts'
import { oura } from './oura.ts'

const USER = 'oura-user'

const notesOf = async (peer: OuraPeer) =>
  listSamples(await pullResource(oura, peer, USER, 'note'), 'note').map(({ at_ms, length_ms, zone_s, type }) => [
    new Date(at_ms).toISOString(),
    length_ms,
    zone_s,
    (JSON.parse(type!) as unknown[]).slice(1),
  ])

test('the words of a tag are a note, tags of one instant share a note, and a tag without words has no note', async () => {
  const peer = await new OuraPeer().start()
  peer.page = 1
  peer.put(
    USER,
    'enhanced_tag',
    ouraTag('1', '2026-01-30T08:00:00+02:00', { comment: ' A fictional breakfast ', tag_type_code: 'tag_generic_example' }),
    ouraTag('2', '2026-01-30T08:00:00+02:00', {
      custom_name: 'Travel',
      comment: 'By train',
      end_time: '2026-01-30T10:00:00+02:00',
    }),
    ouraTag('3', '2026-01-30T09:00:00+02:00', { tag_type_code: 'tag_generic_example', comment: '  ' }),
    ouraTag('4', '2026-01-31T09:00:00.000', { custom_name: 'A local time' }),
    ouraTag('5', 'one morning', { comment: 'At no time', start_day: '2026-01-31' }),
    ouraTag('6', '2026-01-31T10:00:00+00:00', { comment: 'With a \0 in it' }),
  )
  assert.deepEqual(await notesOf(peer), [
    ['2026-01-30T06:00:00.000Z', 7_200_000, 7200, ['A fictional breakfast; Travel: By train', ['unspecified']]],
    ['2026-01-31T09:00:00.000Z', 0, 0, ['A local time', ['unspecified']]],
  ])
})

test('a long note is cut, without half a character at its end', async () => {
  const peer = await new OuraPeer().start()
  peer.put(USER, 'enhanced_tag', ouraTag('1', '2026-01-30T08:00:00+00:00', { comment: `${'a'.repeat(999)}😀` }))
  const [[, , , [content]]] = (await notesOf(peer)) as [[string, number, number, [string]]]
  assert.deepEqual([content.length, content.isWellFormed(), content.startsWith('aaa')], [1000, true, true])
})

test('notes need the scope of tags', async () => {
  const peer = await new OuraPeer().start()
  await assertFailure(pullResource(oura, peer, USER, 'note', ['daily', 'personal']), 'scope_missing')
})

test('a workout has a duration with its intensity; one that Oura does not name is unknown', async () => {
  const peer = await new OuraPeer().start()
  const workouts = ['easy', 'moderate', 'hard', 'constructor'].map((intensity, i) =>
    ouraWorkout('2026-01-31', { id: `workout-${i}`, intensity }),
  )
  peer.put(USER, 'workout', ...workouts)
  const parts = await pullResource(oura, peer, USER, 'workouts')
  assert.deepEqual(
    listSamples(parts, 'workout_duration').map(({ at_ms, value, length_ms, zone_s, type }) => [
      new Date(at_ms).toISOString(),
      value,
      length_ms,
      zone_s,
      type,
    ]),
    ['"low"', '"medium"', '"high"', null].map((intensity) => [
      '2026-01-31T16:00:00.000Z',
      45,
      2_700_000,
      3600,
      intensity && `[null,${intensity}]`,
    ]),
  )
})

test('the weight of the account is a record of the body without a day, and no record where there is no weight', async () => {
  const peer = await new OuraPeer().start()
  const [body] = listRecords(await pullResource(oura, peer, USER, 'body'), 'body')
  assert.deepEqual([body!.document, body!.calendar_date, body!.source_type], [{ weight: 70.5 }, null, 'app'])
  assert.equal(body!.raw!.email, undefined)
  peer.weight = null
  assert.deepEqual(listRecords(await pullResource(oura, peer, USER, 'body'), 'body'), [])
})

test('the tags of the Oura test server agree with the official description', async (t) => {
  if (noDescriptions) return t.skip(noDescriptions)
  const peer = await new OuraPeer().start()
  peer.put(USER, 'enhanced_tag', ouraTag('1', '2026-01-30T08:00:00+02:00', { comment: 'A fictional breakfast' }))
  await pullResource(oura, peer, USER, 'note')
  const compared = compareAnswers(readDescription('oura/oura-v2.openapi.json'), peer.answers)
  assert.deepEqual([compared.differences, compared.operations.size], [[], 2])
})
