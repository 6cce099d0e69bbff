// Where patients are told to book a visit at home.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orderOf, createOrder, advanceTo } from '../../../test/support/orders.ts'
import { homeOrder, ok, slots, createAtHomeTeam, visitOf } from '../../../test/support/home-visits.ts'
import { cells, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { command } from '../../../test/support/commands.ts'

const PAGE = 'https://clinic.example/visits/{order_id}?again={order_id}'
const pageOf = (id: string): string => `https://clinic.example/visits/${id}?again=${id}`

const setting = async (team: TestTeam, sandbox: Record<string, unknown>) =>
  ok(await team.manage.patch(`/team/${team.team}`, { sandbox }))

/** What the patient of an order was told when its requisition came, by channel. */
async function ready({ api }: TestTeam, id: string): Promise<Record<string, string>> {
  const { body } = await api.get(`/v3/order/${id}/messages`)
  const messages = body.data as { kind: string; channel: string; body: string }[]
  return Object.fromEntries(
    messages.filter(({ kind }) => kind === 'requisition_created').map((message) => [message.channel, message.body]),
  )
}

test('the messages that a visit can be booked say where', async () => {
  const team = await createTestTeam()
  await setting(team, { appointment_booking_url: PAGE })
  const id = await homeOrder(team)
  const { sms, email } = await ready(team, id)
  const link = (await orderOf(team, id)).requisition_form_url!
  assert.equal(sms, `Your laboratory order is ready, and a visit at your home can be arranged. Book it: ${pageOf(id)}`)
  assert(email!.includes(`\n\nBook your visit:\n${pageOf(id)}\n\n`))
  assert(email!.includes(link))
})

test('where e-mail is switched off the text message tells the two addresses apart', async () => {
  const team = await createTestTeam()
  await setting(team, { appointment_booking_url: PAGE, lab_tests_patient_email_communication_enabled: false })
  const id = await homeOrder(team)
  const link = (await orderOf(team, id)).requisition_form_url!
  const { sms, email } = await ready(team, id)
  assert(sms!.endsWith(` Book it: ${pageOf(id)} Requisition: ${link}`))
  assert.equal(email, undefined)
})

test('sends no booking message if no booking page is configured, or not any more', async () => {
  const team = await createTestTeam()
  const without = async () => {
    for (const body of Object.values(await ready(team, await homeOrder(team)))) assert.doesNotMatch(body, /[Bb]ook|clinic/)
  }
  await without()
  await setting(team, { appointment_booking_url: PAGE })
  await setting(team, { appointment_booking_url: null })
  await without()
})

test('orders whose patients go somewhere themselves are not told to book', async () => {
  const team = await createTestTeam()
  await setting(team, { appointment_booking_url: PAGE })
  for (const method of ['walk_in_test', 'on_site_collection']) {
    const { id } = await createOrder(team, { lab_test_id: await team.test(method) })
    await advanceTo(team, id, 'requisition_created')
    for (const body of Object.values(await ready(team, id))) assert.doesNotMatch(body, /[Bb]ook|clinic/)
  }
})

test('a visit that was booked before the requisition is not to be booked again, one that was cancelled is', async () => {
  const team = await createAtHomeTeam('sandbox-us')
  await command(cells, ['team', 'feature', team.team, 'pre_requisition_scheduling', 'on'])
  await setting(team, { appointment_booking_url: PAGE })
  guard.invalidate(team.team)
  const [booked, cancelled] = [await homeOrder(team, {}, false), await homeOrder(team, {}, false)]
  for (const id of [booked, cancelled]) ok(await visitOf(team, id).book((await slots(team)).at(-1)!.booking_key))
  ok(await visitOf(team, cancelled).cancel())
  for (const id of [booked, cancelled]) await advanceTo(team, id, 'requisition_created')
  for (const body of Object.values(await ready(team, booked))) assert.doesNotMatch(body, /[Bb]ook|clinic/)
  assert((await ready(team, cancelled)).sms!.endsWith(pageOf(cancelled)))
})
