import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { address, kit, createOrder } from '../../../test/support/orders.ts'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { labId, site, insertSites } from '../../../test/support/psc-sites.ts'
import { cells, createTestTeam, settings } from '../../../test/support/server.ts'
import type { Place } from '../geocoding/postal-places.ts'
import { PscDirectory } from './directory.ts'
import { areaInfo } from './search.ts'
import { setActive } from './sites.ts'
import { eventuallyHolds } from '../../../test/support/eventually.ts'

const both = ['appointment_scheduling_via_service', 'appointment_scheduling_via_junction']
const codes = (body: { patient_service_centers: { site_code: string }[] }) =>
  body.patient_service_centers.map((center) => center.site_code)

// Before the first query, so that the first read of the directory contains the sites.
const lab_id = await labId('ihd')
await insertSites('sandbox-us', lab_id, [
  site('FAR', 24.9),
  site('OUT', 25.1),
  site('TIE-B', 3),
  site('TIE-A', 3, {
    second_line: 'Suite 7',
    phone_number: '+15550100111',
    fax_number: '+15550100112',
    hours: { monday: '07:00-15:00' },
    website: 'https://sites.example.com/tie-a',
    capabilities: ['stat', 'appointment_scheduling_via_service'],
    supported_bill_types: ['client_bill', 'patient_bill'],
  }),
  site('HERE', 0, { capabilities: ['appointment_scheduling_with_lab'] }),
  site('GONE', 1, { active: false }),
])
const near = `/v3/order/psc/info?zip_code=85004&lab_id=${lab_id}`

test('lists active sites of a lab nearest first, and equally near ones by code', async () => {
  const { api } = await createTestTeam()
  const { status, body } = await api.get(near)
  assert.equal(status, 200)
  assert.equal(body.lab_id, lab_id)
  assert.equal(body.slug, 'ihd')
  assert.deepEqual(codes(body), ['HERE', 'TIE-A', 'TIE-B', 'FAR'])
  assert.deepEqual(body.patient_service_centers[1], {
    metadata: {
      name: 'Pretend Draw Site TIE-A',
      state: 'AZ',
      city: 'Phoenix',
      zip_code: '85004',
      first_line: '1 Sample Way',
      second_line: 'Suite 7',
      phone_number: '+15550100111',
      fax_number: '+15550100112',
      hours: { monday: '07:00-15:00' },
      website: 'https://sites.example.com/tie-a',
    },
    distance: 3,
    supported_bill_types: ['client_bill', 'patient_bill'],
    site_code: 'TIE-A',
    location: { lng: -112.0686, lat: site('TIE-A', 3).lat },
    capabilities: ['stat', ...both],
  })
  assert.equal(body.patient_service_centers[3].distance, 25)
})

test('the radius counts unrounded miles', async () => {
  const { api } = await createTestTeam()
  assert.deepEqual(codes((await api.get(`${near}&radius=10`)).body), ['HERE', 'TIE-A', 'TIE-B'])
  assert.deepEqual(codes((await api.get(`${near}&radius=50`)).body), ['HERE', 'TIE-A', 'TIE-B', 'FAR', 'OUT'])
})

test('requires all requested capabilities, and accepts both spellings of the bookable one', async () => {
  const { api } = await createTestTeam()
  for (const name of both) assert.deepEqual(codes((await api.get(`${near}&capabilities=${name}`)).body), ['TIE-A'])
  assert.deepEqual(codes((await api.get(`${near}&capabilities=stat&capabilities=${both[1]}`)).body), ['TIE-A'])
  assert.deepEqual(codes((await api.get(`${near}&capabilities=stat&capabilities=appointment_scheduling_with_lab`)).body), [])
})

test('an unknown place has no sites, and invalid parameters are 422', async () => {
  const { api } = await createTestTeam()
  assert.deepEqual((await api.get(`/v3/order/psc/info?zip_code=00000&lab_id=${lab_id}`)).body.patient_service_centers, [])
  assert.equal((await api.get('/v3/order/psc/info?zip_code=85004&lab_id=999999')).status, 422)
  const { status, body } = await api.get('/v3/order/psc/info?zip_code=8500&radius=30&capabilities=espresso')
  assert.equal(status, 422)
  assert.deepEqual(body.detail.map(({ loc }: { loc: string[] }) => loc[1]).toSorted(), [
    'capabilities',
    'lab_id',
    'radius',
    'zip_code',
  ])
})

test('returns at most 30 sites', async () => {
  const { api } = await createTestTeam('sandbox-eu')
  const many = await labId('nexus', 'sandbox-eu')
  await insertSites(
    'sandbox-eu',
    many,
    Array.from({ length: 35 }, (_, i) => site(`S${i + 10}`, i / 10)),
  )
  const { body } = await api.get(`/v3/order/psc/info?zip_code=85004&lab_id=${many}&radius=10`)
  assert.deepEqual(
    codes(body),
    Array.from({ length: 30 }, (_, i) => `S${i + 10}`),
  )
})

test('a lab account limits results to its lab and to the billing types that it offers in the state', async () => {
  const team = await createTestTeam()
  const quest = await labId('quest')
  const own = await labAccount(team, {
    lab: 'quest',
    team_ids: [team.team],
    allowed_billing: { client_bill: ['AZ'], patient_bill: ['NY'] },
  })
  const types = async (zip: string) => {
    const { body } = await team.api.get(`/v3/order/psc/info?zip_code=${zip}&lab_id=${quest}&lab_account_id=${own}`)
    return [
      ...new Set(
        body.patient_service_centers.flatMap((center: { supported_bill_types: string[] }) => center.supported_bill_types),
      ),
    ]
  }
  assert.deepEqual(await types('85004'), ['client_bill'])
  assert.deepEqual(await types('10001'), ['patient_bill'])
  assert.deepEqual(codes((await team.api.get(`${near}&lab_account_id=${own}`)).body), [])
  const { central_labs } = (await team.api.get(`/v3/order/area/info?zip_code=85004&lab_account_id=${own}`)).body
  assert.deepEqual(Object.keys(central_labs), ['quest'])
  assert.deepEqual(central_labs.quest.supported_bill_types, ['client_bill'])
  const stranger = await createTestTeam()
  assert.equal((await stranger.api.get(`${near}&lab_account_id=${own}`)).status, 404)
  assert.equal((await stranger.api.get(`/v3/order/area/info?zip_code=85004&lab_account_id=${own}`)).status, 404)
})

test("returns the sites of an order's lab near its patient", async () => {
  const team = await createTestTeam()
  const order = await createOrder(team)
  const lab = order.lab_test.lab!
  await insertSites('sandbox-us', lab.id, [site('NEAR', 2), site('FARTHER', 40), site('NEAREST', 1)])
  await eventuallyHolds(async () => {
    const { status, body } = await team.api.get(`/v3/order/${order.id}/psc/info`)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.lab_id, body.slug, codes(body)], [lab.id, lab.slug, ['NEAREST', 'NEAR']])
  })
  assert.deepEqual(codes((await team.api.get(`/v3/order/${order.id}/psc/info?radius=50`)).body), ['NEAREST', 'NEAR', 'FARTHER'])
  assert.deepEqual(codes((await team.api.get(`/v3/order/${order.id}/psc/info?capabilities=stat`)).body), [])
  assert.equal((await team.api.get(`/v3/order/${order.id}/psc/info?radius=7`)).status, 422)
  const elsewhere = await createOrder(team, { patient_address: { ...address, zip: '00000' } })
  assert.deepEqual(codes((await team.api.get(`/v3/order/${elsewhere.id}/psc/info`)).body), [])
})

test('requests an unknown patient location from the geocoder without name or street', async () => {
  const team = await createTestTeam()
  const asked: string[] = []
  const server = createServer((request, reply) => {
    asked.push(request.url!)
    reply.end('{"lat":33.4557,"lng":-112.0686}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => void server.close())
  const abroad = { ...address, country: 'DE', city: 'Musterstadt', state: 'Berlin', zip: '10115' }
  const { id } = await createOrder(team, { patient_address: abroad })
  assert.deepEqual(codes((await team.api.get(`/v3/order/${id}/psc/info`)).body), [])
  settings.geocoder_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  after(() => (settings.geocoder_url = undefined))
  assert.deepEqual(codes((await team.api.get(`/v3/order/${id}/psc/info`)).body), ['NEAREST', 'NEAR'])
  assert.deepEqual(asked, ['/?country=DE&postal_code=10115&city=musterstadt'])
})

test('an order without a patient address returns 400, and an order of another team 404', async () => {
  const team = await createTestTeam()
  const { id } = await kit(team)
  assert.equal((await team.api.get(`/v3/order/${id}/psc/info`)).status, 400)
  const { api } = await createTestTeam()
  assert.equal((await api.get(`/v3/order/${id}/psc/info`)).status, 404)
})

test('area info lists labs nearby, and distant labs that are requested by name', async () => {
  const { api } = await createTestTeam()
  const { status, body } = await api.get('/v3/order/area/info?zip_code=85004')
  assert.equal(status, 200)
  const ready = ['appointment-ready']
  assert.deepEqual(body.phlebotomy, { is_served: true, providers: [{ name: 'getlabs', service_types: ready, tier: ready }] })
  // A test above adds sites of ussl.
  const nearby = Object.keys(body.central_labs).filter((slug) => slug !== 'ussl')
  assert.deepEqual(nearby.toSorted(), ['bioreference', 'ihd', 'labcorp', 'quest', 'sonora_quest'])
  const { quest, labcorp } = body.central_labs
  const info = (await api.get(`/v3/order/psc/info?zip_code=85004&lab_id=${quest.lab_id}`)).body
  assert.equal(quest.patient_service_centers.within_radius, info.patient_service_centers.length)
  assert.equal(quest.patient_service_centers.radius, '25')
  assert.equal(quest.patient_service_centers.appointment_with_vital, true)
  assert.ok(both.every((name) => quest.patient_service_centers.capabilities.includes(name)))
  assert.equal(labcorp.patient_service_centers.appointment_with_vital, false)
  const elsewhere = (await api.get('/v3/order/area/info?zip_code=10001')).body
  assert.deepEqual(elsewhere.phlebotomy, { is_served: false, providers: [] })
  assert.deepEqual(Object.keys(elsewhere.central_labs).toSorted(), ['bioreference', 'labcorp', 'quest'])
  const asked = (await api.get('/v3/order/area/info?zip_code=10001&labs=sonora_quest&lab=quest&radius=10')).body.central_labs
  assert.deepEqual(Object.keys(asked).toSorted(), ['quest', 'sonora_quest'])
  assert.equal((await api.get('/v3/order/area/info?zip_code=10001&labs=no_such_lab')).status, 422)
  assert.deepEqual(asked.sonora_quest.patient_service_centers, {
    appointment_with_vital: false,
    within_radius: 0,
    radius: '10',
    capabilities: [],
  })
})

test('returns no coverage for an unknown ZIP code', async () => {
  const { api } = await createTestTeam()
  const { status, body } = await api.get('/v3/order/area/info?zip_code=00000&labs=quest')
  assert.equal(status, 200)
  assert.deepEqual(body, { zip_code: '00000', phlebotomy: { is_served: false, providers: [] }, central_labs: {} })
})

test('changes of another process become visible within seconds', async () => {
  const { api } = await createTestTeam('production-us')
  const lab = await labId('mtl', 'production-us')
  const path = `/v3/order/psc/info?zip_code=85004&lab_id=${lab}`
  assert.deepEqual(codes((await api.get(path)).body), [])
  await insertSites('production-us', lab, [site('NEW', 1), site('OTHER', 2)])
  await eventuallyHolds(async () => assert.deepEqual(codes((await api.get(path)).body), ['NEW', 'OTHER']))
  await cells.db('production-us').plainTx((tx) => setActive(tx, lab, 'NEW', false))
  await eventuallyHolds(async () => assert.deepEqual(codes((await api.get(path)).body), ['OTHER']))
})

test('lists at-home phlebotomy providers under both field names', async () => {
  const { tenant, db } = await createTestTeam()
  const asked: unknown[] = []
  const visits = (_: unknown, { zip_code, radius_miles, place }: { zip_code: string; radius_miles: number; place: Place }) => {
    asked.push([zip_code, radius_miles, place.city])
    return Promise.resolve([{ name: 'getlabs', service_types: ['appointment-ready'] }])
  }
  const area = await db.read(tenant, (tx) =>
    areaInfo(tx, new PscDirectory(async () => undefined), visits, { zip_code: '85004', radius: '50' }),
  )
  assert.deepEqual(asked, [['85004', 50, 'Phoenix']])
  assert.deepEqual(area.phlebotomy, {
    is_served: true,
    providers: [{ name: 'getlabs', service_types: ['appointment-ready'], tier: ['appointment-ready'] }],
  })
})
