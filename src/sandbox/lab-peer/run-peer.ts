// `bin/drawbridge lab-peer`: runs the simulated laboratory until it is stopped. Commands come on the standard input, one a line.
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFolderSender, readOrderFiles } from './folder-peer.ts'
import { openJournal } from './journal.ts'
import { createLaboratory, findStep, reactions, type Laboratory, type LaboratoryOptions } from './laboratory.ts'
import { createMllpSender, listenForOrders, type Address, type MessageSender } from './mllp-peer.ts'
import { reportSteps } from './result-messages.ts'

export interface PeerOptions extends LaboratoryOptions {
  /** Orders come to this address. */
  listen?: Address
  /** Messages go to this address. */
  results_to?: Address
  /** Instead of addresses. */
  folders?: { orders: string; results: string }
  /** Seconds between two steps of the plan. */
  pause_s: number
  journal?: string
}

export interface PeerContext {
  signal: AbortSignal
  commands: Readable
  print: (line: string) => void
}

/** Between two attempts to deliver a message, and between two looks at a folder. */
const POLL_MS = 250
const RETRY_MS = 1000

/** Runs the laboratory until the signal aborts. Errors: Error the address is in use. */
export async function runPeer(options: PeerOptions, context: PeerContext): Promise<void> {
  const { signal, print } = context
  const journal = openJournal(options.journal)
  const laboratory = createLaboratory(journal, options)
  const sender = options.folders ? createFolderSender(options.folders.results) : createMllpSender(options.results_to!)
  const reportMessage = (problem?: string) => {
    print(
      problem === undefined ? `order message received; orders: ${laboratory.orders().length}` : `message not read: ${problem}`,
    )
  }
  const server = options.listen && (await listenForOrders(laboratory, options.listen, reportMessage))
  const port = (server?.address() as { port: number } | undefined)?.port
  print(options.folders ? `reading orders from ${options.folders.orders}` : `listening on ${options.listen!.host}:${port}`)
  readCommands(laboratory, sender, context)
  try {
    await Promise.all([
      sendMessages(laboratory, sender, context),
      followPlan(laboratory, options, signal),
      options.folders && pollFolder(laboratory, options, { signal, reportMessage }),
    ])
  } finally {
    sender.close()
    server?.close()
    journal.close()
  }
}

const HELP = `Commands: ${reportSteps.join(', ')} (each with the number of an order, or for the newest one), ${reactions.join(', ')} (for the orders to come), cut (send half of the next message first), list`

function readCommands(laboratory: Laboratory, sender: MessageSender, { commands, print, signal }: PeerContext): void {
  const lines = createInterface({ input: commands, signal })
  lines.on('line', (line) => {
    const [word = '', placer] = line.trim().split(/\s+/u)
    const step = findStep(word)
    const reaction = reactions.find((name) => name === word)
    try {
      if (step) laboratory.report(step, placer)
      else if (reaction) laboratory.setReaction(reaction)
      else if (word === 'cut') sender.cutNext()
      else return print(word === 'list' ? laboratory.orders().join('\n') || 'There are no orders.' : HELP)
      print(`done: ${line.trim()}`)
    } catch (error) {
      print((error as Error).message)
    }
  })
}

async function sendMessages(laboratory: Laboratory, sender: MessageSender, { signal, print }: PeerContext): Promise<void> {
  let problem = ''
  while (!signal.aborted) {
    const message = laboratory.nextMessage()
    if (!message) {
      await pause(POLL_MS, signal)
      continue
    }
    try {
      const code = await sender.send(message)
      laboratory.acknowledge(message.controlId, code)
      print(`message ${message.controlId}: ${code}`)
      problem = ''
    } catch (error) {
      // The same failure again says nothing new.
      const { message: text } = error as Error
      if (text !== problem) print(`message ${message.controlId} not delivered, will retry: ${text}`)
      problem = text
      await pause(RETRY_MS, signal)
    }
  }
}

/** Each order has its own next step; all orders pause together, which is enough for a trial. */
async function followPlan(laboratory: Laboratory, { pause_s }: PeerOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(Math.max(POLL_MS, pause_s * 1000), signal)
    if (signal.aborted) return
    for (const placer of laboratory.orders()) {
      const step = laboratory.nextStep(placer)
      if (step) laboratory.report(step, placer)
    }
  }
}

async function pollFolder(
  laboratory: Laboratory,
  { folders, currentTime }: PeerOptions,
  { signal, reportMessage }: { signal: AbortSignal; reportMessage: (problem?: string) => void },
): Promise<void> {
  while (!signal.aborted) {
    readOrderFiles(laboratory, folders!, { time_ms: currentTime().getTime(), reportMessage })
    await pause(POLL_MS, signal)
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<unknown> => sleep(ms, undefined, { signal }).catch(() => undefined)
