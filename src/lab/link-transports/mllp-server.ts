// A port on which laboratories connect and send messages (MLLP). Addresses that no link names are disconnected before a byte is read.
import { constants } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer, type TlsOptions } from 'node:tls'
import type { ListenAddress } from '../../platform/net/listen-address.ts'
import type { FairQueue } from '../../platform/db/fair-queue.ts'
import { FrameReader, frameOf } from '../hl7/frame-reader.ts'
import { FrameStream, type FrameLimits, type StreamEnd } from './frame-stream.ts'

/** What an address may do. */
export interface Admission {
  connections_max: number
  idle_ms: number
  /** Whether a frame ends at FS without CR. */
  isCrOptional: boolean
}

/** A laboratory at the other end of a connection, and how it has connected. */
export interface Peer {
  address: string
  port: number
  local_port: number
  isTls: boolean
  /** The SHA-256 fingerprint of its certificate; undefined if it has shown none. */
  certificate: string | undefined
}

export interface MllpServerOptions {
  address: ListenAddress
  /** Required for an address with TLS. */
  tls: TlsOptions | undefined
  /** The connections of all ports of the process. */
  connections: ConnectionCounts
  largeFrames: FairQueue
  limits: Omit<FrameLimits, 'idle_ms'>
  bytes_max: number
  /** Whether a link names the address; asked before the certificates of TLS. */
  isKnown: (address: string) => Promise<boolean>
  /** @returns undefined if no link allows the connection */
  admit: (peer: Peer) => Promise<Admission | undefined>
  /** Stores a message. @returns the messages to answer with. If it rejects, the connection is closed without an answer. */
  receive: (bytes: Buffer, peer: Peer) => Promise<Uint8Array[]>
  onRefused: (reason: Refusal, address: string) => void
  onEnd: (peer: Peer, end: StreamEnd) => void
}

/** `unknown`: no link allows the connection. `full`: it has as many connections as it may, or the process has. `tls`: no secure connection. */
export type Refusal = 'unknown' | 'full' | 'tls'

/** How many connections a process accepts on its ports together. */
const CONNECTIONS_MAX = 64
const HANDSHAKE_MS_MAX = 10_000
/** A peer that is gone without a word is noticed after half a minute and ten probes. */
const KEEP_ALIVE_MS = 30_000

/** Counts connections by address and in total. */
export class ConnectionCounts {
  readonly #ofAddress = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  isFull(address: string, max: number): boolean {
    return this.#total > CONNECTIONS_MAX || (this.#ofAddress.get(address) ?? 0) > max
  }

  add(address: string): void {
    this.#total++
    this.#ofAddress.set(address, (this.#ofAddress.get(address) ?? 0) + 1)
  }

  remove(address: string): void {
    this.#total--
    const left = this.#ofAddress.get(address)! - 1
    if (left) this.#ofAddress.set(address, left)
    else this.#ofAddress.delete(address)
  }
}

export class MllpServer {
  readonly #options: MllpServerOptions
  readonly #server: Server
  readonly #tlsServer: TlsServer | undefined
  readonly #streams = new Map<FrameStream, Promise<void>>()
  readonly #sockets = new Set<Socket>()

  constructor(options: MllpServerOptions) {
    this.#options = options
    this.#server = createServer(
      { allowHalfOpen: true, noDelay: true, pauseOnConnect: true },
      (socket) => void this.#accept(socket),
    )
    if (options.address.isTls) this.#tlsServer = this.#createTlsServer()
  }

  /** Begins to listen. @returns the port. Errors: the address is not free or not of this machine. */
  async listen(): Promise<number> {
    const { host, port } = this.#options.address
    this.#server.listen({ host, port })
    await once(this.#server, 'listening')
    return (this.#server.address() as { port: number }).port
  }

  /** Uses another certificate for the connections that follow. */
  setTls(tls: TlsOptions): void {
    this.#tlsServer?.setSecureContext(tls)
  }

  /** Accepts no further connections, and waits until the messages in progress are answered. */
  async close(): Promise<void> {
    this.#server.close()
    for (const stream of this.#streams.keys()) stream.stop()
    await Promise.all(this.#streams.values())
    for (const socket of this.#sockets) socket.destroy()
  }

  #createTlsServer(): TlsServer {
    const options: TlsOptions = {
      requestCert: true,
      // Links name fingerprints, also of certificates that no authority has certified.
      rejectUnauthorized: false,
      ...this.#options.tls,
      allowHalfOpen: true,
      handshakeTimeout: HANDSHAKE_MS_MAX,
      minVersion: 'TLSv1.2',
      // Each connection shows its certificate.
      secureOptions: constants.SSL_OP_NO_TICKET,
    }
    const server = createTlsServer(options, (socket) => {
      const { fingerprint256 } = socket.getPeerCertificate() as { fingerprint256?: string }
      void this.#open(socket, fingerprint256)
    })
    return server.on('tlsClientError', (_, socket) => {
      const address = plainAddress(socket)
      if (address !== undefined) this.#options.onRefused('tls', address)
      socket.destroy()
    })
  }

  async #accept(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy())
    const address = plainAddress(socket)
    if (address === undefined) return void socket.destroy()
    const { connections } = this.#options
    this.#sockets.add(socket)
    connections.add(address)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      connections.remove(address)
    })
    // Before anything is asked of the database.
    if (connections.isFull(address, CONNECTIONS_MAX)) return this.#refuse(socket, 'full', address)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    if (!this.#tlsServer) return this.#open(socket, undefined)
    if (!(await this.#options.isKnown(address).catch(() => false))) return this.#refuse(socket, 'unknown', address)
    if (!socket.destroyed) this.#tlsServer.emit('connection', socket)
  }

  async #open(socket: Socket, certificate: string | undefined): Promise<void> {
    socket.on('error', () => socket.destroy())
    const address = plainAddress(socket)
    if (address === undefined) return void socket.destroy()
    const { admit, connections } = this.#options
    const isTls = this.#tlsServer !== undefined
    const peer: Peer = { address, port: socket.remotePort ?? 0, local_port: socket.localPort ?? 0, isTls, certificate }
    const admission = await admit(peer).catch(() => undefined)
    if (!admission) return this.#refuse(socket, 'unknown', address)
    if (connections.isFull(address, admission.connections_max)) return this.#refuse(socket, 'full', address)
    if (!socket.destroyed) await this.#serve(socket, peer, admission)
  }

  #refuse(socket: Socket, reason: Refusal, address: string): void {
    this.#options.onRefused(reason, address)
    socket.destroy()
  }

  async #serve(socket: Socket, peer: Peer, { idle_ms, isCrOptional }: Admission): Promise<void> {
    const { limits, bytes_max, largeFrames, receive, onEnd } = this.#options
    const stream: FrameStream = new FrameStream(socket, {
      reader: new FrameReader({ bytesMax: bytes_max, endsWithoutReturn: isCrOptional }),
      limits: { ...limits, idle_ms },
      largeFrames,
      owner: peer.address,
      onMessage: async (bytes) => {
        for (const answer of await receive(bytes, peer)) await stream.write(frameOf(answer))
      },
    })
    const running = stream.run().then((end) => {
      this.#streams.delete(stream)
      onEnd(peer, end)
    })
    this.#streams.set(stream, running)
    await running
  }
}

/** The address of a peer; an IPv4 address as such, also if the port has both families. Undefined if the connection has ended. */
const plainAddress = (socket: Socket): string | undefined =>
  socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
