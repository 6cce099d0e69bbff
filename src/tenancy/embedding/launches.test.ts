import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { embedding, launch, createLaunchBody, member } from '../../../test/support/launch-browser.ts'
import { asOwner, assembleProcess, cells, createTestTeam, settings, url, type TestTeam } from '../../../test/support/server.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { createAnotherTeam, roleBindings } from '../../../test/support/teams.ts'

describe('a launch URL', () => {
  test('is on this server, for five minutes, for member and team by id or by reference', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    await org.manage.patch(`/team/${org.team}`, { integration_team_id: 'team/1' })
    const by = [
      {},
      { member_id: undefined, integration_member_id: someone.integration_member_id },
      { team_id: undefined, integration_team_id: 'team/1' },
      { member_id: null, integration_member_id: someone.integration_member_id, modality: 'feature_embed' },
    ]
    for (const more of by) {
      const { status, body } = await launch(org, createLaunchBody(org, someone, more))
      assert.deepEqual([status, Object.keys(body), body.expires_in], [200, ['url', 'expires_in'], 300])
      assert.match(body.url, new RegExp(`^${url}/auth/launch\\?token=dl_[\\w-]{43}$`))
    }
  })

  test('names member and team in exactly one way: every fault at once', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const faults = async (overrides: Record<string, unknown>) => {
      const { status, body } = await launch(org, createLaunchBody(org, someone, overrides))
      assert.equal(status, 422)
      return body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'))
    }
    assert.deepEqual(await faults({ member_id: undefined, team_id: null }), ['body.member_id', 'body.team_id'])
    assert.deepEqual(await faults({ integration_member_id: 'x', integration_team_id: 'x' }), ['body.member_id', 'body.team_id'])
    assert.deepEqual(await faults({ feature: 'x', modality: 'x', environment: 'x' }), [
      'body.feature',
      'body.modality',
      'body.environment',
    ])
  })

  test('is for a feature that exists', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const unknown = ['', 'orders', 'order', 'order:', 'order:1', `order:${randomUUID()}x`, `orders:${randomUUID()}`]
    for (const feature of [...unknown, `team_config:${randomUUID()}`, 'team_panels ', 'TEAM_PANELS', null, 7])
      assert.equal((await launch(org, createLaunchBody(org, someone, { feature }))).status, 422, String(feature))
    for (const feature of ['order_creation', 'team_panels', 'team_config'])
      assert.equal((await launch(org, createLaunchBody(org, someone, { feature }))).status, 200, feature)
  })

  test('is for a user or an order that the team has in that environment', async () => {
    const org = await createTestTeam()
    const other = await createTestTeam()
    const { member: someone } = await embedding(org)
    const orderOf = async (team: TestTeam) => {
      const shipping_details = {
        receiver_name: 'Testa Fictional',
        first_line: '1 Sample Way',
        city: 'Phoenix',
        state: 'AZ',
        zip: '85004',
        country: 'US',
        phone_number: '+15550100199',
      }
      const body = { user_id: await team.user(), lab_test_id: await team.test(), shipping_details }
      const { id, user_id } = (await team.api.post('/v3/order/testkit', body)).body.order
      return { id, user_id }
    }
    const [own, foreign] = [await orderOf(org), await orderOf(other)]
    const status = async (feature: string, environment = 'sandbox') =>
      (await launch(org, createLaunchBody(org, someone, { feature, environment }))).status
    assert.equal(await status(`order:${own.id}`), 200)
    assert.equal(await status(`order:${own.id.toUpperCase()}`), 200)
    assert.equal(await status(`order_creation:${own.user_id}`), 200)
    assert.equal(await status(`order:${foreign.id}`), 404)
    assert.equal(await status(`order:${own.user_id}`), 404)
    assert.equal(await status(`order_creation:${foreign.user_id}`), 404)
    assert.equal(await status(`order_creation:${own.id}`), 404)
    const production = (await org.manage.post('/team', { name: 'Whole', region: 'us' })).body.id
    const there = { feature: `order:${own.id}`, environment: 'production', team_id: production }
    assert.equal((await launch(org, createLaunchBody(org, someone, there))).status, 404)
    assert.equal((await launch(org, createLaunchBody(org, someone, { ...there, feature: 'team_panels' }))).status, 200)
    const deleted = await org.user()
    await org.api.delete(`/v2/user/${deleted}`)
    assert.equal(await status(`order_creation:${deleted}`), 404)
  })

  test('needs a modality that is enabled', async () => {
    const org = await createTestTeam()
    const someone = await member(org)
    const status = async (modality: string) => (await launch(org, createLaunchBody(org, someone, { modality }))).status
    assert.equal(await status('link_out'), 400)
    await embedding(org, { modalities: ['link_out'] })
    assert.deepEqual([await status('link_out'), await status('feature_embed')], [200, 400])
    await embedding(org, { modalities: [] })
    assert.equal(await status('link_out'), 400)
  })

  test('needs a member that is bound to the team, and a team of the organization', async () => {
    const org = await createTestTeam()
    const own = await createAnotherTeam(org)
    await embedding(org)
    const bound = await member(org, { team_role_bindings: roleBindings(own) })
    const none = await member(org, { team_role_bindings: [] })
    const status = async (someone: { id: string }, team_id: string) =>
      (await launch(org, createLaunchBody(org, someone, { team_id }))).status
    assert.deepEqual([await status(bound, own), await status(bound, org.team), await status(none, own)], [200, 403, 403])
    for (const team_id of [randomUUID(), (await createTestTeam()).team]) assert.equal(await status(bound, team_id), 404)
    assert.equal((await launch(org, createLaunchBody(org, { id: randomUUID() }))).status, 404)
    const unknown = { member_id: undefined, integration_member_id: 'unknown' }
    assert.equal((await launch(org, createLaunchBody(org, bound, unknown))).status, 404)
    assert.equal(
      (await launch(org, createLaunchBody(org, bound, { team_id: undefined, integration_team_id: 'unknown' }))).status,
      404,
    )
    await org.manage.delete(`/team/${own}`)
    assert.equal(await status(bound, own), 404)
  })

  test('is not created for a member who is removed meanwhile', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const removing = await cells.control.pool.connect()
    try {
      await removing.query('begin')
      await removing.query('delete from integration_member where id = $1', [someone.id])
      const launching = launch(org, createLaunchBody(org, someone))
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      await eventually(async () => (await asOwner(waiting)).rowCount, 'the launch waits for the deletion')
      await removing.query('commit')
      const { status, body } = await launching
      assert.deepEqual([status, body], [404, { detail: 'Member not found' }])
    } finally {
      removing.release()
    }
  })

  test('is on the own host of an organization that has one which points here', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const domain = `${randomUUID()}.example.com`
    await org.manage.post('/domain', { domain })
    const hostNow = async () => new URL((await launch(org, createLaunchBody(org, someone))).body.url).host
    const set = (target: string | null) =>
      cells.control.pool.query(`update org_domain set verified_at = now(), cname_target = $2 where org_id = $1`, [
        org.org_id,
        target,
      ])
    assert.equal(await hostNow(), new URL(url).host)
    await set('elsewhere.example.org')
    assert.equal(await hostNow(), new URL(url).host)
    await set(settings.domain_target!)
    assert.equal(await hostNow(), `dashboard.${domain}`)
  })

  test('has the path under which browsers find this server', async (t) => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const { operations, app } = assembleProcess({ publicUrl: () => 'https://example.org/lab' })
    t.after(() => app.close())
    const { run } = operations.find(({ id }) => id === 'create_dashboard_url')!
    const made = () =>
      cells.control.plainTx((tx) => run(tx, { params: { org_id: org.org_id }, body: createLaunchBody(org, someone) }))
    assert.match(((await made()) as { url: string }).url, /^https:\/\/example\.org\/lab\/auth\/launch\?token=/)
  })

  test('is shown once: no list, audit log, table or repeated request contains its token', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const headers = { 'x-idempotency-key': 'once' }
    const ask = () => org.manage.post('/ehr_integration/create_dashboard_url', createLaunchBody(org, someone), headers)
    const token = new URL((await ask()).body.url).searchParams.get('token')!.slice(3)
    const again = await ask()
    assert.deepEqual([again.status, typeof again.body.detail], [409, 'string'])
    const { rows } = await cells.control.pool.query<{ row: string }>(
      `select s::text as row from dashboard_session s where member_id = $1
       union all select a::text from audit_log a where org_id = $2 union all select i::text from idempotency_key i where team_id = $2`,
      [someone.id, org.org_id],
    )
    assert(rows.length > 2)
    for (const { row } of [...rows, { row: JSON.stringify(again.body) }]) assert(!row.includes(token))
    assert.equal((await org.manage.get('/audit')).body.data[0].operation, 'create_dashboard_url')
  })
})
