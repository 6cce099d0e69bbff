// Lab accounts over HTTP: visibility and linking to teams.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { labSlugs } from '../../people/users/sources.ts'
import { allStates, labAccount } from '../../../test/support/lab-accounts.ts'
import { cells, client, createTestTeam, type TestTeam, type Reply } from '../../../test/support/server.ts'
import { createAnotherTeam } from '../../../test/support/teams.ts'

const PATH = '/lab_account/sandbox/us'
const ids = ({ body }: Reply): string[] => body.data.map(({ id }: { id: string }) => id)

/** Requests with a key that is bound to teams. */
async function bound({ manage, org_id }: TestTeam, ...teams: string[]) {
  const team_role_bindings = teams.map((team_id) => ({ team_id }))
  const { key } = (await manage.post('/management_key', { label: 'x', role: 'team_admin', team_role_bindings })).body
  return client(key, 'x-management-key', `/v1/org/${org_id}`)
}

describe('lab accounts of an organization', () => {
  test('an organization lists all its lab accounts, newest first, in a data envelope', async () => {
    const team = await createTestTeam()
    const first = await labAccount(team, { lab: 'quest', team_ids: [], status: 'pending' })
    const second = await labAccount(team, {
      lab: 'labcorp',
      status: 'suspended',
      delegated_flow: 'fully_delegated',
      provider_account_id: 'FICTIONAL-2',
      account_name: 'Fictional Clinic',
      default_clinical_notes: 'Fasting samples only',
      business_units: ['NEL', 'DAL'],
      allowed_billing: { client_bill: ['AZ', 'CA'], patient_bill: [] },
    })
    const { status, body } = await team.manage.get(PATH)
    assert.equal(status, 200)
    assert.deepEqual(body, {
      data: [
        {
          id: second,
          lab: 'labcorp',
          org_id: team.org_id,
          status: 'suspended',
          delegated_flow: 'fully_delegated',
          provider_account_id: 'FICTIONAL-2',
          account_name: 'Fictional Clinic',
          default_clinical_notes: 'Fasting samples only',
          business_units: ['NEL', 'DAL'],
          allowed_billing: { client_bill: ['AZ', 'CA'], patient_bill: [] },
          team_id_allowlist: [team.team],
        },
        {
          id: first,
          lab: 'quest',
          org_id: team.org_id,
          status: 'pending',
          delegated_flow: 'not_delegated',
          provider_account_id: 'FICTIONAL-1',
          account_name: null,
          default_clinical_notes: null,
          business_units: null,
          allowed_billing: allStates,
          team_id_allowlist: [],
        },
      ],
    })
  })

  test('the list of lab accounts filters by id, team and status, with the status in any case', async () => {
    const team = await createTestTeam()
    const linked = await labAccount(team)
    const pending = await labAccount(team, { lab: 'quest', status: 'ready_to_launch', team_ids: [] })
    const find = async (query: string) => ids(await team.manage.get(`${PATH}?${query}`))
    assert.deepEqual(await find(`lab_account_id=${pending}`), [pending])
    assert.deepEqual(await find(`lab_account_id=${randomUUID()}`), [])
    assert.deepEqual(await find(`team_id=${team.team}`), [linked])
    assert.deepEqual(await find('status=READY_TO_LAUNCH'), [pending])
    assert.deepEqual(await find(`status=Active&lab_account_id=${pending}`), [])
    for (const query of ['status=closed', 'lab_account_id=1', 'team_id=1'])
      assert.equal((await team.manage.get(`${PATH}?${query}`)).status, 422, query)
  })

  test('the list of lab accounts omits accounts of other cells and organizations, and is empty for a team of another region', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    await labAccount(team)
    assert.deepEqual(ids(await team.manage.get('/lab_account/production/us')), [])
    assert.deepEqual(ids(await team.manage.get('/lab_account/sandbox/eu')), [])
    assert.deepEqual(ids(await other.manage.get(PATH)), [])
    assert.deepEqual(ids(await team.manage.get(`${PATH}?team_id=${await createAnotherTeam(team, 'eu')}`)), [])
    for (const id of [other.team, randomUUID()]) {
      const { status, body } = await team.manage.get(`${PATH}?team_id=${id}`)
      assert.deepEqual([status, body], [404, { detail: 'Team not found' }])
    }
    assert.equal((await team.manage.get('/lab_account/staging/us')).status, 422)
    assert.equal((await team.manage.get('/lab_account/sandbox/mars')).status, 422)
  })

  test('a key that is bound to teams sees the lab accounts linked to these teams', async () => {
    const team = await createTestTeam()
    const apart = await createAnotherTeam(team)
    const both = await labAccount(team, { team_ids: [team.team, apart] })
    await labAccount(team, { lab: 'quest', team_ids: [apart] })
    await labAccount(team, { lab: 'labcorp', team_ids: [] })
    const api = await bound(team, team.team)
    const { body } = await api.get(PATH)
    assert.deepEqual(
      body.data.map((account: { id: string; team_id_allowlist: string[] }) => [account.id, account.team_id_allowlist]),
      [[both, [team.team]]],
    )
    assert.equal((await api.get(`${PATH}?team_id=${apart}`)).status, 403)
    assert.equal((await api.get(`${PATH}?team_id=${team.team}`)).status, 200)
    assert.equal((await api.patch(`${PATH}/${both}`, { team_id_allowlist: [] })).status, 403)
    assert.equal(ids(await (await bound(team, team.team, apart)).get(PATH)).length, 2)
  })
})

describe('linking teams to a lab account', () => {
  test('linking replaces the linked teams, returns the account and writes an audit entry', async () => {
    const team = await createTestTeam()
    const apart = await createAnotherTeam(team)
    const id = await labAccount(team)
    const link = async (...team_id_allowlist: string[]) => {
      const { status, body } = await team.manage.patch(`${PATH}/${id}`, { team_id_allowlist })
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(Object.keys(body), ['lab_account'])
      return body.lab_account.team_id_allowlist
    }
    assert.deepEqual(await link(apart, team.team, apart), [team.team, apart].sort())
    assert.deepEqual(await link(apart), [apart])
    assert.deepEqual(await link(), [])
    const { data } = (await team.manage.get('/audit/sandbox/us')).body
    assert.deepEqual(
      data.map(({ operation, object }: Record<string, unknown>) => [operation, object]),
      Array<unknown>(3).fill(['update_lab_account_team_id_allowlist', id]),
    )
  })

  test('linking teams of another organization or cell returns 400 and changes nothing', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const id = await labAccount(team)
    const gone = await createAnotherTeam(team)
    await team.manage.delete(`/team/${gone}`)
    for (const foreign of [other.team, randomUUID(), await createAnotherTeam(team, 'eu'), gone]) {
      const { status, body } = await team.manage.patch(`${PATH}/${id}`, { team_id_allowlist: [team.team, foreign] })
      assert.deepEqual(
        [status, body],
        [400, { detail: 'team_id_allowlist contains a team that is not in this organization and region' }],
      )
    }
    assert.deepEqual((await team.manage.get(PATH)).body.data[0].team_id_allowlist, [team.team])
    assert.deepEqual((await team.manage.get('/audit/sandbox/us')).body.data, [])
  })

  test('linking a platform account or one of another organization or cell returns 404', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const Id = T.Object({ id: T.String() })
    const platform = await cells
      .db('sandbox-us')
      .queries.maybe(Id, sql`select id from lab_account where org_id is null order by id limit 1`)
    const own = await labAccount(team)
    for (const path of [
      `${PATH}/${await labAccount(other)}`,
      `${PATH}/${platform!.id}`,
      `${PATH}/${randomUUID()}`,
      `/lab_account/production/us/${own}`,
    ]) {
      const { status, body } = await team.manage.patch(path, { team_id_allowlist: [] })
      assert.deepEqual([status, body], [404, { detail: 'Lab account not found' }], path)
    }
  })

  test('an invalid linking request returns all field errors', async () => {
    const team = await createTestTeam()
    const patch = async (body: unknown) =>
      (await team.manage.patch(`${PATH}/${randomUUID()}`, body)).body.detail.map(
        ({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`,
      )
    assert.deepEqual(await patch({}), ['body.team_id_allowlist missing'])
    assert.deepEqual(await patch({ team_id_allowlist: randomUUID() }), ['body.team_id_allowlist list_type'])
    assert.deepEqual(await patch({ team_id_allowlist: ['x', 1] }), [
      'body.team_id_allowlist.0 uuid_parsing',
      'body.team_id_allowlist.1 string_type',
    ])
  })
})

describe('lab accounts that a team may use', () => {
  test('a team lists the accounts linked to it, without other linked teams, and the platform account of every lab', async () => {
    const team = await createTestTeam()
    const linked = await labAccount(team, { lab: 'quest', team_ids: [team.team, await createAnotherTeam(team)] })
    await labAccount(team, { lab: 'quest', team_ids: [] })
    const { status, body } = await team.api.get('/v3/lab_test/lab_account')
    assert.equal(status, 200)
    assert.deepEqual([body.data[0].id, body.data[0].team_id_allowlist], [linked, [team.team]])
    const platform = body.data.slice(1)
    assert.deepEqual(platform.map(({ lab }: { lab: string }) => lab).sort(), [...labSlugs].sort())
    for (const account of platform) assert.deepEqual([account.org_id, account.team_id_allowlist], [null, []])
  })

  test("the team's list of lab accounts filters by id and by status in any case", async () => {
    const team = await createTestTeam()
    const pending = await labAccount(team, { status: 'pending' })
    const list = async (query: string) => ids(await team.api.get(`/v3/lab_test/lab_account?${query}`))
    assert.deepEqual(await list('status=PENDING'), [pending])
    assert.deepEqual(await list(`lab_account_id=${pending}`), [pending])
    assert.deepEqual(await list(`lab_account_id=${pending}&status=active`), [])
    assert.deepEqual(await list(`lab_account_id=${await labAccount(await createTestTeam())}`), [])
    assert.equal((await team.api.get('/v3/lab_test/lab_account?status=open')).status, 422)
  })

  test('a lab account id narrows the catalog to its lab', async () => {
    const team = await createTestTeam()
    const kits = await team.test()
    const account = await labAccount(team)
    const elsewhere = await labAccount(team, { lab: 'mtl' })
    const { lab } = (await team.api.get(`/v3/lab_tests/${kits}?lab_account_id=${account}`)).body
    const tests = (await team.api.get(`/v3/lab_test?lab_account_id=${account}`)).body.data
    assert(tests.length > 0 && tests.every((test: { lab: { id: number } }) => test.lab.id === lab.id))
    const { markers } = (await team.api.get(`/v3/lab_tests/markers?lab_account_id=${account}`)).body
    assert(markers.length > 0 && markers.every(({ lab_id }: { lab_id: number }) => lab_id === lab.id))
    const code = encodeURIComponent(markers[0].provider_id)
    const marker = `/v3/lab_tests/${lab.id}/markers/${code}?lab_account_id=`
    assert.equal((await team.api.get(marker + account)).status, 200)

    assert.equal((await team.api.get(marker + elsewhere)).status, 404)
    assert.equal((await team.api.get(`/v3/lab_tests/${kits}?lab_account_id=${elsewhere}`)).status, 404)
    assert.equal((await team.api.get(`/v3/lab_tests/${kits}/markers?lab_account_id=${elsewhere}`)).body.total, 0)
    assert((await team.api.get(`/v3/lab_tests/${kits}/markers?lab_account_id=${account}`)).body.total > 0)
  })
})
