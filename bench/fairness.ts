// What a team notices of a neighbor that does everything at once: four clients post 10,000 samples each, two imports of 153 MB, eight clients
// run queries, and 20 scans. Each figure is first taken alone, in the same run.
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeAll } from '../test/support/zip.ts'
import { appleExport, ofSize } from './apple-export.ts'
import { send } from './imports.ts'
import { heartRates } from './ingestion.ts'
import { awaitCompletion, onePage, POLL_SCAN_MS, upload } from './lab-reports.ts'
import { createOtherTeam, type OtherTeam } from './other-team.ts'
import { processorSeconds } from './processor-time.ts'
import { percentiles, report } from './measure.ts'
import type { Bench } from './program.ts'

const MEASURED_S = Number(process.env.BENCH_SECONDS ?? 30)
const [CLIENTS, SAMPLES] = [4, 10_000]
const [IMPORTS, IMPORT_MB] = [2, 153]
const QUERY_CLIENTS = 8
const SCANS = 20
/** Between two requests of the other team, of each kind. */
const READ_PAUSE_MS = 50
const ORDER_PAUSE_MS = 200
/** A measurement ends when the scan and the file are there, but no later than this. */
const WAIT_S_MAX = 240
const FIRST_MS = Date.UTC(2025, 0, 1)
/** Days on which the neighbor posts, again and again. */
const DAYS = 10

const track = `<?xml version="1.0"?><gpx creator="Fictional"><trk><type>running</type><trkseg>${[0, 1, 2]
  .map((i) => `<trkpt lat="45.00${i}" lon="7"><time>2026-02-01T07:0${i}:00Z</time></trkpt>`)
  .join('')}</trkseg></trk></gpx>`

/** What the other team does, in milliseconds. */
interface Times {
  reads: number[]
  orders: number[]
  scan: number
  file: number
}

/** Prints the figures of the other team alone and beside its neighbor, and their ratios. */
export async function measureFairness(bench: Bench): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-fairness-'))
  try {
    const path = join(folder, 'export.xml')
    await writeAll(
      (async function* () {
        for (const block of appleExport(ofSize(IMPORT_MB * 1e6))) yield Buffer.from(block)
      })(),
      createWriteStream(path),
    )
    const other = await createOtherTeam(bench)
    const scan = await onePage('scan')
    // Loads the networks, and what the first requests find not yet compiled.
    await readScan(other, scan)
    await importTrack(other)
    await observe(other, 5000)
    const alone = await measure(other, scan)
    const neighbor = occupy(bench, { path, scan })
    await neighbor.isBusy
    const load = loadavg()[0]!
    const before = await processorSeconds(bench)
    const began = performance.now()
    const beside = await measure(other, scan)
    const seconds = (performance.now() - began) / 1000
    const used = await processorSeconds(bench)
    const done = await neighbor.end()
    print(alone, beside)
    const share = ({ server, database }: typeof used) =>
      `${((server - before.server) / seconds).toFixed(2)} + ${((database - before.database) / seconds).toFixed(2)}`
    report('  processors, server and database', share(used), `load ${load.toFixed(1)}`, '', '')
    report(
      '  the neighbor meanwhile',
      `${(done.posts / seconds).toFixed(1)} posts/s`,
      `${(done.queries / seconds).toFixed(1)} queries/s`,
      '',
      JSON.stringify(done),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function print(aloneTimes: Times, sharedTimes: Times): void {
  for (const [name, of] of [
    ['read a user', 'reads'],
    ['create an order', 'orders'],
  ] as const) {
    const [[, own], [, neighbors]] = [percentiles(aloneTimes[of]), percentiles(sharedTimes[of])] as [number[], number[]]
    const ms = (n: number | undefined) => `${n!.toFixed(0)} ms p99`
    report(
      `${name} beside a busy team`,
      ms(neighbors),
      `${ms(own)} alone`,
      (neighbors! / own!).toFixed(1),
      'at most 5, under 250 ms',
    )
  }
  const s = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  report(
    'read a scan beside a busy team',
    s(sharedTimes.scan),
    `${s(aloneTimes.scan)} alone`,
    (sharedTimes.scan / aloneTimes.scan).toFixed(1),
    'at most 2 and 60 s',
  )
  report(
    'import a track beside a busy team',
    s(sharedTimes.file),
    `${s(aloneTimes.file)} alone`,
    (sharedTimes.file / aloneTimes.file).toFixed(1),
    'under 5 s',
  )
}

/** Reads a user and creates orders, at a steady pace, until the scan is read and the file imported, and at least for a while. */
async function measure(otherTeam: OtherTeam, scan: Parameters<typeof upload>[1]): Promise<Times> {
  const heavy = Promise.all([durationOf(async () => readScan(otherTeam, scan)), durationOf(() => importTrack(otherTeam))])
  const [observed, [scan_ms, file_ms]] = await Promise.all([
    observe(otherTeam, MEASURED_S * 1000, heavy),
    Promise.race([heavy, sleep(WAIT_S_MAX * 1000, [Infinity, Infinity], { ref: false })]),
  ])
  return { ...observed, scan: scan_ms!, file: file_ms! }
}

/** On a machine that is too busy a report may exceed its time limit; that is printed. */
async function readScan(otherTeam: OtherTeam, scan: Parameters<typeof upload>[1]): Promise<void> {
  const id = await upload(otherTeam, scan)
  await awaitCompletion(otherTeam, id, POLL_SCAN_MS).catch((error: unknown) => {
    report('  a scan was not read', '', '', '', String(error))
  })
}

async function observe(otherTeam: OtherTeam, ms: number, meanwhile: Promise<unknown> = Promise.resolve()) {
  const until = performance.now() + ms
  const latest = until + WAIT_S_MAX * 1000
  let isDone = false
  void meanwhile.then(() => (isDone = true))
  const every = async (pause_ms: number, work: () => Promise<unknown>): Promise<number[]> => {
    const times: number[] = []
    while (performance.now() < until || (!isDone && performance.now() < latest)) {
      times.push(await durationOf(work))
      await sleep(pause_ms)
    }
    return times
  }
  const [reads, orders] = await Promise.all([
    every(READ_PAUSE_MS, () => otherTeam.api('GET', `/v2/user/${otherTeam.user_id}`)),
    every(ORDER_PAUSE_MS, otherTeam.order),
  ])
  return { reads, orders }
}

async function durationOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

async function importTrack({ url, headers, user_id, api }: OtherTeam): Promise<void> {
  const type = { 'content-type': 'application/octet-stream' }
  const response = await fetch(`${url}/v2/user/${user_id}/file_import`, {
    method: 'POST',
    headers: { ...headers, ...type },
    body: track,
  })
  const { id } = (await response.json()) as { id: string }
  for (;;) {
    const { status, error } = (await api('GET', `/v2/user/${user_id}/file_import/${id}`)) as { status: string; error: unknown }
    if (status === 'completed') return
    if (status === 'failed' || status === 'partial') throw new Error(`the track was not imported: ${JSON.stringify(error)}`)
    await sleep(100)
  }
}

/** The neighbor, until the returned function is called. */
function occupy(bench: Bench, { path, scan }: { path: string; scan: Parameters<typeof upload>[1] }) {
  const { url, headers, api } = bench
  const done = { posts: 0, refused_posts: 0, queries: 0, refused_queries: 0, scans: 0, imports: 0 }
  let isEnded = false
  const newUser = async (name: string) =>
    (await api('POST', '/v2/user', { client_user_id: `${name} ${performance.now()}` })).user_id as string
  const bodies = Array.from({ length: DAYS }, (_, day) => heartRates(FIRST_MS + day * 86_400_000, SAMPLES))
  const count = (status: number, name: 'posts' | 'queries'): void => {
    if (status === 200) done[name]++
    else if (status === 429 || status === 503) done[`refused_${name}`]++
    else throw new Error(`${name} of the neighbor: ${status}`)
  }
  const ask = async (name: 'posts' | 'queries', path: string, body: Uint8Array<ArrayBuffer> | string) => {
    const response = await fetch(url + path, { method: 'POST', headers, body })
    await response.arrayBuffer()
    count(response.status, name)
    if (response.status !== 200) await sleep(1000 * Number(response.headers.get('retry-after') ?? 1))
  }
  const posting = async (client: number) => {
    const user = await newUser(`neighbor ${client}`)
    for (let n = 0; !isEnded; n++) await ask('posts', `/v2/timeseries/${user}/heartrate`, bodies[n % DAYS]!)
  }
  const querying = async (user: string) => {
    const query = JSON.stringify({
      timeframe: { type: 'relative', anchor: '2025-03-01', past: { value: 1, unit: 'year' } },
      queries: [
        {
          select: [{ group_key: '*' }, { func: 'mean', arg: { timeseries: 'heartrate', field: 'value' } }],
          group_by: [{ date_trunc: { value: 1, unit: 'hour' }, arg: { index: 'timeseries' } }],
        },
      ],
    })
    while (!isEnded) await ask('queries', `/aggregate/v1/user/${user}/query`, query)
  }
  const scanning = async () => {
    for (let n = 0; n < SCANS && !isEnded; n++) {
      await upload(bench, scan)
      done.scans++
    }
  }
  const importing = async () => {
    const user_id = await newUser('neighbor of a file')
    await send({ url, headers, user_id }, path)
    done.imports++
  }
  const seeded = (async () => {
    const user = await newUser('neighbor of queries')
    for (const body of bodies) await ask('posts', `/v2/timeseries/${user}/heartrate`, body)
    return user
  })()
  const sent = seeded.then(() => Promise.all([scanning(), ...Array.from({ length: IMPORTS }, importing)]))
  const work = seeded.then((queriedTeam) =>
    Promise.all([
      ...Array.from({ length: CLIENTS }, (_, client) => posting(client)),
      ...Array.from({ length: QUERY_CLIENTS }, () => querying(queriedTeam)),
    ]),
  )
  const isBusy = seeded.then(async () => {
    await Promise.race([sent, sleep(20_000)])
    done.posts = done.queries = 0
  })
  return {
    isBusy,
    async end() {
      const counted = { ...done }
      isEnded = true
      await Promise.all([work, sent])
      return counted
    },
  }
}
