// A TCP proxy between the program and its database that fails in the ways networks and failovers do. Modes can be changed while
// connections are open; what a mode does to connections that are open and to those that come later stands at each.
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'

type Mode =
  /** Everything passes. */
  | 'pass'
  /** Open connections fall silent permanently and stay open: nothing passes in either direction. New ones work, as after a failover. */
  | 'silent'
  /** As `silent`, and new connections are accepted and never answered: the network swallows everything. */
  | 'black hole'
  /** Everything passes, each piece after `slow_ms`. */
  | 'slow'
  /** Open connections are reset, new ones too. */
  | 'reset'
  /** What the program sends passes; a connection is closed instead of passing back what answers its next COMMIT. New ones do the same. */
  | 'cut before the answer of COMMIT'

export interface DatabaseProxy {
  port: number
  /** How many connections the program has open through it. */
  readonly open: number
  /** How many connections the program has made through it since it was started. */
  readonly acceptedCount: number
  /**
   * Fail in this way from now on.
   * @param commits what the bytes of a COMMIT match; another one for a statement that is a transaction of its own
   */
  set(mode: Mode, commits?: RegExp): void
  close(): Promise<void>
}

interface Pair {
  client: Socket
  server: Socket
  /** Nothing passes any more. */
  silent: boolean
  /** A COMMIT has been passed on; its answer is not to pass. */
  committing: boolean
}

export interface ProxyOptions {
  /** How long each piece is held back while the proxy is slow. */
  slow_ms?: number
  /** How long after the database the proxy closes a connection of the program. */
  linger_ms?: number
}

const COMMIT = /\bcommit\b/i

/**
 * Start a proxy before a database on TCP or on a socket of the file system.
 * @param target where the database listens; a `host` that begins with `/` is the folder of its socket
 */
export async function databaseProxy(
  target: { host: string; port: number },
  { slow_ms = 500, linger_ms = 0 }: ProxyOptions = {},
): Promise<DatabaseProxy> {
  const pairs = new Set<Pair>()
  /** Every socket of either side that is open, whatever became of its pair: a server closes when the last one has. */
  const sockets = new Set<Socket>()
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  }
  /** Sockets that were accepted and are never answered. */
  const swallowed = new Set<Socket>()
  let mode: Mode = 'pass'
  let accepted = 0
  let commits = COMMIT

  const server = createServer((client) => {
    accepted++
    track(client)
    client.on('error', () => {})
    if (mode === 'reset') return client.resetAndDestroy()
    if (mode === 'black hole') {
      swallowed.add(client)
      client.on('close', () => swallowed.delete(client))
      return client.resume()
    }
    const upstream = target.host.startsWith('/')
      ? createConnection(`${target.host}/.s.PGSQL.${target.port}`)
      : createConnection({ host: target.host, port: target.port, noDelay: true })
    track(upstream)
    client.setNoDelay(true)
    const pair: Pair = { client, server: upstream, silent: false, committing: false }
    pairs.add(pair)
    const pass = (source: Socket, destination: Socket, look: (chunk: Buffer) => boolean) => {
      source.on('error', () => {})
      source.on('data', (chunk: Buffer) => {
        if (pair.silent || !look(chunk)) return
        if (mode === 'slow') setTimeout(() => destination.writable && destination.write(chunk), slow_ms)
        else destination.write(chunk)
      })
      const later = (call: () => void) =>
        setTimeout(call, source === client ? 0 : Math.max(linger_ms, mode === 'slow' ? slow_ms : 0))
      source.on('end', () => later(() => (!pair.silent || source === client) && destination.end()))
      source.on('close', (hadError) =>
        later(() => {
          pairs.delete(pair)
          if (hadError && (!pair.silent || source === client)) destination.destroy()
        }),
      )
    }
    pass(client, upstream, (chunk) => {
      if (mode === 'cut before the answer of COMMIT' && commits.test(chunk.toString('latin1'))) pair.committing = true
      return true
    })
    pass(upstream, client, () => {
      if (!pair.committing) return true
      client.destroy()
      return false
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    get open() {
      return pairs.size + swallowed.size
    },
    get acceptedCount() {
      return accepted
    },
    set(next, answeredText = COMMIT) {
      mode = next
      commits = answeredText
      if (next === 'silent' || next === 'black hole') for (const pair of pairs) pair.silent = true
      if (next === 'reset') for (const { client } of pairs) client.resetAndDestroy()
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
