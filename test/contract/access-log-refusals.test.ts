// Nothing of a patient is shown without a line in the access log, whichever way it is asked for.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { AccessLog, type AccessLogOptions } from '../../src/platform/access-log/access-log.ts'
import { createLog } from '../../src/platform/telemetry/log.ts'
import { orderWithRequisition } from '../support/orders.ts'
import { access, asOwner, assembleProcess, createTestTeam, type TestTeam } from '../support/server.ts'

/** A server of its own on the same database, with an access log of its own. */
function serving(options: Omit<AccessLogOptions, 'log'>) {
  const own = new AccessLog({ log: createLog('silent'), ...options })
  const { app, heavy } = assembleProcess({ access: own })
  after(async () => {
    await app.close()
    await own.stop()
    await heavy.close()
  })
  return async (url: string, headers: Record<string, string>) => {
    const { statusCode, headers: answered } = await app.inject({ method: 'GET', url, headers })
    return { status: statusCode, retry_after: answered['retry-after'] }
  }
}

type Order = Awaited<ReturnType<typeof orderWithRequisition>>

/** A way to see an order, with the name of the operation in its line. */
const ways: [title: string, operation: string, url: (team: TestTeam, order: Order) => string, header: 'team' | 'org' | 'none'][] =
  [
    ['an order', 'get_order', (_team, { id }) => `/v3/order/${id}`, 'team'],
    ['a list of orders', 'get_orders', () => '/v3/orders', 'team'],
    ['a document', 'get_order_requisition_url', (_team, { id }) => `/v3/order/${id}/requisition/pdf`, 'team'],
    ['a link without a key', 'requisition_page', (_team, { requisition_form_url }) => pathOf(requisition_form_url!), 'none'],
    ['a list over teams', 'list_fulfillment_work', ({ org_id }) => `/v1/org/${org_id}/fulfillment/sandbox/us`, 'org'],
  ]

function pathOf(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

const createHeaders = ({ key, orgKey }: TestTeam, header: 'team' | 'org' | 'none'): Record<string, string> =>
  header === 'team' ? { 'x-service-api-key': key } : header === 'org' ? { 'x-management-key': orgKey } : {}

let team: TestTeam
let order: Order
before(async () => {
  team = await createTestTeam()
  order = await orderWithRequisition(team, 'walk_in_test')
  await access.flush()
})

/** How many lines of an operation tell that something was shown. */
async function countShown(operation: string): Promise<number> {
  const { rows } = await asOwner<{ n: number }>(
    'select count(*)::integer as n from sandbox_us.access_log where line::json ->> $1 = $2 and line::json ->> $3 = $4',
    ['operation', operation, 'outcome', '200'],
  )
  return rows[0]!.n
}

const BUSY = { status: 503, retry_after: '1' }

describe('while the buffer of lines is full nothing is shown:', () => {
  const ask = serving({ mode: 'batched', bytes_max: 0 })
  for (const [title, , url, header] of ways)
    test(title, async () => assert.deepEqual(await ask(url(team, order), createHeaders(team, header)), BUSY))
})

describe('a strict log', () => {
  const ask = serving({ mode: 'strict' })
  for (const [title, operation, url, header] of ways)
    test(`has the line before the answer leaves, and without it nothing is shown: ${title}`, async () => {
      const before = await countShown(operation)
      const asked = () => ask(url(team, order), createHeaders(team, header))
      assert.equal((await asked()).status, 200)
      assert.equal(await countShown(operation), before + 1)
      await asOwner('alter table sandbox_us.access_day rename to access_day_away')
      try {
        assert.deepEqual(await asked(), BUSY)
      } finally {
        await asOwner('alter table sandbox_us.access_day_away rename to access_day')
      }
    })
})
