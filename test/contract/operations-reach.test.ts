// How far keys of the Management API reach, for every operation: over teams of one organization, over environments and regions, and
// never to where it is a team that speaks for itself.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import type { Operation } from '../../src/platform/http/operation.ts'
import { placeTeam } from '../../src/tenancy/teams/teams.ts'
import { cells, client, createTestTeam, type TestTeam, type Reply } from '../support/server.ts'
import { describeReply, testEach, forTeams, success } from './operations/operation-cases.ts'
import { anotherTeam, ask, boundTo, forTeamAdmin, managing, withTeam } from './operations/management-cases.ts'
import {
  call,
  places,
  propertiesOf,
  send,
  unknownIds,
  target,
  valid,
  withValue,
  type Request,
  keyNeeded,
} from './operations/requests.ts'

const { operations } = contents

const text = (reply: Reply): string => JSON.stringify(reply.body)
/** Where something is at, in words of the path; what it is called is beside. */
const PLACE = new Set(['org_id', 'team_id', 'environment', 'env', 'region'])
const names = (operation: Operation): string[] => Object.keys(propertiesOf(operation.params))
const namesObject = (operation: Operation): boolean => names(operation).some((name) => !PLACE.has(name))
const inEnvironment = managing.filter((operation) => names(operation).includes('environment'))
const inCell = managing.filter((operation) => names(operation).includes('region'))
const reads = ({ method }: Operation): boolean => method === 'GET'

/** The same request, with other words in the path. */
const withPath = (request: Request, path: Record<string, string>): Request => ({ ...request, path: { ...request.path, ...path } })

/** Places in query and body that name teams. */
const teamsNamed = (operation: Operation) =>
  places(operation).filter(({ part, name }) => part !== 'path' && /^team_ids?$/.test(name))

/** Deletions of several things pass over what is out of reach, and say so by not having it in the answer. */
const passesOver = new Set(['delete_team_data_pull_preferences', 'delete_team_ehr_pipelines', 'delete_team_etl_pipelines'])
/** What is refused otherwise than with 400 in another region, and why. */
const elsewhere: Record<string, number> = {
  // The account of the path is not in that cell, which is seen before its teams are.
  update_lab_account_team_id_allowlist: 404,
  get_lab_link: 404,
  upsert_lab_link: 404,
  export_lab_link: 404,
  set_lab_link_mode: 404,
  check_lab_link: 404,
  start_lab_link_trial: 404,
  get_lab_link_trial: 404,
  list_unplaced_lab_link_orders: 404,
  // Nor is the lab test of the path.
  approve_lab_test: 404,
  // Nor is the phlebotomist.
  delete_phlebotomist: 404,
  // Nor is the message.
  get_lab_message: 404,
  replay_lab_message: 404,
  resend_lab_message: 404,
  finish_lab_message: 404,
  finish_lab_link_issue: 404,
}

describe('a key that is bound to another team', async () => {
  const team = await createTestTeam()
  const apart = await anotherTeam(team)
  const headers = { 'x-management-key': await boundTo(team, apart) }

  testEach('reaches nothing of a team that it is not bound to', withTeam, async (operation) => {
    const reply = await ask(operation, await valid(team, operation), headers)
    assert.deepEqual([reply.status, reply.body], [403, { detail: 'Action forbidden' }])
  })

  testEach(
    'sees nothing of another team on unscoped paths',
    forTeamAdmin.filter((operation) => !withTeam.includes(operation)),
    async (operation) => {
      const reply = await ask(operation, await valid(team, operation), headers)
      assert(success(reply) || reply.status === 403 || reply.status === 404, describeReply(reply))
      assert(!text(reply).includes(`"team_id":"${team.team}"`) && !text(reply).includes(`"id":"${team.team}"`), text(reply))
    },
  )

  testEach(
    'may not name it in a query or a body',
    forTeamAdmin.filter((operation) => teamsNamed(operation).length),
    async (operation) => {
      for (const place of teamsNamed(operation)) {
        const request = withValue(await valid(team, operation), place, team.team)
        const list = managing.find(({ method, path }) => method === 'GET' && path === operation.path)
        const listed = async () => list && (await send(team, list, { ...request, query: {}, body: undefined })).body
        const kept = await listed()
        const reply = await ask(operation, request, headers)
        if (passesOver.has(operation.id)) {
          assert(success(reply) && !text(reply).includes(team.team), describeReply(reply))
          assert(JSON.stringify(kept).includes(team.team))
          assert.deepEqual(await listed(), kept)
        } else if (success(reply)) assert(reads(operation) && !text(reply).includes(team.team), describeReply(reply))
        else assert.equal(reply.status, 403, describeReply(reply))
      }
    },
  )
})

describe('a key that is bound to two teams', async () => {
  const team = await createTestTeam()
  const apart = await anotherTeam(team)
  const headers = { 'x-management-key': await boundTo(team, team.team, apart) }
  const bound = withTeam.filter((operation) => forTeamAdmin.includes(operation))

  testEach('does for both what is done for teams', bound, async (operation) => {
    const request = await valid(team, operation)
    const reply = await ask(operation, withPath(request, { team_id: apart }), headers)
    // What is named beside the team is the first one's.
    if (namesObject(operation) && operation.id !== 'get_event_type_sample') assert.equal(reply.status, 404, describeReply(reply))
    else assert(success(reply), describeReply(reply))
    const own = await ask(operation, request, headers)
    assert(success(own), describeReply(own))
  })
})

describe('a key of another organization', async () => {
  const team = await createTestTeam()
  const other = await createTestTeam()
  const bound = await boundTo(other, other.team)

  testEach('is refused, whatever it reaches at home, and changes nothing', managing, async (operation) => {
    const request = await valid(team, operation)
    for (const key of [other.orgKey, bound]) {
      const reply = await ask(operation, request, { 'x-management-key': key })
      assert.deepEqual([reply.status, reply.body], [403, { detail: 'Action forbidden' }])
    }
    assert(success(await send(team, operation, request)))
  })
})

describe('environments and regions', async () => {
  const team = await createTestTeam()
  await cells.db('production-us').plainTx((tx) => placeTeam(tx, 'production-us', { id: team.team, org_id: team.org_id }))

  testEach('what is in the sandbox is not in production', inEnvironment, async (operation) => {
    const request = withPath(await valid(team, operation), { environment: 'production' })
    // Production sends to https only, and the server of the tests speaks http.
    if (operation.id === 'upsert_team_ehr_pipelines')
      Object.assign(request.body as object, { base_url: (operation.example as { base_url: string }).base_url })
    const reply = await send(team, operation, request)
    if (namesObject(operation) && operation.id !== 'get_event_type_sample') assert.equal(reply.status, 404, describeReply(reply))
    else assert(success(reply), describeReply(reply))
    if (reads(operation) && Array.isArray(reply.body?.data)) assert(!text(reply).includes('sandbox'))
  })

  testEach('a team of another region is refused on writing, and not in the list on reading', inCell, async (operation) => {
    const request = await valid(team, operation)
    for (const region of ['eu', 'us']) {
      const reply = await send(team, operation, withPath(request, { region }))
      if (region === 'us') assert(success(reply), describeReply(reply))
      else if (success(reply)) assert(!text(reply).includes(`"team_id":"${team.team}"`), describeReply(reply))
      else assert.equal(reply.status, elsewhere[operation.id] ?? 400, describeReply(reply))
    }
  })

  testEach(
    'an invalid environment or region is rejected before the other fields are read',
    managing.filter((operation) => names(operation).some((name) => ['environment', 'env', 'region'].includes(name))),
    async (operation) => {
      for (const name of ['environment', 'env', 'region'].filter((word) => names(operation).includes(word))) {
        const reply = await send(team, operation, withPath(unknownIds(operation, team), { [name]: 'nowhere' }))
        assert.deepEqual([reply.status, reply.body.detail[0].loc], [422, ['path', name]])
      }
    },
  )
})

describe('an access token', async () => {
  const team: TestTeam = await createTestTeam()
  const minted = await team.manage.post(`/team/${team.team}/create_api_access_token`, { env: 'sandbox' })
  const authorization = `Bearer ${minted.body.access_token}`

  testEach('does what a key of its team does', forTeams, async (operation) => {
    const request = await valid(team, operation)
    const headers = { authorization, ...request.headers, ...keyNeeded(operation) }
    const reply = await client(undefined).call(operation.method, target(operation.path, request), request.body, headers)
    assert(success(reply), describeReply(reply))
  })

  test('is of no use to a management key, nor a management key to it', async () => {
    assert.equal((await call(undefined, 'GET', '/v2/user', undefined, { 'x-management-key': team.orgKey })).status, 401)
    const both = { authorization, 'x-management-key': team.orgKey }
    assert.equal((await client(undefined).get('/v2/user', both)).status, 200)
    assert.equal((await client(undefined).get(`/v1/org/${team.org_id}`, both)).status, 200)
  })
})

test('no operation is left out: each is for teams, for managers, for the user of a link token, for the session of a member, or public', () => {
  const others = operations.filter((operation) => !forTeams.includes(operation) && !managing.includes(operation))
  assert.deepEqual(
    others.filter(({ auth }) => auth !== 'link' && auth !== 'session').map(({ id }) => id),
    [
      'accept_invite',
      'get_sign_in_options',
      'sign_in_to_demo',
      'sign_in_with_password',
      'inspect_one_time_link',
      'use_one_time_link',
      'request_password_reset',
      'get_passkey_sign_in_options',
      'sign_in_with_passkey',
      'get_list_of_providers',
      'confirm_provider_notifications',
      'receive_provider_notification',
      'exchange_token',
      'exchange_link_code',
      'validate_link_token',
      'start_link',
    ],
  )
})
