// `backup` and `restore`: the bundled database as a folder of files, taken while everything runs. A PostgreSQL of the operator has tools of
// its own.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  readdirSync,
} from 'node:fs'
import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { CommandContext, Typed } from '../command-tree.ts'
import { printJson } from '../command-output.ts'
import { recordBackup } from '../../console/health/backups.ts'
import { openDatabase } from '../../app/database.ts'
import { readConfig, type Config } from '../../settings/config.ts'
import { KeyFile } from '../../platform/crypto/key-file.ts'
import { findBinaries } from '../../platform/embedded-postgres/account.ts'
import { withBaseBackup } from '../../platform/embedded-postgres/base-backup.ts'
import { clusterFolder, passwordFile } from '../../platform/embedded-postgres/cluster.ts'
import { version } from '../../platform/runtime/version.ts'
import { matchesSchema, T, type Static } from '../../platform/schema/schema.ts'
import { createLog } from '../../platform/telemetry/log.ts'

const ARCHIVE = 'postgres.tar.gz'
const MANIFEST = 'backup.json'
/** The encrypted files of lab reports, where they are kept on disk. */
const REPORT_FILES = 'report-files'
/** Little of the time of a fast level, and half of the bytes of none. */
const COMPRESSION_LEVEL = 3

/** Written when the rest is: a folder without it is not a backup. */
const Manifest = T.Object({
  format: T.Literal('drawbridge-backup-1'),
  created_at: T.String(),
  drawbridge: T.String(),
  postgres: T.String(),
  archive: T.Object({ bytes: T.Integer(), sha256: T.String() }),
})
type Manifest = Static<typeof Manifest>

const OWN_POSTGRES =
  'DATABASE_URL names a PostgreSQL of yours, which its own tools back up and restore: see docs/operating/backup.md.'

/** The settings, with the data folder as a whole path. Errors: Error with a PostgreSQL of the operator. */
function bundledConfig(env: Record<string, string | undefined>): Config {
  const config = readConfig(env)
  if (config.database_urls.control !== undefined) throw new Error(OWN_POSTGRES)
  return { ...config, data_dir: resolve(config.data_dir) }
}

/**
 * `backup`: copies the bundled database, and files of lab reports on disk, into a new folder, while servers and workers go on. The encryption keys are not in it.
 * Errors: Error for a folder that holds something, without a database, and where the folder cannot be written.
 */
export async function backUp(
  { args: [folder], values }: Typed<{ json?: boolean }>,
  { env, print }: Pick<CommandContext, 'env' | 'print'>,
): Promise<void> {
  const config = bundledConfig(env)
  const to = resolve(folder!)
  await makeEmptyFolder(to)
  const database = await openDatabase(config, createLog('silent'), { ownership: 'if-free', create: false })
  let copy: { result: Manifest['archive']; completed_at: Date }
  let isRecorded: boolean
  try {
    copy = await withBaseBackup(config.data_dir, (tar) => writeArchive(tar, join(to, ARCHIVE)))
    const { completed_at, result } = copy
    isRecorded = await recordBackup(database.cells.control.queries, { completed_at, bytes: result.bytes }).then(
      () => true,
      () => false,
    )
  } finally {
    await database.close()
  }
  for (const file of [passwordFile(config.data_dir), join(config.data_dir, 'demo.json')])
    if (existsSync(file)) copyPrivately(file, to)
  // After the database: a file is written before the row that names it. Those written since are of no row, and do no harm.
  if (existsSync(config.report_folder)) cpSync(config.report_folder, join(to, REPORT_FILES), { recursive: true })
  const archive = copy.result
  const manifest: Manifest = {
    format: 'drawbridge-backup-1',
    created_at: copy.completed_at.toISOString(),
    drawbridge: version,
    postgres: findBinaries().version,
    archive,
  }
  await writeFile(join(to, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true })
  if (values.json) return print(printJson({ folder: to, ...manifest }))
  const keys = config.encryption_keys.length ? 'ENCRYPTION_KEYS' : new KeyFile(config.data_dir).path
  await print(
    `Backup complete: ${to} (${megabytes(archive.bytes)}).\nThe encryption keys are not in it. Keep a copy of ${keys} in another place.\n${isRecorded ? '' : 'The database did not record it, so that the console does not show it.\n'}`,
  )
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

async function makeEmptyFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if (readdirSync(folder).length) throw new Error(`${folder} is not empty. Name a new folder for each backup.`)
    // The folder may have been there.
    chmodSync(folder, 0o700)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === undefined ? error : new Error(`The folder ${folder} cannot be made (${code}).`)
  }
}

async function writeArchive(tar: Readable, path: string): Promise<Manifest['archive']> {
  const sum = createHash('sha256')
  let bytes = 0
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      sum.update(chunk)
      bytes += chunk.length
      callback(null, chunk)
    },
  })
  const file = createWriteStream(path, { mode: 0o600, flush: true })
  await pipeline(tar, createGzip({ level: COMPRESSION_LEVEL }), measure, file)
  return { bytes, sha256: sum.digest('hex') }
}

function copyPrivately(file: string, folder: string): void {
  const copy = join(folder, file.split('/').at(-1)!)
  copyFileSync(file, copy)
  chmodSync(copy, 0o600)
}

/**
 * `restore`: puts the database of a backup into DATA_DIR, which must have none. The next start continues from it.
 * Errors: Error for a folder that is not a whole backup, for one of another PostgreSQL, and where there is a database.
 */
export async function restore({ args: [folder] }: Typed, { env, print }: Pick<CommandContext, 'env' | 'print'>): Promise<void> {
  const config = bundledConfig(env)
  const from = resolve(folder!)
  const manifest = readManifest(from)
  const bundled = findBinaries().version
  if (manifest.postgres.split('.')[0] !== bundled.split('.')[0])
    throw new Error(
      `The backup is of PostgreSQL ${manifest.postgres}, and this Drawbridge brings ${bundled}: restore it with Drawbridge ${manifest.drawbridge}.`,
    )
  const cluster = clusterFolder(config.data_dir)
  if (existsSync(cluster))
    throw new Error(
      `There is a database in ${config.data_dir}. Stop Drawbridge and move ${cluster} away first. Nothing was changed.`,
    )
  await mkdir(config.data_dir, { recursive: true, mode: 0o700 })
  // A start removes folders of this name that an interrupted command has left.
  const draft = join(config.data_dir, `postgres.init-restore-${process.pid}`)
  try {
    await mkdir(draft, { mode: 0o700 })
    await unpack(join(from, ARCHIVE), draft, manifest.archive.sha256)
    for (const name of ['postgres.password', 'demo.json'])
      if (existsSync(join(from, name)) && !(name === 'demo.json' && existsSync(join(config.data_dir, name))))
        copyPrivately(join(from, name), config.data_dir)
    const files = join(from, REPORT_FILES)
    if (existsSync(files)) cpSync(files, config.report_folder, { recursive: true, force: false })
    await rename(draft, cluster)
    await synchronize(config.data_dir)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  const keys = new KeyFile(config.data_dir)
  const missing =
    config.encryption_keys.length || keys.exists ? '' : `Put the encryption keys back as ${keys.path} before the next start.\n`
  await print(`Restored as of ${manifest.created_at} into ${config.data_dir}.\n${missing}`)
}

function readManifest(folder: string): Manifest {
  let manifest: unknown
  try {
    manifest = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8'))
  } catch {
    throw new Error(`${folder} is not a whole backup: it has no readable ${MANIFEST}.`)
  }
  if (!matchesSchema(Manifest, manifest)) throw new Error(`${join(folder, MANIFEST)} is not that of a backup of this program.`)
  return manifest
}

/** Errors: Error if the archive is not the one that was written, or cannot be unpacked. */
async function unpack(archive: string, folder: string, sha256: string): Promise<void> {
  const sum = createHash('sha256')
  const tar = spawn('tar', ['-xpzf', '-', '--no-same-owner', '-C', folder], { stdio: ['pipe', 'ignore', 'pipe'] })
  let complaint = ''
  tar.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(0, 1000)))
  const ended = once(tar, 'close').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`tar cannot be run (${error.code}).`)
  })
  const read = createReadStream(archive).on('data', (chunk) => sum.update(chunk))
  const piped = pipeline(read, tar.stdin).catch((error: NodeJS.ErrnoException) => error)
  const [code] = (await ended) as [number | null]
  const failure = await piped
  if (failure && failure.code !== 'EPIPE') throw new Error(`${archive} cannot be read (${failure.code}).`)
  if (sum.digest('hex') !== sha256)
    throw new Error(`${archive} is not the archive that was backed up: it was changed or cut off.`)
  if (code !== 0) throw new Error(`tar could not unpack ${archive}: ${complaint.split('\n')[0] || `it ended with ${code}`}`)
}

/** Puts what was written on the disk. */
async function synchronize(folder: string): Promise<void> {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name)
    if (!(await stat(path)).isFile()) continue
    const file = await open(path)
    await file.sync()
    await file.close()
  }
}
