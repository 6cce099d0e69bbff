// Critical results: events, emails and what makes a result critical.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DiagnosticReport, ReportedResult } from '../links/diagnostic-report.ts'
import { updateOrder } from '../orders/change-order.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { tenantOf } from '../../../test/support/orders.ts'
import { guard, type TestTeam } from '../../../test/support/server.ts'
import { receiveReport } from './results.ts'
import { atLab, numeric, unorderedResult, report, deliver, getResult } from '../../../test/support/reports.ts'
import { BIRTH_YEAR } from '../../../test/support/people.ts'

const UPDATED = 'labtest.order.updated'
const CRITICAL = 'labtest.result.critical'

const Body = T.Object({ body: T.String() })
/** The critical result events of the team, oldest first. */
const criticalEvents = async ({ db, team }: TestTeam) =>
  (await db.queries.many(Body, sql`select body from event where team_id = ${team} and type = ${CRITICAL} order by id`)).map(
    ({ body }) => JSON.parse(body),
  )

test('emits a critical event immediately, also for a partial result', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report([numeric(expected[0]!, '99', { flag: 'HH' })], { status: 'partial' }))
  const [event, ...others] = await criticalEvents(team)
  assert.deepEqual(others, [])
  const { created_at } = event.data
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  const user = await team.api.get(`/v2/user/${order.user_id}`)
  assert.deepEqual(event, {
    event_type: CRITICAL,
    team_id: team.team,
    user_id: order.user_id,
    client_user_id: user.body.client_user_id,
    data: {
      order_id: order.id,
      sample_id: 'SPEC-1',
      status: 'partial',
      interpretation: 'critical',
      team_id: team.team,
      user_id: order.user_id,
      created_at,
      updated_at: created_at,
    },
  })
})

test('a critical result emits one event, and another result that turns critical emits another', async () => {
  const { team, order, expected } = await atLab()
  const reportWith = (criticalCount: number, overrides: Partial<DiagnosticReport> = {}) =>
    report(
      expected.map((item, i) => numeric(item, '5', { flag: i < criticalCount ? 'CRIT' : '' })),
      overrides,
    )
  const eventsAfter = async (diagnosticReport: DiagnosticReport): Promise<string[]> => {
    const before = await team.events(order.id)
    await deliver(team, order.id, diagnosticReport)
    return (await team.events(order.id)).slice(before.length)
  }
  assert.deepEqual(await eventsAfter(reportWith(0, { status: 'partial' })), [])
  assert.deepEqual(await eventsAfter(reportWith(1, { status: 'partial' })), [CRITICAL])
  assert.deepEqual(await eventsAfter(reportWith(1, { status: 'partial' })), [])
  assert.deepEqual(await eventsAfter(reportWith(1)), [UPDATED])
  assert.deepEqual(await eventsAfter(reportWith(2, { amended: true })), [CRITICAL, UPDATED])
  assert.deepEqual(await eventsAfter(reportWith(2, { amended: true })), [UPDATED])
  assert.deepEqual(await eventsAfter(reportWith(0, { amended: true, interpretation: 'critical' })), [UPDATED])
  assert.deepEqual(await eventsAfter(reportWith(0, { amended: true })), [UPDATED])
  assert.deepEqual(await eventsAfter(reportWith(0, { amended: true, interpretation: 'critical' })), [CRITICAL, UPDATED])
})

test('a critical event has the times of the first and of the latest report', async () => {
  const { team, order, expected } = await atLab()
  const later = new Date('2040-01-01T00:00:00Z')
  await deliver(team, order.id, report([numeric(expected[0]!)], { status: 'partial' }))
  await team.db.tx(
    team.tenant,
    (tx) =>
      updateOrder(tx, order.id, (lockedOrder) =>
        receiveReport(tx, lockedOrder, report([numeric(expected[0]!, '99', { flag: 'HH' })])),
      ),
    later,
  )
  const [{ data }] = await criticalEvents(team)
  assert.equal(data.updated_at, '2040-01-01T00:00:00+00:00')
  assert.ok(data.created_at < data.updated_at)
})

test("a critical result is also sent by email to the team's configured address, without patient data", async () => {
  const { team, order, expected } = await atLab()
  const to = `critical-${order.id}@clinic.example`
  await team.manage.patch(`/team/${team.team}`, { sandbox: { critical_result_notification_email: to } })
  guard.invalidate(team.team)
  await team.db.tx(await tenantOf(team), (tx) =>
    updateOrder(tx, order.id, (lockedOrder) =>
      receiveReport(tx, lockedOrder, report(expected.map((item, i) => numeric(item, '5', { flag: i === 0 ? 'HH' : '' })))),
    ),
  )
  const mails = await team.db.queries.many(
    T.Object({ subject: T.String(), body: T.String() }),
    sql`select subject, body from mail where recipient = ${to}`,
  )
  assert.equal(mails.length, 1)
  assert(mails[0]!.body.includes(order.id))
  assert.match(mails[0]!.body, /came in on [A-Z][a-z]{2} \d{1,2}, \d{4} \d\d:\d\d MST\./)
  assert.doesNotMatch(mails[0]!.subject + mails[0]!.body, new RegExp(String.raw`Testa|Fictional|${BIRTH_YEAR}`))
})

test('a signal of the multi-cancer test makes all results of that test critical, and no results of other tests', async () => {
  const { team, order, expected } = await atLab()
  const coded = (slug: string, provider_id: string, result: string, overrides: Partial<ReportedResult> = {}) =>
    unorderedResult(slug, { provider_id, result, type: 'coded_value', unit: null, reference_range: null, ...overrides })
  await deliver(
    team,
    order.id,
    report([
      coded('galleri-cancer-signal', '86038987', 'DETECTED'),
      coded('galleri-cancer-origin', '86038987_1', 'A_PLACE_NOBODY_KNOWS'),
      coded('galleri-comment-1', '86038987_3', 'See the report', { type: 'comment' }),
      ...expected.map((item) => numeric(item)),
    ]),
  )
  const { results, metadata } = (await getResult(team, order.id)).body
  assert.deepEqual(
    results
      .slice(0, 4)
      .map((r: { result: string; value: number; interpretation: string }) => [r.result, r.value, r.interpretation]),
    [
      ['DETECTED', -1, 'critical'],
      ['A_PLACE_NOBODY_KNOWS', -1, 'critical'],
      ['See the report', -1, 'critical'],
      ['5', 5, 'normal'],
    ],
  )
  assert.equal(metadata.interpretation, 'critical')
})
