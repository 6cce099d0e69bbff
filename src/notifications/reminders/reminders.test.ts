import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { switchFeature } from '../../tenancy/teams/teams.ts'
import { systemNow } from '../../platform/runtime/clock.ts'
import { remindHandler } from './reminders.ts'
import { SECONDS_PER_DAY, advanceClock, createOrder, tenantOf, advanceTo } from '../../../test/support/orders.ts'
import { createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'

const HOUR_S = 3600

const listReminders = async ({ api }: TestTeam, id: string): Promise<string[]> =>
  (await api.get(`/v3/order/${id}/messages`)).body.data
    .filter(({ kind }: { kind: string }) => kind.startsWith('reminder'))
    .map(({ kind, channel, created_at }: Record<string, string>) => `${kind} ${channel} ${created_at}`)

const addSecondsTo = (start: string, seconds: number): string =>
  `${new Date(new Date(start).getTime() + seconds * 1000).toISOString().slice(0, 19)}+00:00`

async function createOrderAtStep(
  team: TestTeam,
  method: string,
  ...steps: string[]
): Promise<{ id: string; started_at: string }> {
  const { id } = await createOrder(team, { lab_test_id: await team.test(method) })
  await advanceTo(team, id, ...steps)
  return { id, started_at: (await team.api.get(`/v3/order/${id}`)).body.last_event.created_at }
}

const toCustomer = ['requisition_created', 'transit_customer', 'out_for_delivery', 'with_customer']

describe('reminders to patients', () => {
  test('reminds of a kit two and seven days after its delivery', async () => {
    const team = await createTestTeam()
    const { id, started_at } = await createOrderAtStep(team, 'testkit', ...toCustomer)
    await advanceClock(team, 30 * SECONDS_PER_DAY)
    assert.deepEqual(await listReminders(team, id), [
      `reminder_1 sms ${addSecondsTo(started_at, 2 * SECONDS_PER_DAY)}`,
      `reminder_2 sms ${addSecondsTo(started_at, 7 * SECONDS_PER_DAY)}`,
    ])
  })

  test('reminds of booking an at-home appointment 24 hours, 72 hours and 7 days after the requisition', async () => {
    const team = await createTestTeam()
    const { id, started_at } = await createOrderAtStep(team, 'walk_in_test', 'requisition_created')
    await advanceClock(team, 30 * SECONDS_PER_DAY)
    assert.deepEqual(
      await listReminders(team, id),
      [24, 72, 168].map((hours, index) => `reminder_${index + 1} sms ${addSecondsTo(started_at, hours * HOUR_S)}`),
    )
  })

  test('sends no reminder once the kit is on its way back or the appointment is booked', async () => {
    const team = await createTestTeam()
    const parcel = await createOrderAtStep(team, 'testkit', ...toCustomer)
    const visit = await createOrderAtStep(team, 'walk_in_test', 'requisition_created')
    await advanceClock(team, 3 * SECONDS_PER_DAY - HOUR_S)
    await advanceTo(team, parcel.id, 'transit_lab')
    await advanceTo(team, visit.id, 'appointment_pending')
    await advanceClock(team, 30 * SECONDS_PER_DAY)
    assert.equal((await listReminders(team, parcel.id)).length, 1)
    assert.equal((await listReminders(team, visit.id)).length, 1)
  })

  test('sends no reminder after text messages were disabled for the team or the order', async () => {
    const team = await createTestTeam()
    const one = await createOrderAtStep(team, 'testkit', ...toCustomer)
    const other = await createOrderAtStep(team, 'testkit', ...toCustomer)
    await team.api.patch(`/v3/order/${one.id}/communication_settings`, { sms_enabled: false })
    await advanceClock(team, 3 * SECONDS_PER_DAY)
    await team.manage.patch(`/team/${team.team}`, { sandbox: { lab_tests_patient_sms_communication_enabled: false } })
    await advanceClock(team, 30 * SECONDS_PER_DAY)
    assert.deepEqual([(await listReminders(team, one.id)).length, (await listReminders(team, other.id)).length], [0, 1])
  })

  test('sends no reminder in a team for which the operator has disabled reminders', async () => {
    const team = await createTestTeam()
    const early = await createOrderAtStep(team, 'testkit', ...toCustomer)
    await team.db.plainTx((tx) => switchFeature(tx, team.team, 'patient_reminders', false))
    guard.invalidate(team.team)
    const late = await createOrderAtStep(team, 'testkit', ...toCustomer)
    const jobs = await team.db.pool.query(`select 1 from job where team_id = $1 and name = 'messages.remind'`, [team.team])
    assert.equal(jobs.rowCount, 1)
    await advanceClock(team, 30 * SECONDS_PER_DAY)
    assert.deepEqual([await listReminders(team, early.id), await listReminders(team, late.id)], [[], []])
  })

  test('sends one reminder if the job runs twice, and no reminder for a deleted order or user', async () => {
    const team = await createTestTeam()
    const { id, started_at } = await createOrderAtStep(team, 'testkit', ...toCustomer)
    const tenant = await tenantOf(team)
    const context = { tenant, tx: <R>(work: Parameters<typeof team.db.tx<R>>[1]) => team.db.tx(tenant, work) }
    const payload = { order_id: id, low: 'with_customer', began_at: started_at, turn: 1 }
    await Promise.all([remindHandler(true).run(context, payload), remindHandler(true).run(context, payload)])
    assert.equal((await listReminders(team, id)).length, 1)
    await remindHandler(true).run(context, { ...payload, order_id: '01890000-0000-7000-8000-000000000000' })
  })

  test('reminds of a PSC appointment 24 and 2 hours before it, after rescheduling too, and not of a cancelled one', async () => {
    const team = await createTestTeam()
    const order = async () => (await createOrderAtStep(team, 'walk_in_test', 'requisition_created')).id
    const { slots } = (await team.api.post('/v3/order/psc/appointment/availability?lab=quest&zip_code=85004')).body
    const keys = (slots as { slots: { booking_key: string; start: string }[] }[]).flatMap((day) => day.slots)
    const [early, late] = [keys.find(({ start }) => isAhead(start, 3))!, keys.findLast(({ start }) => isAhead(start, 5))!]
    const [moved, off] = [await order(), await order()]
    const path = (id: string, action: string) => `/v3/order/${id}/psc/appointment/${action}`
    for (const id of [moved, off])
      assert.equal((await team.api.post(path(id, 'book'), { booking_key: early.booking_key })).status, id === moved ? 200 : 400)
    assert.equal((await team.api.post(path(off, 'book'), { booking_key: keys.at(-2)!.booking_key })).status, 200)
    await team.settle()
    assert.equal((await team.api.patch(path(moved, 'reschedule'), { booking_key: late.booking_key })).status, 200)
    const [reason] = (await team.api.get('/v3/order/psc/appointment/cancellation-reasons')).body
    assert.equal((await team.api.patch(path(off, 'cancel'), { cancellationReasonId: reason.id })).status, 200)
    await advanceClock(team, 30 * SECONDS_PER_DAY)
    const messagesOf = async (id: string) =>
      (await team.api.get(`/v3/order/${id}/messages`)).body.data
        .filter(({ kind }: { kind: string }) => kind.startsWith('appointment_reminder'))
        .map(({ kind, created_at }: Record<string, string>) => `${kind} ${created_at}`)
    assert.deepEqual(
      await messagesOf(moved),
      [24, 2].map((hours, index) => `appointment_reminder_${index + 1} ${addSecondsTo(late.start, -hours * HOUR_S)}`),
    )
    assert.deepEqual(await messagesOf(off), [])
  })
})

/** Whether the start is at least this number of days from now. */
const isAhead = (start: string, days: number): boolean =>
  new Date(start).getTime() > systemNow().getTime() + days * SECONDS_PER_DAY * 1000
