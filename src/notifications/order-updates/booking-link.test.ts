// The link for booking an at-home appointment in messages to patients.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getOrder, createOrder, advanceTo } from '../../../test/support/orders.ts'
import { homeOrder, ok, slots, createAtHomeTeam, visitCalls } from '../../../test/support/home-visits.ts'
import { cells, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { command } from '../../../test/support/commands.ts'

const PAGE = 'https://clinic.example/visits/{order_id}?again={order_id}'
const pageOf = (id: string): string => `https://clinic.example/visits/${id}?again=${id}`

const setting = async (team: TestTeam, sandbox: Record<string, unknown>) =>
  ok(await team.manage.patch(`/team/${team.team}`, { sandbox }))

/** Returns the messages that the patient got when the requisition was created, by channel. */
async function ready({ api }: TestTeam, id: string): Promise<Record<string, string>> {
  const { body } = await api.get(`/v3/order/${id}/messages`)
  const messages = body.data as { kind: string; channel: string; body: string }[]
  return Object.fromEntries(
    messages.filter(({ kind }) => kind === 'requisition_created').map((message) => [message.channel, message.body]),
  )
}

test('the messages after the requisition contain the booking link', async () => {
  const team = await createTestTeam()
  await setting(team, { appointment_booking_url: PAGE })
  const id = await homeOrder(team)
  const { sms, email } = await ready(team, id)
  const link = (await getOrder(team, id)).requisition_form_url!
  assert.equal(sms, `Your laboratory order is ready, and a visit at your home can be arranged. Book it: ${pageOf(id)}`)
  assert(email!.includes(`\n\nBook your visit:\n${pageOf(id)}\n\n`))
  assert(email!.includes(link))
})

test('with email disabled the text message labels both links', async () => {
  const team = await createTestTeam()
  await setting(team, { appointment_booking_url: PAGE, lab_tests_patient_email_communication_enabled: false })
  const id = await homeOrder(team)
  const link = (await getOrder(team, id)).requisition_form_url!
  const { sms, email } = await ready(team, id)
  assert(sms!.endsWith(` Book it: ${pageOf(id)} Requisition: ${link}`))
  assert.equal(email, undefined)
})

test('without a booking page the messages contain no booking link', async () => {
  const team = await createTestTeam()
  const without = async () => {
    for (const body of Object.values(await ready(team, await homeOrder(team)))) assert.doesNotMatch(body, /[Bb]ook|clinic/)
  }
  await without()
  await setting(team, { appointment_booking_url: PAGE })
  await setting(team, { appointment_booking_url: null })
  await without()
})

test('orders of other collection methods have no booking link', async () => {
  const team = await createTestTeam()
  await setting(team, { appointment_booking_url: PAGE })
  for (const method of ['walk_in_test', 'on_site_collection']) {
    const { id } = await createOrder(team, { lab_test_id: await team.test(method) })
    await advanceTo(team, id, 'requisition_created')
    for (const body of Object.values(await ready(team, id))) assert.doesNotMatch(body, /[Bb]ook|clinic/)
  }
})

test('a reserved at-home appointment omits the booking link, and a cancelled one keeps it', async () => {
  const team = await createAtHomeTeam('sandbox-us')
  await command(cells, ['team', 'feature', team.team, 'pre_requisition_scheduling', 'on'])
  await setting(team, { appointment_booking_url: PAGE })
  guard.invalidate(team.team)
  const [booked, cancelled] = [await homeOrder(team, {}, false), await homeOrder(team, {}, false)]
  for (const id of [booked, cancelled]) ok(await visitCalls(team, id).book((await slots(team)).at(-1)!.booking_key))
  ok(await visitCalls(team, cancelled).cancel())
  for (const id of [booked, cancelled]) await advanceTo(team, id, 'requisition_created')
  for (const body of Object.values(await ready(team, booked))) assert.doesNotMatch(body, /[Bb]ook|clinic/)
  assert((await ready(team, cancelled)).sms!.endsWith(pageOf(cancelled)))
})
