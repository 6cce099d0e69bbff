// Links of accounts in the database: profiles, secrets, modes and states.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { profile } from '../../../test/support/link-messages.ts'
import { orderBody } from '../../../test/support/orders.ts'
import { createTestTeam, settings, vault, type TestTeam } from '../../../test/support/server.ts'
import { createAnotherTeam } from '../../../test/support/teams.ts'
import type { LinkMode } from '../links/link-modes.ts'
import {
  encryptedLinkSecretsColumn,
  findLink,
  findLinkWithSecrets,
  listLinks,
  listSecretOptions,
  noteTraffic,
  saveLink,
  setLinkMode,
  setLinkState,
} from './account-links.ts'
import { updateAccount } from './accounts.ts'

const sending = { ...profile, transport: { orders: 'mllp', client: { host: 'lab.example', tls: false } } }

async function linkedAccount(team: TestTeam, file: unknown = profile): Promise<string> {
  const account = await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID()}` })
  await team.db.plainTx((tx) => saveLink(tx, account, file, vault))
  return account
}

describe('the link of an account', () => {
  test('is created off and well, and its profile is stored as preset and differences', async () => {
    const team = await createTestTeam()
    const account = await linkedAccount(team, { ...profile, preset: 'us-23' })
    const link = (await findLink(team.db.queries, account))!
    assert.deepEqual(
      [link.preset, link.options, link.mode, link.state, link.state_reason, link.received_at],
      ['us-23', { text: { time_zone: 'America/New_York' }, results: { reports: 'incremental' } }, 'off', 'ok', null, null],
    )
    assert.equal(link.profile.order_content.message, 'ORM')
    const ofOrg = await listLinks(team.db.queries, { org_id: team.org_id })
    assert.deepEqual(
      ofOrg.map(({ account_id }) => account_id),
      [account],
    )
    assert.deepEqual(await listLinks(team.db.queries, { org_id: team.org_id, modes: ['live'] }), [])
  })

  test('needs an account, and a faulty profile leaves it as it was', async () => {
    const team = await createTestTeam()
    await assert.rejects(
      team.db.plainTx((tx) => saveLink(tx, randomUUID(), profile)),
      { status: 404 },
    )
    const account = await linkedAccount(team)
    await assert.rejects(
      team.db.plainTx((tx) => saveLink(tx, account, { preset: 'us-23' })),
      { status: 400 },
    )
    assert.equal((await findLink(team.db.queries, account))!.preset, null)
  })

  test('stores secrets encrypted for its own row, keeps masked ones and deletes absent ones', async () => {
    const team = await createTestTeam()
    const sftp = { host: 'sftp.lab.example', user: 'clinic', host_key: 'SHA256:fictional', results: '/out' }
    const file = (secrets: object) => ({ ...profile, transport: { results: 'sftp', sftp: { ...sftp, ...secrets } } })
    const account = await linkedAccount(team, file({ password: 'invented-password', private_key: 'invented-key' }))
    const row = (await team.db.pool.query('select k::text as row, secrets from lab_link k where account_id = $1', [account]))
      .rows[0]
    assert(!row.row.includes('invented'))
    assert.throws(() => vault.decrypt(row.secrets, encryptedLinkSecretsColumn.context(randomUUID())))
    await team.db.plainTx((tx) => saveLink(tx, account, file({ password: '********' }), vault))
    assert.deepEqual(await listSecretOptions(team.db.queries, vault, account), ['transport.sftp.password'])
    assert.equal((await findLink(team.db.queries, account))!.profile.transport.sftp.password, undefined)
    const opened = await findLinkWithSecrets(team.db.queries, vault, account)
    assert.equal(opened!.profile.transport.sftp.password, 'invented-password')
    assert.equal((await findLink(team.db.queries, account))!.profile.transport.sftp.password, undefined)
  })

  test('is failing from the first failure to the first success, with the last reason', async () => {
    const team = await createTestTeam()
    const account = await linkedAccount(team)
    const set = (reason: string | null) => team.db.plainTx((tx) => setLinkState(tx, account, reason))
    assert.deepEqual([await set('refused'), await set('deaf'), await set('deaf')], [true, false, false])
    const failing = (await findLink(team.db.queries, account))!
    assert.deepEqual([failing.state, failing.state_reason], ['failing', 'deaf'])
    assert.deepEqual([await set(null), await set(null)], [true, false])
    assert.equal((await findLink(team.db.queries, account))!.state_reason, null)
  })

  test('knows when the last messages came and went', async () => {
    const team = await createTestTeam()
    const account = await linkedAccount(team)
    await team.db.plainTx(async (tx) => {
      await noteTraffic(tx, account, 'in')
      await noteTraffic(tx, account, 'in')
    })
    const link = (await findLink(team.db.queries, account))!
    assert(link.received_at)
    assert.equal(link.sent_at, null)
  })
})

describe('the mode of a link', () => {
  const setMode = ({ db }: TestTeam, account: string, mode: LinkMode, team_id?: string) =>
    db.plainTx((tx) => setLinkMode(tx, account, mode, team_id))

  test('live_for_team names a team that may order under the account, and no other mode names one', async () => {
    const [team, stranger] = [await createTestTeam(), await createTestTeam()]
    const account = await linkedAccount(team)
    for (const [mode, team_id] of [
      ['live_for_team', undefined],
      ['live_for_team', stranger.team],
      ['live_for_team', randomUUID()],
      ['live', team.team],
    ] as const)
      await assert.rejects(setMode(team, account, mode, team_id), { status: 400 }, `${mode} ${team_id}`)
    await setMode(team, account, 'live_for_team', team.team)
    assert.equal((await findLink(team.db.queries, account))!.live_team_id, team.team)
    await assert.rejects(setMode(team, randomUUID(), 'live'), { status: 404 })
  })

  test('decides whether a production order at the laboratory is accepted, for the account that it uses', async (t) => {
    settings.orders_without_integration = false
    t.after(() => (settings.orders_without_integration = true))
    const team = await createTestTeam('production-us')
    const other = await createAnotherTeam(team)
    const account = await linkedAccount(team, sending)
    await team.db.plainTx((tx) => updateAccount(tx, account, { team_ids: [team.team, other] }))
    const lab_test_id = await team.test('walk_in_test')
    const order = async () => (await team.api.post('/v3/order', await orderBody(team, { lab_test_id }))).status
    for (const [mode, team_id, status] of [
      ['off', undefined, 400],
      ['test', undefined, 400],
      ['shadow', undefined, 400],
      ['live_for_team', other, 400],
      ['live_for_team', team.team, 200],
      ['live', undefined, 200],
    ] as const) {
      await setMode(team, account, mode, team_id)
      assert.equal(await order(), status, `${mode} ${team_id === team.team}`)
    }
    await team.db.plainTx((tx) => saveLink(tx, account, profile))
    assert.equal(await order(), 400, 'a link that sends no orders')
  })
})
