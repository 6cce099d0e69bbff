// What a laboratory says of an order without results: that it has the sample, that it waits for it, or that it does not carry out the order.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { answer, linkedTeam, queuedMessages, type QueuedMessage } from '../../../test/support/link-orders.ts'
import { advanceTo, createOrder, getOrder, patient, tenantOf } from '../../../test/support/orders.ts'
import { guard, type TestTeam } from '../../../test/support/server.ts'
import { receiveMessage } from '../link-messages/receive-message.ts'
import { sendAgain } from './send-orders.ts'

/** An order that the laboratory has accepted. */
async function acceptedOrder(method: 'walk_in_test' | 'testkit') {
  const { team, account } = await linkedTeam({ lab: method === 'testkit' ? 'ussl' : 'quest' })
  const { id } = await createOrder(team, { lab_test_id: await team.test(method), lab_account_id: account })
  await team.settle()
  const [message] = await queuedMessages(team, account)
  await answer(team, message!, 'AA')
  const { sample_id } = await getOrder(team, id)
  let count = 0
  return {
    team,
    account,
    id,
    /** Receives a message about the order: the fields of ORC, and of OBR after its code. */
    receive: (type: string, orc: string, obr: string, ...segments: string[]) =>
      receive(team, account, [
        `MSH|^~\\&|LIS|LAB|||20300103101500||${type}|S${++count}|P|2.5.1`,
        `PID|1||||${patient.last_name}^${patient.first_name}||${patient.dob.replaceAll('-', '')}|${patient.gender === 'female' ? 'F' : 'M'}`,
        `ORC|${orc.replace('NUMBER', sample_id!)}`,
        `OBR|1|${sample_id}|F-1|100^Glucose|${obr}`,
        ...segments,
      ]),
    shown: async () => {
      const { last_event, notes } = await getOrder(team, id)
      return [last_event.status.split('.').at(-1), last_event.status_detail, notes]
    },
  }
}

const receive = (team: TestTeam, account: string, segments: string[]) =>
  receiveMessage({ cell: team.cell, db: team.db, findTenant: guard.tenant }, account, Buffer.from(`${segments.join('\r')}\r`))

const RECEIVED_AT = `${'|'.repeat(9)}20300103100000`
const inStatus = (status: string) => `${'|'.repeat(20)}${status}`

describe('what a laboratory says of an order without results', () => {
  test('the sample of a kit is at the laboratory with IP, with the status I, or with the time of its arrival', async () => {
    for (const [type, orc, obr] of [
      ['ORM^O01', 'SC|NUMBER|F-1||IP', ''],
      ['OSU^O51', 'SC|NUMBER|F-1||SC', RECEIVED_AT],
      ['ORU^R01', 'RE|NUMBER|F-1', inStatus('I')],
    ] as const) {
      const { receive: receiveStatus, shown } = await acceptedOrder('testkit')
      const { state, error } = await receiveStatus(type, orc, obr)
      assert.deepEqual([state, error], ['applied', null], type)
      assert.deepEqual(await shown(), ['delivered_to_lab', null, null], type)
    }
  })

  test('an order that is scheduled, and one of a lifecycle without that status, keep theirs', async () => {
    const kit = await acceptedOrder('testkit')
    for (const [orc, obr] of [
      ['SC|NUMBER|F-1||SC', ''],
      ['SC|NUMBER|F-1||HD', ''],
      ['SC|NUMBER|F-1', inStatus('O')],
    ] as const)
      assert.equal((await kit.receive('ORM^O01', orc, obr)).state, 'applied')
    assert.deepEqual(await kit.shown(), ['requisition_created', null, null])
    const walkIn = await acceptedOrder('walk_in_test')
    assert.equal((await walkIn.receive('ORM^O01', 'SC|NUMBER|F-1||IP', '')).state, 'applied')
    assert.deepEqual(await walkIn.shown(), ['requisition_created', null, null])
  })

  test('an order without a sample that the laboratory cancels shows a failure, is not cancelled as if by its team, and can be sent again', async () => {
    for (const orc of [
      'OC|NUMBER|F-1|||||||||||||OUT^Test is no longer offered',
      'SC|NUMBER|F-1||CA|||||||||||OUT^Test is no longer offered',
    ]) {
      const { receive: receiveStatus, shown, team, id, account } = await acceptedOrder('walk_in_test')
      assert.equal((await receiveStatus('ORM^O01', orc, '')).state, 'applied')
      assert.deepEqual(await shown(), [
        'requisition_created',
        'fulfillment_error',
        'The laboratory refuses the order: Test is no longer offered',
      ])
      await team.db.tx(await tenantOf(team), (tx) => sendAgain(tx, id))
      const messages = await queuedMessages(team, account)
      assert.deepEqual(
        messages.map(({ state, message }) => [state, message.get('ORC-1')]),
        [
          ['accepted', 'NW'],
          ['queued', 'NW'],
        ],
      )
      await answer(team, messages[1]!, 'AA')
      assert.equal((await shown())[1], null)
    }
  })

  test('an order whose sample the laboratory rejects has a sample error', async () => {
    const { team, account, id, shown } = await acceptedOrder('walk_in_test')
    const [{ message: sent }] = (await queuedMessages(team, account)) as [QueuedMessage]
    const tests = sent.segments.filter((segment) => segment.id === 'OBR').map((segment) => segment.raw(4))
    const number = sent.get('ORC-2')
    const { state, error } = await receive(team, account, [
      'MSH|^~\\&|LIS|LAB|||20300103101500||ORM^O01|S1|P|2.5.1',
      `PID|1||||${patient.last_name}^${patient.first_name}||${patient.dob.replaceAll('-', '')}`,
      ...tests.flatMap((code, i) => [
        `ORC|OC|${number}|F-${i}`,
        `OBR|${i + 1}|${number}|F-${i}|${code}`,
        `SPM|1|||SER${'|'.repeat(17)}RH^Hemolyzed`,
      ]),
    ])
    assert.deepEqual([state, error, (await getOrder(team, id)).has_missing_results], ['applied', null, true])
    assert.equal((await shown())[0], 'sample_error')
  })

  test('nothing changes an order that has ended, or that is of another patient', async () => {
    const { receive: receiveStatus, shown, team, id } = await acceptedOrder('testkit')
    await advanceTo(team, id, 'cancelled')
    assert.equal((await receiveStatus('ORM^O01', 'SC|NUMBER|F-1||IP', '')).state, 'applied')
    assert.deepEqual(await shown(), ['cancelled', null, null])
    const other = await acceptedOrder('testkit')
    const { sample_id } = await getOrder(other.team, other.id)
    const stranger = [
      'MSH|^~\\&|LIS|LAB|||20300103101500||ORM^O01|S9|P|2.5.1',
      'PID|1||||Stranger^Fictional||19500505|M',
      `ORC|SC|${sample_id}|F-1||IP`,
      `OBR|1|${sample_id}|F-1|100^Glucose`,
    ]
    assert.equal((await receive(other.team, other.account, stranger)).state, 'review')
    assert.deepEqual(await other.shown(), ['requisition_created', null, null])
  })
})
