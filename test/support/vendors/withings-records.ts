// A user of Withings with data, and a connection of this user.
import { withings } from '../../../src/connections/connectors/withings/withings.ts'
import type { PullRequest } from '../../../src/connections/connectors/connector.ts'
import { REDIRECT, linkWithCode } from './vendor-server.ts'
import { WithingsPeer } from './withings.ts'

export const WITHINGS_SCOPES = ['user.metrics', 'user.activity', 'user.sleepevents']
const toSeconds = (text: string): number => Date.parse(text) / 1000
const DAY: Omit<PullRequest, 'resource'> = {
  from_ms: Date.parse('2026-01-30T00:00:00Z'),
  to_ms: Date.parse('2026-02-01T00:00:00Z'),
  time_zone: 'America/Phoenix',
}

/** A user with a scale, a cuff, a watch and a sleep monitor, in Paris. */
function fillWithings(peer: WithingsPeer, user = '363') {
  const stored = peer.store(user)
  const group = (
    grpid: number,
    date: string,
    measures: [type: number, value: number, unit: number][],
    overrides: object = {},
  ) => ({
    grpid,
    attrib: 0,
    date: toSeconds(date),
    created: toSeconds(date),
    modified: toSeconds(date),
    category: 1,
    deviceid: 'fictional-device',
    ...overrides,
    measures: measures.map(([type, value, unit]) => ({ type, value, unit })),
  })
  stored.measuregrps.push(
    group(1001, '2026-01-30T23:30:00Z', [
      [1, 70_350, -3],
      [6, 2105, -2],
      [77, 38_690, -3],
      [88, 3, 0],
      [11, 58, 0],
    ]),
    group(1002, '2026-01-31T06:00:00Z', [
      [10, 121, 0],
      [9, 79, 0],
      [11, 64, 0],
    ]),
    group(1003, '2026-01-31T06:05:00Z', [
      [54, 97, 0],
      [123, 415, -1],
      [71, 36_61, -2],
    ]),
    group(1004, '2026-01-31T07:00:00Z', [[1, 81, 0]], { attrib: 1 }),
    group(1007, '2026-01-31T06:10:00Z', [[73, 3342, -2]], { model: 'ScanWatch 2', model_id: 94 }),
    group(1005, '2026-01-31T08:00:00Z', [[1, 65, 0]], { category: 2 }),
    group(1006, '2026-01-31T09:00:00Z', [[1, 70, 0]], { attrib: 2 }),
  )
  const day = { timezone: 'Europe/Paris', deviceid: 'fictional-device', brand: 1, modified: toSeconds('2026-01-31T09:00:00Z') }
  stored.activities.push(
    {
      ...day,
      date: '2026-01-30',
      is_tracker: true,
      steps: 8412,
      distance: 6100.5,
      elevation: 9,
      soft: 3600,
      moderate: 1200,
      intense: 600,
      active: 1800,
      calories: 410.5,
      totalcalories: 2150.25,
      hr_average: 71,
      hr_min: 50,
      hr_max: 141,
    },
    { ...day, date: '2026-01-30', is_tracker: false, steps: 7000, distance: 5000, calories: 300, totalcalories: 2000 },
    { ...day, date: '2026-01-31', is_tracker: true, steps: 120, distance: 90, calories: 4, totalcalories: 800 },
  )
  stored.intraday[toSeconds('2026-01-30T10:00:00Z')] = {
    deviceid: 'fictional-device',
    steps: 44,
    distance: 30.5,
    calories: 1.5,
    duration: 60,
  }
  stored.intraday[toSeconds('2026-01-31T10:00:00Z')] = { deviceid: 'fictional-device', heart_rate: 72, duration: 60, rmssd: 41 }
  const [start, end] = [toSeconds('2026-01-30T22:00:00Z'), toSeconds('2026-01-31T05:30:00Z')]
  stored.nights.push({
    id: 2001,
    timezone: 'Europe/Paris',
    model: 16,
    startdate: start,
    enddate: end,
    date: '2026-01-31',
    created: end,
    modified: end,
    completed: true,
    data: {
      lightsleepduration: 12_600,
      remsleepduration: 5400,
      deepsleepduration: 7200,
      wakeupduration: 1800,
      sleep_latency: 600,
      hr_average: 56,
      hr_min: 48,
      rr_average: 14,
      sleep_score: 81,
    },
  })
  stored.stages.push(
    { startdate: start, enddate: start + 600, state: 0, model: 'Activite', hr: { [start + 60]: 60 } },
    {
      startdate: start + 600,
      enddate: start + 3600,
      state: 1,
      model: 'Activite',
      hr: { [start + 660]: 55 },
      rr: { [start + 660]: 14 },
    },
    { startdate: start + 3600, enddate: start + 7200, state: 2, model: 'Activite', rmssd: { [start + 3660]: 44 } },
    { startdate: start + 7200, enddate: end, state: 3, model: 'Activite' },
  )
  const workout = {
    timezone: 'Europe/Paris',
    model: 59,
    attrib: 0,
    modified: toSeconds('2026-01-31T11:00:00Z'),
    date: '2026-01-31',
  }
  stored.workouts.push(
    {
      ...workout,
      id: 3001,
      category: 2,
      startdate: toSeconds('2026-01-31T09:00:00Z'),
      enddate: toSeconds('2026-01-31T09:30:00Z'),
      data: { calories: 310, distance: 5000, steps: 4900, hr_average: 141, hr_max: 165, pause_duration: 60 },
    },
    {
      ...workout,
      id: 3002,
      category: 128,
      startdate: toSeconds('2026-01-31T10:00:00Z'),
      enddate: toSeconds('2026-01-31T10:10:00Z'),
      data: {},
    },
    {
      ...workout,
      id: 3003,
      category: 999,
      startdate: toSeconds('2026-01-31T10:30:00Z'),
      enddate: toSeconds('2026-01-31T10:40:00Z'),
      data: { calories: 0, manual_calories: 90 },
    },
  )
}

export async function linkedToWithings(scopes = WITHINGS_SCOPES) {
  const peer = await new WithingsPeer().start()
  fillWithings(peer)
  return linkWithCode(withings, peer, peer.grants.agree('363', scopes, REDIRECT), DAY)
}
