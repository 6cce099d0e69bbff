import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { expectedResults, findLabTest, seedSampleTests, seedStandardTests } from './lab-tests.ts'
import { findLab } from './labs.ts'
import type { Lab, LabTest, Marker, MarkerComplete, Price } from './schema.ts'

const idsOf = (list: { id: string | number }[]) => list.map(({ id }) => id)

/** A team with the standard and the sample tests. */
async function givenSamples(): Promise<TestTeam> {
  const team = await createTestTeam()
  await team.db.tx(team.tenant, (tx) => seedSampleTests(tx))
  return team
}

async function allMarkers({ api }: TestTeam, filter = ''): Promise<MarkerComplete[]> {
  const markers: MarkerComplete[] = []
  for (let page = 1; ; page++) {
    const { body } = await api.get(`/v3/lab_tests/markers?size=100&page=${page}${filter}`)
    markers.push(...body.markers)
    if (page >= body.pages) return markers
  }
}

/** The expected prices of a list of markers, computed from the text of each. */
const pricesOf = (markers: Marker[]): Record<string, Price> =>
  Object.fromEntries(
    markers.map(({ id, price }) => [
      id,
      price === 'N/A'
        ? { unspecified: 'price_unavailable' }
        : { base_amount_minor: Math.round(Number(price) * 100), modifiers: null },
    ]),
  )

describe('labs', () => {
  test('the list of labs has all fifteen labs, with the data that a report needs', async () => {
    const { api, db, tenant } = await createTestTeam()
    const { status, body } = await api.get('/v3/lab_tests/labs')
    assert.equal(status, 200)
    assert.equal(new Set(body.map((lab: Lab) => lab.slug)).size, 15)
    const quest = body.find((lab: Lab) => lab.slug === 'quest')
    const record = await db.tx(tenant, (tx) => findLab(tx, quest.id))
    assert.equal(record?.name, quest.name)
    assert.match(record?.clia ?? '', /^\w+$/)
    assert.ok(record?.medical_director && record.state)
    assert.equal(await db.tx(tenant, (tx) => findLab(tx, 999)), undefined)
  })
})

describe('markers', () => {
  let team: TestTeam
  let all: MarkerComplete[]
  let labs: Lab[]
  const listed = async (filter: string) => idsOf(await allMarkers(team, filter))
  const labId = (slug: string) => labs.find((lab) => lab.slug === slug)!.id
  before(async () => {
    team = await createTestTeam()
    all = await allMarkers(team)
    labs = (await team.api.get('/v3/lab_tests/labs')).body
  })

  test('the pages of markers contain every orderable marker once and count them', async () => {
    const { body } = await team.api.get('/v3/lab_tests/markers')
    assert.deepEqual([body.page, body.size, body.markers.length, body.pricing], [1, 50, 50, null])
    assert.equal(body.total, all.length)
    assert.equal(body.pages, Math.ceil(all.length / 50))
    assert.equal(new Set(idsOf(all)).size, all.length)
    assert.ok(all.every((marker) => marker.is_orderable))
    const beyond = (await team.api.get('/v3/lab_tests/markers?page=99&size=100')).body
    assert.deepEqual([beyond.markers, beyond.total], [[], all.length])
  })

  test('a page number or size outside the limits is rejected', async () => {
    for (const query of ['page=0', 'size=0', 'size=101', 'lab_id=x', 'a_la_carte_enabled=maybe', 'lab_account_id=1'])
      assert.equal((await team.api.get(`/v3/lab_tests/markers?${query}`)).status, 422, query)
  })

  test('markers filter by lab id or slug, and the slug takes precedence', async () => {
    const of = (...slugs: string[]) => idsOf(all.filter((marker) => slugs.map(labId).includes(marker.lab_id!)))
    assert.deepEqual(await listed(`&lab_id=${labId('quest')}`), of('quest'))
    assert.deepEqual(await listed(`&lab_id=${labId('quest')}&lab_id=${labId('ussl')}`), of('quest', 'ussl'))
    assert.deepEqual(await listed('&lab_slug=ussl'), of('ussl'))
    assert.deepEqual(await listed(`&lab_slug=USSL&lab_id=${labId('quest')}`), of('ussl'))
    assert.deepEqual(await listed('&lab_slug=nowhere'), [])
    assert.deepEqual(await listed('&lab_id=999'), [])
  })

  test('the name filter searches names, test codes and component names in any case, and treats wildcards literally', async () => {
    const namesOf = ({ name, provider_id, expected_results }: MarkerComplete) =>
      [name, provider_id, ...(expected_results ?? []).flatMap((part) => [part.name, part.loinc?.name ?? ''])].join('\n')
    const found = (text: string) => idsOf(all.filter((marker) => namesOf(marker).toLowerCase().includes(text.toLowerCase())))
    const panels = all.filter(({ name, type }) => type === 'panel' && !name.toLowerCase().includes('cholesterol'))
    const lipids = panels.find(({ name }) => /lipid/i.test(name))!
    assert((await listed('&name=cholesterol')).includes(lipids.id), `${lipids.name} is not found by what it measures`)
    for (const text of ['glucose', 'GLUCOSE', 'cholesterol', 'q55', '4th', '%', '_', '\\', "'", 'no such marker', ''])
      assert.deepEqual(await listed(`&name=${encodeURIComponent(text)}`), found(text), text)
    assert.ok(found('glucose').length > 1 && found('q55').length > 1)
  })

  test('markers filter by à-la-carte availability', async () => {
    for (const wanted of [true, false])
      assert.deepEqual(
        await listed(`&a_la_carte_enabled=${wanted}`),
        idsOf(all.filter((marker) => marker.a_la_carte_enabled === wanted)),
      )
  })

  test('prices are returned in cents on request, and a missing price is marked as missing', async () => {
    const priceless = all.find((marker) => marker.price === 'N/A')!
    for (const filter of ['size=100', `name=${priceless.provider_id}`]) {
      const { body } = await team.api.get(`/v3/lab_tests/markers?include_pricing=true&${filter}`)
      assert.deepEqual(body.pricing, { currency: 'USD', data: pricesOf(body.markers) })
    }
    assert.equal((await team.api.get('/v3/lab_tests/markers?include_pricing=false')).body.pricing, null)
  })

  test('a marker shows its expected results and their codes', async () => {
    const tsh = all.find((marker) => marker.provider_id === 'Q55122')!
    const [result] = tsh.expected_results
    assert.deepEqual([result?.slug, result?.required, result?.lab_id, result?.provider_id], ['tsh', true, tsh.lab_id, 'Q55122'])
    assert.equal(result?.id, result?.loinc?.id)
    assert.deepEqual(
      [result?.loinc?.code, result?.loinc?.slug, result?.loinc?.unit, tsh.unit],
      ['3016-3', 'tsh', 'u[IU]/mL', 'u[IU]/mL'],
    )
    const cascade = all.find((marker) => marker.provider_id === 'Q55129')!
    assert.deepEqual(
      cascade.expected_results.map(({ slug, required, provider_id }) => [slug, required, provider_id]),
      [
        ['tsh', true, null],
        ['free-t4', false, null],
      ],
    )
  })

  test("a marker is read by the lab's test code, including reflex markers", async () => {
    const { expected_results: _, ...marker } = all.find((marker) => marker.provider_id === 'Q55122')!
    const read = await team.api.get(`/v3/lab_tests/${marker.lab_id}/markers/Q55122`)
    assert.deepEqual([read.status, read.body], [200, marker])
    assert.equal((await team.api.get(`/v3/lab_tests/${marker.lab_id}/markers/Q56214`)).body.is_orderable, false)
    for (const path of [`${labId('ussl')}/markers/Q55122`, '4/markers/nothing', '999/markers/Q55122']) {
      const { status, body } = await team.api.get(`/v3/lab_tests/${path}`)
      assert.deepEqual([status, body], [404, { detail: 'Marker not found' }])
    }
    assert.equal((await team.api.get('/v3/lab_tests/quest/markers/Q55122')).status, 422)
  })
})

describe('markers of a lab test', () => {
  test('the markers of a lab test are listed in its order, followed by its reflex markers', async () => {
    const team = await givenSamples()
    const [screen] = (await team.api.get('/v3/lab_tests?provider_ids=Q55801')).body
    const { status, body } = await team.api.get(`/v3/lab_tests/${screen.id}/markers`)
    assert.equal(status, 200)
    const codes = body.markers.map((marker: Marker) => [marker.provider_id, marker.is_orderable])
    assert.deepEqual(
      codes.slice(0, screen.markers.length),
      screen.markers.map((marker: Marker) => [marker.provider_id, true]),
    )
    assert.deepEqual(codes.slice(screen.markers.length), [
      ['Q56235', false],
      ['Q56242', false],
      ['Q56249', false],
      ['Q56256', false],
    ])
    assert.deepEqual([body.total, body.page, body.size, body.pages, body.pricing], [codes.length, 1, 50, 1, null])
    const second = (await team.api.get(`/v3/lab_tests/${screen.id}/markers?page=2&size=2`)).body
    assert.deepEqual(idsOf(second.markers), idsOf(body.markers).slice(2, 4))
    assert.deepEqual([second.total, second.pages], [codes.length, Math.ceil(codes.length / 2)])
  })

  test('a lab test without optional results has no reflex markers, even if a reflex marker measures the same', async () => {
    const { api, test } = await createTestTeam()
    const id = await test('at_home_phlebotomy')
    const { markers } = (await api.get(`/v3/lab_tests/${id}`)).body
    assert.ok(markers.some((marker: Marker) => marker.provider_id === 'L770363'))
    assert.deepEqual(idsOf((await api.get(`/v3/lab_tests/${id}/markers`)).body.markers), idsOf(markers))
  })

  test('the markers of a lab test have complete expected results', async () => {
    const { db, tenant, api, test } = await createTestTeam()
    const id = await test('testkit')
    const { markers } = (await api.get(`/v3/lab_tests/${id}`)).body
    const expected = await db.tx(tenant, (tx) => expectedResults(tx, id))
    assert.deepEqual(
      expected.map(({ marker_id, provider_id }) => [marker_id, provider_id]),
      markers.map((marker: Marker) => [marker.id, marker.provider_id]),
    )
    const a1c = expected.flatMap((marker) => marker.expected).find(({ slug }) => slug === 'hemoglobin-a1c')
    assert.deepEqual([a1c?.loinc, a1c?.required, a1c?.definition.type, a1c?.definition.unit], ['4548-4', true, 'numeric', '%'])
    assert.ok(typeof a1c?.definition.high === 'number')
    const theirs = await createTestTeam()
    assert.deepEqual(await db.tx(theirs.tenant, (tx) => expectedResults(tx, id)), [])
  })
})

describe('lab tests', () => {
  test('standard lab tests are seeded once, active, for every collection method', async () => {
    const { api, db, tenant, team } = await createTestTeam()
    const first = (await api.get('/v3/lab_tests')).body
    assert.deepEqual(first.map(({ method }: LabTest) => method).sort(), [
      'at_home_phlebotomy',
      'on_site_collection',
      'testkit',
      'walk_in_test',
    ])
    for (const each of first as LabTest[]) {
      assert.deepEqual([each.status, each.is_active, each.is_delegated, each.auto_generated], ['active', true, false, false])
      assert.match(each.slug, new RegExp(`^${team.slice(0, 8)}-[a-z0-9]+(-[a-z0-9]+)*$`))
      assert.ok(each.description && each.lab && each.markers?.length)
    }
    await db.tx(tenant, (tx) => seedStandardTests(tx))
    assert.deepEqual((await api.get('/v3/lab_tests')).body, first)
  })

  test('the turnaround of a lab test is that of its slowest marker, and unknown if that of a marker is', async () => {
    const { api, db, test } = await createTestTeam('sandbox-eu')
    const id = await test('testkit')
    const known = (await api.get(`/v3/lab_tests/${id}`)).body
    assert.equal(known.common_tat_days, Math.max(...known.markers.map((marker: Marker) => marker.common_tat_days)))
    assert.equal(known.worst_case_tat_days, Math.max(...known.markers.map((marker: Marker) => marker.worst_case_tat_days)))
    await db.queries.run(sql`update marker set common_tat_days = null where id = ${known.markers[0].id}`)
    const unknown = (await api.get(`/v3/lab_tests/${id}`)).body
    assert.deepEqual([unknown.common_tat_days, unknown.worst_case_tat_days], [null, known.worst_case_tat_days])
  })

  test('the lab test of an order has its lab and no markers', async () => {
    const { api, db, tenant, test } = await createTestTeam()
    const id = await test()
    const read = (await api.get(`/v3/lab_tests/${id}`)).body
    assert.deepEqual(await db.tx(tenant, (tx) => findLabTest(tx, id)), { ...read, markers: null })
    assert.equal(await db.tx(tenant, (tx) => findLabTest(tx, randomUUID())), undefined)
  })

  test('reading an unknown lab test or one of another team returns 404', async () => {
    const [mine, theirs] = [await createTestTeam(), await createTestTeam()]
    const id = await theirs.test()
    for (const path of [id, `${id}/markers`, randomUUID()]) {
      const { status, body } = await mine.api.get(`/v3/lab_tests/${path}`)
      assert.deepEqual([status, body], [404, { detail: 'Lab test not found' }])
    }
    assert.equal(await mine.db.tx(mine.tenant, (tx) => findLabTest(tx, id)), undefined)
    assert.equal((await mine.api.get('/v3/lab_tests/not-an-id')).status, 422)
    assert.equal((await mine.api.get('/v3/lab_tests/not-an-id/markers')).status, 422)
  })

  test('reading a lab test with a lab account of another team returns 404', async () => {
    const { api, test } = await createTestTeam()
    const id = await test()
    for (const path of [
      '/v3/lab_test',
      '/v3/lab_tests/markers',
      `/v3/lab_tests/${id}`,
      `/v3/lab_tests/${id}/markers`,
      '/v3/lab_tests/4/markers/Q55122',
    ]) {
      const { status, body } = await api.get(`${path}?lab_account_id=${randomUUID()}`)
      assert.deepEqual([status, body], [404, { detail: 'lab account not found' }], path)
    }
  })
})
