// An order over a link, from the first message to the last answer: when it is sent, and its status after each answer.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  answer,
  LABORATORY,
  linkedTeam,
  markSent,
  orderLink,
  queuedMessages,
  type LinkChanges,
  type QueuedMessage,
} from '../../../test/support/link-orders.ts'
import {
  address,
  advanceClock,
  createOrder,
  getOrder,
  kit,
  patient,
  registration,
  SECONDS_PER_DAY,
  tenantOf,
} from '../../../test/support/orders.ts'
import { createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { profileWith } from '../../../test/support/link-messages.ts'
import { saveLink, setLinkMode } from '../accounts/account-links.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'
import { listIssues } from '../link-messages/issues.ts'
import { claimDue, postponeUnanswered, returnUnsent } from '../link-messages/outbox.ts'
import { updateOrder } from '../orders/change-order.ts'
import { sql } from '../../platform/db/sql.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { listOrderMessages, mayHaveOrder } from './order-messages.ts'
import { recordAnswer } from './record-answer.ts'
import type { OrderProgress } from '../orders/schema.ts'
import { sendAgain } from './send-orders.ts'

/** A walk-in order of a team with a live link, with its messages. */
async function linkedOrder(changes: LinkChanges = {}, orderChanges: Record<string, unknown> = {}) {
  const { team, account } = await linkedTeam(changes)
  const order = await createOrder(team, {
    lab_test_id: await team.test('walk_in_test'),
    lab_account_id: account,
    ...orderChanges,
  })
  await team.settle()
  return {
    team,
    account,
    order,
    messages: () => queuedMessages(team, account),
    last: async () => (await queuedMessages(team, account)).at(-1)!,
    shown: async () => {
      const { last_event, notes } = await getOrder(team, order.id)
      return [last_event.status.split('.').at(-1), last_event.status_detail, notes]
    },
    cancel: () => team.api.post(`/v3/order/${order.id}/cancel`),
  }
}

const texts = (list: Awaited<ReturnType<typeof queuedMessages>>, place: string) => list.map(({ message }) => message.get(place))

/** Whether an error of 400 says something. */
const saying = (pattern: RegExp) => (error: unknown) => error instanceof Problem && pattern.test(String(error.body.detail))

describe('an order over a link', () => {
  test('is queued once as a message of production, under a number that the order shows', async () => {
    const { team, order, messages, shown } = await linkedOrder({ account_number: 'ACC-1' })
    const [message, ...more] = await messages()
    assert.deepEqual(more, [])
    const { sample_id } = await getOrder(team, order.id)
    assert.deepEqual(
      [message!.order_id, message!.team_id, message!.state, message!.message_type],
      [order.id, team.team, 'queued', 'OML^O21'],
    )
    assert.match(sample_id!, /^DBL[0-9A-Z]{10}$/)
    const { get } = message!.message
    const at = get.bind(message!.message)
    assert.deepEqual(
      [at('MSH-10'), at('MSH-11'), at('ORC-1'), at('ORC-2'), at('PID-3'), at('ORC-21.10')],
      [message!.control_id, 'P', 'NW', sample_id, order.user_id, 'ACC-1'],
    )
    assert.match(message!.control_id, /^[0-9A-Z]{20}$/)
    assert.deepEqual(await shown(), ['ordered', null, null])
  })

  test('goes over a live link only, and in the sandbox never as a message of production', async () => {
    for (const mode of ['off', 'test', 'shadow'] as const) {
      const { messages, shown } = await linkedOrder({ mode })
      assert.deepEqual(await messages(), [], mode)
      assert.deepEqual(await shown(), ['ordered', 'fulfillment_error', null])
    }
    const sandbox = await linkedOrder({ cell: 'sandbox-us' })
    assert.deepEqual(texts(await sandbox.messages(), 'MSH-11'), ['T'])
  })

  test('that was written waits while its link is in another mode, or live for another team', async () => {
    const { team, account } = await linkedOrder()
    const other = await createTestTeam('production-us')
    await other.db.queries.run(sql`insert into lab_account_team (account_id, team_id) values (${account}, ${other.team})`)
    const claim = () => claimDue(team.db.queries, account, { max: 1, answer_s: 1, isHeld: sql`true` })
    for (const [mode, team_id] of [
      ['off', null],
      ['test', null],
      ['shadow', null],
      ['live_for_team', other.team],
    ] as const) {
      await team.db.plainTx((tx) => setLinkMode(tx, account, mode, team_id))
      assert.deepEqual(await claim(), [], mode)
    }
    await team.db.plainTx((tx) => setLinkMode(tx, account, 'live_for_team', team.team))
    assert.equal((await claim()).length, 1)
  })

  test('is neither given back nor postponed by a process that has lost the link to another one', async () => {
    const { team, account } = await linkedOrder()
    const { queries } = team.db
    const [held, lost] = [sql`true`, sql`false`]
    const [message] = await claimDue(queries, account, { max: 1, answer_s: 1, isHeld: held })
    const { id } = message!
    assert.equal(await returnUnsent(queries, [id], lost), 0)
    assert.equal(await postponeUnanswered(queries, id, { error: 'No answer', isHeld: lost }), 0)
    assert.equal(await postponeUnanswered(queries, id, { error: 'No answer', isHeld: held }), 1)
    assert.equal(await returnUnsent(queries, [id], held), 1)
  })

  test('is sent on its day', async () => {
    const tomorrow = new Date(Date.now() + 2 * SECONDS_PER_DAY * 1000).toISOString().slice(0, 10)
    const { team, messages } = await linkedOrder({}, { activate_by: tomorrow })
    assert.deepEqual(await messages(), [])
    await advanceClock(team, 3 * SECONDS_PER_DAY)
    assert.equal((await messages()).length, 1)
  })

  test('for a kit is sent when its patient is registered', async () => {
    const { team, account } = await linkedTeam({ lab: 'ussl' })
    const { id } = await kit(team, { lab_account_id: account })
    await team.settle()
    assert.deepEqual(await queuedMessages(team, account), [])
    assert.equal((await getOrder(team, id)).last_event.status_detail, null)
    await team.db.tx(await tenantOf(team), (tx) => updateOrder(tx, id, ({ order }) => void (order.sample_id = 'KIT-FIC-1')))
    const { status, body } = await team.api.post('/v3/order/testkit/register', registration('KIT-FIC-1'))
    assert.equal(status, 200, JSON.stringify(body))
    const [message] = await queuedMessages(team, account)
    assert.deepEqual([message!.message.get('ORC-2'), message!.message.get('SPM-27.2')], ['KIT-FIC-1', 'from the kit'])
    assert.equal(await answer(team, message!, 'AA'), 'accepted')
    assert.equal((await getOrder(team, id)).last_event.status, 'received.testkit.testkit_registered')
  })

  test('with a draw elsewhere is sent at once with the draw as a change, or after the draw, by the profile', async () => {
    const drawn = async (options: LinkChanges['options']) => {
      const team = await createTestTeam('production-us')
      const lab_test_id = await team.test('on_site_collection')
      const { lab } = (await team.api.get(`/v3/lab_tests/${lab_test_id}`)).body
      const account = await orderLink(team, { lab: lab.slug, ...(options && { options }) })
      const order = await createOrder(team, { lab_test_id, lab_account_id: account })
      await team.settle()
      const before = await queuedMessages(team, account)
      for (const message of before) await answer(team, message, 'AA')
      const { status, body } = await team.api.patch(`/v3/order/${order.id}/draw_completed`)
      assert.equal(status, 200, JSON.stringify(body))
      await team.settle()
      const list = await queuedMessages(team, account)
      return [before.length, texts(list, 'ORC-1'), texts(list, 'OBR-7').map((time) => time !== '')]
    }
    assert.deepEqual(await drawn({}), [1, ['NW'], [false]])
    assert.deepEqual(await drawn({ order_content: { sends_changes: true } }), [1, ['NW', 'XO'], [false, true]])
    assert.deepEqual(await drawn({ order_content: { sends: 'collected' } }), [0, ['NW'], [true]])
  })

  test('that was placed elsewhere is not sent when its sample is drawn', async () => {
    const team = await createTestTeam('production-us')
    const lab_test_id = await team.test('on_site_collection')
    const { lab } = (await team.api.get(`/v3/lab_tests/${lab_test_id}`)).body
    const account = await orderLink(team, { lab: lab.slug, options: { order_content: { sends: 'collected' } } })
    const { status, body } = await team.api.post('/v3/order/import', {
      user_id: await team.user(),
      billing_type: 'client_bill',
      order_set: { lab_test_ids: [lab_test_id] },
      collection_method: 'on_site_collection',
      patient_details: patient,
      patient_address: { ...address, receiver_name: 'Testa' },
      sample_id: 'FICTIONAL-0042',
      lab_account_id: account,
    })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal((await team.api.patch(`/v3/order/${body.order.id}/draw_completed`)).status, 200)
    await team.settle()
    assert.deepEqual(await queuedMessages(team, account), [])
  })

  test('gets a number of the length that the laboratory takes, and has local times and plain digits if it wants them', async () => {
    const { team, order, messages } = await linkedOrder({
      options: {
        order_number: { prefix: 'NL', length_max: 12 },
        text: { sends_offsets: false },
        patient: { phone: 'digits', has_email: false },
      },
    })
    const [message] = await messages()
    const { sample_id } = await getOrder(team, order.id)
    assert.match(sample_id!, /^[0-9A-Z]{10}$/)
    const at = message!.message.get.bind(message!.message)
    assert.equal(at('ORC-2'), `NL${sample_id}`)
    assert.match(at('MSH-7'), /^\d{14}$/)
    assert.match(at('ORC-9'), /^\d{14}$/)
    assert.match(at('PID-13'), /^\d+$/)
    assert.equal(message!.message.get('PID-13.4'), '')
  })

  test('whose number is longer than the laboratory takes is not sent', async () => {
    const { shown } = await linkedOrder({ options: { order_number: { number: 'order_id', length_max: 12 } } })
    assert.deepEqual(await shown(), [
      'ordered',
      'fulfillment_error',
      'The order cannot be sent to the laboratory: ORC-2.1: has more than 12 characters (order_number.length_max)',
    ])
  })

  test('that cannot be written shows why, without a message', async () => {
    const { team, account, order, messages, shown } = await linkedOrder({
      options: { text: { length_limits: { 'PID-5.1': 3 } } },
    })
    assert.deepEqual(await messages(), [])
    assert.deepEqual(await shown(), [
      'ordered',
      'fulfillment_error',
      'The order cannot be sent to the laboratory: PID-5.1: has more than 3 characters (text.length_limits)',
    ])
    const { data } = await team.db.plainTx((tx) => listIssues(tx, { account_id: account }))
    assert.deepEqual(
      data.map(({ reason, source, detail, state }) => [reason, source, detail, state]),
      [['unsendable_order', `order ${order.id}`, 'PID-5.1: has more than 3 characters (text.length_limits)', 'open']],
    )
  })
})

describe('the answer of a laboratory to an order', () => {
  test('accepts it with the numbers of the laboratory', async () => {
    const { team, last, shown } = await linkedOrder()
    const message = await last()
    await markSent(team, message.id)
    assert.equal(await answer(team, message, 'CA'), 'committed')
    assert.deepEqual(await shown(), ['ordered', null, null])
    assert.equal(await answer(team, message, 'AA'), 'accepted')
    assert.deepEqual(await shown(), ['requisition_created', null, null])
    assert.equal(await answer(team, message, 'AA', 'ORC|OK|X|FILL-1^LAB|G-1', 'OBR|1|X|FILL-1', 'SPM|1|S^ACC-1'), 'accepted')
    assert.equal(await answer(team, message, 'AE'), 'accepted', 'a repetition that the laboratory refuses changes nothing')
    assert.equal(await answer(team, message, 'CA'), 'accepted')
    assert.deepEqual(await shown(), ['requisition_created', null, null])
    await team.api.post(`/v3/order/${message.order_id}/cancel`)
    const cancel = await last()
    assert.deepEqual([cancel.message.get('ORC-1'), cancel.message.get('ORC-3')], ['CA', 'FILL-1'])
  })

  for (const code of ['AE', 'AR', 'CE', 'CR'])
    test(`${code} refuses it with the words of the laboratory, and it is not sent again`, async () => {
      const { team, last, shown } = await linkedOrder()
      const message = await last()
      assert.equal(await answer(team, message, code, 'ERR||PID^1^7|101|E||||Unknown account'), 'refused')
      assert.deepEqual(await shown(), [
        'ordered',
        'fulfillment_error',
        'The laboratory refuses the order: PID-1-7: Unknown account',
      ])
      const { state, due_at, error } = await last()
      assert.deepEqual([state, due_at, error], ['refused', null, `The laboratory answered ${code}`])
      assert.equal(await answer(team, message, code, 'ERR||PID^1^7|101|E||||Unknown account'), 'refused')
      assert.equal((await getOrder(team, message.order_id)).events.length, 2)
    })

  test('UA refuses it although the message was accepted', async () => {
    const { team, last, shown } = await linkedOrder()
    const message = await last()
    await answer(team, message, 'AA')
    assert.equal(await answer(team, message, 'AA', 'ORC|UA|X', 'NTE|1||Test is not offered'), 'refused')
    assert.deepEqual(await shown(), [
      'requisition_created',
      'fulfillment_error',
      'The laboratory refuses the order: Test is not offered',
    ])
  })

  test('that is of UTF-16 refuses an order, which is then cancelled at once', async () => {
    const { team, last, shown, cancel } = await linkedOrder()
    const { id, control_id } = await last()
    const text = ['MSH|^~\\&|LIS|LAB|||20300102||ACK|A1|P|2.5.1', `MSA|AR|${control_id}|Łącka`, ''].join('\r')
    const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
    assert.equal(await recordAnswer({ cell: team.cell, db: team.db, findTenant: guard.tenant }, id, bytes), 'refused')
    assert.deepEqual((await shown())[2], 'The laboratory refuses the order: Łącka')
    assert.equal((await cancel()).status, 200)
    assert.equal((await shown())[0], 'cancelled')
  })

  test('to another message, or that cannot be read, changes nothing', async () => {
    const { team, last } = await linkedOrder()
    const message = await last()
    await assert.rejects(answer(team, { ...message, control_id: 'OTHER' }, 'AA'), UnreadableMessage)
    await assert.rejects(answer(team, message, 'ZZ'), UnreadableMessage)
    assert.equal((await last()).state, 'queued')
  })

  test('to each message is needed of an order that goes as one message for each specimen', async () => {
    const { team, messages, shown } = await linkedOrder({ options: { order_content: { messages_per: 'specimen' } } }, {})
    const list = await messages()
    for (const [i, message] of list.entries()) {
      assert.deepEqual(await shown(), ['ordered', null, null])
      await answer(team, message, 'AA')
      if (i === list.length - 1) assert.deepEqual(await shown(), ['requisition_created', null, null])
    }
  })
})

describe('cancelling an order over a link', () => {
  test('that was not sent cancels it at once, and it is never sent', async () => {
    const { cancel, messages, shown } = await linkedOrder()
    const { body } = await cancel()
    assert.equal(body.message, 'Order cancelled successfully')
    assert.deepEqual(await shown(), ['cancelled', null, null])
    assert.deepEqual(
      (await messages()).map(({ state, due_at }) => [state, due_at]),
      [['done', null]],
    )
  })

  test('that the laboratory may have waits for its confirmation', async () => {
    const { team, cancel, messages, last, shown } = await linkedOrder()
    await markSent(team, (await last()).id)
    for (let i = 0; i < 2; i++) assert.equal((await cancel()).body.message, 'The laboratory has been asked to cancel the order')
    assert.deepEqual(texts(await messages(), 'ORC-1'), ['NW', 'CA'])
    assert.deepEqual(await shown(), ['ordered', null, null])
    const message = await last()
    assert.equal(await answer(team, message, 'AA'), 'accepted')
    assert.deepEqual(await shown(), ['ordered', null, null], 'an acknowledgment alone confirms nothing')
    assert.equal(await answer(team, message, 'AA', 'ORC|CR|X'), 'accepted')
    assert.deepEqual(await shown(), ['cancelled', null, null])
    assert.equal((await messages()).length, 2)
  })

  test('is written for a message whose character set no field names', async () => {
    const { team, cancel, messages, last } = await linkedOrder(
      { options: { identity: { version: '2.2' } } },
      { clinical_notes: 'Álvarez Ý Łącka' },
    )
    assert.equal((await last()).message.get('MSH-18'), '')
    await markSent(team, (await last()).id)
    const { status, body } = await cancel()
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(texts(await messages(), 'ORC-1'), ['NW', 'CA'])
  })

  test('that the laboratory cannot cancel keeps it, with the reason', async () => {
    const { team, cancel, last, shown } = await linkedOrder()
    await answer(team, await last(), 'AA')
    await cancel()
    assert.equal(await answer(team, await last(), 'AA', 'ORC|UC|X', 'NTE|1||Already in process'), 'refused')
    const expected = ['requisition_created', null, 'The laboratory does not cancel the order: Already in process']
    assert.deepEqual(await shown(), expected)
    await cancel()
    assert.deepEqual([(await last()).state, (await last()).message.get('ORC-1')], ['queued', 'CA'])
  })

  test('is done by an acknowledgment, or at once with a message to the laboratory, if the profile says so', async () => {
    const acknowledged = await linkedOrder({ options: { order_content: { cancels: 'acknowledged' } } })
    await answer(acknowledged.team, await acknowledged.last(), 'AA')
    await acknowledged.cancel()
    await answer(acknowledged.team, await acknowledged.last(), 'AA')
    assert.deepEqual(await acknowledged.shown(), ['cancelled', null, null])
    const atOnce = await linkedOrder({ options: { order_content: { cancels: 'at_once' } } })
    await answer(atOnce.team, await atOnce.last(), 'AA')
    assert.equal((await atOnce.cancel()).body.message, 'Order cancelled successfully')
    assert.deepEqual(await atOnce.shown(), ['cancelled', null, null])
    assert.deepEqual(texts(await atOnce.messages(), 'ORC-1'), ['NW', 'CA'])
  })
})

describe('an order that the laboratory refused', () => {
  test('is sent again as it is now, under another control id', async () => {
    const { team, account, order, messages, last, shown } = await linkedOrder()
    const again = async () => team.db.tx(await tenantOf(team), (tx) => sendAgain(tx, order.id))
    await assert.rejects(again, saying(/The laboratory may have the order: its message .* is queued/))
    await answer(team, await last(), 'AE')
    await team.db.plainTx((tx) =>
      saveLink(tx, account, profileWith({ transport: LABORATORY, identity: { laboratory_facility: 'CORRECTED' } })),
    )
    await again()
    const [refused, sent, ...more] = await messages()
    assert.deepEqual([refused!.state, sent!.state, more.length], ['refused', 'queued', 0])
    assert.notEqual(refused!.control_id, sent!.control_id)
    assert.deepEqual(
      [sent!.message.get('ORC-1'), sent!.message.get('MSH-6'), sent!.message.get('ORC-2')],
      ['NW', 'CORRECTED', refused!.message.get('ORC-2')],
    )
    assert.deepEqual(await shown(), ['ordered', null, 'The laboratory refuses the order'])
    await answer(team, sent!, 'AA')
    assert.deepEqual(await shown(), ['requisition_created', null, 'The laboratory refuses the order'])
    await assert.rejects(again, saying(/The laboratory may have the order: its message .* is accepted/))
    await team.db.plainTx((tx) => setLinkMode(tx, account, 'shadow'))
    await assert.rejects(again, saying(/no live link/))
  })
})

describe('an order of which the laboratory refused a part', () => {
  const codesOf = ({ message }: QueuedMessage) =>
    message.segments.filter(({ id }) => id === 'OBR').map((segment) => segment.get(4))

  test('fails until the other part is sent again and accepted, and what was accepted is not sent twice', async () => {
    const { team, order, messages, last, shown } = await linkedOrder({ options: { order_content: { messages_per: 'specimen' } } })
    const [first, second] = (await messages()) as [QueuedMessage, QueuedMessage]
    await answer(team, first, 'AE')
    await answer(team, second, 'AA')
    assert.deepEqual((await shown()).slice(0, 2), ['ordered', 'fulfillment_error'])
    await team.db.tx(await tenantOf(team), (tx) => sendAgain(tx, order.id))
    assert.equal((await messages()).length, 3)
    assert.deepEqual(codesOf(await last()), codesOf(first))
    assert.deepEqual((await shown()).slice(0, 2), ['ordered', null])
    await answer(team, await last(), 'AA')
    assert.deepEqual((await shown()).slice(0, 2), ['requisition_created', null])
    const { body } = await team.api.get(`/console/v1/orders/${order.id}/progress`)
    const { steps } = body as OrderProgress
    assert.deepEqual(
      steps.filter(({ phase }) => phase !== 'expected').map(({ low_level_status }) => low_level_status),
      ['ordered', 'requisition_created'],
      'a change of the detail alone is not a step',
    )
    assert.equal(steps[0]!.reached_at, order.events[0]!.created_at)
  })

  test('by the numbers of its tests is sent again with the refused ones, under the same numbers', async () => {
    const { team, order, last, shown } = await linkedOrder({ options: { order_number: { per_test: true } } })
    const message = await last()
    const codes = codesOf(message)
    const numbers = codes.map((_, i) => message.message.get(`OBR[${i + 1}]-2`))
    const answers = numbers.map((number, i) => `ORC|${i === 0 ? 'UA' : 'OK'}|${number}|F-${i}`)
    assert(codes.length > 1)
    assert.equal(await answer(team, message, 'AA', ...answers), 'refused')
    await team.db.tx(await tenantOf(team), async (tx) => assert(mayHaveOrder(await listOrderMessages(tx, order.id))))
    assert.deepEqual((await shown()).slice(0, 2), ['ordered', 'fulfillment_error'])
    await team.db.tx(await tenantOf(team), (tx) => sendAgain(tx, order.id))
    const again = await last()
    assert.deepEqual([codesOf(again), again.message.get('OBR-2')], [codes.slice(0, 1), numbers[0]])
    await answer(team, again, 'AA')
    assert.deepEqual((await shown()).slice(0, 2), ['requisition_created', null])
  })
})

describe('cancelling over a link that is not live', () => {
  test('cancels at once, and tells the laboratory when the link is live again', async () => {
    const { team, account, cancel, messages, last, shown } = await linkedOrder()
    await answer(team, await last(), 'AA')
    await team.db.plainTx((tx) => setLinkMode(tx, account, 'off'))
    assert.equal((await cancel()).body.message, 'Order cancelled successfully')
    assert.deepEqual(await shown(), ['cancelled', null, null])
    assert.deepEqual(texts(await messages(), 'ORC-1'), ['NW', 'CA'])
  })
})

describe('orders of deleted users', () => {
  test('are not sent, and go out after the deletion is undone', async () => {
    const { team, order, messages } = await linkedOrder()
    assert.equal((await messages()).length, 1)
    assert.equal((await team.api.delete(`/v2/user/${order.user_id}`)).status, 200)
    assert.deepEqual(await messages(), [])
    await advanceClock(team, SECONDS_PER_DAY + 60)
    assert.deepEqual(await messages(), [])
    const undone = await team.api.post(`/v2/user/undo_delete?user_id=${order.user_id}`)
    assert.equal(undone.status, 200, JSON.stringify(undone.body))
    await advanceClock(team, SECONDS_PER_DAY + 60)
    assert.deepEqual(texts(await messages(), 'ORC-1'), ['NW'])
  })
})

describe('two teams of one account', () => {
  test('have their own orders and answers over one link', async () => {
    const { team: teamA, account } = await linkedTeam()
    const teamB = await createTestTeam('production-us')
    await teamB.db.queries.run(sql`insert into lab_account_team (account_id, team_id) values (${account}, ${teamB.team})`)
    const orders = []
    for (const team of [teamA, teamB]) {
      orders.push(await createOrder(team, { lab_test_id: await team.test('walk_in_test'), lab_account_id: account }))
      await team.settle()
    }
    const [ofA, ofB] = (await queuedMessages(teamA, account)) as [QueuedMessage, QueuedMessage]
    assert.deepEqual([ofA.team_id, ofB.team_id], [teamA.team, teamB.team])
    assert.deepEqual([ofA.order_id, ofB.order_id], [orders[0]!.id, orders[1]!.id])
    assert.deepEqual([ofA.message.get('PID-3'), ofB.message.get('PID-3')], [orders[0]!.user_id, orders[1]!.user_id])
    await answer(teamB, ofB, 'AA', 'ORC|OK|X|SAME-1')
    await answer(teamA, ofA, 'AA', 'ORC|UA|X|SAME-1', 'NTE|1||Of team A')
    const shown = async (team: TestTeam, id: string) => {
      const { last_event, notes } = await getOrder(team, id)
      return [last_event.status, last_event.status_detail, notes]
    }
    assert.deepEqual(await shown(teamB, orders[1]!.id), ['received.walk_in_test.requisition_created', null, null])
    assert.deepEqual(await shown(teamA, orders[0]!.id), [
      'received.walk_in_test.ordered',
      'fulfillment_error',
      'The laboratory refuses the order: Of team A',
    ])
  })

  test('one of which has the link alone, send its orders alone', async () => {
    const team = await createTestTeam('production-us')
    const account = await orderLink(team, { mode: 'live_for_team', live_team_id: team.team })
    const other = await createTestTeam('production-us')
    await other.db.queries.run(sql`insert into lab_account_team (account_id, team_id) values (${account}, ${other.team})`)
    const { id } = await createOrder(other, { lab_test_id: await other.test('walk_in_test'), lab_account_id: account })
    await other.settle()
    await createOrder(team, { lab_test_id: await team.test('walk_in_test'), lab_account_id: account })
    await team.settle()
    assert.deepEqual(
      (await queuedMessages(team, account)).map(({ team_id }) => team_id),
      [team.team],
    )
    assert.equal((await getOrder(other, id)).last_event.status_detail, 'fulfillment_error')
  })
})

describe('two accounts at one laboratory', () => {
  test('have their own orders, numbers and answers', async () => {
    const [a, b] = [await linkedOrder({ account_number: 'ACC-A' }), await linkedOrder({ account_number: 'ACC-B' })]
    const [ofA, ofB] = [await a.last(), await b.last()]
    assert.deepEqual([ofA.message.get('ORC-21.10'), ofB.message.get('ORC-21.10')], ['ACC-A', 'ACC-B'])
    assert.notEqual(ofA.control_id, ofB.control_id)
    await assert.rejects(answer(a.team, { ...ofB, id: ofA.id }, 'AA'), UnreadableMessage)
    await answer(a.team, ofA, 'AA')
    assert.deepEqual(
      [await a.shown(), await b.shown()],
      [
        ['requisition_created', null, null],
        ['ordered', null, null],
      ],
    )
  })
})
