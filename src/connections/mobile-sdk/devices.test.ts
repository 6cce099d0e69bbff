// Devices that phones name in metadata. Source: users-wearables.md 12, 16.7; events.md 4.6; field-2026.md 1.3.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sentSample, counts, events, post, read, types, watch } from '../../../test/support/samples.ts'
import { list, postSummary } from '../../../test/support/summaries.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const metadata = (model: string, version: string) => ({ _DMO: model, _DMA: 'Fictional', _DHV: 'hardware-1', _DSV: version })
const listDevices = async ({ api }: TestTeam, user_id: string) => (await api.get(`/v2/user/${user_id}/device`)).body
const deviceEvents = async (team: TestTeam) =>
  (await team.api.get('/v1/events?limit=50')).body.data
    .map(({ body }: { body: { event_type: string; data: unknown } }) => body)
    .filter(({ event_type }: { event_type: string }) => event_type.startsWith('provider.device.'))
    .toReversed()

interface Group {
  source: { device_id: string | null }
  data: { value: number }[]
}

describe('devices', () => {
  test('a device is recorded once, shown, and reported; a newer version is the same device, an older one changes nothing', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const beat = (time: string, version: string) => sentSample(time, 60, { ...watch, metadata: metadata('One', version) })
    await post(team, user_id, 'heartrate', [beat('09:00:00', '1.0'), beat('09:01:00', '1.0')])
    await post(team, user_id, 'heartrate', [beat('12:00:00', '2.0')])
    await post(team, user_id, 'heartrate', [beat('11:00:00', '1.5')])
    const devices = await listDevices(team, user_id)
    assert.equal(devices.length, 1)
    const { id, ...rest } = devices[0]
    assert.deepEqual(rest, {
      user_id,
      provider: 'apple_health_kit',
      source_type: 'watch',
      app_id: null,
      device_manufacturer: 'Fictional',
      device_model: 'One',
      device_version: '2.0',
      device_id: null,
    })
    assert.deepEqual((await team.api.get(`/v2/user/${user_id}/device/${id}`)).body, devices[0])
    const emitted = await deviceEvents(team)
    assert.deepEqual(types(emitted), ['provider.device.created', 'provider.device.updated'])
    assert.deepEqual(emitted[1].data, devices[0])
  })

  test('rule 9: two watches of one app stay apart, and the later one counts at an instant of both, in reads and in events', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const both = ['One', 'Two'].flatMap((model, i) => {
      const more = { ...watch, metadata: metadata(model, '1.0') }
      return [sentSample('09:00:00', 60 + i, more), sentSample(`09:0${i + 1}:00`, 70 + i, more)]
    })
    assert.deepEqual(counts((await post(team, user_id, 'heartrate', both)).body), [4, 3, 0, 0])
    assert.deepEqual(counts((await post(team, user_id, 'heartrate', both)).body), [4, 0, 0, 0])
    const groups = (await read(team, user_id, 'heartrate')).groups.apple_health_kit as Group[]
    const devices: { id: string; device_model: string }[] = await listDevices(team, user_id)
    const nameOf = ({ device_id }: Group['source']) => devices.find(({ id }) => id === device_id)?.device_model
    const shown = (groups: Group[]) =>
      groups.map(({ source, data }) => [nameOf(source), data.map(({ value }) => value)]).toSorted()
    assert.deepEqual(shown(groups), [
      ['One', [70]],
      ['Two', [61, 71]],
    ])
    assert.deepEqual(shown((await events(team)).map(({ data }) => data as unknown as Group)), shown(groups))
  })

  test('rule 10: provider, app and device of a summary are three fields; a device that is known later is added to it', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const night = {
      id: 'night-0001',
      start_date: '2026-01-31T05:00:00Z',
      end_date: '2026-01-31T13:00:00Z',
      source_bundle: 'com.apple.health.0000',
      product_type: 'Watch6,1',
    }
    await postSummary(team, 'sleep', user_id, [night])
    const [before] = (await list(team, 'sleep', user_id)).sleep
    assert.equal(before.source.device_id, null)
    await postSummary(team, 'sleep', user_id, [{ ...night, metadata: metadata('One', '1.0') }])
    await postSummary(team, 'sleep', user_id, [night])
    const [{ id }] = await listDevices(team, user_id)
    const [after] = (await list(team, 'sleep', user_id)).sleep
    assert.deepEqual(
      [after.id, after.source.provider, after.source.app_id, after.source.device_id],
      [before.id, 'apple_health_kit', 'com.apple.health.0000', id],
    )
    assert.deepEqual(types(await events(team)), ['daily.data.sleep.created', 'daily.data.sleep.updated'])
  })

  test('blood pressures name their device in grouping', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const cuff = { type: 'cuff', metadata: metadata('Cuff', '1.0') }
    await post(team, user_id, 'blood_pressure', [
      { systolic: sentSample('09:00:00', 118, cuff), diastolic: sentSample('09:00:00', 76, cuff) },
    ])
    const [{ id }] = await listDevices(team, user_id)
    const [group] = (await read(team, user_id, 'blood_pressure')).groups.apple_health_kit
    assert.deepEqual(group.data[0].grouping, ['cuff', null, null, id])
  })

  test('metadata without a device name, or with text that cannot be stored, records no device', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const odd = [{ _DSV: '1' }, { _DMO: 7 }, { _DMO: ' ' }, { _DMO: 'x'.repeat(1000) }, { _DMA: null }]
    const sent = odd.map((metadata, i) => sentSample(`09:00:0${i}`, 60, { metadata }))
    assert.deepEqual(counts((await post(team, user_id, 'heartrate', sent)).body), [5, 5, 0, 0])
    assert.deepEqual(await listDevices(team, user_id), [])
  })

  test('a device of another user or team is not found', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const [user_id, neighbor] = [await team.user(), await team.user()]
    await post(team, user_id, 'heartrate', [sentSample('09:00:00', 60, { metadata: metadata('One', '1.0') })])
    const [{ id }] = await listDevices(team, user_id)
    for (const [{ api }, user] of [
      [team, neighbor],
      [other, user_id],
    ] as const)
      assert.equal((await api.get(`/v2/user/${user}/device/${id}`)).status, 404)
    assert.equal((await other.api.get(`/v2/user/${user_id}/device`)).status, 404)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await team.api.get(`/v2/user/${user_id}/device`)).status, 404)
  })

  test('two posts at once that name a new device record it once', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const named = { metadata: metadata('One', '1.0') }
    const replies = await Promise.all(
      [1, 2, 3, 4].map((n) => post(team, user_id, n % 2 ? 'heartrate' : 'steps', [sentSample(`0${n}:00:00`, 60, named)])),
    )
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    assert.equal((await listDevices(team, user_id)).length, 1)
    assert.deepEqual(types(await deviceEvents(team)), ['provider.device.created'])
  })
})
