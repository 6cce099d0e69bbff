/**
 * The folders of the bundled PostgreSQL: `<dataDir>/postgres` with the cluster, its password, its socket folder. The cluster folder appears
 * complete or not at all. This file never talks to a running server. Only the owner may call functions that take a `Home`.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { errorCode, permissionHint, createRunner, runCommand, type Account, type Binaries, type Runner } from './account.ts'
import { terminateOrphans } from './processes.ts'

export interface Connection {
  host: string
  port: number
  user: string
  password: string
  database: string
}

/** The paths and the account that the owner of a data folder uses. */
export interface ClusterHome {
  /** real path */
  dataDir: string
  binaries: Binaries
  account: Account | undefined
  run: Runner
}

const name = 'drawbridge'
/** Only part of a file name here: there is no TCP. */
const port = 5432
const socketPathBytesMax = process.platform === 'darwin' ? 103 : 107

export const clusterFolder = (dataDir: string): string => join(dataDir, 'postgres')
export const passwordFile = (dataDir: string): string => join(dataDir, 'postgres.password')

/**
 * Creates the data folder if there is none, closed to other accounts (as root: except for the group of PostgreSQL's account, which must be
 * able to pass through). Returns its real path. Errors: it cannot be created, or is not writable.
 */
export function prepareDataDir(dataDir: string, account: Account | undefined): string {
  try {
    createParents(dirname(resolve(dataDir)), account)
    const isRestricted = restrictPermissions(dataDir, account && { ...account, uid: 0 })
    if (isRestricted && account) fs.chmodSync(dataDir, 0o710)
    fs.readdirSync(dataDir)
    fs.accessSync(dataDir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
    return fs.realpathSync(dataDir)
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code) throw error
    throw new Error(
      `The data folder ${resolve(dataDir)} is not writable (${errorCode(error)}): change its permissions or set DATA_DIR.`,
    )
  }
}

/** Creates the folders above the data folder. The account of PostgreSQL must be able to pass through the new ones. */
function createParents(parent: string, account: Account | undefined): void {
  const first = fs.mkdirSync(parent, { recursive: true, mode: 0o700 })
  if (first === undefined || !account) return
  for (let path = parent; path.length >= first.length; path = dirname(path)) fs.chmodSync(path, 0o711)
}

/** False: a file or folder of that name exists already. */
function restrictPermissions(folder: string, account: Account | undefined): boolean {
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
  if (account) changeOwner(account, folder)
  return true
}

/** Not chown: in a folder of another account, a link may replace the folder that we have just created. */
function changeOwner(account: Account, path: string): void {
  try {
    fs.lchownSync(path, account.uid, account.gid)
  } catch (error) {
    throw new Error(permissionHint(account.name, error))
  }
}

/** The path of the socket: inside the cluster, or below the folder for temporary files if that path is too long. */
export function socketFolder(dataDir: string): string {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  const places = [join(clusterFolder(dataDir), 'run'), join(tmpdir(), `${name}-${hash}`)]
  return places.find((place) => Buffer.byteLength(`${place}/.s.PGSQL.${port}`) <= socketPathBytesMax) ?? `/tmp/${name}-${hash}`
}

/** Errors: the account cannot access the folders it needs. */
export function locateCluster(dataDir: string, binaries: Binaries, account: Account | undefined): ClusterHome {
  const folder = clusterFolder(dataDir)
  const parents = [fs.existsSync(folder) ? dirname(fs.realpathSync(folder)) : dataDir]
  const socket = socketFolder(dataDir)
  if (dirname(socket) !== folder) parents.push(fs.realpathSync(dirname(socket)))
  return { dataDir, binaries, account, run: createRunner(account, binaries, parents) }
}

/** Creates the socket folder and empties it. Errors: a folder of another account is in its place. */
export function prepareSocketFolder(folder: string, account: Account | undefined): void {
  restrictPermissions(folder, account)
  const found = fs.lstatSync(folder)
  if (!found.isDirectory() || found.uid !== (account?.uid ?? process.getuid?.()) || (found.mode & 0o077) !== 0) {
    throw new Error(`The folder ${folder} for PostgreSQL's socket is not a private folder of its account: remove it.`)
  }
  for (const file of fs.readdirSync(folder)) fs.rmSync(join(folder, file), { force: true })
}

/**
 * The connection settings of the application; undefined while there is no cluster with a password. The superuser's password is that of the
 * file.
 */
export function connectionFor(dataDir: string, host: string): Connection | undefined {
  const secret = readSecret(dataDir)
  return secret ? { host, port, user: name, password: rolePassword(secret), database: name } : undefined
}

/**
 * The connection settings of the superuser, for operations that the application's role may not do. Code that serves requests never uses it.
 */
export function superuserConnection(dataDir: string, host: string): Connection | undefined {
  const secret = readSecret(dataDir)
  return secret ? { host, port, user: 'postgres', password: secret, database: name } : undefined
}

/**
 * Iterations protect passwords that can be guessed, and cost 2 ms for each connection; these passwords are 256 random bits, or derived from
 * them.
 */
const QUICK = ['-c', 'scram_iterations=1']

/** The application must not be able to derive the superuser's password from its own. */
const rolePassword = (secret: string) => createHmac('sha256', secret).update(name).digest('hex')

function readSecret(dataDir: string): string | undefined {
  try {
    return fs.readFileSync(passwordFile(dataDir), 'utf8').trim() || undefined
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw new Error(`The file ${passwordFile(dataDir)} cannot be read (${errorCode(error)}): give it to the account that starts.`)
  }
}

function writeSecret(dataDir: string, secret: string): void {
  const file = passwordFile(dataDir)
  fs.rmSync(`${file}.new`, { force: true })
  fs.writeFileSync(`${file}.new`, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true })
  fs.renameSync(`${file}.new`, file)
}

/**
 * Ensures that there is a cluster that this PostgreSQL can serve. Errors: the cluster has another major version or another owner, the
 * folder holds other files, initdb fails.
 */
export async function prepareCluster(home: ClusterHome): Promise<void> {
  for (const file of fs.readdirSync(home.dataDir)) {
    if (file.startsWith('postgres.init-')) await removeIncompleteCluster(join(home.dataDir, file))
  }
  const folder = clusterFolder(home.dataDir)
  if (!fs.existsSync(folder) || isEmpty(folder)) return createCluster(home)
  const version = readClusterVersion(folder)
  const major = home.binaries.version.split('.')[0]
  if (version !== major) {
    throw new Error(
      `The data in ${folder} were written by PostgreSQL ${version} and this Drawbridge brings PostgreSQL ${major}: they are ` +
        `untouched; convert a copy with pg_upgrade or a dump, or go back to the release that brought ${version}.`,
    )
  }
  adoptCluster(folder, home.account)
}

function isEmpty(folder: string): boolean {
  try {
    return fs.readdirSync(folder).length === 0
  } catch (error) {
    throw new Error(`The folder ${folder} cannot be read (${errorCode(error)}): start as the account that owns it.`)
  }
}

function readClusterVersion(folder: string): string {
  try {
    return fs.readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim()
  } catch (error) {
    throw new Error(
      `The folder ${folder} is not empty and is not a PostgreSQL data directory (PG_VERSION: ${errorCode(error)}); it was not changed.`,
    )
  }
}

/** A backup restored by root belongs to root and may be readable by all: PostgreSQL would refuse both. */
function adoptCluster(folder: string, account: Account | undefined): void {
  const { uid, mode } = fs.statSync(folder)
  const mine = account?.uid ?? process.getuid?.()
  if (uid !== mine && account) {
    for (const file of fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      changeOwner(account, join(folder, file))
    }
    fs.chownSync(folder, account.uid, account.gid)
  } else if (uid !== mine) {
    throw new Error(`The folder ${folder} belongs to another account (uid ${uid}): start as that account.`)
  }
  if ((mode & 0o027) !== 0) fs.chmodSync(folder, 0o700)
}

async function createCluster({ dataDir, binaries, account, run }: ClusterHome): Promise<void> {
  const secret = readSecret(dataDir) ?? randomBytes(32).toString('hex')
  writeSecret(dataDir, secret)
  const draft = join(dataDir, `postgres.init-${process.pid}-${randomBytes(4).toString('hex')}`)
  restrictPermissions(draft, account)
  const draftPassword = join(draft, 'password')
  fs.writeFileSync(draftPassword, secret, { mode: 0o600 })
  if (account) changeOwner(account, draftPassword)
  const cluster = join(draft, 'cluster')
  const text = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const access = ['--username=postgres', `--pwfile=${draftPassword}`, '--auth=scram-sha-256']
  await runCommand(run, binaries.initdb, ['-D', cluster, ...text, ...access, ...QUICK, '--data-checksums', '--no-instructions'])
  const role = `create role ${name} login createdb createrole password '${rolePassword(secret)}'`
  await runSingleUser(cluster, binaries, run, [role, `create database ${name} owner ${name}`])
  fs.renameSync(cluster, clusterFolder(dataDir))
  const directory = fs.openSync(dataDir, 'r')
  fs.fsyncSync(directory)
  fs.closeSync(directory)
  await removeIncompleteCluster(draft)
}

async function removeIncompleteCluster(draft: string): Promise<void> {
  await terminateOrphans(join(draft, 'cluster'))
  fs.rmSync(draft, { recursive: true, force: true, maxRetries: 5 })
}

/** For a cluster whose password file is lost (a backup without it) or was removed because it did not match. No server may run. */
export async function renewPassword({ dataDir, binaries, run }: ClusterHome): Promise<void> {
  const secret = randomBytes(32).toString('hex')
  const roles = { postgres: secret, [name]: rolePassword(secret) }
  const statements = Object.entries(roles).map(([role, password]) => `alter role ${role} password '${password}'`)
  await runSingleUser(clusterFolder(dataDir), binaries, run, statements)
  writeSecret(dataDir, secret)
}

function runSingleUser(folder: string, binaries: Binaries, run: Runner, statements: string[]): Promise<void> {
  const settings = [...QUICK, '-c', 'log_min_messages=error', '-c', 'log_min_error_statement=panic']
  return runCommand(run, binaries.postgres, ['--single', '-D', folder, ...settings, 'postgres'], `${statements.join('\n')}\n`)
}
