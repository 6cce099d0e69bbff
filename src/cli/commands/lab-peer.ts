// `bin/drawbridge lab-peer`: a simulated laboratory for trials of links.
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { UsageError } from '../command-tree.ts'
import type { Interpretation } from '../../lab-values/interpret.ts'
import { systemNow } from '../../platform/runtime/clock.ts'
import { findStep } from '../../sandbox/lab-peer/laboratory.ts'
import type { Address } from '../../sandbox/lab-peer/mllp-peer.ts'
import { offeredMarkers } from '../../sandbox/lab-peer/offered-markers.ts'
import { reportSteps, type ReportStep } from '../../sandbox/lab-peer/result-messages.ts'
import { runPeer, type PeerOptions } from '../../sandbox/lab-peer/run-peer.ts'

interface Values {
  listen?: string
  resultsTo?: string
  orders?: string
  results?: string
  lab?: string
  plan?: string
  pause?: string
  interpretation?: string
  plainAck?: boolean
  pdf?: string
  journal?: string
}

interface Context {
  signal: AbortSignal
  commands: Readable
  printNow: (text: string) => void
}

/** Runs `lab-peer`. Returns when the signal aborts. Errors: UsageError; Error an address is in use, a file cannot be read. */
export async function runLabPeer(values: Values, { signal, commands, printNow }: Context): Promise<void> {
  await runPeer(parseOptions(values), { signal, commands, print: (line) => printNow(`${line}\n`) })
}

function parseOptions(values: Values): PeerOptions {
  const { listen = '127.0.0.1:2575', resultsTo, orders, results, lab = 'quest', plan = 'status,final', journal, pdf } = values
  const hasFolders = orders !== undefined && results !== undefined
  if (!hasFolders && (orders !== undefined || results !== undefined))
    throw new UsageError('--orders and --results belong together.')
  if (!hasFolders && resultsTo === undefined) throw new UsageError('lab-peer requires --results-to, or --orders and --results.')
  const pause_s = Number(values.pause ?? 2)
  if (!(pause_s >= 0 && pause_s <= 86_400)) throw new UsageError('--pause must be a number of seconds.')
  return {
    markersOf: chooseMarkers(lab),
    interpretation: parseInterpretation(values.interpretation ?? 'normal'),
    plan: parsePlan(plan),
    isPlain: values.plainAck ?? false,
    currentTime: systemNow,
    pause_s,
    ...(hasFolders
      ? { folders: { orders, results } }
      : { listen: parseAddress(listen, '--listen'), results_to: parseAddress(resultsTo!, '--results-to') }),
    ...(pdf !== undefined && { pdf: readFileSync(pdf) }),
    ...(journal !== undefined && { journal }),
  }
}

function chooseMarkers(lab: string): PeerOptions['markersOf'] {
  try {
    return offeredMarkers(lab)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

const interpretations: readonly Interpretation[] = ['normal', 'abnormal', 'critical', 'unknown']

function parseInterpretation(text: string): Interpretation {
  const known = interpretations.find((name) => name === text)
  if (!known) throw new UsageError(`--interpretation must be one of ${interpretations.join(', ')}.`)
  return known
}

/** `none`: reports at commands alone. */
function parsePlan(text: string): ReportStep[] {
  if (text === 'none') return []
  return text.split(',').map((word) => {
    const step = findStep(word)
    if (!step) throw new UsageError(`--plan must be none, or a list of ${reportSteps.join(', ')}.`)
    return step
  })
}

function parseAddress(text: string, option: string): Address {
  const [, host, port] = /^(?:(.+):)?(\d{1,5})$/u.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535) throw new UsageError(`${option} must be HOST:PORT.`)
  return { host: host ?? '127.0.0.1', port: Number(port) }
}
