// Lab reports: a text PDF from its upload to `completed`, and what the parser takes beside the bare extraction of the same text.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { composeDocument } from '../eval/corpus/compose/document.ts'
import { createFiles, type InputFile, type Kind } from '../eval/corpus/kinds.ts'
import { layouts } from '../eval/corpus/layouts/all.ts'
import { withDocument } from '../src/lab-reports/pages/pdf.ts'
import { readReport } from '../src/lab-reports/reading/read-report.ts'
import { median, medianMs, report, WARM_UPS } from './measure.ts'
import type { Bench } from './program.ts'

const REPORTS = 30
const POLL_MS = 10

/** The first document of one page that the corpus has of a kind. */
async function onePage(kind: Kind): Promise<InputFile[]> {
  for (const layout of layouts) {
    const document = composeDocument(layout, 1)
    if (document.pages.length === 1) return createFiles(document, kind)
  }
  throw new Error('the corpus has no layout of one page')
}

interface Job {
  id: string
  status: string
}

async function upload({ url, headers, user_id }: Bench, files: readonly InputFile[]): Promise<string> {
  const form = new FormData()
  form.set('user_id', user_id)
  for (const { bytes, type } of files) form.append('file', new Blob([new Uint8Array(bytes)], { type }), 'report')
  const { 'content-type': _, ...rest } = headers
  const response = await fetch(`${url}/lab_report/v1/parser/job`, { method: 'POST', headers: rest, body: form })
  if (!response.ok) throw new Error(`the upload: ${response.status} ${await response.text()}`)
  return ((await response.json()) as Job).id
}

async function completed({ api }: Bench, id: string): Promise<void> {
  for (;;) {
    const { status }: Job = await api('GET', `/lab_report/v1/parser/job/${id}`)
    if (status === 'completed') return
    if (status === 'failed') throw new Error('the report was not read')
    await sleep(POLL_MS)
  }
}

const rss = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

/** Uploads reports of one page one after another, then several at once, and prints what that takes in time and memory. */
export async function readReports(bench: Bench): Promise<void> {
  const files = await onePage('text')
  const one = async (): Promise<void> => completed(bench, await upload(bench, files))
  const before = rss(bench.pid)
  const ms = await medianMs(one, REPORTS)
  report('a text PDF of one page, upload to completed', `${ms.toFixed(0)} ms median`, '', '', 'under 400 ms')

  const extract = () =>
    withDocument(files[0]!.bytes, async (document) => {
      const page = await document.getPage(1)
      await page.getTextContent({ disableNormalization: false })
    })
  const times = { parser: [] as number[], extraction: [] as number[] }
  // By turns, so that what else the machine does affects both.
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
    await completed(bench, id)
    peak = Math.max(peak, rss(bench.pid))
  }
  const perMinute = (ids.length / (performance.now() - started)) * 60_000
  report('  many at once', `${Math.round(perMinute)}/min`, '', '', '')
  report('  peak memory of the process', `${peak.toFixed(0)} MB`, `${before.toFixed(0)} MB before`, '', '')
}
