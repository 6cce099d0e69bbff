// Summaries as a phone posts them, and what a team reads and receives of them.
import { events } from './samples.ts'
import type { TestTeam } from './server.ts'

export const postSummary = ({ api }: TestTeam, kind: string, user_id: string, data: unknown, overrides: object = {}) =>
  api.post(`/v2/summary/${kind}/${user_id}`, {
    stage: 'daily',
    time_zone: 'America/Phoenix',
    provider: 'apple_health_kit',
    data,
    ...overrides,
  })
export const list = async (
  { api }: TestTeam,
  kind: string,
  user_id: string,
  query = 'start_date=2026-01-01&end_date=2026-02-28',
) => (await api.get(`/v2/summary/${kind}/${user_id}?${query}`)).body
export const ofKind = async (team: TestTeam, kind: string) =>
  (await events(team)).filter(({ event_type }) => event_type.startsWith(`daily.data.${kind}.`))
