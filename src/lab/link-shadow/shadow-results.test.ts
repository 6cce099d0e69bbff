// Links that are not live: their results reach no order, and are compared with those that staff enter.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { a1c, createAcceptedOrder, staffActionOk } from '../../../test/support/fulfillment.ts'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import {
  labLink,
  messageFor,
  observation,
  observedTest,
  profile,
  receiveBytes,
  toBytes,
} from '../../../test/support/link-messages.ts'
import { getOrder } from '../../../test/support/orders.ts'
import { acceptedOrder, reportedPatient } from '../../../test/support/results.ts'
import { command } from '../../../test/support/commands.ts'
import { access, cells, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { createAnotherTeam } from '../../../test/support/teams.ts'
import { saveLink, setLinkMode } from '../accounts/account-links.ts'
import { updateAccount } from '../accounts/accounts.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { ordersErased } from '../orders/order-hooks.ts'
import type { LinkMode } from '../links/link-modes.ts'
import { listIssues } from '../link-messages/issues.ts'
import { replayMessage } from '../link-messages/receive-message.ts'

const setMode = ({ db }: TestTeam, account: string, mode: LinkMode, team_id?: string) =>
  db.plainTx((tx) => setLinkMode(tx, account, mode, team_id))

const Counts = T.Object({ raw_results: T.Integer(), results: T.Integer() })
const countsOf = ({ db, team }: TestTeam) =>
  db.queries.one(
    Counts,
    sql`
    select (select count(*) from raw_result where team_id = ${team}) as raw_results,
           (select count(*) from lab_result where team_id = ${team}) as results`,
  )

/** A link with an order of the team that awaits its result, and a message with it. */
async function linkedOrder(mode: LinkMode) {
  const team = await createTestTeam()
  const account = await labLink(team)
  await setMode(team, account, mode)
  const order = await acceptedOrder(team, 'walk_in_test', { lab_account_id: account })
  const bytes = toBytes(messageFor(order, [observedTest({ code: 'X1', observations: [observation('X1', '5')] })]))
  const events = await team.events(order.id)
  return { team, account, order, bytes, events, receive: () => receiveBytes(team, account, bytes) }
}

describe('a message over a link that is not live', () => {
  for (const [mode, state, error] of [
    ['off', 'failed', 'The link is off'],
    ['test', 'test', null],
    ['shadow', 'shadow', null],
  ] as const)
    test(`in mode ${mode} changes no order and opens no review`, async () => {
      const { team, order, receive, events } = await linkedOrder(mode)
      const receipt = await receive()
      assert.deepEqual([receipt.state, receipt.error, receipt.raw_result_id], [state, error, null])
      assert.equal(receipt.order_id, mode === 'shadow' ? order.id : null)
      assert.deepEqual(await countsOf(team), { raw_results: 0, results: 0 })
      assert.deepEqual((await getOrder(team, order.id)).last_event, order.last_event)
      assert.deepEqual(await team.events(order.id), events)
      assert.deepEqual((await receive()).state, state)
    })

  test('that was in mode shadow is applied by a replay after the link is live', async () => {
    const { team, account, order, receive } = await linkedOrder('shadow')
    const { message_id } = await receive()
    await setMode(team, account, 'live')
    const context = { cell: 'sandbox-us' as const, db: team.db, findTenant: guard.tenant }
    assert.equal((await replayMessage(context, message_id))!.state, 'applied')
    assert.equal((await getOrder(team, order.id)).last_event.status.split('.').at(-1), 'partial_results')
  })
})

test('a link that is live for one team applies the results of this team alone', async () => {
  const { team, account, order } = await linkedOrder('off')
  const other = await createAnotherTeam(team)
  await team.db.plainTx((tx) => updateAccount(tx, account, { team_ids: [team.team, other] }))
  await setMode(team, account, 'live_for_team', other)
  const message = messageFor(order, [observedTest({ code: 'X1', observations: [observation('X1', '6')] })])
  assert.equal((await receiveBytes(team, account, toBytes(message))).state, 'shadow')
  assert.equal((await countsOf(team)).results, 0)
  await setMode(team, account, 'live_for_team', team.team)
  const later = messageFor(order, [observedTest({ code: 'X1', observations: [observation('X1', '7')] })])
  assert.equal((await receiveBytes(team, account, toBytes(later))).state, 'applied')
})

describe('the comparison with what staff entered', () => {
  /** An order at the laboratory of manual fulfillment, whose account has a link in mode shadow. */
  async function staffOrder() {
    const team = await createTestTeam()
    const account = await labAccount(team, { lab: 'manual' })
    await team.db.plainTx((tx) => saveLink(tx, account, profile))
    await setMode(team, account, 'shadow')
    const order = await createAcceptedOrder(team, 'walk_in_test', { lab_account_id: account })
    await staffActionOk(team, order, 'accept')
    const current = await getOrder(team, order.id)
    const receive = async (value: string, changes = {}) => {
      const result = observation('MAN-A1C', value, { unit: '%', reference_range: '4.0-5.6', loinc: '4548-4', ...changes })
      const tests = [observedTest({ code: 'MAN-A1C', observations: [result] })]
      return receiveBytes(team, account, toBytes(messageFor(current, tests)))
    }
    const compare = async () => {
      const { status, body } = await team.manage.get(`/team/${team.team}/sandbox/lab_link/${account}/shadow`)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    const enter = (changes = {}) => staffActionOk(team, order, 'result', { status: 'final', results: [{ ...a1c, ...changes }] })
    return { team, account, order: current, receive, compare, enter }
  }

  test('says for each result what the laboratory and staff have, before and after they entered it', async () => {
    const { team, account, order, receive, compare, enter } = await staffOrder()
    const { message_id, order_id } = await receive('5.40')
    assert.equal(order_id, order.id)
    const place = { order_id: order.id, user_id: order.user_id, message_ids: [message_id] }
    assert.deepEqual((await compare()).orders, [
      { ...place, outcome: 'not_entered', compared_results: 0, differences: [], same_results: [] },
    ])
    await enter()
    assert.deepEqual((await compare()).orders, [
      {
        ...place,
        outcome: 'same',
        compared_results: 1,
        differences: [],
        same_results: [{ name: 'Hemoglobin A1c', laboratory: '5.40', staff: '5.4', unit: '%' }],
      },
    ])
    const corrected = await receive('5.9', { status: 'C', flag: 'H' })
    const { orders, totals } = await compare()
    assert.deepEqual(orders[0].message_ids, [message_id, corrected.message_id])
    assert.deepEqual(orders[0].same_results, [])
    assert.deepEqual(orders[0].differences, [
      {
        name: 'Hemoglobin A1c',
        kind: 'different',
        fields: [
          { field: 'result', laboratory: '5.9', staff: '5.4' },
          { field: 'flag', laboratory: 'H', staff: null },
        ],
      },
    ])
    await access.flush()
    const printed = await command(cells, ['links', 'shadow', account, '--team', team.team, '--cell', 'sandbox-us'])
    assert.match(
      printed,
      /orders +0 same, 1 different.*\n.*\n.*\norder \S+ {2}different\n {2}different {2}\S.* {2}result {2}laboratory 5.9 {2}staff 5.4\n/,
    )
    const log = await command(cells, ['access-log', 'export', '--cell', 'sandbox-us', '--user', order.user_id])
    assert(log.includes('"operation":"links shadow"') && log.includes('"operation":"get_lab_link_shadow"'))
    assert.deepEqual(totals, { same: 0, different: 1, not_entered: 0, compared_results: 1, different_results: 1 })
  })

  test('has no result any more whose message went with its order', async () => {
    const { team, order, receive, compare } = await staffOrder()
    await receive('5.40')
    await team.db.tx(team.tenant, (tx) => tx.notify(ordersErased, [order.id]))
    assert.deepEqual((await compare()).orders, [])
  })

  test('lists messages for which no order is certain, with the reason and without their contents', async () => {
    const { team, account, order, compare } = await staffOrder()
    const stranger = { ...reportedPatient, first_name: 'Other', last_name: 'Invented', dob: '1970-02-02', gender: 'male' }
    const tests = [observedTest({ code: 'MAN-A1C', observations: [observation('MAN-A1C', '5')] })]
    const message = messageFor(order, tests, { patient: stranger as never })
    const { state, message_id, error } = await receiveBytes(team, account, toBytes(message))
    assert.deepEqual([state, error], ['shadow', 'match_sample_id_mismatch_demo'])
    const { orders, unmatched } = await compare()
    assert.deepEqual(orders, [])
    assert.deepEqual(
      unmatched.map((row: Record<string, string>) => [row.message_id, row.mismatch]),
      [[message_id, 'match_sample_id_mismatch_demo']],
    )
    assert(!JSON.stringify(unmatched).includes('Invented'))
  })

  test('lists a result whose team is not certain as an issue, until it is replayed with its team', async () => {
    const { team, account, order, receive } = await staffOrder()
    const other = await createAnotherTeam(team)
    await team.db.plainTx((tx) => updateAccount(tx, account, { team_ids: [team.team, other] }))
    await team.db.queries.run(sql`update lab_order set sample_id = 'MOVED' where id = ${order.id}`)
    const { message_id, state, error } = await receive('5.4')
    assert.deepEqual([state, error], ['shadow', 'no_team'])
    const issues = async () => {
      const { data } = await team.db.plainTx((tx) => listIssues(tx, { account_id: account, state: 'open' }))
      return data.map(({ reason, message_id: id }) => [reason, id])
    }
    assert.deepEqual(await issues(), [['unknown_team', message_id]])
    await team.db.queries.run(sql`update lab_order set sample_id = ${order.sample_id} where id = ${order.id}`)
    const context = { cell: 'sandbox-us' as const, db: team.db, findTenant: guard.tenant }
    assert.equal((await replayMessage(context, message_id))!.order_id, order.id)
    assert.deepEqual(await issues(), [])
  })

  test('is 404 for an account without a link, and for one under which the team may not order', async () => {
    const team = await createTestTeam()
    const account = await labAccount(team, { lab: 'quest' })
    const path = (id: string) => `/team/${id}/sandbox/lab_link/${account}/shadow`
    assert.equal((await team.manage.get(path(team.team))).status, 404)
    await team.db.plainTx((tx) => saveLink(tx, account, profile))
    assert.equal((await team.manage.get(path(team.team))).status, 200)
    assert.equal((await team.manage.get(path(await createAnotherTeam(team)))).status, 404)
  })
})
