// Demographics over HTTP, and as orders store them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { SECONDS_PER_DAY, advanceClock } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { latestDemographics, saveDemographics } from './demographics.ts'

const address = { first_line: '1 Example Street', city: 'Phoenix', state: 'Arizona', zip: '85004' }
const person = {
  first_name: 'Testa',
  last_name: 'Fictional',
  email: 'testa@example.com',
  phone_number: '+15550100199',
  gender: 'Female',
  dob: '1990-01-31',
  address,
} as const
const shown = {
  ...person,
  gender: 'female',
  address: { ...address, second_line: '', state: 'AZ', country: 'United States', access_notes: null },
  medical_proxy: null,
  race: null,
  ethnicity: null,
  sexual_orientation: null,
  gender_identity: null,
}
const proxy = {
  first_name: 'Guarda',
  last_name: 'Fictional',
  address: { street: '2 Example Street', city: 'Phoenix', state: 'AZ', zip_code: '85004', country: 'US' },
  phone_number: '555 0100',
}

const patchInfo = ({ api }: TestTeam, user: string, body: unknown) => api.patch(`/v2/user/${user}/info`, body)
const latest = async ({ api }: TestTeam, user: string) => (await api.get(`/v2/user/${user}/info/latest`)).body

describe('demographics of a user', () => {
  test('are created, shown in a normalized form, and read again', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const { status, body } = await patchInfo(team, user, person)
    assert.deepEqual([status, body], [200, shown])
    assert.deepEqual(await latest(team, user), shown)
    assert.deepEqual(await team.events(), [])
  })

  test('are replaced: absent fields are cleared, as with null', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const place = { ...address, second_line: 'Suite 2', access_notes: 'Ring twice' }
    const whole = { ...person, address: place, race: 'asian', ethnicity: 'other', medical_proxy: proxy }
    const { body } = await patchInfo(team, user, whole)
    const { first_line, zip, country, second_line } = body.medical_proxy.address
    assert.deepEqual([first_line, zip, country, second_line], ['2 Example Street', '85004', 'United States', ''])
    assert.deepEqual((await patchInfo(team, user, { ...whole, race: null })).body, { ...body, race: null })
    assert.deepEqual((await patchInfo(team, user, { ...person, last_name: 'Renamed' })).body, { ...shown, last_name: 'Renamed' })
    assert.deepEqual(await latest(team, user), { ...shown, last_name: 'Renamed' })
  })

  test('are rejected with every error, and nothing is stored', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const wrong = { ...person, first_name: 'José', email: 'nobody', gender: 'x', address: { ...address, state: 'Nowhere' } }
    const { status, body } = await patchInfo(team, user, wrong)
    assert.equal(status, 422)
    assert.deepEqual(
      body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')),
      ['body.first_name', 'body.email', 'body.gender', 'body.address.state'],
    )
    for (const dob of ['2999-01-01', '1850-01-01']) assert.equal((await patchInfo(team, user, { ...person, dob })).status, 422)
    const { phone_number: _, ...lacking } = person
    assert.equal((await patchInfo(team, user, lacking)).status, 422)
    const read = await team.api.get(`/v2/user/${user}/info/latest`)
    assert.deepEqual([read.status, read.body], [404, { detail: 'Demographics not found' }])
  })

  test("of an unknown user, or of another team's, return 404", async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const theirs = await other.user()
    await patchInfo(other, theirs, person)
    const gone = await team.user()
    await team.api.delete(`/v2/user/${gone}`)
    for (const user of [theirs, gone, randomUUID()]) {
      assert.equal((await patchInfo(team, user, { ...person, first_name: 'Other' })).status, 404)
      assert.equal((await team.api.get(`/v2/user/${user}/info/latest`)).status, 404)
    }
    assert.equal((await latest(other, theirs)).first_name, 'Testa')
  })

  test('are erased with their user after the grace period', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await patchInfo(team, user, person)
    await team.api.delete(`/v2/user/${user}`)
    await team.settle()
    assert.equal(await team.db.tx(team.tenant, (tx) => latestDemographics(tx, user)).then((row) => row?.first_name), 'Testa')
    await advanceClock(team, 8 * SECONDS_PER_DAY)
    const { rows } = await team.db.pool.query('select user_id from user_demographics where user_id = $1', [user])
    assert.deepEqual(rows, [])
    assert.equal((await team.db.pool.query('select id from "user" where id = $1', [user])).rowCount, 0)
  })
})

describe('the patient of an order', () => {
  const patient = { ...person, gender: 'female' as const, household_size: 3 }
  const place = { ...address, state: 'AZ', country: 'United States', receiver_name: 'Testa' }
  const saved = (team: TestTeam, user: string, person: typeof patient) =>
    team.db.tx(team.tenant, async (tx) => saveDemographics(tx, user, person, place))

  test('becomes the demographics of the user, and absent fields stay', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await saved(team, user, patient)
    assert.deepEqual(await latest(team, user), shown)
    await patchInfo(team, user, { ...person, race: 'asian' })
    await saved(team, user, { ...patient, last_name: 'Renamed' as 'Fictional' })
    assert.deepEqual(await latest(team, user), { ...shown, race: 'asian', last_name: 'Renamed' })
  })

  test("is not stored for a deleted user or another team's", async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const [gone, theirs] = [await team.user(), await other.user()]
    await team.api.delete(`/v2/user/${gone}`)
    for (const user of [gone, theirs]) await saved(team, user, patient)
    const { rows } = await team.db.pool.query('select user_id from user_demographics where user_id = any ($1)', [[gone, theirs]])
    assert.deepEqual(rows, [])
  })
})
