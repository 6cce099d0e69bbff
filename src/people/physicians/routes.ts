import { managementOperation, operation, type Operation } from '../../platform/http/operation.ts'
import { Fields, T, Uuid } from '../../platform/schema/schema.ts'
import { addPhysician, listOwnPhysicians, listPhysicians, removePhysician } from './physicians.ts'
import * as shapes from './schema.ts'

const TEAM = '/v1/org/{org_id}/team/{team_id}/{environment}/physician' as const
const ofTeam = { logsAccess: false, scope: 'team', keyScope: 'bound' } as const

export const physiciansRoutes: Operation[] = [
  operation({
    id: 'get_team_physicians',
    logsAccess: false,
    method: 'GET',
    path: '/v2/team/{team_id}/physicians',
    summary: "List the own team's physicians",
    params: Fields({ team_id: Uuid }),
    reply: T.Array(shapes.Physician),
    run: (tx, { params }) => listOwnPhysicians(tx, params.team_id),
  }),
  managementOperation({
    ...ofTeam,
    id: 'list_team_service_physicians',
    method: 'GET',
    path: TEAM,
    summary: 'List the physicians who order for a team, in the order they were added',
    params: shapes.TeamScopeParams,
    reply: shapes.TeamPhysicians,
    run: (tx) => listPhysicians(tx),
  }),
  managementOperation({
    ...ofTeam,
    id: 'add_team_service_physician',
    method: 'POST',
    path: TEAM,
    summary: 'Add a physician who orders for a team',
    description:
      "Orders under an account that leaves ordering to the service, and that name no physician, go out in the name of the first who was added for the patient's state, or else for every state.",
    params: shapes.TeamScopeParams,
    body: shapes.AddPhysician,
    reply: shapes.TeamPhysician,
    idempotency: { scope: 'add_team_service_physician', retention_s: 86_400 },
    example: { first_name: 'Docta', last_name: 'Fictional', npi: '1234567893', states: ['AZ', 'CA'] },
    run: (tx, { body }) => addPhysician(tx, body),
  }),
  managementOperation({
    ...ofTeam,
    id: 'remove_team_service_physician',
    method: 'DELETE',
    path: `${TEAM}/{physician_id}`,
    summary: 'Remove a physician; orders that name one do not change',
    params: shapes.PhysicianScopeParams,
    reply: Fields({}),
    run: async (tx, { params }) => {
      await removePhysician(tx, params.physician_id)
      return {}
    },
  }),
]
