// The simulated laboratory with folders: it reads orders from one and writes its messages to another. A file appears there whole, because it is
// written under another name first.
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Laboratory } from './laboratory.ts'
import type { MessageSender } from './mllp-peer.ts'

/** A file is read when it has not changed for so long. */
const STABLE_MS = 1000

/** Reads the order files of a folder, oldest first, and moves them to its subfolder `done`. Answers are written to the other folder. */
export function readOrderFiles(
  laboratory: Laboratory,
  folders: { orders: string; results: string },
  { time_ms, reportMessage }: { time_ms: number; reportMessage: (problem?: string) => void },
): void {
  mkdirSync(join(folders.orders, 'done'), { recursive: true })
  for (const name of readdirSync(folders.orders).toSorted()) {
    const path = join(folders.orders, name)
    const { mtimeMs, isFile } = fileState(path)
    if (!isFile || name.startsWith('.') || name.endsWith('.tmp') || time_ms - mtimeMs < STABLE_MS) continue
    reportMessage(answerFile(laboratory, path, { name, results: folders.results }))
    renameSync(path, join(folders.orders, 'done', name))
  }
}

function fileState(path: string) {
  const state = statSync(path)
  return { mtimeMs: state.mtimeMs, isFile: state.isFile() }
}

function answerFile(
  laboratory: Laboratory,
  path: string,
  { name, results }: { name: string; results: string },
): string | undefined {
  try {
    const { answers } = laboratory.receive(readFileSync(path))
    for (const [i, bytes] of answers.entries()) writeWhole(results, `${name}.answer-${i + 1}.hl7`, bytes)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** A message counts as acknowledged when its file is written. */
export function createFolderSender(folder: string): MessageSender {
  let isCutNext = false
  return {
    send: async ({ controlId, bytes }) => {
      if (isCutNext) writeFileSync(join(folder, `${controlId}.hl7`), bytes.subarray(0, bytes.length >> 1))
      isCutNext = false
      writeWhole(folder, `${controlId}.hl7`, bytes)
      return 'written'
    },
    cutNext: () => (isCutNext = true),
    close: () => {},
  }
}

function writeWhole(folder: string, name: string, bytes: Buffer): void {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, name)
  writeFileSync(`${path}.tmp`, bytes)
  renameSync(`${path}.tmp`, path)
}
