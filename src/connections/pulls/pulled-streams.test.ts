// Streams, devices and raw records of the cloud of a vendor through the whole server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agree, daysAgo, run, useVendorServer, teamAt } from '../../../test/support/vendors/connected.ts'
import { addPolarNight } from '../../../test/support/vendors/polar-night.ts'
import { PolarPeer } from '../../../test/support/vendors/polar.ts'
import { StravaPeer } from '../../../test/support/vendors/strava.ts'

test('a workout of a vendor has its stream, its way, its device and its raw record, and the stream is announced when it can be read', async () => {
  const peer = await new StravaPeer().start()
  peer.now_ms = Date.now()
  useVendorServer('strava', peer)
  const start_date = `${daysAgo(2)}T12:00:00Z`
  const data = (...values: unknown[]) => ({ data: values, series_type: 'time', original_size: values.length, resolution: 'high' })
  peer.activities.push({
    id: 91,
    athlete: { id: 134_815 },
    name: 'A fictional ride',
    sport_type: 'Ride',
    start_date,
    start_date_local: start_date,
    timezone: '(GMT+00:00) UTC',
    elapsed_time: 60,
    device_name: 'Fictional Edge',
    map: { id: 'm', polyline: '_p~iF~ps|U_ulLnnqC', summary_polyline: '_p~iF~ps|U' },
  })
  peer.streams.set(91, { time: data(0, 1), heartrate: data(120, 121), watts: data(200, null) })
  const team = await teamAt('strava')
  const user_id = await team.user()
  await agree(team, 'strava', peer, user_id, '134815')
  await run(team)
  const { workouts } = (await team.api.get(`/v2/summary/workouts/${user_id}?start_date=${daysAgo(5)}`)).body
  assert.deepEqual(workouts[0].map, { polyline: '_p~iF~ps|U_ulLnnqC', summary_polyline: '_p~iF~ps|U' })
  const stream = (await team.api.get(`/v2/timeseries/workouts/${workouts[0].id}/stream`)).body
  const second = Date.parse(start_date) / 1000
  assert.deepEqual(
    [stream.time, stream.heartrate, stream.power],
    [
      [second, second + 1],
      [120, 121],
      [200, null],
    ],
  )
  const devices = (await team.api.get(`/v2/user/${user_id}/device`)).body
  assert.deepEqual([devices[0].device_model, devices[0].id], ['Fictional Edge', workouts[0].source.device_id])
  const raw = (await team.api.get(`/v2/summary/workouts/${user_id}/raw?start_date=${daysAgo(5)}`)).body
  assert.deepEqual([raw.workouts[0].data.id, raw.workouts[0].source_device_id], [91, devices[0].id])
  const histories = (await team.api.get(`/v2/introspect/historical_pull?user_id=${user_id}`)).body.data
  assert.equal(histories[0].provider.strava.pulled.workout_stream.status, 'success')
  const types = await team.events()
  const announced = types.indexOf('daily.data.workout_stream.created')
  assert(types.indexOf('daily.data.workouts.created') < announced && announced > 0, types.join())
  assert(types.includes('historical.data.workout_stream.created'), types.join())
})

test('the stream of a night of Polar has its stages, heart rates, their variability and the respiratory rate', async () => {
  const peer = await new PolarPeer().start()
  peer.now_ms = Date.now()
  useVendorServer('polar', peer)
  addPolarNight(peer, daysAgo(2))
  const team = await teamAt('polar')
  const user_id = await team.user()
  await agree(team, 'polar', peer, user_id, peer.user)
  await run(team)
  const { sleep } = (await team.api.get(`/v2/summary/sleep/${user_id}?start_date=${daysAgo(5)}`)).body
  const stream = (await team.api.get(`/v2/timeseries/sleep/${sleep[0].id}/stream`)).body as Record<string, { value: number }[]>
  assert.deepEqual(
    Object.fromEntries(Object.entries(stream).map(([name, samples]) => [name, samples.map(({ value }) => value)])),
    { hrv: [41, 47], heartrate: [52], hypnogram: [2, 1, 3, 4, -1, 2], respiratory_rate: [14.5, 15] },
  )
  const { provider } = (await team.api.get(`/v2/introspect/historical_pull?user_id=${user_id}`)).body.data[0]
  for (const name of ['sleep_cycle', 'hrv', 'respiratory_rate']) assert.equal(provider.polar.pulled[name].status, 'success', name)
})
