// Continuous queries of a team: made, their results and the history of their tasks read, and samples added.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestTeam } from './server.ts'
import { sampleAt, storeSamples } from './wearable-data.ts'

export const DAY = '2026-01-31'
export const key = { group_key: '*' }
export const beats = { timeseries: 'heartrate', field: 'value' }
export const byDay = (index: string, unit = 'day') => ({ date_trunc: { unit }, arg: { index } })
export const daily = { select: [key, { func: 'mean', arg: beats }], group_by: [byDay('timeseries')] }

export const queryPath = ({ team }: TestTeam, rest = '') => `/team/${team}/sandbox/continuous_query${rest}`
export async function create(team: TestTeam, query: object, overrides: object = {}): Promise<{ id: string; slug: string }> {
  const body = { slug: `query-${randomUUID()}`, title: 'A fictional query', query, ...overrides }
  const reply = await team.manage.post(queryPath(team), body)
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body
}
export const queryUrl = (user_id: string, query: string, action: string) =>
  `/aggregate/v1/user/${user_id}/continuous_query/${query}/${action}`
export const result = async ({ api }: TestTeam, user_id: string, query: string) => {
  const { status, body } = await api.get(queryUrl(user_id, query, 'result_table'))
  assert.equal(status, 200, JSON.stringify(body))
  return body.table
}
export const history = async ({ api }: TestTeam, user_id: string, query: string, queryText = '') =>
  (await api.get(queryUrl(user_id, query, `task_history${queryText}`))).body
export const statuses = async (team: TestTeam, user_id: string, query: string) =>
  (await history(team, user_id, query)).data.map(({ status }: { status: string }) => status)
export const MINUTE_S = 60
export const add = (team: TestTeam, user_id: string, ...samples: [wall: string, value: number][]) =>
  storeSamples(
    team,
    user_id,
    'heartrate',
    samples.map(([wall, value]) => sampleAt(wall, value)),
  )
