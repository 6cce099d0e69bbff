// Runs commands on the database of the settings.
import { resolve } from 'node:path'
import type { CommandContext, Leaf, Typed } from './command-tree.ts'
import { readConfig } from '../settings/config.ts'
import { actorOf } from '../platform/access-log/access-line.ts'
import { openDatabase, requireUsableSchemas } from '../app/database.ts'
import { ask, write } from './terminal.ts'
import { createLog } from '../platform/telemetry/log.ts'

/**
 * Runs a command on a database that has the schemas of this program, or newer ones that are compatible, and prints its result. It creates
 * no database. Errors: those of the command, of the settings and of the database; an Error if a part was rejected.
 */
export async function administer(leaf: Leaf, input: Typed, { env, print }: CommandContext): Promise<void> {
  const settings = readConfig(env)
  const config = { ...settings, data_dir: resolve(settings.data_dir) }
  const database = await openDatabase(settings, createLog('silent'), { ownership: 'if-free', create: false })
  const isTerminal = process.stdin.isTTY && process.stderr.isTTY
  try {
    await requireUsableSchemas(settings, database)
    const default_cell = env.DRAWBRIDGE_CELL?.trim() || undefined
    const asked = isTerminal ? ask : undefined
    const actor = actorOf(input.person ?? env.SUDO_USER)
    const outcome = await leaf.onCells!({ ...input, actor, cells: database.cells, config, write, default_cell, ask: asked })
    await print(typeof outcome === 'string' ? outcome : outcome.output)
    if (typeof outcome !== 'string' && outcome.failure !== undefined) throw new Error(outcome.failure)
  } finally {
    await database.close()
  }
}
