// Runs commands on the database of the settings.
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { Leaf, CommandContext, Typed } from './command-tree.ts'
import { readConfig } from '../platform/config/config.ts'
import { openDatabase, requireUsableSchemas } from '../app/database.ts'
import { print, write } from './output.ts'
import { createLog } from '../platform/telemetry/log.ts'

async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}

/**
 * Runs a command on a database that has the schemas of this program, or newer ones that are compatible, and prints its result. It creates
 * no database. Errors: those of the command, of the settings and of the database; an Error if a part was rejected.
 */
export async function administer(leaf: Leaf, typed: Typed): Promise<void> {
  const config = readConfig(process.env)
  const database = await openDatabase(config, createLog('silent'), { ownership: 'if-free', create: false })
  const context: CommandContext = {
    config: { ...config, data_dir: resolve(config.data_dir) },
    write,
    ask: process.stdin.isTTY && process.stderr.isTTY ? ask : undefined,
  }
  try {
    await requireUsableSchemas(config, database)
    const outcome = await leaf.onCells!(database.cells, typed, context)
    await print(typeof outcome === 'string' ? outcome : outcome.printed)
    if (typeof outcome === 'string') return
    if (outcome.failure !== undefined) throw new Error(outcome.failure)
  } finally {
    await database.close()
  }
}
