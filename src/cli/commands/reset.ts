// `reset`: the demo as its first start makes it, with the keys that programs already have.
import { placeOfKey } from '../../settings/cells.ts'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { CommandContext, Typed } from '../command-tree.ts'
import { prepareDemo } from '../demo.ts'
import { publishDemo, readDemo } from '../demo-file.ts'
import { ask } from '../terminal.ts'
import { openDatabase } from '../../app/database.ts'
import { migrateAll } from '../../app/server.ts'
import { readConfig } from '../../settings/config.ts'
import { DataDirInUse, removeCluster } from '../../platform/embedded-postgres/embedded-postgres.ts'
import { createLog } from '../../platform/telemetry/log.ts'

/**
 * Deletes the bundled database of a demo and makes a new one: the catalog, the demo's organization, teams and keys, and nothing else.
 * Errors: Error without consent, while a server runs, and for a database that is not a demo's.
 */
export async function reset(
  { values }: Typed<{ yes?: boolean }>,
  { env, print, isTerminal }: Pick<CommandContext, 'env' | 'print' | 'isTerminal'>,
): Promise<void> {
  const config = readConfig(env)
  if (config.database_urls.control !== undefined)
    throw new Error('DATABASE_URL names a PostgreSQL of yours; reset deletes only the bundled database. Nothing was changed.')
  const demo = readDemo(config.data_dir)
  if (!demo || !config.demo)
    throw new Error(
      `No demo data found in ${resolve(config.data_dir)}: reset deletes only the database of a demo. Nothing was changed.`,
    )
  const dataDir = realpathSync(config.data_dir)
  const what = `This deletes every user, order and event of the demo in ${dataDir}, in all cells.`
  if (!values.yes) {
    if (!isTerminal) throw new Error(`${what} Say --yes for that. Nothing was changed.`)
    if (!(await ask(`${what} Go on?`))) throw new Error('Nothing was changed.')
  }
  try {
    await removeCluster(dataDir)
  } catch (error) {
    if (error instanceof DataDirInUse) throw new Error(`${error.message} Stop it first. Nothing was changed.`)
    throw error
  }
  await removeReportFiles(config.report_folder)
  const log = createLog('silent')
  const database = await openDatabase(config, log, { ownership: 'required', create: true })
  try {
    await migrateAll(config, database, log)
    const set = new Set(config.demo_keys.map(placeOfKey))
    const kept = [...Object.values(demo.api_keys), demo.management_key].filter((key) => !set.has(placeOfKey(key)))
    const fresh = await prepareDemo(database.cells, dataDir, [...config.demo_keys, ...kept])
    publishDemo(dataDir, { ...fresh, base_url: demo.base_url })
  } finally {
    await database.close()
  }
  await print('The demo is as its first start made it. Its keys are the same; the ids of its organization and teams are new.\n')
}

const JOB = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Deletes the files of lab reports, whose keys were in the database. Other files of the folder stay. */
async function removeReportFiles(folder: string): Promise<void> {
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (JOB.test(name)) await rm(join(folder, name), { recursive: true, force: true })
}
