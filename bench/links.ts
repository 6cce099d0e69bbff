// Links to laboratories: results acknowledged after their commit, orders sent, documents, folders, and what a laboratory costs others that is deaf,
// slow or floods. Source of the goals: lab-links.md 8.6.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { prepareLinks, type LinkBench } from './link-data.ts'
import { pdfOfSize, resultMessage } from './link-messages.ts'
import { openSender, sendAll, startReceiver } from './link-peers.ts'
import { compare, percentiles, rate, report } from './measure.ts'
import { start, type Bench } from './program.ts'

const CONNECTIONS = 8
const MESSAGES = Number(process.env.BENCH_LINK_MESSAGES ?? 600)
const FILES = 10_000
const ORDERS_OUT = 1000
/** What Medplum publishes for its ordinary mode: packages/docs/docs/agent/acknowledgement-modes.md. */
const MEDPLUM_RATE = 3
const POLL_MS = 50
const WAIT_MS_MAX = 600_000

/** Prints the figures of links. */
export async function measureLinks(bench: Bench): Promise<void> {
  const links = await prepareLinks(bench)
  try {
    await measureIntake(links)
    await measureDocument(links)
    await measureFolder(links)
    await measureOrdersOut(links)
    await measureNeighbors(links)
  } finally {
    await links.close()
  }
}

const listener = ({ lab_port }: Bench) => ({ port: lab_port, tls: false, addresses: ['127.0.0.1'] })
const resultsOnly = (bench: Bench) => ({ orders: 'none', results: 'mllp', listener: listener(bench) })

let lastId = 0
const newControlId = () => `B${++lastId}`

async function measureIntake(links: LinkBench): Promise<void> {
  const account = await links.createLink(resultsOnly(links), 'CLINIC')
  const floor = await start('bench/link-floor.ts', [
    JSON.stringify({ ...links.connection, options: '-c search_path=sandbox_us' }),
  ])
  const floorPort = Number(new URL(floor.url).port)
  const messagesFor = async () =>
    (await links.createAcceptedOrders(account, MESSAGES)).map((order) =>
      resultMessage(order, links.markers, { control_id: newControlId() }),
    )
  const rates = { acknowledged: [] as number[], applied: [] as number[], times: [] as number[] }
  const run = async (port: number, messages: Buffer[]) => {
    const began = performance.now()
    const times = await sendAll(port, messages, CONNECTIONS)
    return { times, rate: (messages.length * 1000) / (performance.now() - began), began }
  }
  let messages: Buffer[] = []
  const name = 'results of 20 observations, 8 connections'
  await compare(name, 'at least 0.5', {
    ours: async () => {
      messages = await messagesFor()
      const { times, rate: acknowledged, began } = await run(links.lab_port, messages)
      await untilApplied(links)
      rates.applied.push((messages.length * 1000) / (performance.now() - began))
      rates.acknowledged.push(acknowledged)
      rates.times.push(...times)
      return acknowledged
    },
    limit: async () => (await run(floorPort, messages)).rate,
  })
  floor.child.kill('SIGTERM')
  const median = (figures: number[]) => figures.toSorted((a, b) => a - b)[figures.length >> 1]!
  const [p50, p99] = percentiles(rates.times)
  const acknowledged = median(rates.acknowledged)
  report(
    '  beside the published rate of Medplum',
    rate(acknowledged),
    `${MEDPLUM_RATE}/s`,
    (acknowledged / MEDPLUM_RATE).toFixed(0),
    'at least 100',
  )
  report('  until they are applied to their orders', rate(median(rates.applied)), '', '', '')
  report('  acknowledgment, median and p99', `${p50.toFixed(1)} ms, ${p99.toFixed(0)} ms`, '', '', '')
  const single = await messagesFor()
  const sender = await openSender(links.lab_port)
  const paced: number[] = []
  for (const message of single.slice(0, 300)) {
    const began = performance.now()
    await sender.send(message)
    paced.push(performance.now() - began)
    await sleep(Math.max(0, 10 - (performance.now() - began)))
  }
  sender.close()
  report('  acknowledgment at 100/s, p99', `${percentiles(paced)[1].toFixed(0)} ms`, '', '', 'under 50 ms')
  await untilApplied(links)
}

/** Waits until no message waits for its processing. Errors: a message that failed or opened a review. */
async function untilApplied({ db }: Bench): Promise<void> {
  for (const end = performance.now() + WAIT_MS_MAX; performance.now() < end; await sleep(POLL_MS)) {
    const { rows } = await db.query(
      "select state, error, count(*)::int as n from lab_message where direction = 'in' group by 1, 2",
    )
    const wrong = rows.find(({ state }) => state === 'failed' || state === 'review')
    if (wrong) throw new Error(`messages were not applied: ${JSON.stringify(wrong)}`)
    if (!rows.some(({ state }) => state === 'received')) return
  }
  throw new Error('messages wait for their processing')
}

const PDF_BYTES = 10_000_000

async function measureDocument(links: LinkBench): Promise<void> {
  const account = await links.createLink(resultsOnly(links), 'DOCUMENTS')
  const [first, second] = await links.createAcceptedOrders(account, 2)
  const sender = await openSender(links.lab_port)
  const send = async (order: typeof first) => {
    const message = resultMessage(order!, links.markers, {
      control_id: newControlId(),
      document: pdfOfSize(PDF_BYTES),
      facility: 'DOCUMENTS',
    })
    const began = performance.now()
    await sender.send(message)
    const acknowledged = performance.now() - began
    await untilApplied(links)
    return { acknowledged, applied: performance.now() - began }
  }
  await send(first)
  const before = memory(links.pid, 'VmRSS')
  // The peak is counted from now on.
  writeFileSync(`/proc/${links.pid}/clear_refs`, '5')
  const { acknowledged, applied } = await send(second)
  const more = memory(links.pid, 'VmHWM') - before
  sender.close()
  report('PDF of 10 MB, until it is in the result', `${(applied / 1000).toFixed(2)} s`, '', '', 'under 2 s')
  report('  until it is acknowledged', `${(acknowledged / 1000).toFixed(2)} s`, '', '', '')
  report('  more memory', `${more.toFixed(0)} MB`, '', '', 'under 80 MB')
}

const memory = (pid: number, name: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

async function measureFolder(links: LinkBench): Promise<void> {
  const account = await links.createLink({ orders: 'none', results: 'folder', folder: { stable_s: 0, poll_s: 1 } })
  const results = join(links.lab_folder, account, 'results')
  mkdirSync(results, { recursive: true })
  const orders = await links.createAcceptedOrders(account, 1000)
  const prepared = join(links.lab_folder, 'prepared')
  mkdirSync(prepared, { recursive: true })
  for (let n = 0; n < FILES; n++) {
    // Each order gets ten reports, of which the last nine change a value.
    const message = resultMessage(orders[n % orders.length]!, links.markers.slice(0, 1), {
      control_id: newControlId(),
      value: String(5 + Math.floor(n / orders.length)),
    })
    writeFileSync(join(prepared, `${String(n).padStart(5, '0')}.hl7`), message)
  }
  const began = performance.now()
  for (const name of readdirSync(prepared)) renameSync(join(prepared, name), join(results, name))
  const isWaiting = () => readdirSync(results).some((name) => name.endsWith('.hl7'))
  for (const end = performance.now() + WAIT_MS_MAX; isWaiting() && performance.now() < end;) await sleep(200)
  const seconds = (performance.now() - began) / 1000
  report('10,000 files in a folder, until all are stored', `${seconds.toFixed(1)} s`, '', '', 'under 60 s')
  await untilApplied(links)
  report('  until all are applied', `${((performance.now() - began) / 1000).toFixed(1)} s`, '', '', '')
}

const ordersTo = (port: number) => ({ orders: 'mllp', results: 'none', client: { host: '127.0.0.1', port, tls: false } })

async function measureOrdersOut(links: LinkBench): Promise<void> {
  // The laboratory is away until all orders wait for it.
  const receiver = await startReceiver('at once')
  const account = await links.createLink(ordersTo(receiver.port))
  const began = performance.now()
  await links.createOrders(account, ORDERS_OUT)
  const created = performance.now()
  await receiver.waitFor(ORDERS_OUT)
  const seconds = (performance.now() - began) / 1000
  report(
    'orders sent to a laboratory, while they are created',
    rate(ORDERS_OUT / seconds),
    `${rate((ORDERS_OUT * 1000) / (created - began))} created`,
    '',
    'at least 200/s',
  )
  await receiver.close()
}

/** A laboratory at its own pace: results a second, and the time of the measurement. */
const [PACE, MEASURED_S] = [20, Number(process.env.BENCH_SECONDS ?? 15)]
const FLOOD_CONNECTIONS = 10

interface Pace {
  rate: number
  p99: number
}

async function measureNeighbors(links: LinkBench): Promise<void> {
  const own = await links.createLink(resultsOnly(links), 'CLINIC-A')
  const alone = await keepPace(links, own)
  const [deaf, slow] = await Promise.all([startReceiver('never'), startReceiver({ after_ms: 29_000 })])
  const accounts = [await links.createLink(ordersTo(deaf.port)), await links.createLink(ordersTo(slow.port))]
  for (const account of accounts) await links.createOrders(account, 200)
  const besideSilence = await keepPace(links, own)
  const flooding = await links.createLink(resultsOnly(links), 'CLINIC-B')
  const flood = await startFlood(links, flooding)
  const besideFlood = await keepPace(links, own)
  const sent = await flood.stop()
  const line = (name: string, { rate: shared, p99 }: Pace) =>
    report(
      name,
      `${shared.toFixed(1)}/s, ${p99.toFixed(0)} ms`,
      `${alone.rate.toFixed(1)}/s, ${alone.p99.toFixed(0)} ms`,
      (shared / alone.rate).toFixed(2),
      'at least 0.9',
    )
  line('results applied beside a deaf and a slow laboratory', besideSilence)
  line('results applied beside a laboratory that floods', besideFlood)
  report('  the flood meanwhile', rate(sent), '', '', '')
  await Promise.all([deaf.close(), slow.close()])
}

/** Sends results at a steady pace. @returns how many a second were applied, and the slowest acknowledgments */
async function keepPace(links: LinkBench, account: string): Promise<Pace> {
  const orders = await links.createAcceptedOrders(account, PACE * MEASURED_S)
  const sender = await openSender(links.lab_port)
  const times: number[] = []
  const began = performance.now()
  for (const [n, order] of orders.entries()) {
    await sleep(Math.max(0, began + (n * 1000) / PACE - performance.now()))
    const before = performance.now()
    await sender.send(resultMessage(order, links.markers, { control_id: newControlId(), facility: 'CLINIC-A' }))
    times.push(performance.now() - before)
  }
  sender.close()
  const waiting = async () =>
    (
      await links.db.query(
        "select 1 from lab_message where link_account_id = $1 and direction = 'in' and state = 'received' limit 1",
        [account],
      )
    ).rowCount
  while (await waiting()) await sleep(POLL_MS)
  return { rate: (orders.length * 1000) / (performance.now() - began), p99: percentiles(times)[1] }
}

/** A laboratory that sends as many messages as are acknowledged, over ten connections, until it is stopped. */
async function startFlood(links: LinkBench, account: string) {
  const orders = await links.createAcceptedOrders(account, 100)
  let isEnded = false
  let count = 0
  const began = performance.now()
  const flood = async () => {
    const sender = await openSender(links.lab_port)
    for (let n = 0; !isEnded; n++) {
      await sender.send(
        resultMessage(orders[n % orders.length]!, links.markers, {
          control_id: newControlId(),
          value: String(n % 9),
          facility: 'CLINIC-B',
        }),
      )
      count++
    }
    sender.close()
  }
  const work = Promise.all(Array.from({ length: FLOOD_CONNECTIONS }, flood))
  return {
    /** @returns messages a second */
    stop: async () => {
      isEnded = true
      await work
      return (count * 1000) / (performance.now() - began)
    },
  }
}
