// A team's physicians: its organization manages them, its keys list them, and orders use them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { servicePhysician } from './physicians.ts'

const placeOf = ({ team }: TestTeam) => `/team/${team}/sandbox/physician`
const add = async (team: TestTeam, last_name: string, states?: string[]): Promise<string> => {
  const body = { first_name: 'Docta', last_name, npi: last_name.toUpperCase(), states }
  const reply = await team.manage.post(placeOf(team), body)
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body.id
}
const selectPhysician = (team: TestTeam, state: string) =>
  team.db.tx(team.tenant, async (tx) => (await servicePhysician(tx, state))?.last_name)

describe('the physicians of a team', () => {
  test('physicians are added, listed to the organization and to the team, and removed', async () => {
    const team = await createTestTeam()
    const [first, second] = [await add(team, 'First', ['CA', 'AZ', 'CA']), await add(team, 'Second')]
    const { body } = await team.manage.get(placeOf(team))
    assert.deepEqual(
      body.physicians.map(({ id, last_name, states }: Record<string, unknown>) => [id, last_name, states]),
      [
        [first, 'First', ['AZ', 'CA']],
        [second, 'Second', []],
      ],
    )
    const own = () => team.api.get(`/v2/team/${team.team}/physicians`)
    assert.deepEqual((await own()).body, [
      { first_name: 'Docta', last_name: 'First', npi: 'FIRST' },
      { first_name: 'Docta', last_name: 'Second', npi: 'SECOND' },
    ])
    assert.equal((await team.manage.delete(`${placeOf(team)}/${first}`)).status, 200)
    assert.deepEqual(
      (await own()).body.map(({ npi }: { npi: string }) => npi),
      ['SECOND'],
    )
    assert.equal((await team.manage.delete(`${placeOf(team)}/${first}`)).status, 404)
    const { body: audit } = await team.manage.get(`/team/${team.team}/sandbox/audit`)
    assert.deepEqual(audit.data.map(({ operation }: { operation: string }) => operation).sort(), [
      'add_team_service_physician',
      'add_team_service_physician',
      'remove_team_service_physician',
    ])
  })

  test('rejects a duplicate physician and an unknown state', async () => {
    const team = await createTestTeam()
    await add(team, 'First')
    const body = { first_name: 'Docta', last_name: 'Again', npi: 'FIRST' }
    const again = await team.manage.post(placeOf(team), body)
    assert.deepEqual([again.status, again.body], [400, { detail: 'The team already has a physician with this npi' }])
    const nowhere = await team.manage.post(placeOf(team), { ...body, npi: 'X', states: ['ZZ'], first_name: '' })
    assert.deepEqual(
      nowhere.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')),
      ['body.first_name', 'body.states.0'],
    )
  })

  test("a team's key cannot list the physicians of another team", async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    for (const id of [other.team, randomUUID()]) {
      const { status, body } = await team.api.get(`/v2/team/${id}/physicians`)
      assert.deepEqual([status, body], [404, { detail: 'Not Found' }])
    }
  })
})

describe('the physician of an order', () => {
  test('an order has no physician if no physician is configured', async () => {
    const team = await createTestTeam()
    assert.equal(await selectPhysician(team, 'AZ'), undefined)
  })

  test('an order gets the first physician of the state, otherwise the first of every state', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    await add(team, 'Everywhere')
    await add(team, 'Later')
    await add(team, 'Arizona', ['AZ'])
    await add(team, 'Both', ['AZ', 'CA'])
    assert.deepEqual(
      [await selectPhysician(team, 'AZ'), await selectPhysician(team, 'CA'), await selectPhysician(team, 'NY')],
      ['Arizona', 'Both', 'Everywhere'],
    )
    await add(other, 'Arizona', ['AZ'])
    assert.equal(await selectPhysician(other, 'NY'), undefined)
  })

  test('an order gets another physician as soon as the previous one is removed', async () => {
    const team = await createTestTeam()
    const first = await add(team, 'First', ['AZ'])
    await add(team, 'Second', ['AZ'])
    assert.equal(await selectPhysician(team, 'AZ'), 'First')
    await team.manage.delete(`${placeOf(team)}/${first}`)
    assert.equal(await selectPhysician(team, 'AZ'), 'Second')
  })
})
