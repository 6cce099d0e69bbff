// What tests of the Management API have in common: its operations, keys of every reach, and asking with one.
import { contents } from '../../../src/app/contents.ts'
import type { Operation } from '../../../src/platform/http/operation.ts'
import { client, type TestTeam, type Reply } from '../../support/server.ts'
import { propertiesOf, target, valid, type Request } from './requests.ts'

const { operations } = contents

export const managing = operations.filter(({ auth }) => auth === 'management')
export const withTeam = managing.filter(({ params }) => 'team_id' in propertiesOf(params))
/** For teams, each of a key's own. */
export const forTeamAdmin = managing.filter(
  ({ id, keyScope }) => keyScope === 'bound' && !['remove_management_key', 'rotate_management_key'].includes(id),
)

/** Ask for an operation with the headers given and no others. */
export const ask = (operation: Operation, request: Request, headers: Record<string, string>): Promise<Reply> =>
  client(undefined).call(operation.method, target(operation.path, request), request.body, headers)

/** A key that is bound to teams of the organization. */
export async function boundTo(team: TestTeam, ...teams: string[]): Promise<string> {
  const team_role_bindings = teams.map((team_id) => ({ team_id }))
  return (await team.manage.post('/management_key', { label: 'bound', role: 'team_admin', team_role_bindings })).body.key
}

export const anotherTeam = async (team: TestTeam): Promise<string> =>
  (await team.manage.post('/team', { name: 'Another', region: 'us' })).body.id

/** Requests that work, each made once: what is refused can be asked again. */
export function preparedFor(team: TestTeam): (operation: Operation) => Promise<Request> {
  const known = new Map<Operation, Request>()
  return async (operation) => {
    const request = known.get(operation) ?? (await valid(team, operation))
    known.set(operation, request)
    return request
  }
}
