// Teams, their users and keys as several test files arrange them, and the clocks of sandbox teams.
import { teamNow } from '../../src/platform/db/database.ts'
import { addSeconds, iso } from '../../src/platform/runtime/clock.ts'
import { tenantOf } from './orders.ts'
import { client, createTestTeam, type TestTeam } from './server.ts'

export async function createTeamWithUser() {
  const team = await createTestTeam()
  return { team, user_id: await team.user() }
}

/** Creates another team of the organization. @returns its id */
export const createAnotherTeam = async ({ manage }: TestTeam, region = 'us'): Promise<string> =>
  (await manage.post('/team', { name: 'Another', region })).body.id

/** Creates a management key for one team. */
export async function createBoundKey(org: TestTeam, team_id: string): Promise<TestTeam['manage']> {
  const { key } = (await org.manage.post('/management_key', { label: 'bound', team_id })).body
  return client(key, 'x-management-key', `/v1/org/${org.org_id}`)
}

export const roleBindings = (...ids: string[]) => ids.map((team_id) => ({ team_id }))

/** The time of a team's clock. */
export const nowOf = async (team: TestTeam): Promise<Date> => teamNow(await tenantOf(team))
export const timeAfter = async (team: TestTeam, seconds: number): Promise<string> => iso(addSeconds(await nowOf(team), seconds))
