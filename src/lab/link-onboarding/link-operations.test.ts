// Checks and trials of a link over the Management API.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { startLaboratory } from '../../../test/support/acknowledging-laboratory.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { orderLink } from '../../../test/support/link-orders.ts'
import { createOrder } from '../../../test/support/orders.ts'
import { clientAt, linkWith, runLinks } from '../../../test/support/onboarded-links.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { createLog } from '../../platform/telemetry/log.ts'
import { findLink } from '../accounts/account-links.ts'
import { LinkTrials } from './link-trials.ts'
import { sendTrial, startTrial as startOf } from './run-trial.ts'

/** Undefined, or what holds back the answers of the laboratory. */
let held: PromiseWithResolvers<void> | undefined
let heldCount = 0
const hold = () => {
  held = Promise.withResolvers()
  heldCount = 0
}
const release = () => {
  held?.resolve()
  held = undefined
}
const port = await startLaboratory(async (): Promise<'AA'> => {
  if (held) heldCount++
  await held?.promise
  return 'AA'
})

const trialPath = (account: string) => `/lab_link/sandbox/us/${account}/trial`
const check = ({ manage }: TestTeam, account: string) => manage.post(`/lab_link/sandbox/us/${account}/check`, {})

test('a link is checked from the server, one check at a time', async () => {
  const { team, account } = await linkWith({ orders: 'mllp', client: clientAt(port, { answer_timeout_s: 20 }) })
  hold()
  const first = check(team, account)
  await eventually(() => heldCount > 0, 'the echo has come')
  const second = await check(team, account)
  assert.deepEqual([second.status, second.body], [409, { detail: 'A check or a trial of the link is running' }])
  release()
  const { status, body } = await first
  assert.equal(status, 200, JSON.stringify(body))
  const steps = body.steps as { name: string; outcome: string }[]
  assert.deepEqual(
    steps.map(({ name, outcome }) => `${name} ${outcome}`),
    ['profile ok', 'account ok', 'name ok', 'port ok', 'echo ok', 'acknowledgment open'],
  )
  assert.equal(body.is_working, true)
  assert.equal((await check(team, account)).status, 200)
  const other = await createTestTeam()
  assert.equal((await check(other, account)).status, 404)
  assert.equal((await check(team, randomUUID())).status, 404)
})

test('the report of a trial is there as JSON and as a page for the laboratory', async () => {
  const { team, account } = await linkWith({ orders: 'mllp', client: clientAt(port) })
  const path = trialPath(account)
  assert.deepEqual((await team.manage.get(path)).body.outcomes, [])
  await runLinks('trial', account)
  const { body } = await team.manage.get(path)
  assert.deepEqual([body.laboratory, body.outcomes.length, body.outcomes[0].verdict], ['quest', 10, 'as_expected'])
  const page = await team.manage.get(path, { accept: 'text/html' })
  assert.match(page.headers.get('content-type')!, /^text\/html/)
  assert.match(page.headers.get('content-disposition') ?? '', /^attachment/)
})

interface Report {
  is_running: boolean
  outcomes: { name: string; sent_at: string | null; verdict: string; text: string | null }[]
}
const readReport = async ({ manage }: TestTeam, account: string) => (await manage.get(trialPath(account))).body as Report
const startTrial = ({ manage }: TestTeam, account: string, body = {}) => manage.post(trialPath(account), body)
const whenOver = (team: TestTeam, account: string) =>
  eventually(async () => {
    const report = await readReport(team, account)
    return report.is_running ? undefined : report
  }, 'the trial is over')

test('a trial is started from the server, one at a time, and its report shows how far it is', async () => {
  const { team, account } = await linkWith({ orders: 'mllp', client: clientAt(port, { answer_timeout_s: 20 }) })
  hold()
  const started = await startTrial(team, account)
  assert.equal(started.status, 200, JSON.stringify(started.body))
  const { is_running, outcomes } = started.body as Report
  assert.deepEqual([is_running, outcomes.length, outcomes.every(({ verdict }) => verdict === 'open')], [true, 10, true])
  await eventually(() => heldCount > 0, 'the first order has come')
  const { outcomes: sent } = await readReport(team, account)
  assert.deepEqual(
    sent.map(({ sent_at }) => sent_at !== null),
    [true, ...Array.from({ length: 9 }, () => false)],
  )
  for (const refused of [await startTrial(team, account), await check(team, account)])
    assert.deepEqual([refused.status, refused.body], [409, { detail: 'A check or a trial of the link is running' }])
  await assert.rejects(runLinks('trial', account), /A check or a trial of the link is running/)
  release()
  const report = await whenOver(team, account)
  assert(report.outcomes.every(({ sent_at }) => sent_at !== null))
  assert.equal(report.outcomes.filter(({ verdict }) => verdict === 'as_expected').length, 9)
  const { data } = (await team.manage.get('/audit/sandbox/us?operation=start_lab_link_trial')).body
  assert.deepEqual(
    data.map(({ operation }: { operation: string }) => operation),
    ['start_lab_link_trial'],
  )
})

test('a trial is refused unless its link is in mode test, has a transport for orders, and its laboratory the tests', async () => {
  const { team, account } = await linkWith({ orders: 'mllp', client: clientAt(port) })
  const refusal = async (body = {}, id = account) => {
    const { status, body: answer } = await startTrial(team, id, body)
    return [status, answer.detail]
  }
  assert.deepEqual(await refusal({ test_codes: ['NO-SUCH-CODE'] }), [
    400,
    'The catalog of the laboratory has no orderable test NO-SUCH-CODE',
  ])
  for (const mode of ['off', 'shadow', 'live']) {
    await runLinks('mode', account, mode)
    assert.deepEqual(await refusal(), [400, `A trial needs a link in mode test; this one is in mode ${mode}`])
  }
  const without = await linkWith({})
  assert.deepEqual((await startTrial(without.team, without.account)).body.detail, 'The link has no transport for orders')
  assert.equal((await startTrial(await createTestTeam(), account)).status, 404)
  assert.deepEqual((await readReport(team, account)).outcomes, [])
})

test('a trial sends no further order once its link has left mode test', async () => {
  const { team, account } = await linkWith({ orders: 'mllp', client: clientAt(port, { answer_timeout_s: 20 }) })
  hold()
  assert.equal((await startTrial(team, account)).status, 200)
  await eventually(() => heldCount > 0, 'the first order has come')
  await runLinks('mode', account, 'live')
  release()
  const { outcomes } = await whenOver(team, account)
  assert.deepEqual([outcomes[0]!.verdict, outcomes.filter(({ sent_at }) => sent_at !== null).length], ['as_expected', 1])
})

test('a trial ends with its process: what was not sent stays so, and another trial can begin', async () => {
  const { team, account } = await linkWith({ orders: 'mllp', client: clientAt(port, { answer_timeout_s: 20 }) })
  const { db } = team
  const link = (await findLink(db.queries, account))!
  const trials = new LinkTrials(createLog('silent'))
  const network = { targets: new TargetPolicy({ loopback: true }), isSandbox: true, lab_folder: undefined }
  hold()
  trials.begin(db, await db.plainTx((tx) => startOf(tx, link, [])), network)
  await eventually(() => heldCount > 0, 'the first order has come')
  await trials.stop()
  release()
  const { is_running, outcomes } = await readReport(team, account)
  assert.deepEqual([is_running, outcomes.map(({ sent_at }) => sent_at !== null).indexOf(false)], [false, 1])
  assert(outcomes.every(({ verdict, text }) => verdict === 'open' && text === null))
  assert.equal((await startTrial(team, account)).status, 200)
  await whenOver(team, account)
})

test('a trial that was stopped until another one began sends and records nothing more', async () => {
  const { team, account } = await linkWith({ orders: 'mllp', client: clientAt(port) })
  const { db } = team
  const link = (await findLink(db.queries, account))!
  const network = { targets: new TargetPolicy({ loopback: true }), isSandbox: true, lab_folder: undefined }
  const start = () => db.plainTx((tx) => startOf(tx, link, []))
  const first = await start()
  await db.pool.query(`update lab_link_claim set expires_at = now() - interval '1 second' where account_id = $1`, [account])
  const second = await start()
  await sendTrial(db.queries, first, network)
  assert((await readReport(team, account)).outcomes.every(({ sent_at }) => sent_at === null))
  await sendTrial(db.queries, second, network)
  assert((await whenOver(team, account)).outcomes.every(({ sent_at }) => sent_at !== null))
})

test('orders that were due while a link was off are listed, and are sent when it is live', async () => {
  const team = await createTestTeam('production-us')
  const account = await orderLink(team)
  const [env, region] = ['production', 'us']
  const link = `/lab_link/${env}/${region}/${account}`

  const { id } = await createOrder(team, { lab_test_id: await team.test('walk_in_test'), lab_account_id: account })
  assert.equal((await team.manage.put(`${link}/mode`, { mode: 'off' })).status, 200)
  await team.settle()
  const list = async () =>
    (await team.manage.get(`${link}/unplaced_order`)).body.data as { order_id: string; team_id: string; status: string }[]
  const [waiting, ...others] = await list()
  assert.deepEqual([waiting!.order_id, waiting!.team_id, waiting!.status, others.length], [id, team.team, 'ordered', 0])
  const send = () => team.manage.post(`/team/${team.team}/production/lab_link/order/${id}/send`, {})
  const refused = await send()
  assert.deepEqual(
    [refused.status, refused.body.detail],
    [400, 'The lab account of the order has no live link that sends orders'],
  )
  assert.equal((await team.manage.put(`${link}/mode`, { mode: 'live' })).status, 200)
  const sent = await send()
  assert.deepEqual([sent.status, sent.body], [200, { order_id: id }])
  assert.deepEqual(await list(), [])
  assert.match((await send()).body.detail, /^The laboratory may have the order/)
  assert.equal((await team.manage.post(`/team/${team.team}/production/lab_link/order/${randomUUID()}/send`, {})).status, 404)
})
