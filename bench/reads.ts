// Reading orders, users and sites, beside bare Fastify with one prepared statement or with answers that it knows already.
import { fillOrders, fillUsers } from './fill.ts'
import { compare, CONNECTIONS, load, medianMs, percentiles, report, timings } from './measure.ts'
import { start, type Bench } from './program.ts'
import { fillSites, SITES } from './sites.ts'

const ORDERS = Number(process.env.BENCH_ORDERS ?? 1_000_000)
const USERS = Math.min(ORDERS, 10_000)

/** So many orders are read, and no two connections read the same one at the same moment. */
const ORDERS_READ = 100

export async function readOrder({ url, headers, api, connection, kit, team }: Bench): Promise<void> {
  const ids: string[] = []
  for (let i = 0; i < ORDERS_READ; i++) ids.push((await api('POST', '/v3/order/testkit', kit)).order.id)
  const text = 'select document as text from lab_order where team_id = $1 and id = $2'
  const baseline = await start('bench/baseline-read.ts', [
    JSON.stringify({ connection, text, values: [team], isById: true, connections: CONNECTIONS }),
  ])
  const read = (options: { url: string; headers?: Record<string, string> }, path: string) => {
    let connected = 0
    return load({
      ...options,
      setupClient: (client) => {
        const first = (connected++ * ORDERS_READ) / CONNECTIONS
        client.setRequests(ids.map((_, i) => ({ method: 'GET', path: path + ids[(first + i) % ids.length]! })))
      },
    })
  }
  await compare('read an order, 10 connections', 'at least 0.55', {
    ours: () => read({ url, headers }, '/v3/order/'),
    limit: () => read({ url: baseline.url }, '/'),
  })
  baseline.child.kill()
}

export async function listOrders(bench: Bench): Promise<void> {
  const { api, db, team } = bench
  await fillOrders(bench, ORDERS)
  const text = 'select document as text from lab_order where team_id = $1 order by created_at desc, id desc limit 50'
  await compareReads(bench, ['list 50 orders', 'at least 0.50'], '/v3/orders?size=50', [text, team])
  const page = (n: number) => async () => {
    const result = await api('GET', `/v3/orders?size=50&page=${n}`)
    if (result.orders.length !== 50) throw new Error(`page ${n} has ${result.orders.length} orders`)
  }
  const count = ORDERS.toLocaleString('en')
  for (const [n, goal] of [
    [1, 'p99 at most 20 ms'],
    [ORDERS / 50, 'p99 at most 600 ms'],
  ] as const) {
    const [p50_ms, p99_ms] = percentiles(await timings(page(n), 200))
    const figures = `${p50_ms.toFixed(1)} ms, ${p99_ms.toFixed(1)} ms`
    report(`list 50 of ${count} orders, page ${n.toLocaleString('en')}`, figures, '', '', `median and p99; ${goal}`)
  }
  if (ORDERS < 1000) return
  await db.query(
    `update lab_order set patient_name = 'Fictitia Rarely' where id = any (array(
       select id from lab_order where team_id = $1 and low_level_status = 'awaiting_registration' order by md5(id::text) limit 200))`,
    [team],
  )
  const ms = await medianMs(async () => {
    const found = await api('GET', '/v3/orders?status=awaiting_registration&patient_name=titia%20rare')
    if (found.total !== 200 || found.orders.length !== 50) throw new Error(`${found.total} orders of that name`)
  }, 60)
  report(`orders by status and name, of ${count}`, `${ms.toFixed(1)} ms`, '', '', 'under 50 ms')
}

export async function listUsers(bench: Bench): Promise<void> {
  await fillUsers(bench, USERS)
  // Of each user as many bytes as ours answers with.
  const { users } = await bench.api('GET', '/v2/user?limit=1')
  const text = `
    select $2::text as text from "user" where team_id = $1 and deleted_at is null order by created_on desc, id desc limit 100`
  const name = `list 100 of ${USERS.toLocaleString('en')} users`
  await compareReads(bench, [name, 'at least 0.20'], '/v2/user?limit=100', [text, bench.team, JSON.stringify(users[0])])
}

async function compareReads(
  bench: Bench,
  [name, goal]: [string, string],
  path: string,
  [text, ...values]: string[],
): Promise<void> {
  const { url, headers, connection } = bench
  const baseline = await start('bench/baseline-read.ts', [JSON.stringify({ connection, text, values, connections: CONNECTIONS })])
  await compare(`${name}, 10 connections`, goal, {
    ours: () => load({ url: url + path, headers }),
    limit: () => load({ url: baseline.url }),
  })
  baseline.child.kill()
}

export async function findSites({ url, headers, db }: Bench): Promise<void> {
  const paths = await fillSites(db)
  const requests = paths.map((path) => ({ method: 'GET' as const, path }))
  const baseline = await start('bench/baseline-cached.ts', [JSON.stringify({ url, headers, paths })])
  await compare(`PSC lookup among ${SITES.toLocaleString('en')} sites`, 'at least 0.40', {
    ours: () => load({ url, requests, headers }),
    limit: () => load({ url: baseline.url, requests }),
  })
  baseline.child.kill()
}
