// The import of a large Apple Health export: time, memory of the server, and what other requests notice of it.
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeAll, zipArchive } from '../test/support/zip.ts'
import { appleExport, ofSize } from './apple-export.ts'
import { median, report } from './measure.ts'
import { sampleProcessorTime } from './processor-time.ts'
import type { Bench } from './program.ts'

const MEGABYTES = Number(process.env.BENCH_EXPORT_MB ?? 2000)
/** Between two looks at the import, which cost the server as much as reading does. */
const PAUSE_MS = 250
const PART_BYTES = 8 * 1024 * 1024

interface State {
  id: string
  status: string
  accepted: number
  created: number
  error: unknown
}

const rss = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

/** Prints the seconds, the rate and the peak of memory, with the median of a read of another resource beside it. */
export async function importExport(bench: Bench): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-export-'))
  try {
    const path = join(folder, 'export.zip')
    let content = 0
    const counted = (function* () {
      for (const block of appleExport(ofSize(MEGABYTES * 1e6))) {
        const bytes = Buffer.from(block)
        content += bytes.length
        yield bytes
      }
    })()
    await writeAll(zipArchive([{ name: 'apple_health_export/export.xml', content: counted }]), createWriteStream(path))
    const read = () => durationOf(() => bench.api('GET', `/v3/order/${bench.order_id}`))
    for (let i = 0; i < 50; i++) await read()
    const before = rss(bench.pid)
    const alone: number[] = []
    for (let i = 0; i < 100; i++) alone.push(await read())
    const started = performance.now()
    const id = await send(bench, path)
    let peak = before
    const beside: number[] = []
    let state!: State
    const used = await sampleProcessorTime(bench, async () => {
      do {
        beside.push(await read())
        peak = Math.max(peak, rss(bench.pid))
        await sleep(PAUSE_MS)
        state = await bench.api('GET', `/v2/user/${bench.user_id}/file_import/${id}`)
      } while (state.status === 'queued' || state.status === 'importing')
      return state.accepted
    })
    if (state.status !== 'completed') throw new Error(`the import ended as ${JSON.stringify(state)}`)
    const seconds = (performance.now() - started) / 1000
    const mb = content / 1e6
    const name = `Apple export of ${(mb / 1000).toFixed(2)} GB`
    report(name, `${seconds.toFixed(0)} s`, `${(mb / seconds).toFixed(1)} MB/s`, '', 'under 10 minutes for 2 GB')
    report('  records stored a second', `${Math.round(state.accepted / seconds)}/s`, '', '', '')
    const processor = [used.server_us, used.database_us].map((us) => us.toFixed(0)).join(' + ')
    report('  processor time of each', `${processor} µs`, '', '', 'server and database')
    report('  peak memory of the server', `${peak.toFixed(0)} MB`, `${before.toFixed(0)} MB before`, '', 'under 400 MB')
    const [own, other] = [median(beside), median(alone)]
    report(
      '  read an order meanwhile, median',
      `${own.toFixed(1)} ms`,
      `${other.toFixed(1)} ms alone`,
      (own / other).toFixed(2),
      '',
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function durationOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Sends a file in parts. @returns the id of its import */
export async function send({ url, headers, user_id }: Pick<Bench, 'url' | 'headers' | 'user_id'>, path: string): Promise<string> {
  const { size } = statSync(path)
  let id: string | undefined
  let at = 0
  for await (const part of createReadStream(path, { highWaterMark: PART_BYTES }) as AsyncIterable<Buffer>) {
    const is_last = at + part.length === size
    const base = `${url}/v2/user/${user_id}/file_import`
    const target = id === undefined ? `${base}?is_last=${is_last}` : `${base}/${id}?offset=${at}&is_last=${is_last}`
    const response = await fetch(target, {
      method: id === undefined ? 'POST' : 'PUT',
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: new Uint8Array(part),
    })
    if (response.status !== 202) throw new Error(`a part: ${response.status} ${await response.text()}`)
    id = ((await response.json()) as State).id
    at += part.length
  }
  return id!
}
