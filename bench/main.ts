// Speed against limits measured in the same run, on the same database. Prints figures and ratios; asserts nothing.
// Arguments choose parts, by the names below. `--write` also writes the figures to bench/RESULTS.md.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { measureConsole } from './console.ts'
import { deliverToEndpoints, measureLatency } from './delivery.ts'
import { measureFairness } from './fairness.ts'
import { ingestSamples, readSamples, readSummaries } from './ingestion.ts'
import { importExport } from './imports.ts'
import { measureLinks } from './links.ts'
import { readReports, readScans } from './lab-reports.ts'
import { median, medianMs, report } from './measure.ts'
import { createKits, createWalkIns, registerKits } from './orders.ts'
import { synchronizePhones } from './phones.ts'
import { withServer, type Bench } from './program.ts'
import { measureSlowReceivers } from './slow-receivers.ts'
import { findSites, listOrders, listUsers, readOrder } from './reads.ts'
import { measureResultIntake } from './result-intake.ts'
import { writeResults } from './results.ts'
import { readStream } from './streams.ts'
import { fillVisits, STAFF } from './visits.ts'

const parts: Record<string, (bench: Bench) => Promise<void>> = {
  memory: measureMemory,
  create: createKits,
  'walk-in': createWalkIns,
  register: registerKits,
  read: readOrder,
  deliver: async (bench) => {
    await deliverToEndpoints(bench, 4)
    await deliverToEndpoints(bench, 8)
  },
  latency: measureLatency,
  fairness: measureFairness,
  'slow-receivers': measureSlowReceivers,
  sites: findSites,
  visits: measureAvailability,
  intake: measureIntake,
  links: measureLinks,
  ingest: ingestSamples,
  phones: synchronizePhones,
  samples: readSamples,
  summaries: readSummaries,
  stream: readStream,
  'lab-reports': readReports,
  scans: readScans,
  'apple-export': importExport,
  'list-users': listUsers,
  console: measureConsole,
  // Last, since it leaves a million orders.
  list: listOrders,
}

const chosen = process.argv.slice(2).filter((argument) => argument !== '--write')
for (const name of chosen)
  if (!parts[name]) throw new Error(`There is no part ${name}; the parts are ${Object.keys(parts).join(', ')}.`)

await withServer(async (bench) => {
  report('', 'ours', 'limit', 'ratio', 'goal')
  for (const [name, measure] of Object.entries(parts)) if (!chosen.length || chosen.includes(name)) await measure(bench)
})
if (process.argv.includes('--write')) writeResults(chosen)

async function measureMemory({ pid }: Bench): Promise<void> {
  await sleep(10_000)
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mb = Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024
  report('idle memory of the server', `${mb.toFixed(0)} MB`, '', '', 'under 150 MB')
}

async function measureAvailability({ url, demo, team, db }: Bench): Promise<void> {
  const { org_id, management_key } = demo
  const ask = await fillVisits(db, { url, key: demo.api_keys['production-us']!, management_key, org_id, team })
  const ms = await medianMs(ask, 100)
  report(`availability of 14 days for ${STAFF} phlebotomists`, `${ms.toFixed(1)} ms median`, '', '', 'under 30 ms')
}

async function measureIntake({ connection, team, api }: Bench): Promise<void> {
  const { times_ms, results } = await measureResultIntake(connection, team, api, { markers: 100, count: 60 })
  // The first ones find nothing prepared.
  const ms = median(times_ms.slice(10))
  report('take in a result of 100 markers', `${ms.toFixed(1)} ms median`, '', `${results}`, 'under 15 ms; ratio: results')
}
