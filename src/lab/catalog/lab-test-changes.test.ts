import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { orderBody, createOrder } from '../../../test/support/orders.ts'
import { resolveOrderSet } from './order-sets.ts'
import { TEAM_TESTS_MAX } from './lab-test-changes.ts'
import type { Marker } from './schema.ts'
import { command } from '../../../test/support/commands.ts'

const body = { name: 'Fictional Check', method: 'walk_in_test', description: 'Two markers.' }
const own = { ...body, provider_ids: ['Q55122', 'Q55325'] }
/** A kit that can be created and ordered. */
const kit = { name: 'Fictional Kit', method: 'testkit', description: '', provider_ids: ['USL-1001'], lab_slug: 'ussl' }
const create = async (team: TestTeam, changes: object = {}) => {
  const reply = await team.api.post('/v3/lab_tests', { ...own, ...changes })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body
}
const run = (...words: string[]) => command(cells, ['lab-test', ...words])

describe('lab tests of a team', () => {
  test('a lab test is created from marker codes or ids, priced at their sum, and can be read', async () => {
    const team = await createTestTeam()
    const made = await create(team)
    assert.deepEqual((await team.api.get(`/v3/lab_tests/${made.id}`)).body, made)
    assert.deepEqual(
      made.markers.map((marker: Marker) => marker.provider_id),
      own.provider_ids,
    )
    const cents = made.markers.reduce((sum: number, { price }: Marker) => sum + Math.round(Number(price) * 100), 0)
    assert.deepEqual(
      [made.slug, made.status, made.is_active, made.auto_generated, made.fasting, made.price, made.lab.slug, made.sample_type],
      [`${team.team.slice(0, 8)}-fictional-check`, 'active', true, false, false, cents / 100, 'quest', 'serum'],
    )
    const marker_ids = made.markers.map(({ id }: Marker) => id)
    const sameMarkers = await create(team, { provider_ids: undefined, marker_ids, fasting: true })
    assert.deepEqual({ ...sameMarkers, id: made.id, fasting: false }, made)
    assert.equal((await team.api.get('/v3/lab_tests')).body.at(-1).id, sameMarkers.id)
  })

  test('an invalid set of markers is rejected', async () => {
    const team = await createTestTeam()
    const { api, db } = team
    await db.queries.run(sql`
      insert into marker (id, lab_id, provider_id, name, slug, type, price, a_la_carte_enabled, is_orderable)
      select 910000 + lab_id, lab_id, 'SHARED-2', 'Shared code', 'shared-code', 'biomarker', 'N/A', false, lab_id = 4
      from unnest(array[4, 6]) as lab_id`)
    const before = (await api.get('/v3/lab_tests')).body.length
    const lab_account_id = await labAccount(team, { lab: 'labcorp' })
    const cases: [object, RegExp][] = [
      [{}, /^Either marker_ids or provider_ids/],
      [{ marker_ids: [], provider_ids: [] }, /^Either/],
      [{ marker_ids: [4001], provider_ids: ['Q55122'] }, /^Either/],
      [{ provider_ids: ['NO-SUCH'] }, /^Marker NO-SUCH does not exist$/],
      [{ provider_ids: ['Q55122', 'L770675'] }, /^Marker L770675 belongs to a different lab than the other markers$/],
      [{ provider_ids: ['SHARED-2'] }, /match markers of several labs/],
      [{ provider_ids: ['SHARED-2'], lab_slug: 'labcorp' }, /^Marker 910006 cannot be ordered$/],
      [{ provider_ids: ['Q55122'], lab_slug: 'labcorp' }, /belongs to a different lab/],
      [{ provider_ids: ['Q55122'], lab_slug: 'nowhere' }, /^Lab not found$/],
      [{ provider_ids: ['Q55122'], lab_account_id }, /belongs to a different lab/],
      [{ provider_ids: ['Q55122'], lab_slug: 'quest', lab_account_id }, /belongs to a different lab than lab_slug/],
      [{ provider_ids: ['Q55122'], method: 'testkit' }, /does not offer testkit$/],
    ]
    for (const [changes, detail] of cases) {
      const reply = await api.post('/v3/lab_tests', { ...body, ...changes })
      assert.equal(reply.status, 400, JSON.stringify([changes, reply.body]))
      assert.match(reply.body.detail, detail)
    }
    const { status, body: faults } = await api.post('/v3/lab_tests', { name: '', method: 'by post', marker_ids: ['x'] })
    assert.equal(status, 422)
    assert.deepEqual(
      faults.detail.map(({ loc }: { loc: string[] }) => loc.slice(0, 2).join('.')),
      ['body.name', 'body.method', 'body.description', 'body.marker_ids'],
    )
    assert.equal((await api.get('/v3/lab_tests')).body.length, before)
    assert.equal((await create(team, { provider_ids: ['SHARED-2'], lab_slug: 'quest' })).price, 0)
  })

  test('a lab test can be renamed, deactivated and reactivated without affecting existing orders', async () => {
    const team = await createTestTeam()
    const made = await create(team, kit)
    const path = `/v3/lab_tests/${made.id}`
    const order = await createOrder(team, { lab_test_id: made.id })
    const away = (await team.api.patch(path, { name: 'Another name', active: false })).body
    assert.deepEqual(away, { ...made, name: 'Another name', status: 'inactive', is_active: false })
    const refused = await team.api.post('/v3/order', await orderBody(team, { lab_test_id: made.id }))
    assert.equal(refused.status, 400)
    assert.equal((await team.api.post(`/v3/order/${order.id}/test`)).status, 200)
    await team.settle()
    assert.equal((await team.api.get(`/v3/order/${order.id}`)).body.status, 'completed')
    assert.deepEqual((await team.api.patch(path, { active: true })).body, { ...made, name: 'Another name' })
    assert.equal((await createOrder(team, { lab_test_id: made.id })).lab_test.name, 'Another name')
    assert.deepEqual((await team.api.patch(path, {})).body, { ...made, name: 'Another name' })
  })

  test('a lab test of another team, or one created for an order, cannot be changed', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const made = await create(team)
    for (const id of [made.id, randomUUID()])
      assert.equal((await other.api.patch(`/v3/lab_tests/${id}`, { name: 'Theirs' })).status, 404)
    const set = { lab_test_ids: [made.id] }
    const auto = await team.db.tx(team.tenant, (tx) => resolveOrderSet(tx, set, 'on_site_collection'))
    assert.equal((await team.api.patch(`/v3/lab_tests/${auto.id}`, { active: false })).status, 400)
    assert.equal((await team.api.get(`/v3/lab_tests/${auto.id}`)).body.status, 'active')
  })

  test('the number of lab tests of a team is limited', async () => {
    const team = await createTestTeam()
    await team.db.queries.run(sql`
      insert into lab_test (id, team_id, slug, name, description, lab_id, method, sample_type, price, fasting, status, created_at, updated_at)
      select gen_random_uuid(), ${team.team}, 'many', 'Many', '', 4, 'walk_in_test', 'serum', 1, false, 'active', now(), now()
      from generate_series(1, ${TEAM_TESTS_MAX}::integer - 5)`)
    await create(team)
    const { status, body } = await team.api.post('/v3/lab_tests', own)
    assert.deepEqual([status, body.detail], [400, `A team has at most ${TEAM_TESTS_MAX} lab tests`])
  })
})

describe('lab tests in production', () => {
  const approve = (team: TestTeam, id: string) => team.manage.call('POST', `/lab_test/production/us/${id}/approve`)

  test('a lab test in production awaits approval over the management API, which writes an audit entry', async () => {
    const team = await createTestTeam('production-us')
    const made = await create(team, kit)
    assert.deepEqual([made.status, made.is_active], ['pending_approval', false])
    const order = await team.api.post('/v3/order', await orderBody(team, { lab_test_id: made.id }))
    assert.deepEqual([order.status, order.body.detail], [400, `Lab test ${made.id} is not active`])
    assert.equal((await team.api.patch(`/v3/lab_tests/${made.id}`, { active: true })).status, 400)
    const other = await createTestTeam('production-us')
    assert.equal((await approve(other, made.id)).status, 404)
    assert.equal((await approve(team, randomUUID())).status, 404)
    const approved = await approve(team, made.id)
    assert.deepEqual([approved.status, approved.body], [200, { ...made, status: 'active', is_active: true }])
    assert.deepEqual((await approve(team, made.id)).body, approved.body)
    await createOrder(team, { lab_test_id: made.id })
    const [line] = (await team.manage.get(`/team/${team.team}/production/audit?operation=approve_lab_test`)).body.data
    assert.deepEqual([line.team_id, line.object], [team.team, made.id])
  })

  test('approving a deactivated lab test does not reactivate it', async () => {
    const team = await createTestTeam('production-us')
    const made = await create(team)
    const path = `/v3/lab_tests/${made.id}`
    assert.equal((await team.api.patch(path, { active: false })).body.status, 'inactive')
    assert.equal((await team.api.patch(path, { active: true })).status, 400)
    assert.equal((await approve(team, made.id)).body.status, 'inactive')
    assert.equal((await team.api.patch(path, { active: true })).body.status, 'active')
  })

  test('the operator lists and approves lab tests by command', async () => {
    const team = await createTestTeam('production-us')
    const made = await create(team)
    const listed = async () =>
      (await run('list', '--cell', 'production-us')).split('\n').filter((line) => line.includes(team.team))
    assert.match((await listed()).join(), new RegExp(`^${made.id}  ${team.team}  quest +walk_in_test +Fictional Check$`))
    assert.match(await run('approve', made.id, '--cell', 'production-us'), /^Lab test active\./)
    assert.equal((await team.api.get(`/v3/lab_tests/${made.id}`)).body.status, 'active')
    assert.deepEqual(await listed(), [])
    assert.equal(await run('list', '--cell', 'sandbox-eu'), 'No lab tests are pending approval.\n')
    const cases: [string[], RegExp][] = [
      [['approve', 'x', '--cell', 'production-us'], /must be an id/],
      [['approve', randomUUID(), '--cell', 'production-us'], /not found/],
      [['list', '--cell', 'moon'], /--cell must be one of/],
      [['list', '--lab', 'quest'], /lab/],
    ]
    for (const [words, reason] of cases)
      await assert.rejects(run(...words), (error: unknown) => error instanceof Error && reason.test(error.message))
  })
})
