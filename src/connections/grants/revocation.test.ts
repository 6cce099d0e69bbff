// What ends grants at their vendors: another account, a retry, the deletion of a team.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eventuallyHolds } from '../../../test/support/eventually.ts'
import { assembleProcess, cells, type TestTeam } from '../../../test/support/server.ts'
import { agree, run, useVendorServer, teamAt } from '../../../test/support/vendors/connected.ts'
import { OuraPeer } from '../../../test/support/vendors/oura.ts'

const peer = await new OuraPeer().start()
peer.now_ms = Date.now()
before(() => useVendorServer('oura', peer))

let accounts = 0
async function connect(team: TestTeam) {
  const [user_id, account] = [await team.user(), `revoked-${++accounts}`]
  await agree(team, 'oura', peer, user_id, account)
  return { user_id, account }
}
const grantsOf = async ({ db, team }: TestTeam) =>
  (await db.pool.query('select user_id, ended_at from provider_grant where team_id = $1', [team])).rows

test('a user who connects another account of the provider ends the grant of the account before', async () => {
  const team = await teamAt('oura')
  const { user_id, account } = await connect(team)
  await agree(team, 'oura', peer, user_id, `${account}-other`)
  await run(team, 0)
  assert.deepEqual([peer.grants.isGranted(account), peer.grants.isGranted(`${account}-other`)], [false, true])
  assert.equal((await grantsOf(team)).length, 1)
})

test('the same account that is connected again keeps its grant', async () => {
  const team = await teamAt('oura')
  const { user_id, account } = await connect(team)
  await agree(team, 'oura', peer, user_id, account)
  await run(team, 0)
  assert.equal(peer.grants.isGranted(account), true)
  assert.equal((await grantsOf(team)).length, 1)
})

test('a revocation that fails after its token was refreshed succeeds with the new tokens', async () => {
  const team = await teamAt('oura')
  const { user_id, account } = await connect(team)
  await run(team, 0)
  await team.db.pool.query(`update provider_grant set expires_at = now() - interval '1 hour' where team_id = $1`, [team.team])
  await team.api.delete(`/v2/user/${user_id}/oura`)
  peer.fail('none', 'outage')
  await eventuallyHolds(async () => {
    await run(team, 0)
    assert.deepEqual([peer.grants.isGranted(account), await grantsOf(team)], [false, []])
  })
})

/** Runs the periodic tasks for grants until nothing is left that can be done now. */
async function cleanUp({ db }: TestTeam): Promise<void> {
  for (const task of assembleProcess().periodicTasks.filter(({ kind }) => kind.includes('grant')))
    while ((await task.overdueFor(db, cells.control)) !== undefined) await task.remove(db, cells.control, () => false)
}

test('the grants of a deleted team are revoked at their vendors, and the grants of others stay', async () => {
  const [team, other] = [await teamAt('oura'), await teamAt('oura')]
  const [first, second, kept] = [await connect(team), await connect(team), await connect(other)]
  assert((await team.manage.delete(`/team/${team.team}`)).status < 300)
  await cleanUp(team)
  const left = [first, second, kept].map(({ account }) => peer.grants.isGranted(account))
  assert.deepEqual(left, [false, false, true])
  assert.deepEqual([(await grantsOf(team)).length, (await grantsOf(other)).length], [0, 1])
})

test('a vendor that does not answer for a deleted team is asked again an hour later', async () => {
  const team = await teamAt('oura')
  const { account } = await connect(team)
  assert((await team.manage.delete(`/team/${team.team}`)).status < 300)
  peer.fail('outage')
  await cleanUp(team)
  assert.equal(peer.grants.isGranted(account), true)
  await team.db.pool.query(
    `update provider_grant set refreshing_until = refreshing_until - interval '1 hour' where team_id = $1`,
    [team.team],
  )
  await cleanUp(team)
  assert.equal(peer.grants.isGranted(account), false)
})
