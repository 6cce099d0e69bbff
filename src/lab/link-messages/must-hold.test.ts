// What must hold for messages of links, whatever a laboratory sends: nothing crosses accounts, teams and people; nothing is applied twice;
// the order never says more than the laboratory; no value is altered; every byte is found again.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { erase } from '../../../test/contract/operations/erased-users.ts'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import {
  labLink,
  messageFor,
  observation,
  observedTest,
  profileWith,
  receiveBytes,
  toBytes,
} from '../../../test/support/link-messages.ts'
import { linkedOrder } from '../../../test/support/linked-orders.ts'
import { getOrder } from '../../../test/support/orders.ts'
import { acceptedOrder } from '../../../test/support/results.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { saveLink, setLinkMode } from '../accounts/account-links.ts'
import { replayMessage } from './receive-message.ts'

const readResults = async (team: TestTeam, order_id: string) => (await team.api.get(`/v3/order/${order_id}/result`)).body.results
const hasResult = async (team: TestTeam, order_id: string) => (await team.api.get(`/v3/order/${order_id}/result`)).status === 200

const glucose = (value: string) => [observedTest({ code: 'GLU', observations: [observation('GLU', value)] })]

describe('two accounts of one laboratory', () => {
  test('with the same numbers and patients of the same name get their own results alone', async () => {
    const [one, two] = [await linkedOrder(), await linkedOrder()]
    // The laboratory gives both orders the same number.
    const numbers = { filler: ['F-SAME'], accession: ['A-SAME'] }
    for (const [own, value] of [
      [one, '5'],
      [two, '6'],
    ] as const)
      await own.send(messageFor(own.order, glucose(value), { numbers: { ...numbers, placer: [own.order.sample_id!] } }))
    for (const [own, value] of [
      [two, '16'],
      [one, '15'],
    ] as const) {
      const receipt = await own.send(messageFor(own.order, glucose(value), { numbers, sent_at: '20300105101500' }))
      assert.deepEqual([receipt.state, receipt.order_id], ['applied', own.order.id])
    }
    assert.deepEqual(
      (await readResults(one.team, one.order.id)).map((item: { result: string }) => item.result),
      ['15'],
    )
    assert.deepEqual(
      (await readResults(two.team, two.order.id)).map((item: { result: string }) => item.result),
      ['16'],
    )
  })

  test('never give a result to an order of the other account, even with its number and patient', async () => {
    const [one, two] = [await linkedOrder(), await linkedOrder()]
    const receipt = await receiveBytes(one.team, one.account, toBytes(messageFor(two.order, glucose('5'))))
    assert.notEqual(receipt.state, 'applied')
    assert.equal(await hasResult(two.team, two.order.id), false)
    assert.equal(await hasResult(one.team, one.order.id), false)
  })

  test('of one organization never give the result of one team to the other', async () => {
    const one = await linkedOrder()
    const other = await createTestTeam()
    await one.team.db.queries.run(sql`insert into lab_account_team (account_id, team_id) values (${one.account}, ${other.team})`)
    const receipt = await one.send(messageFor(one.order, glucose('5')))
    assert.deepEqual([receipt.state, receipt.order_id], ['applied', one.order.id])
    const stranger = await one.send(messageFor(one.order, glucose('6'), { numbers: { placer: ['FICTIONAL-NOBODY'] } }))
    assert.deepEqual([stranger.state, stranger.order_id], ['review', null])
    const visible = async ({ db, tenant }: TestTeam, id: string) =>
      (await db.read(tenant, (tx) => tx.many(T.Object({ id: T.String() }), sql`select id from lab_message where id = ${id}`)))
        .length
    assert.deepEqual(
      [
        await visible(other, receipt.message_id),
        await visible(other, stranger.message_id),
        await visible(one.team, receipt.message_id),
        await visible(one.team, stranger.message_id),
      ],
      [0, 0, 1, 0],
    )
  })
})

describe('a message', () => {
  test('of another patient with the number of an order is not applied to it', async () => {
    const { team, order, send } = await linkedOrder()
    for (const change of [{ dob: '19700101' }, { last_name: 'Imaginary' }, { first_name: 'Imaginary', dob: '19700101' }]) {
      const message = messageFor(order, glucose('5'))
      const receipt = await send({ ...message, patient: { ...message.patient, ...change } })
      assert.equal(receipt.state, 'review', JSON.stringify(change))
    }
    assert.equal(await hasResult(team, order.id), false)
  })

  test('with two orders is of both, and is erased with the user of either', async () => {
    for (const index of [0, 1]) {
      const team = await createTestTeam()
      const account = await labLink(team)
      const orders = [
        await acceptedOrder(team, 'walk_in_test', { lab_account_id: account }),
        await acceptedOrder(team, 'walk_in_test', { lab_account_id: account, user_id: await team.user() }),
      ]
      const bytes = Buffer.from(
        [
          `MSH|^~\\&|LIS|FICTIONAL|||20300104101500||ORU^R01|${randomUUID()}|P|2.5.1`,
          ...orders.flatMap((order) => [
            `PID|1||||${order.patient_details!.last_name}^${order.patient_details!.first_name}||${order.patient_details!.dob.replaceAll('-', '')}|F`,
            `ORC|RE|${order.sample_id}`,
            `OBR|1|${order.sample_id}||GLU^Glucose|||20300104|||||||||||||||20300104100000|||F`,
            'OBX|1|NM|GLU^Glucose||5|mmol/L|4-6||||F',
          ]),
        ].join('\r'),
      )
      const { message_id, state } = await receiveBytes(team, account, bytes)
      assert.equal(state, 'applied')
      for (const order of orders) assert.equal((await readResults(team, order.id))[0].result, '5')
      await erase(team, [orders[index]!.user_id])
      const left = await team.db.queries.many(
        T.Object({ id: T.String() }),
        sql`select id from lab_message where id = ${message_id}`,
      )
      assert.deepEqual(left, [])
      assert.equal(await hasResult(team, orders[1 - index]!.id), true)
    }
  })

  test('is applied once, however often and over whatever state it is processed', async () => {
    const { team, order, send, complete, result } = await linkedOrder()
    const message = complete()
    const { message_id } = await send(message)
    const [first, { events }] = [await result(), await getOrder(team, order.id)]
    const context = { cell: 'sandbox-us' as const, db: team.db, findTenant: () => Promise.resolve(team.tenant) }
    for (let i = 0; i < 3; i++) assert.equal((await replayMessage(context, message_id))!.state, 'applied')
    // The same content in other bytes, as an interface writes it that was restored.
    await receiveBytes(
      team,
      (await getOrder(team, order.id)).lab_account_id!,
      Buffer.concat([toBytes(message), Buffer.from('\n')]),
    )
    assert.deepEqual(await result(), first)
    assert.deepEqual((await getOrder(team, order.id)).events, events)
  })

  test('never completes an order before the laboratory does', async () => {
    const { order, send, complete, status } = await linkedOrder()
    const { tests, ...message } = complete()
    for (const state of ['I', 'S', 'O', 'P', 'A', 'R']) {
      const pending = tests.map((item) => ({ ...item, status: state }))
      await send({ ...message, control_id: randomUUID(), tests: pending })
      assert.notEqual(await status(), 'completed', state)
    }
    await send(messageFor(order, [{ ...tests[0]!, status: 'F' }]))
    assert.notEqual(await status(), 'completed', 'one test of several')
    await send({
      ...message,
      control_id: randomUUID(),
      sent_at: '20300106101500',
      tests: tests.map((item) => ({ ...item, reported_at: '20300106100000' })),
    })
    assert.equal(await status(), 'completed')
  })

  test('has its values in the result as the laboratory wrote them', async () => {
    const values = [
      '5.0',
      '05',
      '5.00',
      '>100',
      '<0.01',
      '1:160',
      '1+',
      'NEGATIVE',
      '3-5',
      ' 7',
      '1e3',
      '٤',
      '0',
      '-0.5',
      '.5',
      '5.',
    ]
    const { order, send, result } = await linkedOrder()
    const observations = values.map((value, i) => observation(`V${i}`, value))
    await send(messageFor(order, [observedTest({ code: 'ALL', observations })]))
    assert.deepEqual(
      (await result()).results.map((item: { result: string }) => item.result),
      values.map((value) => value.trim()),
    )
  })

  test('keeps the blanks of its values and notes, and is no correction if they alone differ', async () => {
    const { order, send, result, team } = await linkedOrder()
    const blank = { unit: ' mmol/L ', flag: ' H', reference_range: ' 4-6 ', notes: '  indented\n' }
    const item = (blanks: boolean, value: string) =>
      observation(blanks ? ' GLU ' : 'GLU', blanks ? `  ${value} ` : value, {
        name: blanks ? ' Glucose ' : 'Glucose',
        ...Object.fromEntries(Object.entries(blank).map(([field, text]) => [field, blanks ? text : text.trim()])),
      })
    const send1 = (blanks: boolean, value: string, numbers?: { placer: string[] }) =>
      send(messageFor(order, [observedTest({ code: 'ALL', observations: [item(blanks, value)] })], numbers && { numbers }))
    const first = await send1(true, 'Moderate growth', { placer: [` ${order.sample_id} `] })
    assert.deepEqual([first.state, first.order_id], ['applied', order.id])
    const shown = async () => {
      const { results } = await result()
      const [{ name, provider_id, result: text, notes, unit, reference_range, source_interpretation, interpretation, state }] =
        results
      return [results.length, name, provider_id, text, notes, unit, reference_range, source_interpretation, interpretation, state]
    }
    assert.deepEqual(await shown(), [
      1,
      'Glucose',
      'GLU',
      '  Moderate growth ',
      '  Moderate growth \n  indented\n',
      'mmol/L',
      ' 4-6 ',
      'H',
      'abnormal',
      'final',
    ])
    const events = await team.events(order.id)
    await send1(false, 'Moderate growth')
    assert.deepEqual((await shown()).slice(-1), ['final'])
    assert.deepEqual(await team.events(order.id), events)
    await send1(false, 'No growth')
    assert.deepEqual((await shown()).slice(-1), ['corrected'])
  })

  test('of any bytes is stored as they are', async () => {
    const team = await createTestTeam()
    const account = await labLink(team)
    const samples = [
      Buffer.from([0]),
      Buffer.from([0xff, 0xfe, 0x0b, 0x1c, 0x0d]),
      randomBytes(100_000),
      Buffer.from('MSH|^~\\&|\xe4', 'latin1'),
    ]
    for (const bytes of samples) {
      const { message_id } = await receiveBytes(team, account, bytes)
      const { body } = await team.manage.get(`/lab_message/sandbox/us/${message_id}`, { accept: 'application/octet-stream' })
      assert(bytes.equals(body))
    }
  })
})

test('a link that is off or tested applies nothing, and what came is kept', async () => {
  for (const mode of ['off', 'test'] as const) {
    const { team, account, order, send } = await linkedOrder()
    await team.db.plainTx((tx) => setLinkMode(tx, account, mode))
    const { message_id } = await send(messageFor(order, glucose('5')))
    assert.equal(await hasResult(team, order.id), false)
    assert.equal((await team.manage.get(`/lab_message/sandbox/us/${message_id}`)).status, 200)
  }
})

test('a profile without decimal mark, time zone and kind of reports is refused: nothing is guessed', async () => {
  const team = await createTestTeam()
  const account = await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID()}` })
  for (const [group, option] of [
    ['text', 'decimal_mark'],
    ['text', 'time_zone'],
    ['results', 'reports'],
  ] as const) {
    const { [group]: options, ...rest } = profileWith({})
    const { [option]: _absent, ...others } = options as Record<string, unknown>
    await assert.rejects(
      team.db.plainTx((tx) => saveLink(tx, account, { ...rest, [group]: others })),
      (error: { body: { detail: string } }) => error.body.detail.includes(option),
    )
  }
})
