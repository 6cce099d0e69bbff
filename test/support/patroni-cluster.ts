// A PostgreSQL cluster of three nodes for tests of failovers: Debian's Patroni with etcd, and HAProxy in front of the primary and of the API, with
// the settings of docs/operating/high-availability.md and deploy/haproxy.cfg. Everything ends with the test.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from './free-ports.ts'
import { configureHaproxy, HAPROXY } from './haproxy.ts'
import { debianPostgres } from './debian-postgres.ts'
import { folder, root, waitUntil } from './program.ts'

const PROGRAMS = ['/usr/bin/patroni', '/usr/lib/python3/dist-packages/etcd/__init__.py', '/usr/bin/etcd', HAPROXY]

/** Why tests of failovers are left out; false: they are not. With CI_FAILOVER=required they fail instead. */
export const skipWithoutPatroni: string | false =
  (PROGRAMS.every((path) => existsSync(path)) && debianPostgres() !== undefined) || process.env.CI_FAILOVER === 'required'
    ? false
    : 'patroni, python3-etcd, etcd-server, haproxy or postgresql (Debian) is not installed'

/** PostgreSQL refuses root. */
const account: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

const PASSWORD = 'fictional'

/** The settings of the cluster as the documents print them, in seconds, and those of PostgreSQL in it. */
function readDocumentedSettings(): { cluster: Record<string, number | boolean>; parameters: Record<string, string> } {
  const guide = readFileSync(join(root, 'docs/operating/high-availability.md'), 'utf8')
  const [, block = ''] = /```yaml\n# Patroni\n([\s\S]*?)```/.exec(guide) ?? []
  const pairs = (pattern: RegExp) => [...block.matchAll(pattern)].map(([, name, value]) => [name!, value!] as const)
  return {
    cluster: Object.fromEntries(
      pairs(/^(\w+): (\w+)$/gm).map(([name, value]) => [name, value === 'true' ? true : Number(value)] as const),
    ),
    parameters: Object.fromEntries(pairs(/^ {4}(\w+): (\w+)$/gm)),
  }
}

export interface ClusterNode {
  name: string
  rest_port: number
  /** The leader of a process group: Patroni, which starts PostgreSQL. */
  child: ChildProcess
  data: string
}

interface ClusterMember {
  name: string
  role: string
  state: string
  timeline: number
  /** Bytes; `unknown` without a connection. */
  lag?: number | string
}

export class PatroniCluster {
  readonly nodes: ClusterNode[] = []
  readonly #home = folder('patroni')
  readonly #children: ChildProcess[] = []
  #etcd_port = 0
  #ports: { postgres: number; rest: number }[] = []
  database_port = 0
  /** Of the proxy in front of the servers. */
  api_port = 0

  /** Starts etcd, three nodes and waits for a primary with a synchronous standby. */
  async start(): Promise<void> {
    this.#makeFolder(this.#home)
    const [etcd, peer, database, api, ...others] = (await freePorts(10)) as [number, number, number, number, ...number[]]
    this.#etcd_port = etcd
    this.database_port = database
    this.api_port = api
    this.#ports = [0, 1, 2].map((i) => ({ postgres: others[i]!, rest: others[i + 3]! }))
    const url = (port: number) => `http://127.0.0.1:${port}`
    const options = {
      'data-dir': join(this.#home, 'etcd'),
      'listen-client-urls': url(etcd),
      'advertise-client-urls': url(etcd),
      'listen-peer-urls': url(peer),
      'initial-advertise-peer-urls': url(peer),
      'initial-cluster': `default=${url(peer)}`,
      'enable-v2': 'true',
      'unsafe-no-fsync': 'true',
      'log-level': 'error',
    }
    this.#spawn(
      '/usr/bin/etcd',
      Object.entries(options).map(([name, value]) => `--${name}=${value}`),
    )

    await waitUntil(async () => (await statusOf(`${url(etcd)}/health`)) === 200)
    for (const i of [0, 1, 2]) await this.startNode(i)
    await this.waitUntilWhole()
  }

  /** Starts a node, or starts it again when its Patroni has ended. */
  async startNode(i: number): Promise<void> {
    const former = this.nodes[i]?.child
    if (former && former.exitCode === null && former.signalCode === null) await once(former, 'exit')
    const { postgres, rest } = this.#ports[i]!
    const name = `node${i + 1}`
    const data = join(this.#home, name)
    const file = join(this.#home, `${name}.yml`)
    if (!existsSync(file)) writeFileSync(file, JSON.stringify(this.#configOf(name, data, postgres, rest)), { mode: 0o644 })
    const child = this.#spawn('/usr/bin/patroni', [file])
    this.nodes[i] = { name, rest_port: rest, child, data }
  }

  /** Waits until there is a primary whose standbys, one of them synchronous, follow its timeline. */
  async waitUntilWhole(): Promise<void> {
    await waitUntil(async () => {
      const members = await this.members()
      const timelines = new Set(members.map(({ timeline }) => timeline))
      return (
        members.length === 3 &&
        timelines.size === 1 &&
        members.every(({ role, state, lag }) => ['running', 'streaming'].includes(state) && (role === 'leader' || lag === 0)) &&
        members.some(({ role }) => role === 'sync_standby')
      )
    }, 180_000)
  }

  /** The members as the primary sees them; a node that was frozen has an earlier view. Empty: there is no primary. */
  async members(): Promise<ClusterMember[]> {
    for (const { rest_port } of this.nodes) {
      const rest = `http://127.0.0.1:${rest_port}`
      if ((await statusOf(`${rest}/primary`)) !== 200) continue
      const response = await fetch(`${rest}/cluster`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
      if (response?.ok) return ((await response.json()) as { members: ClusterMember[] }).members
    }
    return []
  }

  /** The node with a role of Patroni. */
  async nodeWith(role: 'leader' | 'sync_standby'): Promise<{ node: ClusterNode; index: number }> {
    const name = (await this.members()).find((member) => member.role === role)?.name
    const index = this.nodes.findIndex((node) => node.name === name)
    if (index < 0) throw new Error(`no node is ${role}`)
    return { node: this.nodes[index]!, index }
  }

  /** Sends a signal to Patroni and all processes of its PostgreSQL. */
  signal({ child, data }: ClusterNode, signal: NodeJS.Signals): void {
    for (const pid of [child.pid!, ...postgresProcesses(data)])
      try {
        process.kill(pid, signal)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
  }

  /** Has the primary and a standby change places. */
  async switchOver(): Promise<void> {
    const { node } = await this.nodeWith('leader')
    const response = await fetch(`http://127.0.0.1:${node.rest_port}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: node.name }),
    })
    if (!response.ok) throw new Error(`switchover: ${response.status} ${await response.text()}`)
  }

  /** Puts HAProxy in front of the primary, and of servers with their operator ports. */
  startProxy(servers: { port: number; operator_port: number }[]): void {
    const text = configureHaproxy({
      database: {
        port: this.database_port,
        servers: this.#ports.map(({ postgres, rest }) => ({ port: postgres, check_port: rest })),
      },
      api: {
        port: this.api_port,
        servers: servers.map(({ port, operator_port }) => ({ port, check_port: operator_port })),
      },
    })
    const file = join(this.#home, `haproxy-${servers.length}.cfg`)
    writeFileSync(file, text)
    this.#spawn(HAPROXY, ['-db', '-f', file])
  }

  /** The URL of the database `drawbridge`, through the proxy or not. */
  url(port = this.database_port): string {
    return `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) this.signal(node, 'SIGKILL')
    for (const child of this.#children) child.kill('SIGKILL')
    await Promise.all(this.#children.map((child) => (child.exitCode ?? child.signalCode) === null && once(child, 'exit')))
    spawnSync('rm', ['-rf', this.#home])
  }

  #spawn(program: string, args: string[]): ChildProcess {
    const env = { PATH: `${process.env.PATH}:/usr/sbin`, HOME: this.#home, LC_ALL: 'C.UTF-8' }
    const child = spawn(program, args, { ...account, cwd: this.#home, env, stdio: 'ignore' })
    process.once('exit', () => child.kill('SIGKILL'))
    this.#children.push(child)
    return child
  }

  #makeFolder(path: string): void {
    mkdirSync(path, { recursive: true })
    if (account.uid !== undefined) chownSync(path, account.uid, account.gid!)
    chmodSync(path, 0o700)
  }

  #configOf(name: string, data: string, postgres_port: number, rest_port: number) {
    const documented = readDocumentedSettings()
    const login = { username: 'postgres', password: PASSWORD }
    const access = [
      'local all all trust',
      'host all all 127.0.0.1/32 scram-sha-256',
      'host replication all 127.0.0.1/32 scram-sha-256',
    ]
    return {
      scope: 'drawbridge',
      name,
      restapi: { listen: `127.0.0.1:${rest_port}`, connect_address: `127.0.0.1:${rest_port}` },
      // Patroni before 3.0.3 loses the key of a new primary to a frozen one by etcd's v3 API (docs/operating/high-availability.md).
      etcd: { hosts: `127.0.0.1:${this.#etcd_port}` },
      bootstrap: {
        dcs: {
          ...documented.cluster,
          postgresql: {
            use_pg_rewind: true,
            // Processes are killed here, not machines.
            parameters: { max_connections: 300, fsync: 'off', wal_log_hints: 'on', ...documented.parameters },
          },
        },
        initdb: [{ encoding: 'UTF8' }, 'data-checksums'],
      },
      postgresql: {
        listen: `127.0.0.1:${postgres_port}`,
        connect_address: `127.0.0.1:${postgres_port}`,
        data_dir: data,
        bin_dir: debianPostgres(),
        pgpass: join(this.#home, `${name}.pgpass`),
        pg_hba: access,
        parameters: { unix_socket_directories: this.#home },
        authentication: { superuser: login, replication: login, rewind: login },
      },
    }
  }
}

async function statusOf(url: string): Promise<number> {
  return fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    ({ status }) => status,
    () => 0,
  )
}

/** The postmaster of a data folder and the processes that it has started. */
function postgresProcesses(data: string): number[] {
  const file = join(data, 'postmaster.pid')
  if (!existsSync(file)) return []
  const postmaster = Number(readFileSync(file, 'utf8').split('\n', 1)[0])
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)], { encoding: 'utf8' })
  return [postmaster, ...stdout.split('\n').map(Number).filter(Boolean)]
}

/** The postmaster of a node alone. */
export const postmasterOf = ({ data }: ClusterNode): number =>
  Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
