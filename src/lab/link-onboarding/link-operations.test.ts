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

/** Undefined, or what holds back the answers of the laboratory. */
let held: PromiseWithResolvers<void> | undefined
let heldCount = 0
const port = await startLaboratory(async (): Promise<'AA'> => {
  if (held) heldCount++
  await held?.promise
  return 'AA'
})

const check = ({ manage }: TestTeam, account: string) => manage.post(`/lab_link/sandbox/us/${account}/check`, {})

test('a link is checked from the server, one check at a time', async () => {
  const { team, account } = await linkWith({ orders: 'mllp', client: clientAt(port, { answer_timeout_s: 20 }) })
  held = Promise.withResolvers<void>()
  const first = check(team, account)
  await eventually(() => heldCount > 0, 'the echo has come')
  const second = await check(team, account)
  assert.deepEqual([second.status, second.body], [409, { detail: 'A check of the link is running' }])
  held.resolve()
  held = undefined
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
  const path = `/lab_link/sandbox/us/${account}/trial`
  assert.deepEqual((await team.manage.get(path)).body.outcomes, [])
  await runLinks('trial', account)
  const { body } = await team.manage.get(path)
  assert.deepEqual([body.laboratory, body.outcomes.length, body.outcomes[0].verdict], ['quest', 10, 'as_expected'])
  const page = await team.manage.get(path, { accept: 'text/html' })
  assert.match(page.headers.get('content-type')!, /^text\/html/)
  assert.match(page.headers.get('content-disposition') ?? '', /^attachment/)
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
