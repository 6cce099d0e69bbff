// Assigning a patient to a kit. Source: interface.md, POST /v3/order/testkit/register; lab-testing.md 6.7.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { registrableTestkitLifecycle } from '../orders/kit-lifecycles.ts'
import type { Order, TestkitDetails } from '../orders/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import {
  address,
  kit,
  getOrder,
  advanceClock,
  patient,
  createOrder,
  proxy,
  registration,
  addressOnWire,
  countLockWaiters,
  advanceTo,
} from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const register = ({ api }: TestTeam, sample_id: string | null, changes: Record<string, unknown> = {}) =>
  api.post('/v3/order/testkit/register', registration(sample_id, changes))

const ORDERED = ['labtest.order.created', 'labtest.order.updated']
const REGISTERED = [...ORDERED, 'labtest.order.updated', 'labtest.order.updated']

const already = { detail: 'The test kit is already registered' }

describe('registering a kit', () => {
  test('a kit of a deleted user cannot be registered until the deletion is undone', async () => {
    const team = await createTestTeam()
    const { id, sample_id, user_id } = await kit(team)
    const before = await team.events(id)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await register(team, sample_id)).status, 404)
    assert.deepEqual(await team.events(id), before)
    await team.api.post(`/v2/user/undo_delete?user_id=${user_id}`)
    assert.equal((await register(team, sample_id)).status, 200)
  })

  test('registering a kit returns the whole order with patient and parcel, and emits an event for both steps', async () => {
    const team = await createTestTeam()
    const before = await kit(team)
    await advanceClock(team, 3600)
    const { status, body } = await register(team, before.sample_id, {
      patient_address: { ...address, receiver_name: 'Testa', access_notes: 'Ring twice' },
    })
    assert.equal(status, 200)
    assert.deepEqual([body.status, body.message], ['success', 'Kit registered successfully'])
    const { order } = body as { order: Order }
    const at = order.updated_at
    assert.ok(at > before.updated_at)
    const { shipment } = order.details.data as TestkitDetails['data']
    const [created, registered] = order.events.slice(2)
    assert.deepEqual(order, {
      ...before,
      patient_details: {
        ...patient,
        medical_proxy: null,
        race: null,
        ethnicity: null,
        sexual_orientation: null,
        gender_identity: null,
      },
      patient_address: { ...addressOnWire, receiver_name: 'Testa', access_notes: 'Ring twice' },
      details: {
        type: 'testkit',
        data: {
          ...before.details.data,
          shipment: {
            id: shipment!.id,
            outbound_tracking_number: null,
            outbound_tracking_url: null,
            outbound_courier: null,
            inbound_tracking_number: null,
            inbound_tracking_url: null,
            inbound_courier: null,
            notes: null,
            created_at: at,
            updated_at: at,
          },
          updated_at: at,
        },
      },
      updated_at: at,
      requisition_form_url: order.requisition_form_url,
      events: [
        ...before.events,
        { id: created!.id, created_at: at, status: 'received.testkit.requisition_created', status_detail: null },
        { id: registered!.id, created_at: at, status: 'received.testkit.testkit_registered', status_detail: null },
      ],
      last_event: registered,
      order_transaction: {
        ...before.order_transaction,
        orders: [
          {
            ...before.order_transaction.orders[0],
            updated_at: at,
            low_level_status: 'registered',
            low_level_status_created_at: at,
          },
        ],
      },
    })
    assert.match(order.requisition_form_url!, /\/documents\/requisition\?token=/)
    assert.ok(registered!.id > created!.id)
    assert.deepEqual(await getOrder(team, order.id), order)
    assert.deepEqual(await team.events(), REGISTERED)
    const events = (await team.api.get('/v1/events')).body.data
    assert.deepEqual(events[0].body.data, order)
    assert.deepEqual(events[1].body.data.last_event, created)
    assert.deepEqual(events[1].body.data.patient_details, order.patient_details)
    assert.deepEqual(await team.jobs(), [])
  })

  test('registering a kit keeps the user of the order if the request does not name a user', async () => {
    const team = await createTestTeam()
    const { sample_id, user_id } = await kit(team)
    assert.equal((await register(team, sample_id)).body.order.user_id, user_id)
  })

  test('registering a kit for another user assigns the order to that user in later events and leaves earlier events unchanged', async () => {
    const team = await createTestTeam()
    const [stock, person] = [await team.user('stock'), await team.user('person')]
    const { id, sample_id } = await kit(team, { user_id: stock })
    const { status, body } = await register(team, sample_id, { user_id: person })
    assert.deepEqual([status, body.order.user_id], [200, person])
    await advanceTo(team, id, 'transit_lab')
    const events = (await team.api.get('/v1/events')).body.data.reverse()
    assert.deepEqual(
      events.map((event: { body: { user_id: string; client_user_id: string; data: Order } }) => [
        event.body.client_user_id,
        event.body.user_id,
        event.body.data.user_id,
      ]),
      [...Array(2).fill(['stock', stock, stock]), ...Array(3).fill(['person', person, person])],
    )
    assert.equal((await team.api.get(`/v3/orders?user_id=${stock}`)).body.total, 0)
    assert.equal((await team.api.get(`/v3/orders?user_id=${person}`)).body.total, 1)
  })

  test('registering a kit for an unknown user or one of another team returns 404', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const before = await kit(team)
    const deleted = await team.user()
    await team.api.delete(`/v2/user/${deleted}`)
    for (const user_id of ['00000000-0000-7000-8000-000000000000', await other.user(), deleted]) {
      const { status, body } = await register(team, before.sample_id, { user_id })
      assert.deepEqual([status, body], [404, { detail: 'User does not exist on this team' }])
    }
    assert.deepEqual(await getOrder(team, before.id), before)
    assert.deepEqual(await team.events(), ORDERED)
  })

  test('registering a kit requires consents or a physician, whom the order then shows', async () => {
    const team = await createTestTeam()
    const { sample_id, id } = await kit(team)
    const physician = { first_name: 'Medica', last_name: 'Fictional', npi: '12' }
    for (const neither of [{ consents: undefined }, { consents: [] }, { consents: null, physician: null }]) {
      const { status, body } = await register(team, sample_id, neither)
      assert.deepEqual([status, body], [400, { detail: 'Either consents or a physician is required' }])
    }
    assert.deepEqual(await team.events(), ORDERED)
    const { status, body } = await register(team, sample_id, { consents: undefined, physician })
    assert.deepEqual([status, body.order.physician], [200, physician])
    assert.deepEqual((await getOrder(team, id)).physician, physician)
  })

  test('a kit can be registered once', async () => {
    const team = await createTestTeam()
    const { sample_id, id } = await kit(team)
    assert.equal((await register(team, sample_id)).status, 200)
    const before = await getOrder(team, id)
    const again = await register(team, sample_id, { patient_details: { ...patient, first_name: 'Other' } })
    assert.deepEqual([again.status, again.body], [400, already])
    await advanceTo(team, id, 'transit_lab', 'delivered_to_lab')
    const late = await register(team, sample_id)
    assert.deepEqual([late.status, late.body], [400, already])
    assert.deepEqual((await getOrder(team, id)).patient_details, before.patient_details)
    assert.deepEqual(await team.events(), [...REGISTERED, 'labtest.order.updated', 'labtest.order.updated'])
  })

  test('registering with an unknown barcode returns 404', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const theirs = await kit(other)
    const mine = await kit(team)
    for (const sample_id of ['DBK0000000000', theirs.sample_id, `${mine.sample_id}0`, '-', '%']) {
      const { status, body } = await register(team, sample_id)
      assert.deepEqual([status, body], [404, { detail: 'No test kit has this sample_id' }])
    }
    assert.deepEqual(await getOrder(other, theirs.id), theirs)
    assert.deepEqual(await team.events(), ORDERED)
  })

  test('registering accepts the barcode in any case, with hyphens and spaces', async () => {
    const team = await createTestTeam()
    for (const typed of [
      (code: string) => ` ${code.toLowerCase()} `,
      (code: string) => `${code.slice(0, 3)}-${code.slice(3, 8)} ${code.slice(8)}`,
      (code: string) => `${code.slice(0, 3)}–${code.slice(3)}\u00a0`,
    ]) {
      const { id, sample_id } = await kit(team)
      const { status, body } = await register(team, typed(sample_id!))
      assert.deepEqual([status, body.order?.id, body.order?.sample_id], [200, id, sample_id])
    }
  })

  test('registering prefers the kit with exactly this barcode over others that differ in case or hyphens', async () => {
    const team = await createTestTeam()
    const [first, second] = [await kit(team), await kit(team)]
    for (const [{ id }, code] of [
      [first, 'box-1'],
      [second, 'BOX 1'],
    ] as const)
      await team.db.queries.run(sql`update lab_order set sample_id = ${code} where id = ${id} and team_id = ${team.team}`)
    assert.equal((await register(team, 'box-1')).body.order.id, first.id)
    assert.equal((await register(team, ' BOX 1')).body.order.id, second.id)
  })

  test('registering a kit that was ordered for a known patient is rejected', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team)
    await team.db.queries.run(sql`update lab_order set sample_id = 'DBK1' where id = ${id} and team_id = ${team.team}`)
    const { status, body } = await register(team, 'DBK1')
    assert.deepEqual([status, body], [400, already])
    assert.deepEqual(await team.events(), ['labtest.order.created'])
  })

  const registrable = [
    'awaiting_registration',
    'transit_customer',
    'out_for_delivery',
    'with_customer',
    'problem_in_transit_customer',
  ]
  for (const low of Object.keys(registrableTestkitLifecycle.steps).filter((state) => state !== 'registered'))
    test(`registering a kit in status ${low} ${registrable.includes(low) ? 'succeeds' : 'is rejected'}`, async () => {
      const team = await createTestTeam()
      const { id, sample_id } = await kit(team)
      await team.db.queries.run(sql`update lab_order set low_level_status = ${low} where id = ${id} and team_id = ${team.team}`)
      const { status, body } = await register(team, sample_id)
      if (registrable.includes(low)) {
        assert.equal(status, 200)
        assert.equal(body.order.last_event.status, 'received.testkit.testkit_registered')
        assert.equal(body.order.status, 'received')
        assert.deepEqual(await team.events(), REGISTERED)
      } else {
        assert.deepEqual([status, body], [400, { detail: `A test kit in status ${low} cannot be registered` }])
        assert.deepEqual(await team.events(), ORDERED)
      }
    })

  test('registering keeps the parcel of a kit in transit', async () => {
    const team = await createTestTeam()
    const { id, sample_id } = await kit(team)
    await team.api.post(`/v3/order/${id}/test?final_status=collecting_sample.testkit.with_customer`)
    await team.settle()
    const { shipment } = (await getOrder(team, id)).details.data as TestkitDetails['data']
    assert.ok(shipment?.outbound_tracking_number)
    const { body } = await register(team, sample_id)
    assert.deepEqual(body.order.details.data.shipment, shipment)
  })

  test('registering applies the ordering rules for minors', async () => {
    const sandbox = await createTestTeam()
    const production = await createTestTeam('production-us')
    const child = { ...patient, dob: '2020-02-29' }
    const { sample_id } = await kit(sandbox)
    const without = await register(sandbox, sample_id, { patient_details: child })
    assert.deepEqual([without.status, without.body], [400, { detail: 'A medical_proxy is required for a patient under 18' }])
    const made = await kit(production)
    await production.db.queries.run(
      sql`update lab_order set sample_id = 'P1' where id = ${made.id} and team_id = ${production.team}`,
    )
    const refused = await register(production, 'P1', { patient_details: { ...child, medical_proxy: proxy } })
    assert.deepEqual(
      [refused.status, refused.body],
      [400, { detail: 'Ordering for patients under 18 is not enabled for this team (minor_ordering_enabled)' }],
    )
    const { status, body } = await register(sandbox, sample_id, { patient_details: { ...child, medical_proxy: proxy } })
    assert.deepEqual([status, body.order.patient_details.medical_proxy.first_name], [200, 'Guarda'])
  })

  test('an invalid registration returns all field errors in the order of the fields', async () => {
    const { api } = await createTestTeam()
    const { status, body } = await api.post('/v3/order/testkit/register', {
      sample_id: '',
      user_id: 'x',
      patient_details: { ...patient, last_name: ' x', phone_number: '5' },
      patient_address: { ...address, zip: 'x', access_notes: 'a'.repeat(1001) },
      consents: [{}],
    })
    assert.equal(status, 422)
    assert.deepEqual(
      body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.slice(1).join('.')} ${type}`),
      [
        'sample_id string_too_short',
        'user_id uuid_parsing',
        'patient_details.last_name string_pattern_mismatch',
        'patient_details.phone_number value_error',
        'patient_address.zip string_pattern_mismatch',
        'patient_address.access_notes string_too_long',
        'consents.0.consentType missing',
      ],
    )
  })
})

describe('two concurrent registrations of one kit', () => {
  test('two concurrent registrations end with exactly one patient', async () => {
    const team = await createTestTeam()
    const { id, sample_id } = await kit(team)
    const people = ['Ada', 'Bea', 'Cleo', 'Dina']
    const replies = await Promise.all(
      people.map((first_name) => register(team, sample_id, { patient_details: { ...patient, first_name } })),
    )
    const won = replies.filter((reply) => reply.status === 200)
    assert.equal(won.length, 1)
    for (const { status, body } of replies) if (status !== 200) assert.deepEqual([status, body], [400, already])
    assert.deepEqual((await getOrder(team, id)).patient_details, won[0]!.body.order.patient_details)
    assert.deepEqual(await team.events(), REGISTERED)
  })

  test('two concurrent registrations for another user end with exactly one patient', async () => {
    const team = await createTestTeam()
    const { id, sample_id } = await kit(team)
    const users = [await team.user('first'), await team.user('second')]
    let replies: ReturnType<typeof register>[] = []
    // Both wait for a lock, so that the second has begun before the first is done.
    await team.db.tx(team.tenant, async (tx) => {
      await tx.locking.run(sql`select id from lab_order where id = ${id} and team_id = ${tx.team} for update`)
      replies = users.map((user_id) => register(team, sample_id, { user_id }))
      await countLockWaiters(2)
    })
    const [first, second] = await Promise.all(replies)
    assert.deepEqual([first!.status, second!.status].sort(), [200, 400])
    const [won, lost] = first!.status === 200 ? [first!, second!] : [second!, first!]
    assert.deepEqual(lost.body, already)
    assert.equal((await getOrder(team, id)).user_id, won.body.order.user_id)
    assert.deepEqual(await team.events(), REGISTERED)
  })
})
