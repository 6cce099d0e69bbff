// Whatever the order, the splits, the repetitions and the clients of posts: what is stored is what was sent, and a receiver that follows the
// rule of replacement has the same from the events alone. Source: events.md 4.2 P12, P13, 5; users-wearables.md 7.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sentSample, DAY, events, post, read, type Emitted, type Sent } from '../../../test/support/samples.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { list, postSummary } from '../../../test/support/summaries.ts'

interface One {
  resource: 'heartrate' | 'steps' | 'glucose'
  minute: number
  value: number
  type: 'watch' | 'phone'
  device: null | 'A' | 'B'
}
type Post = { samples: One[] } | { day: number; steps: number }

const one = fc.record<One>({
  resource: fc.constantFrom('heartrate', 'steps', 'glucose'),
  minute: fc.integer({ min: 0, max: 7 }),
  value: fc.integer({ min: 1, max: 4 }),
  type: fc.constantFrom('watch', 'phone'),
  device: fc.constantFrom(null, 'A', 'B'),
})
const posts = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ samples: fc.array(one, { minLength: 1, maxLength: 8 }) }) },
    { weight: 1, arbitrary: fc.record({ day: fc.integer({ min: 1, max: 3 }), steps: fc.integer({ min: 1, max: 9 }) }) },
  ),
  { minLength: 1, maxLength: 5 },
)
/** For each of three clients: the posts in an order of its own, some of them twice. */
const clients = fc.array(fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 7 }), { minLength: 3, maxLength: 3 })

const placeOf = ({ minute }: One): string => `0${8 + (minute >> 2)}:${String((minute & 3) * 15).padStart(2, '0')}:00`
const units = { heartrate: 'count/min', steps: 'count', glucose: 'mmol/L' }

async function send(team: TestTeam, user_id: string, phonePost: Post): Promise<void> {
  if ('day' in phonePost) {
    const day_summary = { calendar_date: `2026-01-0${phonePost.day}`, steps_sum: phonePost.steps }
    assert.equal((await postSummary(team, 'activity', user_id, [{ day_summary }])).status, 200)
    return
  }
  for (const resource of Object.keys(units) as One['resource'][]) {
    const data: Sent[] = phonePost.samples
      .filter((sample) => sample.resource === resource)
      .map((sample) =>
        sentSample(placeOf(sample), sample.value, {
          unit: units[resource],
          type: sample.type,
          ...(sample.device && { metadata: { _DMA: 'Fictional', _DMO: `Device ${sample.device}` } }),
        }),
      )
    if (data.length) assert.equal((await post(team, user_id, resource, data)).status, 200)
  }
}

/** By what a sample is known by, its resource, type and instant: the value. Source: events.md 5. */
type Series = Map<string, number>
const sampleKey = (resource: string, type: unknown, timestamp: string) => `${resource} ${String(type)} ${timestamp}`

/** What a receiver makes of the events: the later sample replaces the earlier one. */
function rebuilt(events: Emitted[]): { samples: Series; days: Map<string, unknown> } {
  const samples: Series = new Map()
  const days = new Map<string, unknown>()
  for (const { event_type, data } of events) {
    const resource = event_type.split('.')[2]!
    if (resource === 'activity') days.set(String(data.id), data)
    else for (const { timestamp, value } of data.data) samples.set(sampleKey(resource, data.source.type, timestamp), value)
  }
  return { samples, days }
}

async function readStored(team: TestTeam, user_id: string): Promise<Series> {
  const found: Series = new Map()
  for (const resource of Object.keys(units)) {
    const { groups } = await read(team, user_id, resource)
    for (const { source, data } of groups.apple_health_kit ?? [])
      for (const { timestamp, value } of data) {
        const key = sampleKey(resource, source.type, timestamp)
        assert(!found.has(key), `${key} is there twice`)
        found.set(key, value)
      }
  }
  return found
}

const sortByKey = (map: Map<string, unknown>) => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1))
const instantOf = (sample: One) => `${DAY}T${placeOf(sample)}+00:00`

test('several clients that send the same posts in different orders store the sent data, and events rebuild it', async () => {
  await fc.assert(
    fc.asyncProperty(posts, clients, async (clientPosts, orders) => {
      const team = await createTestTeam()
      const user_id = await team.user()
      const ofClients = orders.map((order) => order.map((i) => clientPosts[i % clientPosts.length]!))
      await Promise.all(
        ofClients.map(async (ownPosts) => {
          for (const sent of ownPosts) await send(team, user_id, sent)
        }),
      )
      const emitted = await events(team)
      const receiver = rebuilt(emitted.filter(({ event_type }) => event_type.startsWith('daily.')))
      const found = await readStored(team, user_id)
      assert.deepEqual(sortByKey(receiver.samples), sortByKey(found))
      const { activity } = await list(team, 'activity', user_id)
      assert.deepEqual(sortByKey(receiver.days), sortByKey(new Map(activity.map((day: { id: string }) => [day.id, day]))))
      const sent = ofClients.flat().flatMap((clientPost) => ('samples' in clientPost ? clientPost.samples : []))
      // Each instant of a source that was sent is there, and nothing else, with a value that was sent for it.
      const places = (resource: string, type: string, timestamp: string) => `${resource} ${type} ${timestamp}`
      const values = new Map<string, Set<number>>()
      for (const sample of sent) {
        const place = places(sample.resource, sample.type, instantOf(sample))
        values.set(place, (values.get(place) ?? new Set()).add(sample.value))
      }
      // Of steps each hour belongs to one device: others are not there.
      const isMeasured = (place: string) => !place.startsWith('steps')
      assert.deepEqual(new Set([...found.keys()].filter(isMeasured)), new Set([...values.keys()].filter(isMeasured)))
      for (const [place, value] of found) assert(values.get(place)!.has(value), `${place} is ${value}`)
      // The same once more, in the order of the first client: what it changes it reports, too.
      for (const again of ofClients[0]!) await send(team, user_id, again)
      const later = rebuilt((await events(team)).filter(({ event_type }) => event_type.startsWith('daily.')))
      assert.deepEqual(sortByKey(later.samples), sortByKey(await readStored(team, user_id)))
    }),
    { numRuns: 8 },
  )
})

test('posts that repeat stored data emit nothing, from any caller and in any parts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(one, { minLength: 1, maxLength: 10, selector: (s) => `${s.resource} ${s.type} ${s.minute}` }),
      fc.nat(),
      async (samples, seed) => {
        const team = await createTestTeam()
        const user_id = await team.user()
        await send(team, user_id, { samples })
        const before = (await events(team)).length
        const cut = seed % samples.length
        const parts = [samples.slice(0, cut), samples.slice(cut), samples.toReversed(), samples]
        await Promise.all(parts.map((part) => send(team, user_id, { samples: part })))
        assert.equal((await events(team)).length, before)
      },
    ),
    { numRuns: 5 },
  )
})
