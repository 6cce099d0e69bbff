// The audit log, for every operation of the Management API: what was changed and which secrets were read is listed, and nothing else.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Operation } from '../../src/platform/http/operation.ts'
import { createTestTeam, type TestTeam, type Reply } from '../support/server.ts'
import { describeReply, success } from './operations/operation-cases.ts'
import { ask, boundTo, managing } from './operations/management-cases.ts'
import { propertiesOf, send, valid, type Request } from './operations/requests.ts'

interface Line {
  operation: string
  key_id: string
  team_id: string | null
  object: string | null
}

/** The newest lines about an operation, in whichever list they are. That of the team has those of its cell that name it. */
async function readLines(team: TestTeam, operation: string): Promise<Line[]> {
  const list = async (path: string): Promise<Line[]> =>
    (await team.manage.get(`${path}?operation=${operation}&limit=250`)).body.data
  const cell = await list('/audit/sandbox/us')
  assert.deepEqual(
    await list(`/team/${team.team}/sandbox/audit`),
    cell.filter(({ team_id }) => team_id === team.team),
  )
  return [...(await list('/audit')), ...cell]
}

/**
 * Operations that are about teams their path does not name, each with what of the team the line names. Each team they are about has a
 * line. They name it in their body or query; keys and credentials that are deleted are named by their own id.
 */
const aboutTeams: Record<string, (request: Request, reply: Reply) => unknown> = {
  create_team_api_key: (_request, { body }) => body.id,
  delete_team_api_keys: ({ query }) => query.api_key_id,
  upsert_team_custom_credentials: (_request, { body }) => body.id,
  delete_team_custom_credentials: ({ query }) => query.credential_id,
  upsert_team_data_pull_preferences: () => null,
  delete_team_data_pull_preferences: () => null,
  upsert_team_ehr_pipelines: ({ body }) => (body as { ehr_type: string }).ehr_type,
  delete_team_ehr_pipelines: ({ query }) => query.ehr_type,
  approve_lab_test: ({ path }) => path.lab_test_id,
  upsert_team_etl_pipelines: () => null,
  delete_team_etl_pipelines: () => null,
}

/** Operations that name teams in their body and are about something else. */
const ofTheOrganization: Record<string, string> = {
  create_management_key: 'a key of the organization, which is bound to teams',
  patch_management_key: 'a key of the organization, which is bound to teams',
  update_member: 'a member of the organization, who is bound to teams',
  create_or_resend_invite_in_org: 'a member to be, who is bound to teams',
  create_integration_managed_member: 'a member of the organization, who is bound to teams',
  update_integration_managed_member: 'a member of the organization, who is bound to teams',
  create_dashboard_url: 'a member, who is let in',
  create_team_in_org: 'a team that was none before; it gives its own reference',
  update_team_in_org: 'the team of the path; it gives its own reference',
  upsert_lab_account: 'an account, which may be linked to many teams or to none',
  set_lab_link_mode: 'the link of an account, which may be linked to many teams or to none',
  update_lab_account_team_id_allowlist: 'an account, which may be linked to many teams or to none any more',
}

/** Of a patient, too, who looked is recorded. */
const SECRET = /^(key|secret|token|headers|access_token|client_secret|authentication|patient_details)$/
const PLACE = new Set(['org_id', 'team_id', 'environment', 'env', 'region'])

describe('rejected requests are not listed, and a success is listed if it changed something or showed a secret:', async () => {
  const team = await createTestTeam()
  const other = await createTestTeam()
  const [{ id: key }] = (await team.manage.get('/management_key?role=org_admin')).body.data as [{ id: string }]
  const keyOfOther = { 'x-management-key': await boundTo(other, other.team) }

  for (const operation of managing)
    test(operation.id, async () => {
      const request = await valid(team, operation)
      const before = (await readLines(team, operation.id)).length
      assert.equal((await ask(operation, request, keyOfOther)).status, 403)
      assert.equal((await readLines(team, operation.id)).length, before)
      const reply = await send(team, operation, request)
      assert(success(reply), describeReply(reply))
      const lines = await readLines(team, operation.id)
      const due = operation.auditsRead || (operation.method !== 'GET' && !operation.reads)
      assert.equal(lines.length - before, due ? 1 : 0)
      if (!due) return
      const { key_id, team_id, object } = lines[0]!
      assert.equal(key_id, key)
      const about = aboutTeams[operation.id]
      assert.equal(team_id, about ? team.team : (request.path.team_id ?? null))
      const objects = Object.entries(request.path).filter(([name]) => !PLACE.has(name))
      assert.equal(object, about ? about(request, reply) : objects.map(([, id]) => id).join(' ') || null)
    })
})

test('whichever writes and names teams elsewhere than in its path is about them, or is not for a reason', () => {
  const names = ({ query, body }: Operation) =>
    /"(team_ids?|team_id_allowlist|integration_team_id)":/.test(JSON.stringify([query, body]))
  const naming = managing.filter((operation) => operation.method !== 'GET' && !operation.reads && names(operation))
  assert.deepEqual(
    naming
      .map(({ id }) => id)
      .filter((id) => !(id in aboutTeams))
      .toSorted(),
    Object.keys(ofTheOrganization).toSorted(),
  )
})

/** Operations whose answers name patients to those who manage. */
const ofPatients = new Set(['list_visits', 'get_lab_message'])

test('every operation that reads and may return a secret, or names patients, declares it', () => {
  for (const { id, method, reply, auditsRead } of managing)
    if (method === 'GET')
      assert.equal(
        auditsRead ?? false,
        ofPatients.has(id) || Object.keys(propertiesOf(reply)).some((name) => SECRET.test(name)),
        id,
      )
})
