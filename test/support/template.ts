// The template of the tests' databases: every schema migrated, every catalog loaded. It is made once for each state of migrations and data
// files and kept in `node_modules/.cache`, so that neither a test file that runs alone nor a whole run makes it again.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { contents } from '../../src/app/contents.ts'
import { catalogChecksum } from '../../src/lab/catalog/load.ts'
import { insuranceChecksum } from '../../src/people/insurance/load.ts'
import { Cells, schemaOf } from '../../src/platform/db/cells.ts'
import { cellNames } from '../../src/settings/cells.ts'
import type { Connection } from '../../src/platform/db/database.ts'
import { findBinaries } from '../../src/platform/embedded-postgres/account.ts'
import { openEmbedded } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { migrationsOf } from '../../src/platform/db/migrations.ts'
import { installationOf, protectionChecksum } from '../../src/platform/db/row-security.ts'
import { sitesChecksum } from '../../src/visits/psc/load-sandbox-sites.ts'
import { setTestIdentities } from './lab-identities.ts'
import { placeFoldersApart, removeLater, testDataDir, testSettings } from '../setup.ts'

type Server = Extract<Connection, { host: string }>

/** Databases of tests are copies of one, and have its roles. */
export const installation = installationOf('template')

const checksum = createHash('sha256')
  .update(
    [
      ...[...migrationsOf('cell'), ...migrationsOf('control')].map((migration) => migration.checksum),
      protectionChecksum(),
      catalogChecksum(),
      insuranceChecksum(),
      sitesChecksum(),
      findBinaries().version,
      readFileSync(new URL('../../src/platform/embedded-postgres/cluster.ts', import.meta.url)),
      readFileSync(new URL('lab-identities.ts', import.meta.url)),
    ].join(),
  )
  .digest('hex')
  .slice(0, 16)
const template = `template_${checksum}`

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/drawbridge-tests/', import.meta.url))
/** What a stopped server leaves beside its cluster. */
const LEFT_BEHIND = ['postgres.log', 'server.lock', 'server.pid']

/** Make the folder of the tests' server, with the template in it, unless it is there. Beforehand the template is made unless it is kept. */
export async function prepareTestDataDir(): Promise<void> {
  if (existsSync(testDataDir)) return
  const kept = await keptFolder(`cluster-${checksum}`, makeCluster)
  const made = mkdtempSync(`${testDataDir}.`)
  placeFoldersApart(made)
  const copy = join(made, `${process.pid}`)
  copyFolder(kept, copy)
  try {
    renameSync(copy, testDataDir)
  } catch (error) {
    // Another process was quicker.
    if (!existsSync(testDataDir)) throw error
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** A data folder on which `migrate` has run, for tests of whole programs to copy. @param run runs `migrate` with this `DATA_DIR` */
export const migratedDataDir = (run: (dataDir: string) => Promise<void>): Promise<string> =>
  keptFolder(`migrated-${checksum}`, run)

/** The name of the template. It is made here where the server has been used before with other migrations or data files. */
export async function templateDatabase(server: Server): Promise<string> {
  const admin = new pg.Client(server)
  await admin.connect()
  try {
    await admin.query('select pg_advisory_lock(7)')
    const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [template])
    if (!rowCount) await makeTemplate(server, admin)
    return template
  } finally {
    await admin.end()
  }
}

/** A folder of this name in the cache; made elsewhere first, so that what is in the cache is whole. */
async function keptFolder(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const kept = join(CACHE, name)
  if (existsSync(kept)) return kept
  const made = mkdtempSync(join(tmpdir(), 'drawbridge-template-'))
  // PostgreSQL's account has to pass.
  chmodSync(made, 0o755)
  const folder = join(made, 'data')
  try {
    await make(folder)
    for (const file of LEFT_BEHIND) rmSync(join(folder, file), { force: true })
    // A server that was stopped needs the first one alone; the others are empty, and a third of what is copied.
    const [, ...empty] = globSync(join(folder, 'postgres/pg_wal/????????????????????????')).sort()
    for (const segment of empty) rmSync(segment)
    const copy = `${kept}.${process.pid}`
    mkdirSync(dirname(kept), { recursive: true })
    copyFolder(folder, copy)
    // Those of other migrations and data files.
    const kind = `${name.split('-')[0]}-`
    for (const other of readdirSync(CACHE)) if (other.startsWith(kind) && !other.includes('.')) removeLater(join(CACHE, other))
    if (existsSync(kept)) removeLater(copy)
    else renameSync(copy, kept)
  } finally {
    removeLater(made)
  }
  return kept
}

/** With the accounts and the modes of the files, which PostgreSQL looks at. */
const copyFolder = (source: string, target: string): void => void execFileSync('cp', ['-Rp', source, target])

async function makeCluster(dataDir: string): Promise<void> {
  const embedded = await openEmbedded({ dataDir, ownership: 'required', log: () => {}, settings: testSettings })
  try {
    await templateDatabase(embedded.connection as Server)
  } finally {
    await embedded.stop()
  }
}

async function makeTemplate(server: Server, admin: pg.Client): Promise<void> {
  const database = `${template}_making`
  await admin.query(`drop database if exists ${database} with (force)`)
  await admin.query(`create database ${database}`)
  const connection = { ...server, database }
  await migrate(connection, 'control', 'control', { installation })
  for (const cell of cellNames) await migrate(connection, schemaOf(cell), 'cell', { installation })
  const options = { connection, connections_max: 2, checkRows: true, installation }
  const cells = new Cells(options, new Map(cellNames.map((cell) => [cell, options])))
  for (const cell of cellNames) {
    await contents.loadReferenceData(cells.db(cell), true)
    if (cell.startsWith('production')) await setTestIdentities(cells.db(cell))
  }
  await cells.close()
  await admin.query(`alter database ${database} rename to ${template}`)
}
