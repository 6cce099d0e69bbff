// Grants of users at clouds of vendors: what is stored, what begins a connection, what ends one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contents } from '../../app/contents.ts'
import { fictionalGrant, grant } from '../../../test/support/grants.ts'
import { createTestTeam, vault, type TestTeam } from '../../../test/support/server.ts'
import { currentGrant, isAccountOfAnother, saveGrant } from './grants.ts'

const rows = async ({ db, team }: TestTeam) =>
  (await db.pool.query('select * from provider_grant where team_id = $1 order by id', [team])).rows
const countCreatedEvents = async (team: TestTeam) =>
  (await team.events()).filter((type) => type === 'provider.connection.created').length

test('a grant connects its user, and its tokens are stored encrypted', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const { connection_id, began } = await grant(team, user_id)
  assert.equal(began, true)
  const [row] = await rows(team)
  assert.equal(row.connection_id, connection_id)
  assert(!JSON.stringify(row).includes('fictional-access') && !JSON.stringify(row).includes('fictional-refresh'))
  const stored = await team.db.tx(team.tenant, (tx) => currentGrant(tx, vault, { user_id, provider: 'oura' }))
  assert.deepEqual(stored?.grant, fictionalGrant)
  const { providers } = (await team.api.get(`/v2/user/providers/${user_id}`)).body
  assert.deepEqual(
    providers.map(({ slug, status, external_user_id }: Record<string, string>) => [slug, status, external_user_id]),
    [['oura', 'connected', 'fictional-account']],
  )
  assert.equal(await countCreatedEvents(team), 1)
})

test('another consent of the user replaces the tokens, keeps the connection and tells of it again; an import tells of nothing', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const first = await grant(team, user_id)
  const second = await grant(team, user_id, 'oura', { access_token: 'another' })
  assert.deepEqual([second.connection_id, second.began], [first.connection_id, true])
  const stored = await team.db.tx(team.tenant, (tx) => currentGrant(tx, vault, { user_id, provider: 'oura' }))
  assert.deepEqual([stored?.grant.access_token, stored?.version, (await rows(team)).length], ['another', 2, 1])
  assert.equal(await countCreatedEvents(team), 2)
  const imported = await team.db.tx(team.tenant, (tx) =>
    saveGrant(tx, vault, user_id, 'oura', fictionalGrant, { asksForHistory: false }),
  )
  assert.deepEqual([imported.connection_id, imported.began, await countCreatedEvents(team)], [first.connection_id, false, 2])
})

test('an account that another user of the team has connected is found, and only in that team', async () => {
  const [team, other] = [await createTestTeam(), await createTestTeam()]
  const [user_id, another] = [await team.user(), await team.user()]
  await grant(team, user_id)
  const isTaken = (owner: TestTeam, id: string) =>
    owner.db.tx(owner.tenant, (tx) => isAccountOfAnother(tx, { user_id: id, provider: 'oura' }, 'fictional-account'))
  assert.deepEqual(
    [await isTaken(team, user_id), await isTaken(team, another), await isTaken(other, await other.user())],
    [false, true, false],
  )
})

test('the end of a connection ends the grant, and its tokens are forgotten even if they cannot be revoked', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  await grant(team, user_id)
  assert.equal((await team.api.delete(`/v2/user/${user_id}/oura`)).status, 200)
  assert.notEqual((await rows(team))[0].ended_at, null)
  assert((await team.jobs()).includes('grants.revoke'))
  await team.settle()
  assert.deepEqual(await rows(team), [])
})

test('the deletion of a user ends the grants of that user alone, and erasing one leaves nothing', async () => {
  const team = await createTestTeam()
  const [user_id, other] = [await team.user(), await team.user()]
  await grant(team, user_id)
  await grant(team, other, 'oura', { external_user_id: 'another-account' })
  await team.api.delete(`/v2/user/${user_id}`)
  assert.deepEqual(
    (await rows(team)).map((row) => [row.user_id, row.ended_at !== null]).toSorted(),
    [
      [user_id, true],
      [other, false],
    ].toSorted(),
  )
  const { erasers } = contents.modules.find(({ name }) => name === 'connections/grants')!
  await team.db.tx(team.tenant, (tx) => erasers!.user!(tx, other))
  await team.settle()
  assert.deepEqual(await rows(team), [])
})
