// Contract of every visit link: one suite, run for each provider.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TimeSlot } from '../../appointments/schema.ts'
import type { CellName } from '../../../settings/cells.ts'
import { T } from '../../../platform/schema/schema.ts'
import { sql } from '../../../platform/db/sql.ts'
import { listAppointments, assertAgreement } from '../../../../test/support/appointments.ts'
import {
  homeOrder,
  ok,
  assertRejected,
  slots,
  street,
  avenue,
  usAddress,
  createAtHomeTeam,
  visitCalls,
} from '../../../../test/support/home-visits.ts'
import { getOrder } from '../../../../test/support/orders.ts'
import type { TestTeam } from '../../../../test/support/server.ts'
import { visitLinksFor } from './links.ts'

interface Kind {
  name: string
  cell: CellName
  provider: string
  tier: 'appointment-ready' | 'appointment-request'
  address: typeof street
}

const kinds: Kind[] = [
  { name: 'own staff, booked', cell: 'production-us', provider: 'getlabs', tier: 'appointment-ready', address: street },
  { name: 'own staff, asked', cell: 'production-us', provider: 'phlebfinders', tier: 'appointment-request', address: street },
  { name: 'the sandbox, booked', cell: 'sandbox-us', provider: 'getlabs', tier: 'appointment-ready', address: street },
  { name: 'the sandbox, asked', cell: 'sandbox-us', provider: 'phlebfinders', tier: 'appointment-request', address: avenue },
]

const Count = T.Object({ n: T.Integer() })
const visitsOf = async ({ db, team }: TestTeam): Promise<number> =>
  (await db.queries.one(Count, sql`select count(*) as n from phlebotomy_visit where team_id = ${team}`)).n

const lows = async (team: TestTeam, id: string) => (await getOrder(team, id)).events.map(({ status }) => status.split('.').at(-1))

test('covers every visit link of every cell', () => {
  for (const cell of ['production-us', 'sandbox-us'] as const)
    assert.deepEqual(
      visitLinksFor({ cell } as TestTeam['tenant']).map((link) => [link.provider, link.service_types]),
      kinds.filter((kind) => kind.cell === cell).map((kind) => [kind.provider, [kind.tier]]),
    )
})

for (const { name, cell, provider, tier, address } of kinds) {
  const isReady = tier === 'appointment-ready'
  const order = (team: TestTeam, changes = {}) => homeOrder(team, { patient_address: address, ...changes })
  const free = async (team: TestTeam): Promise<TimeSlot> => (await slots(team, address)).at(-1)!
  const make = async (team: TestTeam, id: string, overrides: object = {}) =>
    isReady
      ? visitCalls(team, id).book((await free(team)).booking_key, overrides)
      : visitCalls(team, id).request({ provider, address: usAddress(address), ...overrides })

  describe(name, () => {
    test('serves its area and returns its service types', async () => {
      const team = await createAtHomeTeam(cell)
      const { phlebotomy } = ok(await team.api.get(`/v3/order/area/info?zip_code=${address.zip}`))
      assert.equal(phlebotomy.is_served, true)
      const found = phlebotomy.providers.find((listedProvider: { name: string }) => listedProvider.name === provider)
      assert.deepEqual(found, { name: provider, service_types: [tier], tier: [tier] })
      const elsewhere = ok(await team.api.get('/v3/order/area/info?zip_code=99501')).phlebotomy
      assert.deepEqual(elsewhere, { is_served: false, providers: [] })
    })

    test('creates a visit, lists it with its details, and sets the status of its service type', async () => {
      const team = await createAtHomeTeam(cell)
      const id = await order(team, { patient_address: { ...address, access_notes: 'Code 1234' } })
      const slot = isReady ? await free(team) : undefined
      const notes = { appointment_notes: 'Ring twice' }
      const made = ok(
        slot
          ? await visitCalls(team, id).book(slot.booking_key, notes)
          : await visitCalls(team, id).request({ provider, address: usAddress(address), ...notes }),
      )
      assert.deepEqual(made.address, { ...usAddress(address), second_line: null, unit: null, access_notes: 'Code 1234' })
      assert.deepEqual([made.type, made.provider, made.order_id], ['phlebotomy', provider, id])
      assert.deepEqual([made.start_at, made.end_at], [slot?.start ?? null, slot?.end ?? null])
      assert.deepEqual([made.status, made.event_status], isReady ? ['confirmed', 'scheduled'] : ['pending', 'pending'])
      assert.equal(made.can_reschedule, isReady)
      assert.equal(made.appointment_notes, 'Ring twice')
      assert.deepEqual(ok(await visitCalls(team, id).read()), made)
      const own = isReady ? ['appointment_pending', 'appointment_scheduled'] : ['appointment_pending']
      assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created', ...own])
      assert.deepEqual(await team.events(made.id), ['labtest.appointment.created', 'labtest.appointment.updated'])
      await assertAgreement(team)
    })

    test('a patient has at most one visit at a time, also with several orders', async () => {
      const team = await createAtHomeTeam(cell)
      const user_id = await team.user()
      const [one, two, other] = [await order(team, { user_id }), await order(team, { user_id }), await order(team)]
      ok(await make(team, one))
      assertRejected(await make(team, two), 400, 'The patient already has an active appointment with this provider.')
      assertRejected(await make(team, one), 400, 'Order is not in a state that allows booking an appointment.')
      ok(await make(team, other))
      ok(await visitCalls(team, one).cancel())
      ok(await make(team, two))
      await assertAgreement(team)
    })

    test('can be cancelled, after which a new visit can be booked', async () => {
      const team = await createAtHomeTeam(cell)
      const id = await order(team)
      const first = ok(await make(team, id))
      const cancelled = ok(await visitCalls(team, id).cancel())
      assert.deepEqual([cancelled.status, cancelled.event_data.refundable, cancelled.id], ['cancelled', true, first.id])
      assert.equal(await visitsOf(team), 0)
      assertRejected(await visitCalls(team, id).read(), 404, 'Appointment not found.')
      assertRejected(await visitCalls(team, id).cancel(), 400, 'This appointment has already been cancelled.')
      const second = ok(await make(team, id))
      assert.notEqual(second.id, first.id)
      assert.equal(await visitsOf(team), 1)
      await assertAgreement(team)
    })

    test('is cancelled with its order', async () => {
      const team = await createAtHomeTeam(cell)
      const id = await order(team)
      ok(await make(team, id))
      ok(await team.api.post(`/v3/order/${id}/cancel`))
      const [one] = await listAppointments(team, id)
      assert.deepEqual([one!.status, one!.event_data!.refundable], ['cancelled', true])
      assert.equal(await visitsOf(team), 0)
      await assertAgreement(team)
    })

    test('rejects the operations of the other service type', async () => {
      const team = await createAtHomeTeam(cell)
      const id = await order(team)
      if (isReady) {
        const asked = await visitCalls(team, id).request({ provider, address: usAddress(address) })
        return assertRejected(asked, 400, 'This provider does not accept appointment requests.')
      }
      ok(await make(team, id))
      const ready = await createAtHomeTeam(cell)
      const key = (await slots(ready))[0]!.booking_key
      assertRejected(await visitCalls(team, id).move(key), 400, 'This appointment cannot be rescheduled.')
    })

    test('rejects unserved and unreachable addresses', async () => {
      const team = await createAtHomeTeam(cell)
      const away = { ...address, zip: '99501', state: 'AK', city: 'Anchorage' }
      const lost = await order(team, { patient_address: away })
      const unserved = isReady
        ? await make(team, lost)
        : await visitCalls(team, lost).request({ provider, address: usAddress(away) })
      assertRejected(unserved, 400, 'No at-home phlebotomy provider serves this address.')
      const nowhere = { ...address, first_line: 'Sample Way' }
      const hidden = await order(team, { patient_address: nowhere })
      const unfound = isReady
        ? await make(team, hidden)
        : await visitCalls(team, hidden).request({ provider, address: usAddress(nowhere) })
      assert.equal(unfound.status, 400)
      assert.match(unfound.body.detail, /address must/)
      assert.equal(await visitsOf(team), 0)
    })

    if (isReady)
      test('can be rescheduled repeatedly, updating the visit details', async () => {
        const team = await createAtHomeTeam(cell)
        const id = await order(team, { patient_address: { ...address, access_notes: 'Code 1234' } })
        ok(await make(team, id, { appointment_notes: 'Ring twice' }))
        for (const notes of [{}, { appointment_notes: 'Knock' }]) {
          const slot = (await slots(team, address))[3]!
          const moved = ok(await visitCalls(team, id).move(slot.booking_key, notes))
          assert.deepEqual([moved.start_at, moved.end_at, moved.status], [slot.start, slot.end, 'confirmed'])
          assert.deepEqual(moved.event_data, { origin: 'patient', is_reschedule: true })
          assert.equal(moved.appointment_notes, 'appointment_notes' in notes ? 'Knock' : 'Ring twice')
          assert.equal(moved.address.access_notes, 'Code 1234')
        }
        assert.equal((await lows(team, id)).filter((low) => low === 'appointment_scheduled').length, 3)
        assert.equal(await visitsOf(team), 1)
        await assertAgreement(team)
      })
  })
}
