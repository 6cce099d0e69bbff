import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { updateOrder } from '../../lab/orders/change-order.ts'
import type { Order } from '../../lab/orders/schema.ts'
import { address, kit, getOrder, patient, createOrder, advanceTo } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

interface SentMessage {
  kind: string
  channel: string
  recipient: string
  body: string
  state: string
}

const listMessages = async ({ api }: TestTeam, id: string): Promise<SentMessage[]> =>
  (await api.get(`/v3/order/${id}/messages`)).body.data
const kinds = async (team: TestTeam, id: string): Promise<string[]> =>
  (await listMessages(team, id)).map(({ kind, channel }) => `${kind} ${channel}`)

const switchChannels = (team: TestTeam, sms: boolean, email: boolean) =>
  team.manage.patch(`/team/${team.team}`, {
    sandbox: { lab_tests_patient_sms_communication_enabled: sms, lab_tests_patient_email_communication_enabled: email },
  })

const createOrderByMethod = async (team: TestTeam, method: string, changes: Record<string, unknown> = {}): Promise<Order> =>
  createOrder(team, { lab_test_id: await team.test(method), ...changes })

const lives: Record<string, { steps: string[]; bothChannels: string[]; email: string[]; sms: string[] }> = {
  testkit: {
    steps: [
      'requisition_created',
      'transit_customer',
      'out_for_delivery',
      'with_customer',
      'transit_lab',
      'delivered_to_lab',
      'completed',
    ],
    bothChannels: ['ordered sms', 'transit_customer sms', 'out_for_delivery sms', 'delivered_to_lab sms', 'completed sms'],
    sms: ['ordered sms', 'transit_customer sms', 'out_for_delivery sms', 'delivered_to_lab sms', 'completed sms'],
    email: [],
  },
  walk_in_test: {
    steps: ['requisition_created', 'appointment_pending', 'appointment_scheduled', 'appointment_cancelled', 'redraw_available'],
    bothChannels: [
      'ordered sms',
      'requisition_created sms',
      'requisition_created email',
      'appointment_scheduled sms',
      'appointment_cancelled sms',
      'redraw_available sms',
      'redraw_available email',
    ],
    sms: [
      'ordered sms',
      'requisition_created sms',
      'appointment_scheduled sms',
      'appointment_cancelled sms',
      'redraw_available sms',
    ],
    email: ['requisition_created email', 'redraw_available email'],
  },
  at_home_phlebotomy: {
    steps: [
      'requisition_created',
      'appointment_pending',
      'appointment_cancelled',
      'appointment_pending',
      'appointment_scheduled',
      'draw_completed',
      'completed',
    ],
    bothChannels: [
      'ordered sms',
      'requisition_created sms',
      'requisition_created email',
      'appointment_pending email',
      'appointment_cancelled email',
      'appointment_pending email',
      'appointment_scheduled email',
      'draw_completed sms',
      'completed sms',
    ],
    sms: [
      'ordered sms',
      'requisition_created sms',
      'appointment_pending sms',
      'appointment_cancelled sms',
      'appointment_pending sms',
      'appointment_scheduled sms',
      'draw_completed sms',
      'completed sms',
    ],
    email: [
      'requisition_created email',
      'appointment_pending email',
      'appointment_cancelled email',
      'appointment_pending email',
      'appointment_scheduled email',
    ],
  },
  on_site_collection: {
    steps: ['requisition_created', 'draw_completed', 'partial_results', 'completed'],
    bothChannels: ['ordered sms', 'requisition_created sms', 'requisition_created email', 'draw_completed sms', 'completed sms'],
    sms: ['ordered sms', 'requisition_created sms', 'draw_completed sms', 'completed sms'],
    email: ['requisition_created email'],
  },
}

describe('patient messages', () => {
  for (const [method, { steps, ...expected }] of Object.entries(lives))
    for (const [on, messages] of Object.entries({ ...expected, nothing: [] as string[] }))
      test(`sends the messages of an order by ${method}, with ${on} enabled`, async () => {
        const team = await createTestTeam()
        await switchChannels(team, on === 'bothChannels' || on === 'sms', on === 'bothChannels' || on === 'email')
        const { id } = await createOrderByMethod(team, method)
        await advanceTo(team, id, ...steps)
        assert.deepEqual(await kinds(team, id), messages)
      })

  test('sends a message for a cancelled order of any collection method', async () => {
    const team = await createTestTeam()
    for (const method of Object.keys(lives)) {
      const { id } = await createOrderByMethod(team, method)
      await team.api.post(`/v3/order/${id}/cancel`)
      assert.deepEqual(await kinds(team, id), ['ordered sms', 'cancelled sms'])
    }
  })

  test('is sent to the patient with the brand name, without patient or test names', async () => {
    const team = await createTestTeam()
    await team.manage.patch(`/team/${team.team}`, {
      sandbox: {
        logo_url: 'https://example.com/logo.png',
        brand_information: { company_name: 'Harbor Clinic', support_email: 'help@example.com' },
      },
    })
    const { id, lab_test } = await createOrderByMethod(team, 'walk_in_test')
    await advanceTo(team, id, 'requisition_created')
    const [first, text, mail] = await listMessages(team, id)
    assert.deepEqual([first!.recipient, mail!.recipient], [patient.phone_number, patient.email])
    assert.match(first!.body, /^Harbor Clinic: your laboratory order has been placed/)
    assert.match(mail!.body, /Harbor Clinic\n$/)
    assert.match(mail!.body, /help@example\.com/)
    for (const { body } of [first!, text!, mail!]) assert.doesNotMatch(body, new RegExp(`Testa|Fictional|1990|${lab_test.name}`))
  })

  test('is previewed as it is sent, with the settings of the team', async () => {
    const team = await createTestTeam()
    await team.manage.patch(`/team/${team.team}`, {
      sandbox: {
        logo_url: 'https://example.com/logo.png',
        brand_information: { company_name: 'Harbor Clinic', support_email: 'help@example.com' },
        appointment_booking_url: 'https://example.com/book/{order_id}',
      },
    })
    await switchChannels(team, true, false)
    const { data } = (await team.api.get('/console/v1/message_previews')).body
    type Preview = { method: string; kind: string; channel: string; is_enabled: boolean; body: string; after_s: number | null }
    const find = (method: string, kind: string, channel = 'sms'): Preview =>
      data.find((preview: Preview) => preview.method === method && preview.kind === kind && preview.channel === channel)
    const { id } = await createOrderByMethod(team, 'walk_in_test')
    await advanceTo(team, id, 'requisition_created')
    const [first, text] = await listMessages(team, id)
    const link = (await getOrder(team, id)).requisition_form_url!
    assert.equal(find('walk_in_test', 'ordered').body, first!.body)
    assert.equal(find('walk_in_test', 'requisition_created').body, text!.body.replace(link, 'https://example.com/document'))
    assert.match(find('at_home_phlebotomy', 'requisition_created').body, /Book it: https:\/\/example\.com\/book\/00000000-/)
    assert.match(find('walk_in_test', 'requisition_created', 'email').body, /help@example\.com/)
    assert.equal(find('walk_in_test', 'requisition_created', 'email').is_enabled, false)
    assert.equal(find('testkit', 'reminder_1').after_s, 2 * 86_400)
    assert.equal(find('walk_in_test', 'appointment_reminder_2').after_s, -2 * 3600)
  })

  test('an email contains the link to the requisition, and a text message contains it if no email is sent', async () => {
    const team = await createTestTeam()
    const { id } = await createOrderByMethod(team, 'walk_in_test')
    await advanceTo(team, id, 'requisition_created')
    const link = (await getOrder(team, id)).requisition_form_url!
    const [, text, mail] = await listMessages(team, id)
    assert.deepEqual([text!.body.includes(link), mail!.body.includes(link)], [false, true])
    assert.equal((await fetch(link)).status, 200)
    await switchChannels(team, true, false)
    const other = await createOrderByMethod(team, 'walk_in_test')
    await advanceTo(team, other.id, 'requisition_created')
    const own = (await getOrder(team, other.id)).requisition_form_url!
    assert((await listMessages(team, other.id))[1]!.body.endsWith(` ${own}`))
  })

  test("a shipped kit's message contains the expected arrival date and the tracking link", async () => {
    const team = await createTestTeam()
    const { id } = await createOrderByMethod(team, 'testkit')
    await team.api.post(`/v3/order/${id}/test?final_status=collecting_sample.testkit.transit_customer`)
    await team.settle()
    const { details } = await getOrder(team, id)
    const parcel = (details.data as { shipment: { outbound_tracking_url: string } }).shipment
    const { body } = (await listMessages(team, id)).at(-1)!
    assert(body.endsWith(` ${parcel.outbound_tracking_url}`))
    assert.match(body, /is on its way to you and should arrive on \w+day, \w+ \d{1,2}\. /)
  })

  test("an unregistered kit notifies the recipient's phone number", async () => {
    const team = await createTestTeam()
    const { id, shipping_details } = await kit(team)
    assert.deepEqual(
      (await listMessages(team, id)).map(({ kind, recipient }) => [kind, recipient]),
      [['ordered', shipping_details!.phone_number]],
    )
  })

  test('an imported order sends no message that it was placed', async () => {
    const team = await createTestTeam()
    const { body } = await team.api.post('/v3/order/import', {
      user_id: await team.user(),
      billing_type: 'client_bill',
      order_set: { lab_test_ids: [await team.test()] },
      collection_method: 'testkit',
      patient_details: patient,
      patient_address: { ...address, receiver_name: 'Testa Fictional' },
      sample_id: 'FICTIONAL-78',
    })
    await advanceTo(team, body.order.id, 'transit_customer')
    assert.deepEqual(await kinds(team, body.order.id), ['transit_customer sms'])
  })

  test('sends nothing without a phone number or email address', async () => {
    const team = await createTestTeam()
    const { id } = await createOrderByMethod(team, 'walk_in_test')
    await team.db.tx(team.tenant, (tx) =>
      updateOrder(tx, id, (lockedOrder) => {
        Object.assign(lockedOrder.order.patient_details!, { phone_number: '5550100', email: null })
        lockedOrder.transitionTo('requisition_created')
      }),
    )
    assert.deepEqual(await kinds(team, id), ['ordered sms'])
  })

  test('sends nothing for a rejected request', async () => {
    const team = await createTestTeam()
    const { id } = await createOrderByMethod(team, 'testkit')
    await assert.rejects(advanceTo(team, id, 'completed'))
    assert.deepEqual(await kinds(team, id), ['ordered sms'])
  })

  test('other teams have no access to the messages', async () => {
    const [mine, theirs] = [await createTestTeam(), await createTestTeam()]
    const { id } = await createOrderByMethod(theirs, 'testkit')
    const reply = await mine.api.get(`/v3/order/${id}/messages`)
    assert.deepEqual([reply.status, reply.body], [404, { detail: 'Order not found' }])
  })
})

describe('communication settings of an order', () => {
  const path = (id: string) => `/v3/order/${id}/communication_settings`

  test("an order inherits the team's setting until it has its own", async () => {
    const team = await createTestTeam()
    const { id } = await createOrderByMethod(team, 'testkit')
    assert.deepEqual((await team.api.get(path(id))).body, { order_id: id, sms_enabled: true })
    await switchChannels(team, false, false)
    assert.deepEqual((await team.api.get(path(id))).body, { order_id: id, sms_enabled: false })
    const { status, body } = await team.api.patch(path(id), { sms_enabled: true })
    assert.deepEqual([status, body], [200, { order_id: id, sms_enabled: true }])
    assert.deepEqual((await team.api.get(path(id))).body, { order_id: id, sms_enabled: true })
    await advanceTo(team, id, 'requisition_created', 'transit_customer')
    assert.deepEqual(await kinds(team, id), ['ordered sms', 'transit_customer sms'])
  })

  test("disabling an order's text messages stops only text messages, and emits no event", async () => {
    const team = await createTestTeam()
    const { id } = await createOrderByMethod(team, 'walk_in_test')
    await team.api.patch(path(id), { sms_enabled: false })
    assert.deepEqual(await team.events(id), ['labtest.order.created'])
    await advanceTo(team, id, 'requisition_created')
    assert.deepEqual(await kinds(team, id), ['ordered sms', 'requisition_created email'])
  })

  test('rejects a missing value and unknown orders', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const { id } = await createOrderByMethod(team, 'testkit')
    for (const body of [{}, { sms_enabled: null }, { sms_enabled: 'yes' }])
      assert.equal((await team.api.patch(path(id), body)).status, 422)
    for (const call of [other.api.get(path(id)), other.api.patch(path(id), { sms_enabled: false })])
      assert.equal((await call).status, 404)
    assert.equal((await team.api.get(path(id))).body.sms_enabled, true)
  })
})
