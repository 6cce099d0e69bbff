// Samples that are sent without and with their device. Source: users-wearables.md 7; field-2026.md 1.3 no. 8, 9.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { sentSample, counts, events, post, read, watch } from '../../../test/support/samples.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { storeSamples } from '../../../test/support/wearable-data.ts'
import { HOUR_MS } from '../../platform/runtime/durations.ts'

const models = [null, 'One', 'Two'] as const
type Model = (typeof models)[number]
const beat = (time: string, value: number, model: Model) =>
  sentSample(time, value, { ...watch, ...(model && { metadata: { _DMO: model, _DMA: 'Fictional' } }) })

/** What is stored, as `instant model value`. */
async function storedBy(team: TestTeam, user_id: string, provider: string): Promise<string[]> {
  const devices: { id: string; device_model: string }[] = (await team.api.get(`/v2/user/${user_id}/device`)).body
  const names = new Map(devices.map(({ id, device_model }) => [id, device_model]))
  const { groups } = await read(team, user_id, 'heartrate')
  const ofProvider: { source: { device_id: string | null }; data: { timestamp: string; value: number }[] }[] =
    groups[provider] ?? []
  return ofProvider
    .flatMap(({ source, data }) =>
      data.map(
        ({ timestamp, value }) =>
          `${timestamp.slice(11, 19)} ${source.device_id === null ? null : names.get(source.device_id)} ${value}`,
      ),
    )
    .toSorted()
}
const readStored = (team: TestTeam, user_id: string) => storedBy(team, user_id, 'apple_health_kit')
const send = async (team: TestTeam, user_id: string, ...beats: ReturnType<typeof beat>[]) =>
  counts((await post(team, user_id, 'heartrate', beats)).body)

describe('a sample without and with its device is one sample', () => {
  test('sent first without: the device takes it, which is an update, and a repetition of either changes nothing', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const [unnamed, named] = [beat('09:00:00', 60, null), beat('09:00:00', 60, 'One')]
    assert.deepEqual(await send(team, user_id, unnamed, beat('09:01:00', 61, null)), [2, 2, 0, 0])
    assert.deepEqual(await send(team, user_id, named, beat('09:02:00', 62, 'One')), [2, 1, 1, 0])
    const both = ['09:00:00 One 60', '09:01:00 null 61', '09:02:00 One 62']
    assert.deepEqual(await readStored(team, user_id), both)
    for (const again of [unnamed, named]) assert.deepEqual(await send(team, user_id, again), [1, 0, 0, 0])
    assert.deepEqual(await readStored(team, user_id), both)
    const emitted = (await events(team)).map(({ event_type, data }) => [
      event_type,
      data.source.device_id === null,
      data.data.map(({ timestamp }) => timestamp.slice(11, 19)),
    ])
    assert.deepEqual(emitted[0], ['daily.data.heartrate.created', true, ['09:00:00', '09:01:00']])
    assert.deepEqual(emitted.slice(1).toSorted(), [
      ['daily.data.heartrate.created', false, ['09:02:00']],
      ['daily.data.heartrate.updated', false, ['09:00:00']],
    ])
  })

  test('sent first with its device is not changed by one without a device, which emits nothing', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.deepEqual(await send(team, user_id, beat('09:00:00', 60, 'One')), [1, 1, 0, 0])
    assert.deepEqual(await send(team, user_id, beat('09:00:00', 65, null)), [1, 0, 0, 0])
    assert.deepEqual(await send(team, user_id, beat('09:00:00', 65, null), beat('09:03:00', 63, null)), [2, 1, 0, 0])
    assert.deepEqual(await readStored(team, user_id), ['09:00:00 One 60', '09:03:00 null 63'])
    assert.deepEqual(
      (await events(team)).map(({ data }) => data.data.map(({ value }) => value)),
      [[60], [63]],
    )
  })

  test('sent both ways in one post: the device has it, once', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.deepEqual(
      await send(team, user_id, beat('09:00:00', 60, null), beat('09:00:00', 61, 'One'), beat('09:00:00', 62, null)),
      [3, 1, 0, 0],
    )
    assert.deepEqual(await readStored(team, user_id), ['09:00:00 One 61'])
  })

  test('the latest of several apps counts, and other kinds of sources keep theirs', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const others = [{ source_bundle: 'com.example.other' }, { product_type: 'iPhone14,5' }]
    for (const [i, other] of others.entries()) await send(team, user_id, { ...beat('09:00:00', 50 + i, null), ...other })
    await send(team, user_id, beat('09:00:00', 60, 'One'))
    assert.deepEqual(await readStored(team, user_id), ['09:00:00 One 60', '09:00:00 null 50', '09:00:00 null 51'])
  })

  test('posted both ways at the same time, the device has every one of them', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    // Their series are there already, so that no post waits for another one to create them.
    await send(team, user_id, beat('23:00:00', 60, 'One'), beat('23:01:00', 61, null))
    const hours = ['01', '02', '03', '04', '05', '06', '07', '08', '09', '10']
    const timesOf = (hour: string) => Array.from({ length: 60 }, (_, i) => `${hour}:${String(i).padStart(2, '0')}:00`)
    for (const hour of hours) {
      const replies = await Promise.all(
        ([null, 'One'] as const).map((model) => send(team, user_id, ...timesOf(hour).map((time) => beat(time, 60, model)))),
      )
      for (const [accepted, , , dropped] of replies) assert.deepEqual([accepted, dropped], [60, 0])
    }
    assert.deepEqual(await readStored(team, user_id), [
      ...hours.flatMap((hour) => timesOf(hour).map((time) => `${time} One 60`)),
      '23:00:00 One 60',
      '23:01:00 null 61',
    ])
  })
})

/** Around the ends of hours, so that chunks lose all their samples, too. */
const places = [-1000, 0, 1000, HOUR_MS - 1000, HOUR_MS].map((ms) => Date.UTC(2026, 0, 31, 9) + ms)
const sent = fc.record({
  at_ms: fc.constantFrom(...places),
  model: fc.constantFrom(...models),
  value: fc.integer({ min: 60, max: 62 }),
})
const posts = fc.array(fc.array(sent, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 8 })
type Sent = typeof sent extends fc.Arbitrary<infer S> ? S : never

/** The samples by instant, after a post; and how many samples were new or changed. */
function applyPost(samples: Map<number, { model: Model; value: number }>, post: Sent[]): [created: number, updated: number] {
  const counts: [number, number] = [0, 0]
  const latest = new Map<number, { model: Model; value: number }>()
  for (const model of new Set(post.map((sample) => sample.model)))
    for (const at_ms of places) {
      const value = post.findLast((sample) => sample.model === model && sample.at_ms === at_ms)?.value
      if (value !== undefined && (model !== null || !latest.get(at_ms)?.model)) latest.set(at_ms, { model, value })
    }
  for (const [at_ms, { model, value }] of latest) {
    const there = samples.get(at_ms)
    const isTaken = there?.model === null && model !== null
    if (there && model === null && there.model !== null) continue
    if (there?.value === value && !isTaken) continue
    counts[there ? 1 : 0]++
    samples.set(at_ms, { model, value })
  }
  return counts
}

test('posts in any order leave one sample at each instant: the latest, with its device if one has named it', async () => {
  await fc.assert(
    fc.asyncProperty(posts, async (post) => {
      const team = await createTestTeam()
      const user_id = await team.user()
      const all = new Map<number, { model: Model; value: number }>()
      for (const one of post) {
        const samples = one.map(({ at_ms, model, value }) => ({
          at_ms,
          value,
          second: null,
          length_ms: null,
          zone_s: null,
          type: null,
          device: model && { source_type: 'ring' as const, manufacturer: 'Fictional', model, version: null, device_id: null },
        }))
        const { created, updated } = await storeSamples(team, user_id, 'heartrate', samples)
        assert.deepEqual([created, updated], applyPost(all, one))
      }
      const expected = [...all].map(
        ([at_ms, { model, value }]) => `${new Date(at_ms).toISOString().slice(11, 19)} ${model} ${value}`,
      )
      assert.deepEqual(await storedBy(team, user_id, 'oura'), expected.toSorted())
    }),
    { numRuns: 40 },
  )
})
