// A PostgreSQL of the operator, as tests of external databases need one: Debian's, with its tools, on a socket in a scratch folder.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, globSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { folder, onDatabase, waitUntil } from './program.ts'

/** Where Debian has the programs of its PostgreSQL; undefined where it is not installed. */
export const debianPostgres = (): string | undefined => globSync('/usr/lib/postgresql/*/bin').sort().at(-1)

export interface OwnPostgres {
  /** A database there, as a role. */
  url(database: string, role: string): string
  stop(): Promise<void>
}

/** PostgreSQL refuses root: then its files and its process are those of Debian's account nobody. */
const account: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

/**
 * A new, empty cluster with the superuser `postgres`, which lets everybody in who reaches its socket.
 * @param settings of the server
 */
export async function startPostgres(bin: string, name: string, settings: Record<string, string> = {}): Promise<OwnPostgres> {
  const home = folder(name)
  mkdirSync(home)
  if (account.uid !== undefined) chownSync(home, account.uid, account.gid!)
  chmodSync(home, 0o755)
  const data = join(home, 'data')
  const made = spawnSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync'], {
    ...account,
    cwd: home,
  })
  if (made.status !== 0) throw new Error(`initdb ended with ${made.status}: ${String(made.stderr)}`)
  const all = { listen_addresses: '', fsync: 'off', max_connections: '200', ...settings }
  const options = ['-D', data, '-k', home, ...Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`])]
  // Its connections to other servers look for certificates in the home of their account.
  const env = { ...process.env, HOME: home }
  const server: ChildProcess = spawn(join(bin, 'postgres'), options, { ...account, cwd: home, env, stdio: 'ignore' })
  const ended = once(server, 'close')
  process.once('exit', () => server.kill('SIGQUIT'))
  const url = (database: string, role: string) => `postgres://${role}@/${database}?host=${encodeURIComponent(home)}`
  const connection = { host: home, user: 'postgres', database: 'postgres', ...(settings.port && { port: Number(settings.port) }) }
  await waitUntil(() =>
    onDatabase(connection, () => Promise.resolve(true)).catch(() => {
      if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`)
      return false
    }),
  )
  return {
    url,
    async stop() {
      server.kill('SIGINT')
      await ended
      rmSync(home, { recursive: true, force: true })
    },
  }
}
