import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { Problem } from '../../platform/runtime/problem.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import type { CollectionMethod } from './enums.ts'
import { seedSampleTests } from './lab-tests.ts'
import type { OrderSet } from './order-set-members.ts'
import { resolveOrderSet } from './order-sets.ts'
import type { LabTest, MarkerComplete } from './schema.ts'

const Id = T.Object({ id: T.Integer() })
const idsOf = (list: { id: number }[]) => list.map(({ id }) => id)
const byNumber = (a: number, b: number) => a - b

describe('order sets', () => {
  let team: TestTeam
  let tests: LabTest[]
  const named = (name: string) => tests.find((test) => test.name === name)!
  const resolve = (set: OrderSet, method?: CollectionMethod, lab_id?: number) =>
    team.db.tx(team.tenant, (tx) => resolveOrderSet(tx, set, method, lab_id))
  const list = (set: object, query = '') => team.api.post(`/v3/lab_tests/list_order_set_markers${query}`, set)
  const single = async (fields: string): Promise<MarkerComplete[]> =>
    (await team.api.get(`/v3/lab_tests/markers?size=100${fields}`)).body.markers
  const made = async (): Promise<LabTest[]> => (await team.api.get('/v3/lab_tests?generation_method=auto')).body
  const refused = (set: OrderSet, method: CollectionMethod | undefined, detail: string | RegExp, status = 400) =>
    assert.rejects(resolve(set, method), (error: unknown) => {
      assert.ok(error instanceof Problem, String(error))
      assert.equal(error.status, status)
      if (typeof detail === 'string') assert.equal(error.body.detail, detail)
      else assert.match(error.body.detail as string, detail)
      return true
    })

  before(async () => {
    team = await createTestTeam()
    await team.db.tx(team.tenant, (tx) => seedSampleTests(tx))
    tests = (await team.api.get('/v3/lab_tests')).body
  })

  test('an order set of one test by its own method resolves to that test', async () => {
    const kit = named('Heart and Metabolic Kit')
    for (const method of [undefined, 'testkit'] as const)
      assert.deepEqual(await resolve({ lab_test_ids: [kit.id, kit.id] }, method), { ...kit, markers: null })
    const { body } = await list({ lab_test_ids: [kit.id] })
    assert.deepEqual(idsOf(body.markers), idsOf(kit.markers!))
    assert.deepEqual([body.total, body.page, body.size, body.pages, body.pricing], [kit.markers!.length, 1, 50, 1, null])
  })

  test('an order set of several tests has all their markers once, in pages, at the sum of their prices', async () => {
    const [physical, hormones] = [named('Annual Physical Panel'), named('Male Hormone Check')]
    const set = { lab_test_ids: [physical.id, hormones.id] }
    const found = await resolve(set)
    const expected = [...new Set([...physical.markers!, ...hormones.markers!].map(({ id }) => id))]
    const read = (await team.api.get(`/v3/lab_tests/${found.id}`)).body
    assert.deepEqual(idsOf(read.markers), expected)
    assert.deepEqual({ ...read, markers: null }, found)
    assert.deepEqual(
      [found.auto_generated, found.status, found.method, found.lab?.id, found.price, found.fasting],
      [true, 'active', 'walk_in_test', physical.lab!.id, physical.price + hormones.price, true],
    )
    const { body } = await list(set, '?size=2&page=2')
    assert.deepEqual(idsOf(body.markers), expected.slice(2, 4))
    assert.deepEqual([body.total, body.pages], [expected.length, Math.ceil(expected.length / 2)])
  })

  test('an order set of single markers resolves to the same test in any order and by code, and the test is hidden from the list', async () => {
    const markers = (await single('&lab_slug=quest&a_la_carte_enabled=true')).slice(0, 3)
    const marker_ids = idsOf(markers)
    const first = await resolve({ add_on: { marker_ids } }, 'walk_in_test')
    const again = [
      await resolve({ add_on: { marker_ids: [...marker_ids].reverse() } }, 'walk_in_test'),
      await resolve({ add_on: { provider_ids: markers.map((marker) => marker.provider_id!) } }, 'walk_in_test'),
    ]
    for (const each of again) assert.deepEqual(each, first)
    assert.equal(first.price, markers.reduce((sum, { price }) => sum + Math.round(Number(price) * 100), 0) / 100)
    assert.match(first.slug, new RegExp(`^${team.team.slice(0, 8)}-[a-z0-9-]+$`))
    const other = await resolve({ add_on: { marker_ids } }, 'on_site_collection')
    assert.notEqual(other.id, first.id)
    assert.deepEqual([other.method, other.name], ['on_site_collection', first.name])
    const listed: LabTest[] = (await team.api.get('/v3/lab_tests')).body
    assert.ok(!listed.some(({ id }) => id === first.id))
    assert.ok((await made()).some(({ id }) => id === first.id))
  })

  test('an order set of a test and add-ons has both, and does not charge twice for a marker in both', async () => {
    const physical = named('Annual Physical Panel')
    const [extra] = (await single('&lab_slug=quest&name=Q55325')) as [MarkerComplete]
    const own = physical.markers![0]!.id
    const found = await resolve({ lab_test_ids: [physical.id], add_on: { marker_ids: [own, extra.id] } }, 'walk_in_test')
    const { body } = await list({ lab_test_ids: [physical.id], add_on: { marker_ids: [own, extra.id] } })
    assert.deepEqual(idsOf(body.markers), [...idsOf(physical.markers!), extra.id])
    assert.equal(found.price, Math.round((physical.price + Number(extra.price)) * 100) / 100)
  })

  test('an order set with another method than that of its test resolves to a test of its own', async () => {
    const physical = named('Annual Physical Panel')
    const found = await resolve({ lab_test_ids: [physical.id] }, 'at_home_phlebotomy')
    assert.notEqual(found.id, physical.id)
    assert.deepEqual([found.method, found.price, found.auto_generated], ['at_home_phlebotomy', physical.price, true])
    await refused({ lab_test_ids: [physical.id] }, 'testkit', /^Lab Quest.* does not offer testkit$/)
  })

  test('concurrent transactions create the test of an order set once, and a failed transaction creates no test', async () => {
    const [one, two] = idsOf(await single('&lab_slug=labcorp&a_la_carte_enabled=true')) as [number, number]
    const set = { add_on: { marker_ids: [one, two] } }
    const before = (await made()).length
    const failing = team.db.tx(team.tenant, async (tx) => {
      await resolveOrderSet(tx, set, 'walk_in_test')
      throw new Error('changed its mind')
    })
    await assert.rejects(failing, /changed its mind/)
    assert.equal((await made()).length, before)
    const found = await Promise.all(Array.from({ length: 6 }, () => resolve(set, 'walk_in_test')))
    assert.equal(new Set(found.map(({ id }) => id)).size, 1)
    assert.equal((await made()).length, before + 1)
  })

  test('an invalid order set is rejected with the documented errors', async () => {
    const [quest, labcorp] = [named('Annual Physical Panel'), named('Energy and Fatigue Draw')]
    await refused({ add_on: { marker_ids: [1] } }, undefined, 'collection_method must be set if add_on is set')
    await refused({ add_on: {} }, 'walk_in_test', 'marker_ids or provider_ids must be set in add_on')
    await refused({ add_on: { marker_ids: [] } }, 'walk_in_test', 'marker_ids or provider_ids must be set in add_on')
    const both = { marker_ids: [1], provider_ids: ['A'] }
    await refused({ add_on: both }, 'walk_in_test', 'cannot set both marker_ids and provider_ids in add_on')
    await refused({ lab_test_ids: [quest.id, labcorp.id] }, undefined, 'cannot order lab_tests from multiple labs')
    const home = await resolve({ lab_test_ids: [quest.id] }, 'at_home_phlebotomy')
    const mixed = { lab_test_ids: [home.id, quest.id] }
    await refused(mixed, undefined, 'cannot order lab tests with multiple collection methods')
    assert.equal((await resolve(mixed, 'walk_in_test')).method, 'walk_in_test')
    await refused({}, 'walk_in_test', 'order_set must contain at least one lab test or marker')
    await refused({ lab_test_ids: [] }, undefined, 'order_set must contain at least one lab test or marker')
    assert.equal((await list({})).status, 400)
  })

  test('the error for an invalid order set names the member that is not available', async () => {
    const { db, api } = team
    const quest = named('Annual Physical Panel')
    const stranger = await (await createTestTeam()).test()
    for (const lab_test_ids of [[randomUUID()], [stranger], [quest.id, randomUUID()]]) {
      await refused({ lab_test_ids }, undefined, 'Test does not exist', 404)
      assert.equal((await list({ lab_test_ids })).status, 404)
    }
    const [reflex] = await db.queries.many(Id, sql`select id from marker where not is_orderable and lab_id = 4 limit 1`)
    const [fixed] = await db.queries.many(
      Id,
      sql`select id from marker where is_orderable and not a_la_carte_enabled and lab_id = 4 limit 1`,
    )
    for (const { id } of [reflex!, fixed!])
      await refused({ add_on: { marker_ids: [id] } }, 'walk_in_test', `Marker ${id} cannot be ordered à la carte`)
    await refused({ add_on: { marker_ids: [2147483647] } }, 'walk_in_test', 'Marker 2147483647 does not exist')
    await refused({ add_on: { provider_ids: ['NO-SUCH'] } }, 'walk_in_test', 'Marker NO-SUCH does not exist')
    const [elsewhere] = (await single('&lab_slug=labcorp&a_la_carte_enabled=true')) as [MarkerComplete]
    const foreign = `Marker ${elsewhere.id} belongs to a different lab than the other markers`
    await refused({ lab_test_ids: [quest.id], add_on: { marker_ids: [elsewhere.id] } }, 'walk_in_test', foreign)
    const here = (await single('&lab_slug=quest&a_la_carte_enabled=true'))[0]!.id
    await refused({ add_on: { marker_ids: [here, elsewhere.id] } }, 'walk_in_test', foreign)
    await db.queries.run(sql`update lab_test set status = 'inactive' where id = ${named('STI Check').id}`)
    const idle = named('STI Check').id
    await refused({ lab_test_ids: [idle] }, undefined, `Lab test ${idle} is not active`)
    await refused({ lab_test_ids: [idle, quest.id] }, undefined, `Lab test ${idle} is not active`)
    assert.equal((await api.post('/v3/lab_tests/list_order_set_markers', { lab_test_ids: ['nonsense'] })).status, 422)
  })

  test('an order set of codes that several labs use must name the lab', async () => {
    const { db } = team
    await db.queries.run(sql`
      insert into marker (id, lab_id, provider_id, name, slug, type, price, a_la_carte_enabled, is_orderable)
      select 900000 + lab_id, lab_id, 'SHARED-1', 'Shared code', 'shared-code', 'biomarker', 'N/A', true, true
      from unnest(array[4, 6]) as lab_id`)
    const set = { add_on: { provider_ids: ['SHARED-1'] } }
    await refused(set, 'walk_in_test', /match markers of several labs/)
    const found = await resolve(set, 'walk_in_test', 6)
    assert.deepEqual([found.lab?.slug, found.price, found.sample_type], ['labcorp', 0, 'serum'])
    const lab_account_id = await labAccount(team, { lab: 'labcorp' })
    const { body } = await list({ ...set, lab_account_id })
    assert.deepEqual(idsOf(body.markers), [900006])
    assert.equal((await list({ lab_test_ids: [named('Annual Physical Panel').id], lab_account_id })).status, 400)
    assert.equal((await list({ ...set, lab_account_id: randomUUID() })).status, 404)
  })

  test('listing the markers of an order set creates nothing', async () => {
    const before = (await made()).map(({ id }) => id)
    const marker_ids = idsOf(await single('&lab_slug=bioreference&a_la_carte_enabled=true'))
      .sort(byNumber)
      .slice(0, 4)
    assert.deepEqual(idsOf((await list({ add_on: { marker_ids } })).body.markers), marker_ids)
    assert.deepEqual(
      (await made()).map(({ id }) => id),
      before,
    )
  })
})
