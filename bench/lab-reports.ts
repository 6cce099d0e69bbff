// Lab reports: a text PDF from its upload to `completed`, and what the parser takes beside the bare extraction of the same text.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { composeDocument } from '../eval/corpus/compose/document.ts'
import { createFiles, type InputFile, type Kind } from '../eval/corpus/kinds.ts'
import { layouts } from '../eval/corpus/layouts/all.ts'
import { withDocument } from '../src/lab-reports/pages/pdf.ts'
import { readReport } from '../src/lab-reports/reading/read-report.ts'
import { Worker } from 'node:worker_threads'
import { median, medianMs, report, WARM_UPS } from './measure.ts'
import { processorSeconds } from './processor-time.ts'
import { apiWith, type Bench } from './program.ts'

const REPORTS = 30
const POLL_MS = 10
/** A scan takes seconds; asking for it more often would take the processor from those who read it. */
export const POLL_SCAN_MS = 200

/** The first document of one page that the corpus has of a kind. */
export async function onePage(kind: Kind): Promise<InputFile[]> {
  for (const layout of layouts) {
    const document = composeDocument(layout, 1)
    if (document.pages.length === 1) return createFiles(document, kind)
  }
  throw new Error('the corpus has no layout of one page')
}

/** What uploads need: a team, one report of which is read at a time. */
export type Uploader = Pick<Bench, 'url' | 'headers' | 'user_id' | 'api'>

interface Job {
  id: string
  status: string
  failure_reason: string | null
}

export async function upload({ url, headers, user_id }: Uploader, files: readonly InputFile[]): Promise<string> {
  const form = new FormData()
  form.set('user_id', user_id)
  for (const { bytes, type } of files) form.append('file', new Blob([new Uint8Array(bytes)], { type }), 'report')
  const { 'content-type': _, ...rest } = headers
  const response = await fetch(`${url}/lab_report/v1/parser/job`, { method: 'POST', headers: rest, body: form })
  if (!response.ok) throw new Error(`the upload: ${response.status} ${await response.text()}`)
  return ((await response.json()) as Job).id
}

export async function awaitCompletion({ api }: Uploader, id: string, poll_ms = POLL_MS): Promise<void> {
  for (;;) {
    const { status, failure_reason }: Job = await api('GET', `/lab_report/v1/parser/job/${id}`)
    if (status === 'completed') return
    if (status === 'failed') throw new Error(`the report was not read: ${failure_reason}`)
    await sleep(poll_ms)
  }
}

const rss = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

/** Uploads reports of one page one after another, then several at once, and prints what that takes in time and memory. */
export async function readReports(bench: Bench): Promise<void> {
  const files = await onePage('text')
  const one = async (): Promise<void> => awaitCompletion(bench, await upload(bench, files))
  const before = rss(bench.pid)
  const ms = await medianMs(one, REPORTS)
  report('a text PDF of one page, upload to completed', `${ms.toFixed(0)} ms median`, '', '', 'under 400 ms')

  const extract = () =>
    withDocument(files[0]!.bytes, async (document) => {
      const page = await document.getPage(1)
      await page.getTextContent({ disableNormalization: false })
    })
  const times = { parser: [] as number[], extraction: [] as number[] }
  // Alternately, so that what else the machine does affects both.
  for (let i = 0; i < WARM_UPS + REPORTS; i++)
    for (const [name, work] of [
      ['parser', () => readReport(files)],
      ['extraction', extract],
    ] as const) {
      const started = performance.now()
      await work()
      if (i >= WARM_UPS) times[name].push(performance.now() - started)
    }
  const [parser, extraction] = [median(times.parser), median(times.extraction)]
  report(
    '  the parser beside the extraction of text',
    `${parser.toFixed(1)} ms`,
    `${extraction.toFixed(1)} ms`,
    (parser / extraction).toFixed(2),
    'at most 3',
  )

  let peak = before
  const started = performance.now()
  const ids: string[] = []
  // As many uploads of a team as wait for their files to be looked at.
  const send = async (): Promise<void> => {
    while (ids.length < REPORTS) {
      ids.push(await upload(bench, files))
      peak = Math.max(peak, rss(bench.pid))
    }
  }
  await Promise.all([send(), send()])
  for (const id of ids) {
    await awaitCompletion(bench, id)
    peak = Math.max(peak, rss(bench.pid))
  }
  const perMinute = (ids.length / (performance.now() - started)) * 60_000
  report('  many at once', `${Math.round(perMinute)}/min`, '', '', '')
  report('  peak memory of the process, text', `${peak.toFixed(0)} MB`, `${before.toFixed(0)} MB before`, '', '')
}

/** Rounds of scans, and the pages that each of the two teams, and each of the two bare engines, reads in a round. */
const [ROUNDS, PAGES] = [2, 2]

/**
 * Uploads scans of one page as two teams, so that two threads read them, and prints the pages a minute beside those that the networks alone
 * read in two threads of this process, alternately, and the memory of the server under that load.
 */
export async function readScans(bench: Bench): Promise<void> {
  const files = await onePage('scan')
  const teams: Uploader[] = [bench, await secondTeam(bench)]
  // All uploads of a team first, so that its next page waits in the queue when one has been read.
  const readByTeam = async (team: Uploader, pages: number): Promise<void> => {
    const ids: string[] = []
    for (let page = 0; page < pages; page++) ids.push(await upload(team, files))
    for (const id of ids) await awaitCompletion(team, id, POLL_SCAN_MS)
  }
  const engines = await Promise.all([bareEngine(files), bareEngine(files)])
  let [ours, bare, peak] = [0, 0, 0]
  // Of a processor: unlike pages a minute, they do not depend on what else the machine does.
  let [ourSeconds, bareSeconds] = [0, 0]
  const watch = setInterval(() => (peak = Math.max(peak, rss(bench.pid))), 200)
  for (let round = 0; round < ROUNDS; round++) {
    // Threads that have had nothing to do for 10 s are ended, and a new one loads the networks.
    await Promise.all(teams.map((team) => readByTeam(team, 1)))
    const before = await processorSeconds(bench)
    ours += await timeOf(() => Promise.all(teams.map((team) => readByTeam(team, PAGES))))
    const after = await processorSeconds(bench)
    ourSeconds += after.server + after.database - before.server - before.database
    const usage = process.cpuUsage()
    bare += await timeOf(() => Promise.all(engines.map(({ read }) => read(PAGES))))
    const { user, system } = process.cpuUsage(usage)
    bareSeconds += (user + system) / 1e6
  }
  clearInterval(watch)
  await Promise.all(engines.map(({ stop }) => stop()))
  const perMinute = (ms: number) => (2 * ROUNDS * PAGES * 60_000) / ms
  report(
    'pages of scans, two threads',
    `${perMinute(ours).toFixed(1)}/min`,
    `${perMinute(bare).toFixed(1)}/min`,
    (bare / ours).toFixed(2),
    'at least 0.8',
  )
  const ofPage = (seconds: number) => `${(seconds / (2 * ROUNDS * PAGES)).toFixed(1)} s`
  report('  processor time of a page', ofPage(ourSeconds), ofPage(bareSeconds), (bareSeconds / ourSeconds).toFixed(2), '')
  report('  peak memory of the process, scans', `${peak.toFixed(0)} MB`, '', '', '')
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** A team of another cell. */
async function secondTeam({ url, demo }: Bench): Promise<Uploader> {
  const headers = { 'x-service-api-key': demo.api_keys['sandbox-eu']!, 'content-type': 'application/json' }
  const api = apiWith(url, headers)
  const { user_id } = await api('POST', '/v2/user', { client_user_id: 'bench' })
  return { url, headers, user_id, api }
}

/** The networks in a thread, warmed up. */
async function bareEngine(
  files: readonly InputFile[],
): Promise<{ read(pages: number): Promise<unknown>; stop(): Promise<unknown> }> {
  const worker = new Worker(new URL('./bare-ocr.task.ts', import.meta.url), { workerData: files[0]!.bytes })
  await once(worker, 'message')
  return {
    read: async (pages) => {
      worker.postMessage(pages)
      await once(worker, 'message')
    },
    stop: () => worker.terminate(),
  }
}
