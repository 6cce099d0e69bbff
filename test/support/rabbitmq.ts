// A RabbitMQ broker for tests: a node of its own on free ports and in a folder of its own, also as root, whatever another node or a
// former run left behind. It speaks AMQP 0-9-1 and 1.0. It ends with the process that started it, however that ends.
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type ChannelModel } from 'amqplib'
import { freePorts } from './free-ports.ts'

/** Debian's: the one in /usr/sbin would change the user and the folder. */
const PROGRAM = '/usr/lib/rabbitmq/bin/rabbitmq-server'
const START_MS_MAX = 120_000

/** Why tests with a broker are left out; false: they are not. With CI_BROKER=required they fail instead. */
export const skipWithoutRabbitMq: string | false =
  existsSync(PROGRAM) || process.env.CI_BROKER === 'required' ? false : 'rabbitmq-server (Debian) is not installed'

/** The group leader waits for the end of its input, which comes when its parent process ends, and then kills the group. */
const COMMAND = `epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 & "${PROGRAM}" & cat > /dev/null; kill -KILL -$$`

export interface Rabbit {
  uri: string
  /** As of an Event Hubs namespace. */
  connection_string: string
  /** Ready when it resolves. */
  start(): Promise<void>
  /** `kill -9`. */
  kill(): Promise<void>
  /** A connection of the test. */
  connect(): Promise<ChannelModel>
  /** Kill it and forget all it had. */
  remove(): Promise<void>
}

/** A broker that has not been started. */
export async function startRabbitMq(): Promise<Rabbit> {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not there: apt-get install rabbitmq-server`)
  const folder = mkdtempSync(join(tmpdir(), 'rabbit-'))
  const [port, dist_port, epmd_port] = (await freePorts(3)) as [number, number, number]
  writeFileSync(join(folder, 'plugins'), '[rabbitmq_amqp1_0].')
  writeFileSync(join(folder, 'rabbitmq.conf'), `listeners.tcp.1 = 127.0.0.1:${port}\n`)
  const env = {
    PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
    HOME: folder,
    ERL_EPMD_PORT: String(epmd_port),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: `drawbridge-${port}@localhost`,
    RABBITMQ_DIST_PORT: String(dist_port),
    RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
    RABBITMQ_CONF_ENV_FILE: join(folder, 'none'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none',
  }
  const uri = `amqp://guest:guest@127.0.0.1:${port}`
  let child: ChildProcess | undefined
  let out = ''
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.stdin!.end()
    await ended
  }
  return {
    uri,
    connection_string: `Endpoint=sb://127.0.0.1:${port};SharedAccessKeyName=guest;SharedAccessKey=guest;UseDevelopmentEmulator=true`,
    async start() {
      child = spawn('/bin/sh', ['-c', COMMAND], { env, cwd: folder, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
      for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', (text: string) => (out += text))
      for (const end = performance.now() + START_MS_MAX; ; await sleep(50)) {
        const connection = await connect(uri, { timeout: 2000 }).catch(() => undefined)
        if (connection) return connection.close()
        if (performance.now() > end) throw new Error(`the broker does not answer: ${out}\n${readLog(folder, port)}`)
      }
    },
    kill,
    connect: () => connect(uri),
    async remove() {
      await kill()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const readLog = (folder: string, port: number): string => {
  const path = join(folder, 'log', `drawbridge-${port}@localhost.log`)
  return existsSync(path) ? readFileSync(path, 'utf8').slice(-4000) : ''
}
