// Receivers of deliveries that misbehave, each in a way of its own. They run in a process of their own, so that what they cost is not
// counted as a cost of the process that delivers to them.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/** What a receiver does to a connection that has been made to it. */
type Fault = (socket: Socket) => void

const MIB = 1024 * 1024

/** Says `text` again and again, as fast as the other side takes it, until the connection ends. */
function flood(socket: Socket, text: string | Buffer): void {
  const go = () => {
    while (!socket.destroyed && socket.write(text)) continue
  }
  socket.on('drain', go)
  go()
}

/** Calls `then` once something of a request has come, and throws away what comes. */
function onRequest(socket: Socket, respond: () => void): void {
  socket.once('data', () => {
    respond()
    socket.resume()
  })
}

let packed: Buffer | undefined
/** 64 MiB, packed once: packing takes most of a second, in which the process answers nobody. */
const hugePack = (): Buffer => (packed ??= gzipSync(Buffer.alloc(64 * MIB)))

const CHUNK = `10000\r\n${'x'.repeat(0x10000)}\r\n`

const faults = {
  /** Takes the request and says nothing. */
  'never answers': (socket) => void socket.resume(),
  /** Resets the connection as soon as it is made. */
  'accepts and resets': (socket) => void socket.resetAndDestroy(),
  /** The header of its answer has no end. */
  'endless headers': (socket) =>
    onRequest(socket, () => {
      socket.write('HTTP/1.1 200 OK\r\n')
      flood(socket, 'x-filler: fictional\r\n'.repeat(50))
    }),
  /** It sends interim responses without end and never a final one. */
  'endless 1xx': (socket) => onRequest(socket, () => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50))),
  /** It sends a few interim responses, each with a long header. */
  'large 1xx': (socket) =>
    onRequest(socket, () => void socket.write(`HTTP/1.1 103 Early Hints\r\nx-filler: ${'x'.repeat(9000)}\r\n\r\n`.repeat(3))),
  /** The body of its answer has no end. */
  'endless body': (socket) =>
    onRequest(socket, () => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      flood(socket, CHUNK)
    }),
  /** The body of its answer comes a byte at a time. */
  'slow body': (socket) =>
    onRequest(socket, () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
      const timer = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => clearInterval(timer))
    }),
  /** What it answers is not HTTP. */
  'bad HTTP': (socket) => onRequest(socket, () => void socket.end('220 mail.example.com ESMTP\r\n')),
  /** It sends the sender elsewhere: to itself. */
  redirects: (socket) =>
    onRequest(socket, () => void socket.end('HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 0\r\n\r\n')),
  /** It takes the request and closes the connection. */
  'closes after the request': (socket) => onRequest(socket, () => socket.end()),
  /** Its response has 64 MiB after decompression. */
  'huge gzip': (socket) =>
    onRequest(socket, () => {
      const packed = hugePack()
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`)
      socket.write(packed)
    }),
  /** It promises a longer body than it gives. */
  'wrong content-length': (socket) =>
    onRequest(socket, () => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nthat is all')),
  /** It speaks plain HTTP where TLS is expected. */
  'no TLS': (socket) => onRequest(socket, () => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')),
  /** It begins TLS and never ends the handshake. */
  'endless handshake': (socket) => void socket.resume(),
  /** It answers before it has read anything, reads nothing and keeps the connection. */
  'answers before reading': (socket) => {
    socket.pause()
    socket.write('HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
  },
} satisfies Record<string, Fault>

export type FaultName = keyof typeof faults

const WITH_TLS = new Set<string>(['no TLS', 'endless handshake'])

export const faultNames = Object.keys(faults) as FaultName[]

export interface FaultyReceivers {
  /** Where each of them listens, below which any path is taken. */
  url(name: FaultName): string
  /** How many connections have been made to each of them so far. */
  connections(): Promise<Record<FaultName, number>>
  close(): Promise<void>
}

/** Start a receiver for each fault, in one process. */
export async function startFaultyReceivers(): Promise<FaultyReceivers> {
  const process = fork(fileURLToPath(import.meta.url), ['--listen'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [ports] = (await Promise.race([once(process, 'message'), awaitFailure(process)])) as [Record<FaultName, number>]
  return {
    url: (name) => `http${WITH_TLS.has(name) ? 's' : ''}://127.0.0.1:${ports[name]}/hook`,
    async connections() {
      const counts = once(process, 'message')
      process.send('count')
      return ((await counts) as [Record<FaultName, number>])[0]
    },
    async close() {
      if (process.exitCode !== null) return
      const ended = once(process, 'exit')
      process.disconnect()
      await ended
    },
  }
}

async function awaitFailure(process: ChildProcess): Promise<never> {
  const [code] = (await once(process, 'exit')) as [number]
  throw new Error(`the receivers ended with ${code}`)
}

async function listen(name: FaultName, counts: Record<string, number>): Promise<number> {
  counts[name] = 0
  const server = createServer((socket) => {
    counts[name]!++
    socket.on('error', () => {})
    faults[name](socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

if (argv[1] === fileURLToPath(import.meta.url) && argv[2] === '--listen') {
  const counts: Record<string, number> = {}
  hugePack()
  process.on('disconnect', () => process.exit(0))
  process.on('message', () => process.send!(counts))
  const ports = await Promise.all(faultNames.map(async (name) => [name, await listen(name, counts)] as const))
  process.send!(Object.fromEntries(ports))
}
