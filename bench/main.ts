// Speed against limits measured in the same run, on the same database. Prints figures and ratios; asserts nothing.
// Further arguments choose parts: memory create walk-in read deliver latency sites visits intake list.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import pg from 'pg'
import { openEmbedded } from '../src/platform/embedded-postgres/embedded-postgres.ts'
import { deliveryRate, latencies, directPostRate, type BenchContext } from './delivery.ts'
import { measureResultIntake } from './result-intake.ts'
import { measureCreateBaseline, medianMs, type Sample } from './baseline-write.ts'
import { fillSites, SITES } from './sites.ts'
import { fillVisits, STAFF } from './visits.ts'

const CONNECTIONS = 10
const ROUNDS = 5
const PAUSE_MS = 3000
const WARM_UP_S = 2
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3)
const ORDERS = Number(process.env.BENCH_ORDERS ?? 1_000_000)
const sections = new Set(
  process.argv.slice(2).length
    ? process.argv.slice(2)
    : ['memory', 'create', 'walk-in', 'read', 'deliver', 'latency', 'sites', 'visits', 'intake', 'list'],
)

const dataDir = mkdtempSync(join(tmpdir(), 'drawbridge-bench-'))
const children: ChildProcess[] = []

/** Starts a script and waits for the first line it prints that looks like an address. */
function start(script: string, args: string[], env: Record<string, string> = {}): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, ['--min-semi-space-size=4', '--max-semi-space-size=32', script, ...args], {
    // As `npm start` has it.
    env: { ...process.env, MALLOC_ARENA_MAX: '1', ...env },
    // Log lines are made and written, and nobody reads them: on the disk of the database they would delay its commits.
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  children.push(child)
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout!.on('data', (chunk: Buffer) => {
      text += String(chunk)
      const url = /http:\/\/[\d.]+:\d+/.exec(text)?.[0]
      if (url) resolve({ url, child })
    })
    child.on('exit', (code) => reject(new Error(`${script} ended with ${code}`)))
  })
}

async function load(options: autocannon.Options): Promise<number> {
  await autocannon({ ...options, connections: CONNECTIONS, duration: WARM_UP_S })
  const result = await autocannon({ ...options, connections: CONNECTIONS, duration: SECONDS })
  if (result.non2xx || result.errors) throw new Error(`${result.non2xx} answers were no success, ${result.errors} errors`)
  return result.requests.average
}

const median = (figures: number[]) => figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!

/** Limit and ours alternately, so that what else the machine does meets both; a pause lets the disk catch up. The median of each. */
async function alternate(
  measureBaseline: () => Promise<number>,
  drawbridgeResult: () => Promise<number>,
): Promise<{ limit: number; ours: number }> {
  const figures = { limit: [] as number[], ours: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    await sleep(PAUSE_MS)
    figures.ours.push(await drawbridgeResult())
    await sleep(PAUSE_MS)
    figures.limit.push(await measureBaseline())
  }
  return { limit: median(figures.limit), ours: median(figures.ours) }
}

const report = (name: string, drawbridgeResult: string, measureBaseline: string, ratio: string, goal: string) =>
  console.log(
    `${name.padEnd(44)} ${drawbridgeResult.padStart(16)}  ${measureBaseline.padStart(18)}  ${ratio.padStart(8)}  ${goal}`,
  )
const rate = (n: number) => `${Math.round(n).toLocaleString('en')}/s`

try {
  const server = await start('src/cli/entry.js', ['start'], {
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'info',
    DATABASE_URL: '',
    SANDBOX_USERS_MAX: '0',
    REQUESTS_PER_SECOND: '0',
  })
  const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))
  const key = demo.api_keys['sandbox-us'] as string
  const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
  const api = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(server.url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.json() as Promise<any> // oxlint-disable-line typescript/no-explicit-any -- a script reads replies of every shape
  }
  report('', 'ours', 'limit', 'ratio', 'goal')

  if (sections.has('memory')) {
    await sleep(10_000)
    const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8')
    const mb = Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024
    report('idle memory of the server', `${mb.toFixed(0)} MB`, '', '', 'under 150 MB')
  }

  const attached = await openEmbedded({ dataDir, ownership: 'if-free', log: () => {} })
  const db = new pg.Client({ ...attached.connection, options: '-c search_path=sandbox_us' })
  await db.connect()
  const { user_id } = await api('POST', '/v2/user', { client_user_id: 'bench' })
  const [test] = await api('GET', '/v3/lab_tests?collection_method=testkit')
  const body = {
    user_id,
    lab_test_id: test.id,
    shipping_details: {
      receiver_name: 'Bench Receiver',
      first_line: '1 Sample Way',
      city: 'Phoenix',
      state: 'AZ',
      zip: '85004',
      country: 'US',
      phone_number: '+15550100199',
    },
  }
  const { order } = await api('POST', '/v3/order/testkit', body)

  // The team had a webhook, so that each order inserts an outbox entry, as for the limit; no events are sent now.
  const webhooks = `${server.url}/v1/org/${demo.org_id}/team/${demo.teams.us}/sandbox/webhook`
  const managing = { 'x-management-key': demo.management_key as string, 'content-type': 'application/json' }
  const createEndpoint = async (url: string, disabled = false): Promise<string> => {
    const response = await fetch(webhooks, { method: 'POST', headers: managing, body: JSON.stringify({ url, disabled }) })
    return ((await response.json()) as { id: string }).id
  }
  await createEndpoint('http://127.0.0.1:9/', true)

  if (sections.has('create')) {
    const sample = await sampleOf(db, order.id, demo.teams.us)
    const { limit: measureBaseline, ours: drawbridgeResult } = await alternate(
      () => measureCreateBaseline(attached.connection, sample, { connections: CONNECTIONS, seconds: SECONDS }),
      () => load({ url: `${server.url}/v3/order/testkit`, method: 'POST', headers, body: JSON.stringify(body) }),
    )
    report(
      'create a kit order, 10 connections',
      rate(drawbridgeResult),
      rate(measureBaseline),
      (drawbridgeResult / measureBaseline).toFixed(2),
      'at least 0.5',
    )
    await idle(db)
  }

  if (sections.has('walk-in')) {
    const [walkIn] = await api('GET', '/v3/lab_tests?collection_method=walk_in_test')
    const person = {
      first_name: 'Bench',
      last_name: 'Fictional',
      dob: '1990-01-31',
      gender: 'female',
      phone_number: '+15550100199',
    }
    const placing = {
      user_id,
      lab_test_id: walkIn.id,
      patient_details: { ...person, email: 'bench@example.com' },
      patient_address: body.shipping_details,
    }
    const made = (await api('POST', '/v3/order', placing)).order
    const sample = await sampleOf(db, made.id, demo.teams.us)
    const { limit: measureBaseline, ours: drawbridgeResult } = await alternate(
      () => measureCreateBaseline(attached.connection, sample, { connections: CONNECTIONS, seconds: SECONDS }),
      () => load({ url: `${server.url}/v3/order`, method: 'POST', headers, body: JSON.stringify(placing) }),
    )
    report(
      'create a walk-in order, 10 connections',
      rate(drawbridgeResult),
      rate(measureBaseline),
      (drawbridgeResult / measureBaseline).toFixed(2),
      'at least 0.5',
    )
    await idle(db)
  }

  if (sections.has('read')) {
    const baseline = await start('bench/baseline-read.ts', [
      JSON.stringify({ connection: attached.connection, id: order.id, connections: CONNECTIONS }),
    ])
    const { limit: measureBaseline, ours: drawbridgeResult } = await alternate(
      () => load({ url: `${baseline.url}/order` }),
      () => load({ url: `${server.url}/v3/order/${order.id}`, headers }),
    )
    baseline.child.kill()
    report(
      'read an order, 10 connections',
      rate(drawbridgeResult),
      rate(measureBaseline),
      (drawbridgeResult / measureBaseline).toFixed(2),
      'at least 0.7',
    )
  }

  if (sections.has('deliver') || sections.has('latency')) {
    const receiver = await start('bench/receiver.ts', [])
    const { rows } = await db.query<{ body: string }>('select body from event where object_id = $1 order by id desc limit 1', [
      order.id,
    ])
    const parties: BenchContext = {
      db,
      receiver: receiver.url,
      team: demo.teams.us,
      user_id,
      body: rows[0]!.body,
      createEndpoint,
      deleteEndpoint: async (id) => void (await fetch(`${webhooks}/${id}`, { method: 'DELETE', headers: managing })),
    }
    if (sections.has('deliver')) {
      const { limit: measureBaseline, ours: drawbridgeResult } = await alternate(
        () => directPostRate(parties, SECONDS),
        () => deliveryRate(parties),
      )
      report(
        'deliver to 4 endpoints, one worker',
        rate(drawbridgeResult),
        rate(measureBaseline),
        (drawbridgeResult / measureBaseline).toFixed(2),
        'at least 0.5',
      )
    }
    if (sections.has('latency')) {
      const create = () => api('POST', '/v3/order/testkit', body) as Promise<{ order: { id: string } }>
      const { p50_ms, p99_ms, events } = await latencies(parties, {
        orders_per_s: 100,
        seconds: 20,
        order: async () => (await create()).order,
      })
      report(
        `commit to received, ${events} events at 200/s`,
        `${p50_ms.toFixed(1)} ms median`,
        '',
        '',
        `${p99_ms.toFixed(1)} ms p99, under 100 ms`,
      )
    }
    receiver.child.kill()
  }

  if (sections.has('sites')) {
    const paths = await fillSites(db)
    const asked = paths.map((path) => ({ method: 'GET' as const, path }))
    const baseline = await start('bench/baseline-cached.ts', [JSON.stringify({ url: server.url, headers, paths })])
    const { limit: measureBaseline, ours: drawbridgeResult } = await alternate(
      () => load({ url: baseline.url, requests: asked }),
      () => load({ url: server.url, requests: asked, headers }),
    )
    baseline.child.kill()
    const name = `PSC lookup among ${SITES.toLocaleString('en')} sites`
    report(name, rate(drawbridgeResult), rate(measureBaseline), (drawbridgeResult / measureBaseline).toFixed(2), 'at least 0.5')
  }

  if (sections.has('visits')) {
    const { org_id, management_key } = demo as { org_id: string; management_key: string }
    const key = demo.api_keys['production-us'] as string
    const ask = await fillVisits(db, { url: server.url, key, management_key, org_id, team: demo.teams.us })
    const ms = await medianMs(ask, 100)
    report(`availability of 14 days for ${STAFF} phlebotomists`, `${ms.toFixed(1)} ms median`, '', '', 'under 30 ms')
  }

  if (sections.has('intake')) {
    const { times_ms, results } = await measureResultIntake(attached.connection, demo.teams.us, api, { markers: 100, count: 60 })
    // The first ones find nothing prepared.
    const ms = median(times_ms.slice(10))
    report('take in a result of 100 markers', `${ms.toFixed(1)} ms median`, '', `${results}`, 'under 15 ms; ratio: results')
  }

  if (sections.has('list')) {
    await fill(db, demo.teams.us, order.id)
    const page = (n: number) => async () => {
      const result = await api('GET', `/v3/orders?size=50&page=${n}`)
      if (result.orders.length !== 50) throw new Error(`page ${n} has ${result.orders.length} orders`)
    }
    for (const n of [1, 10_000, 20_000]) {
      if (n * 50 > ORDERS) continue
      const ms = await medianMs(page(n), 60)
      report(
        `list 50 of ${ORDERS.toLocaleString('en')} orders, page ${n.toLocaleString('en')}`,
        `${ms.toFixed(1)} ms`,
        '',
        '',
        'under 20 ms',
      )
    }
  }
  if (sections.has('list') && ORDERS >= 1000) {
    await db.query(
      `update lab_order set patient_name = 'Fictitia Rarely' where id = any (array(select id from lab_order where low_status = 'awaiting_registration' order by md5(id::text) limit 200))`,
    )
    const ms = await medianMs(async () => {
      const found = await api('GET', '/v3/orders?status=awaiting_registration&patient_name=titia%20rare')
      if (found.total !== 200 || found.orders.length !== 50) throw new Error(`${found.total} orders of that name`)
    }, 60)
    report(`orders by status and name, of ${ORDERS.toLocaleString('en')}`, `${ms.toFixed(1)} ms`, '', '', 'under 50 ms')
  }
  await db.end()
  await attached.stop()
} finally {
  for (const child of children) child.kill('SIGTERM')
  await Promise.all(
    children.map((child) => child.exitCode ?? child.signalCode ?? new Promise((resolve) => child.on('exit', resolve))),
  )
  rmSync(dataDir, { recursive: true, force: true })
}

/** Everything that was queued has been done. */
async function idle(db: pg.Client): Promise<void> {
  for (let waiting = 1; waiting;) {
    waiting = Number((await db.query(`select count(*) as n from job where name <> 'bench.none'`)).rows[0].n)
    await sleep(200)
  }
}

/** What the limit writes of an order: as much as ours did. */
async function sampleOf(db: pg.Client, id: string, team_id: string): Promise<Sample> {
  const { rows } = await db.query(
    'select document, intake, lab_id, user_id, lab_test_id, patient_name, recipient_name from lab_order where id = $1',
    [id],
  )
  const events = await db.query<{ body: string }>('select body from event where object_id = $1 order by id', [id])
  return { ...rows[0], team_id, bodies: events.rows.map((event) => event.body), payload: JSON.stringify({ order_id: id }) }
}

/** Orders of the past, copies of one, so many that pages lie deep; then the job that marks them. */
async function fill(db: pg.Client, team: string, from: string): Promise<void> {
  await db.query(
    `insert into lab_order (id, team_id, user_id, transaction_id, lifecycle, lab_test_id, lab_id, method, low_status, status_at,
                            patient_name, recipient_name, created_at, updated_at, document, intake)
     select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7' || substr(md5(i::text), 1, 3) || '-8' || substr(md5(i::text), 4, 3) || '-' || substr(md5(i::text), 7, 12))::uuid,
            team_id, user_id, gen_random_uuid(), lifecycle, lab_test_id, lab_id, method, low_status, at, patient_name, recipient_name, at, at,
            document, intake
     from lab_order, generate_series(1, $2::bigint) as i,
          lateral (select timestamptz '2020-01-01 00:00:00+00' + i * interval '1 minute' as at) t,
          lateral (select lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as hex) h
     where id = $1`,
    [from, ORDERS],
  )
  // Orders of the past are never inserted otherwise: what was marked behind them is wrong now.
  await db.query('delete from order_checkpoint')
  await db.query('vacuum analyze lab_order')
  await db.query(
    `insert into job (id, team_id, name, payload, run_at, due_at) values (gen_random_uuid(), $1, 'orders.mark', '{}', now(), now())`,
    [team],
  )
  for (let waiting = 1; waiting;) {
    waiting = Number((await db.query(`select count(*) as n from job where name = 'orders.mark'`)).rows[0].n)
    await sleep(200)
  }
}
