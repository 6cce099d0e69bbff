// Messages of links: stored as bytes first, read by the profile of their link, and never lost.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { erase, rowsWith } from '../../../test/contract/operations/erased-users.ts'
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
import { cells, createTestTeam, expire, guard, type TestTeam } from '../../../test/support/server.ts'
import { sql } from '../../platform/db/sql.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { saveLink } from '../accounts/account-links.ts'
import type { LinkMessage } from '../links/link-message.ts'
import { findMessage, messageCleanup, unassignedMessageCleanup } from './message-store.ts'
import { assignToTeam, deleteUnassigned } from '../result-matching/operator-reviews.ts'
import { listIssues } from './issues.ts'
import { receiveMessage, replayMessage } from './receive-message.ts'
import { BIRTH_YEAR } from '../../../test/support/people.ts'

const Row = T.Object({
  id: T.String(),
  team_id: Nullable(T.String()),
  state: T.String(),
  attempts: T.Integer(),
  repetitions: T.Integer(),
  reuses_control_id: T.Boolean(),
  error: Nullable(T.String()),
  bytes: T.Unsafe<Buffer>({}),
})
const storedMessages = ({ db }: TestTeam, account: string) =>
  db.queries.many(
    Row,
    sql`
    select id, team_id, state, attempts, repetitions, reuses_control_id, error, bytes from lab_message
    where link_account_id = ${account} order by created_at, id`,
  )

describe('a message of a link', () => {
  test('is stored as it came and applied to its order', async () => {
    const { team, account, order, complete, status, result } = await linkedOrder()
    const bytes = Buffer.concat([Buffer.from('  '), toBytes(complete('1,234'))])
    const receipt = await receiveBytes(team, account, bytes)
    assert.deepEqual([receipt.state, receipt.order_id, receipt.error, receipt.isRepetition], ['applied', order.id, null, false])
    assert.equal(await status(), 'completed')
    const { results } = await result()
    assert(results.every((item: { result: string; type: string }) => item.result === '1234' && item.type === 'numeric'))
    const [stored] = await storedMessages(team, account)
    assert.deepEqual([stored!.team_id, stored!.state, stored!.attempts], [team.team, 'applied', 1])
    assert(stored!.bytes.equals(bytes))
  })

  test('has decimals and local times by the profile of its link', async () => {
    const { order, send, result } = await linkedOrder({ text: { decimal_mark: ',', time_zone: 'Europe/Berlin' } })
    const value = observation('GLU', '1,234', { reference_range: '0,9 - 1.200', unit: 'mmol/L' })
    await send(
      messageFor(order, [
        observedTest({ code: 'GLU', collected_at: '20300701', received_at: '203007010815', observations: [value] }),
      ]),
    )
    const { results, metadata } = await result()
    assert.deepEqual(
      [results[0].result, results[0].value, results[0].reference_range, results[0].interpretation],
      ['1.234', 1.234, '0.9 - 1200', 'normal'],
    )
    assert.equal(results[0].timestamp, '2030-01-04T09:00:00+00:00')
    assert.deepEqual([metadata.date_collected, metadata.date_received], ['2030-07-01', '2030-07-01T06:15:00+00:00'])
  })

  test('that says less than everything adds to earlier ones, and one with the last test completes the order', async () => {
    const { send, status, complete, result } = await linkedOrder()
    const { tests, ...rest } = complete()
    assert(tests.length > 1, 'the order has several tests')
    for (const [i, part] of tests.entries()) {
      await send({ ...rest, control_id: `${i}`, tests: [part] })
      assert.equal(await status(), i + 1 < tests.length ? 'partial_results' : 'completed')
    }
    assert.equal((await result()).results.length, tests.flatMap(({ observations }) => observations).length)
  })

  test('of a cumulative link replaces earlier ones', async () => {
    const { order, send, result } = await linkedOrder({ results: { reports: 'cumulative' } })
    const one = (code: string) => observedTest({ code, observations: [observation(code, '5')] })
    await send(messageFor(order, [one('A'), one('B')]))
    await send(messageFor(order, [one('B'), one('C')]))
    assert.deepEqual(
      (await result()).results.map(({ provider_id }: { provider_id: string }) => provider_id),
      ['B', 'C'],
    )
  })

  test('of a cumulative link that newer ones have overtaken opens a review and changes nothing', async () => {
    const { team, order, send, status, result } = await linkedOrder({ results: { reports: 'cumulative' } })
    const report = (sent_at: string, value: string) => ({
      ...messageFor(order, [observedTest({ code: 'A', status: 'P', observations: [observation('A', value, { status: 'F' })] })]),
      sent_at,
      control_id: sent_at,
    })
    const shown = async () => (await result()).results.map((item: { result: string }) => item.result)
    await send(report('20300102100000+0000', '5.9'))
    await send(report('20300102090000+0000', '5.1'))
    assert.deepEqual([await shown(), await status()], [['5.9'], 'partial_results'])
    const { data } = (await team.api.get('/v3/unmatched_result')).body
    assert.deepEqual(
      data.map(({ decision_code }: { decision_code: string }) => decision_code),
      ['match_completed'],
    )
    await send(report('20300102100000+0000', '6.0'))
    await send(report('20300102110000+0000', '6.1'))
    assert.deepEqual(await shown(), ['6.1'])
  })

  test('has results of every status of HL7', async () => {
    const { order, send, status, result } = await linkedOrder()
    const codes = ['F', 'V', 'C', 'A', 'P', 'R', 'X', 'I', 'S', 'N', 'O', 'W', 'D']
    const observations = codes.map((code) => observation(code, code === 'X' ? 'QNS' : '5', { status: code }))
    await send(messageFor(order, [observedTest({ code: 'ALL', observations })]))
    const { results, missing_results, metadata } = await result()
    assert.deepEqual(
      results.map(({ provider_id, state }: { provider_id: string; state: string }) => [provider_id, state]),
      [
        ['F', 'final'],
        ['V', 'final'],
        ['C', 'corrected'],
        ['A', 'corrected'],
        ['P', 'preliminary'],
        ['R', 'preliminary'],
      ],
    )
    assert.deepEqual(
      missing_results.map(({ provider_id, inferred_failure_type, note }: Record<string, string>) => [
        provider_id,
        inferred_failure_type,
        note,
      ]),
      [['X', 'quantity_not_sufficient_failure', 'QNS']],
    )
    assert.deepEqual([metadata.status, await status()], ['partial', 'partial_results'])
  })

  test('can make a preliminary result final without its value, unless its reports are cumulative', async () => {
    const { send, complete, status, result } = await linkedOrder()
    const message = complete()
    const withStatus = (status: string, value?: string) => ({
      ...message,
      control_id: randomUUID(),
      tests: message.tests.map((item) => ({
        ...item,
        observations: item.observations.map(({ code, name, loinc }) => ({
          code,
          name,
          ...(loinc && { loinc }),
          status,
          ...(value !== undefined && { value }),
        })),
      })),
    })
    await send(withStatus('P', '7'))
    assert.equal(await status(), 'partial_results')
    await send(withStatus('U'))
    assert.equal(await status(), 'completed')
    const states = (await result()).results.map((item: { result: string; state: string }) => `${item.result} ${item.state}`)
    assert.deepEqual([...new Set(states)], ['7 final'])
    const cumulative = await linkedOrder({ results: { reports: 'cumulative' } })
    const confirming = observedTest({ code: 'A', observations: [{ code: 'A', name: 'A', status: 'U' }] })
    const receipt = await cumulative.send(messageFor(cumulative.order, [confirming]))
    assert.deepEqual(
      [receipt.state, receipt.error],
      ['failed', 'tests: a cumulative report must repeat the values of its results'],
    )
  })

  test('with a test without a result completes the order if the test is cancelled, not if it is pending', async () => {
    const { send, status, complete, result, expected } = await linkedOrder()
    const message = complete()
    const [first, ...rest] = message.tests
    await send({ ...message, tests: [{ ...first!, status: 'I', observations: [] }, ...rest] })
    assert.equal(await status(), 'partial_results')
    await send({ ...message, control_id: '2', tests: [{ ...first!, status: 'X', observations: [] }] })
    assert.equal(await status(), 'completed')
    const cancelled = expected.filter((item) => item.required && item.source_markers[0]!.provider_id === first!.code)
    assert.deepEqual(
      (await result()).missing_results.map(({ slug }: { slug: string }) => slug).sort(),
      cancelled.map(({ slug }) => slug).sort(),
    )
  })

  test('with the order status CM completes the order only by the profile', async () => {
    for (const [completes_on_order_status, expectedStatus] of [
      [false, 'partial_results'],
      [true, 'completed'],
    ] as const) {
      const { order, send, status } = await linkedOrder({ results: { completes_on_order_status } })
      const tests = [observedTest({ code: 'X1', observations: [observation('X1', '5')] })]
      await send(messageFor(order, tests, { order_status: 'CM' }))
      assert.equal(await status(), expectedStatus)
    }
  })

  test('for a completed order corrects it, or opens a review by the profile', async () => {
    for (const [later_reports, state, expectedStatus] of [
      ['apply', 'applied', 'corrected'],
      ['review', 'review', 'completed'],
    ] as const) {
      const { send, complete, status } = await linkedOrder({ results: { later_reports } })
      await send(complete())
      const receipt = await send(complete('9'))
      assert.deepEqual([receipt.state, await status()], [state, expectedStatus])
    }
  })

  test('completes an order with a preliminary result of a test that was not ordered', async () => {
    const { order, send, complete, status, result } = await linkedOrder()
    const message = complete()
    const [first, ...rest] = message.tests
    const extra = observedTest({ code: 'X1', status: 'P', observations: [observation('X1', '5', { status: 'P' })] })
    await send({ ...message, tests: [{ ...first!, status: 'A' }, ...rest, extra] })
    assert.equal(await status(), 'partial_results')
    await send(messageFor(order, [{ ...first!, observations: [] }]))
    assert.deepEqual([await status(), (await result()).metadata.status], ['completed', 'partial'])
  })

  test('that a reviewer accepts creates an order of the tests that it names', async () => {
    const { team, account, order, complete } = await linkedOrder()
    const message = { ...complete(), numbers: { filler: [`F-${randomUUID()}`] } }
    const receipt = await receiveBytes(team, account, toBytes(message))
    assert.equal(receipt.state, 'review')
    const accepted = await team.api.post(`/v3/unmatched_result/${receipt.raw_result_id}/accept`, { order_id: order.id })
    assert.equal(accepted.status, 200)
    assert.equal(accepted.body.last_event.status, 'completed.walk_in_test.completed')
    const next = { ...message, control_id: '2', tests: message.tests.map((item) => ({ ...item, reported_at: '20300105' })) }
    assert.equal((await receiveBytes(team, account, toBytes(next))).order_id, order.id, 'its number names the order now')
    const stranger = { ...message, control_id: '3', numbers: {}, patient: { ...message.patient, last_name: 'Imaginary' } }
    const unknown = await receiveBytes(team, account, toBytes(stranger))
    const created = await team.api.post(`/v3/unmatched_result/${unknown.raw_result_id}/accept`, { user_id: await team.user() })
    assert.equal(created.status, 200)
    assert.equal(created.body.last_event.status, 'completed.walk_in_test.completed')
  })

  test('keeps susceptibilities with their organism, and each result with its laboratory', async () => {
    const { order, send, result } = await linkedOrder()
    const performing_laboratory = { code: '7', name: 'Fictional North', clia: '99D0000002' }
    const organism = (sub_id: string) => observation('ORG', `Fictional species ${sub_id}`, { sub_id, performing_laboratory })
    const panel = (sub_id: string, value: string) =>
      observedTest({
        code: 'SUSC',
        filler: `S${sub_id}`,
        parent: { code: 'ORG', sub_id },
        observations: [observation('CILLIN', value)],
      })
    await send(
      messageFor(order, [
        observedTest({ code: 'CULT', observations: [organism('1'), organism('2')] }),
        panel('1', '<=2'),
        panel('2', '>=32'),
      ]),
    )
    const { results, sample_information } = await result()
    assert.deepEqual(
      results.map((item: Record<string, unknown>) => [
        item.provider_id,
        item.result,
        item.sub_id,
        item.parent,
        item.performing_laboratory,
      ]),
      [
        ['ORG', 'Fictional species 1', '1', undefined, 'site-7'],
        ['ORG', 'Fictional species 2', '2', undefined, 'site-7'],
        ['CILLIN', '<=2', undefined, { code: 'ORG', sub_id: '1' }, 'quest'],
        ['CILLIN', '>=32', undefined, { code: 'ORG', sub_id: '2' }, 'quest'],
      ],
    )
    assert.equal(
      Object.values<{ performing_laboratories: Record<string, { clia_number: string }> }>(sample_information)[0]!
        .performing_laboratories['site-7']!.clia_number,
      '99D0000002',
    )
  })
})

describe('messages that arrive together', () => {
  test('about one order lose nothing of each other', async () => {
    const { team, account, order, send, complete, result, status } = await linkedOrder()
    const { tests, ...rest } = complete()
    const extras = ['X1', 'X2', 'X3'].map((code) => observedTest({ code, observations: [observation(code, '5')] }))
    const parts = [...tests, ...extras].map((part, i) => ({ ...rest, control_id: `${i}`, tests: [part] }))
    const receipts = await Promise.all([...parts, ...parts].map(send))
    assert(receipts.every(({ state }) => state === 'applied'))
    assert.equal((await result()).results.length, [...tests, ...extras].flatMap(({ observations }) => observations).length)
    assert.match((await status())!, /^(completed|corrected)$/)
    assert.equal((await storedMessages(team, account)).length, parts.length)
    const { events } = await getOrder(team, order.id)
    assert.equal(events.filter((event) => event.status.endsWith('.completed')).length, 1)
  })
})

describe('a repeated message', () => {
  test('is stored and applied once', async () => {
    const { team, account, complete } = await linkedOrder()
    const bytes = toBytes(complete())
    const receipts = await Promise.all([1, 2, 3].map(() => receiveBytes(team, account, bytes)))
    assert.deepEqual(receipts.map(({ isRepetition }) => isRepetition).sort(), [false, true, true])
    const last = await receiveBytes(team, account, bytes)
    assert.deepEqual([last.state, last.isRepetition], ['applied', true])
    const [stored, ...more] = await storedMessages(team, account)
    assert.deepEqual([stored!.repetitions, more.length], [3, 0])
  })

  test('with other content and the same control id is applied too, and is listed for a person to look at', async () => {
    const { team, account, order, send, complete, result } = await linkedOrder()
    await send(complete('5', { control_id: '17' }))
    const receipt = await send(complete('6', { control_id: '17' }))
    assert.deepEqual([receipt.state, receipt.order_id, receipt.isRepetition], ['applied', order.id, false])
    assert.equal((await result()).results[0].result, '6')
    const { data } = await listIssues(team.db.queries, { account_id: account })
    assert.deepEqual(
      data.map(({ message_id, reason, count, state }) => [message_id, reason, count, state]),
      [[receipt.message_id, 'control_id_conflict', 1, 'open']],
    )
  })

  test('of a sender that uses the control ids of another sender is no conflict', async () => {
    const { team, account, send, complete } = await linkedOrder()
    await send(complete('5', { control_id: '17' }))
    await send(complete('5', { control_id: '17', sender: 'OTHER-LIS' }))
    assert((await storedMessages(team, account)).every(({ reuses_control_id }) => !reuses_control_id))
  })
})

describe('a message that cannot be processed', () => {
  const faults: [string, (message: LinkMessage) => unknown, RegExp][] = [
    ['that is no message', () => 'MSH|^~\\&|', /^The message does not begin with a header$/],
    ['with a long identifier', (message) => ({ ...message, control_id: 'x'.repeat(201) }), /control_id/],
    [
      'with an unsupported test status',
      ({ tests, ...rest }) => ({ ...rest, tests: [{ ...tests[0], status: 'Y' }] }),
      /tests\.0\.status/,
    ],
    [
      'with an unsupported result status',
      ({ tests, ...rest }) => ({ ...rest, tests: [{ ...tests[0], observations: [observation('A', '5', { status: 'Q' })] }] }),
      /tests\.0\.observations\.0\.status/,
    ],
    [
      'with a result without any status',
      ({ tests, ...rest }) => ({
        ...rest,
        tests: [{ ...tests[0], status: undefined, observations: [{ code: 'A', name: 'A', value: '5' }] }],
      }),
      /tests\.0\.observations\.0\.status/,
    ],
    ['with an impossible time', (message) => ({ ...message, sent_at: '20301399' }), /sent_at/],
    ['without a test', (message) => ({ ...message, tests: [] }), /tests/],
    [
      'with a name of more than 200 characters',
      (message) => ({ ...message, patient: { last_name: 'x'.repeat(201) } }),
      /Names must have/,
    ],
  ]
  for (const [what, change, error] of faults)
    test(`${what} is kept with its error, without patient data in the error`, async () => {
      const { team, account, order, complete } = await linkedOrder()
      const bytes = toBytes(change(complete()))
      const receipt = await receiveBytes(team, account, bytes)
      assert.equal(receipt.state, 'failed')
      assert.match(receipt.error!, error)
      assert.doesNotMatch(receipt.error!, new RegExp(String.raw`Testa|Fictional|${BIRTH_YEAR}`))
      const [stored] = await storedMessages(team, account)
      assert.deepEqual([stored!.state, stored!.error, stored!.attempts], ['failed', receipt.error, 1])
      assert(stored!.bytes.equals(bytes))
      assert.equal((await getOrder(team, order.id)).interpretation, null)
    })

  test('is processed again after its profile was corrected', async () => {
    const { team, account, order, complete } = await linkedOrder()
    await team.db.queries.run(
      sql`update lab_link set options = replace(options, 'incremental', 'cumulative') where account_id = ${account}`,
    )
    const failed = await receiveBytes(team, account, toBytes({ ...complete(), sent_at: 'now' }))
    const context = { cell: 'sandbox-us', db: team.db, findTenant: guard.tenant } as const
    assert.equal((await replayMessage(context, failed.message_id))!.state, 'failed')
    const good = await receiveBytes(team, account, toBytes(complete()))
    assert.deepEqual([good.state, good.order_id], ['applied', order.id])
    await team.db.plainTx((tx) => saveLink(tx, account, profileWith({ text: { decimal_mark: ',', time_zone: 'UTC' } })))
    assert.equal((await replayMessage(context, good.message_id))!.state, 'applied')
  })

  test('because the database fails is stored, and its repetition is processed', async () => {
    const { team, account, order, complete } = await linkedOrder()
    const bytes = toBytes(complete())
    const findTenant = () => Promise.reject(new Error('the control plane is down'))
    const first = await receiveMessage({ cell: 'sandbox-us', db: team.db, findTenant }, account, bytes)
    assert.deepEqual([first.state, first.error], ['received', 'Error'])
    const receipt = await receiveBytes(team, account, bytes)
    assert.deepEqual([receipt.state, receipt.order_id, receipt.isRepetition], ['applied', order.id, true])
  })

  test('because of an unexpected error fails after five attempts, and can be replayed', async () => {
    const { team, account, order, complete } = await linkedOrder()
    const bytes = toBytes(complete())
    const context = { cell: 'sandbox-us' as const, db: team.db, findTenant: () => Promise.reject(new Error('unexpected')) }
    for (const state of ['received', 'received', 'received', 'received', 'failed', 'failed'])
      assert.equal((await receiveMessage(context, account, bytes)).state, state)
    const [stored] = await storedMessages(team, account)
    assert.deepEqual([stored!.state, stored!.attempts, stored!.error], ['failed', 5, 'Error'])
    const replayed = await replayMessage({ ...context, findTenant: guard.tenant }, stored!.id)
    assert.deepEqual([replayed!.state, replayed!.order_id], ['applied', order.id])
  })

  test('to its end, because the process ends before its outcome is stored, is applied once', async () => {
    const { team, account, order, complete } = await linkedOrder()
    const bytes = toBytes(complete())
    const first = await receiveBytes(team, account, bytes)
    const { events } = await getOrder(team, order.id)
    // What a process leaves that ends after the result was committed.
    await team.db.queries.run(
      sql`update lab_message set state = 'received', raw_result_id = null, order_id = null, team_id = null where id = ${first.message_id}`,
    )
    const repeated = await receiveBytes(team, account, bytes)
    assert.deepEqual([repeated.state, repeated.raw_result_id], ['applied', first.raw_result_id])
    assert.deepEqual((await getOrder(team, order.id)).events, events)
  })

  test('because its account has no link, or because it is empty, is refused', async () => {
    const team = await createTestTeam()
    const account = await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID()}` })
    await assert.rejects(receiveBytes(team, account, toBytes({})), { status: 400 })
    await assert.rejects(receiveBytes(team, await labLink(team), Buffer.alloc(0)), { status: 400 })
  })
})

describe('stored messages', () => {
  test('are erased with the user of their result', async () => {
    const { team, account, order, send, complete } = await linkedOrder()
    const { message_id } = await send(complete())
    await erase(team, [order.user_id])
    assert.deepEqual(await storedMessages(team, account), [])
    assert.deepEqual(await rowsWith(team, [message_id]), [])
  })

  test('are of the team to which an operator assigns their result', async () => {
    const { team, account, send, complete } = await linkedOrder()
    const stranger = await send({ ...complete(), account_number: 'FICTIONAL-OTHER' })
    assert.deepEqual([stranger.state, (await storedMessages(team, account))[0]!.team_id], ['review', null])
    await team.db.txOnWholeCell(team.tenant, (tx) => assignToTeam(tx, stranger.raw_result_id!))
    assert.equal((await storedMessages(team, account))[0]!.team_id, team.team)
  })

  test('are deleted with a result that an operator deletes', async () => {
    const { team, account, send, complete } = await linkedOrder()
    const { raw_result_id } = await send({ ...complete(), account_number: 'FICTIONAL-OTHER' })
    assert.equal(await team.db.plainTx((tx) => deleteUnassigned(tx, raw_result_id!)), true)
    assert.deepEqual(await storedMessages(team, account), [])
  })

  test('are deleted after 400 days, and without a team after 90 days', async () => {
    const { team, account, send, complete } = await linkedOrder()
    await send(complete())
    await send('unreadable')
    const age = (days: number) =>
      team.db.queries.run(
        sql`update lab_message set created_at = created_at - make_interval(days => ${days}) where link_account_id = ${account}`,
      )
    const states = async () => (await storedMessages(team, account)).map(({ state }) => state).sort()
    const clean = async () => {
      await expire(team.db, messageCleanup)
      await expire(team.db, unassignedMessageCleanup)
    }
    await age(89)
    await clean()
    assert.deepEqual(await states(), ['applied', 'failed'])
    await age(2)
    await clean()
    assert.deepEqual(await states(), ['applied'])
    await age(310)
    await clean()
    assert.deepEqual(await states(), [])
  })

  test('are visible to no other team', async () => {
    const { team, account, send, complete } = await linkedOrder()
    await send(complete())
    await send('unreadable')
    const [other, own] = [await createTestTeam(), team]
    const visible = async ({ db, tenant }: TestTeam) =>
      (
        await db.read(tenant, (tx) =>
          tx.many(T.Object({ id: T.String() }), sql`select id from lab_message where link_account_id = ${account}`),
        )
      ).length
    assert.deepEqual([await visible(other), await visible(own)], [0, 1])
    assert((await findMessage(cells.db('sandbox-us').queries, (await storedMessages(team, account))[0]!.id))!.users.length === 1)
  })
})
