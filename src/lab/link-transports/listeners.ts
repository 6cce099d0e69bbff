// The ports of this process to which laboratories connect, by the setting LAB_LISTEN. A port that cannot be opened is tried again, because the
// process that is replaced may still have it. What prevents laboratories from connecting is noted for their links.
import { X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { TlsOptions } from 'node:tls'
import { FairQueue } from '../../platform/db/fair-queue.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { Service } from '../../platform/module/module.ts'
import { readListenAddress, type ListenAddress } from '../../platform/net/listen-address.ts'
import { systemNow } from '../../platform/runtime/clock.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import type { CellName } from '../../settings/cells.ts'
import { MESSAGE_BYTES_MAX } from '../link-messages/receive-message.ts'
import type { ActiveLinks } from './active-links.ts'
import { LARGE_FRAMES, type StreamEnd } from './frame-stream.ts'
import type { LinkTroubles } from './link-troubles.ts'
import { deleteListeners, saveListeners, type OwnListener } from './listener-states.ts'
import { mayConnect, type MessageReceiver } from './message-receiver.ts'
import { ConnectionCounts, MllpServer, type Admission, type Peer, type Refusal } from './mllp-server.ts'

export interface ListenerSettings {
  lab_listen: readonly string[]
  lab_tls_certificate: string | undefined
  lab_tls_key: string | undefined
  lab_tls_authorities: string | undefined
}

export interface ListenersOptions {
  cells: Cells
  settings: ListenerSettings
  links: ActiveLinks
  receiver: MessageReceiver
  troubles: LinkTroubles
  log: Log
  limits?: Partial<typeof LIMITS>
  /** For tests. */
  now?: () => Date
  beat_ms?: number
}

const LIMITS = { frame_ms_max: 600_000, write_ms_max: 30_000 }
const RETRY_MS = 1000
const CERTIFICATE_CHECK_MS = 60_000
/** Between notes of the states of the ports. */
const BEAT_MS = 20_000

interface Listener {
  address: ListenAddress
  server: MllpServer
  port: Promise<number>
  /** Undefined until the port is open. */
  openPort?: number
  /** Why the port cannot be opened. */
  reason?: string
}

export class Listeners implements Service {
  readonly #options: ListenersOptions
  readonly #servers: Listener[] = []
  readonly #owner = uuid()
  readonly #connections = new ConnectionCounts()
  readonly #largeFrames = new FairQueue(LARGE_FRAMES)
  #isStopped = false
  #wake = () => {}
  #watching: NodeJS.Timeout | undefined
  #beating: NodeJS.Timeout | undefined
  #saving: Promise<void> = Promise.resolve()
  #certificate: X509Certificate | undefined
  #starting: Promise<void> | undefined

  constructor(options: ListenersOptions) {
    this.#options = options
  }

  /** Opens the ports of the settings; usually there are none. */
  start(): void {
    if (this.#options.settings.lab_listen.length > 0) this.#starting = this.#start()
  }

  /** The ports, in the order of the setting, as soon as they are open. */
  async ports(): Promise<number[]> {
    await this.#starting
    return Promise.all(this.#servers.map(({ port }) => port))
  }

  /** Accepts no further messages; those that are being stored are answered. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wake()
    clearInterval(this.#watching)
    clearInterval(this.#beating)
    await Promise.all(this.#servers.map(({ server }) => server.close()))
    await this.#saving
    if (this.#servers.length > 0)
      await this.#inCells((cell) => deleteListeners(this.#options.cells.db(cell).queries, this.#owner))
  }

  async #start(): Promise<void> {
    const { settings, log } = this.#options
    const addresses = settings.lab_listen.map((text) => readListenAddress(text)!)
    const tls = addresses.some(({ isTls }) => isTls) ? await this.#readTls() : undefined
    if (tls) this.#certificate = new X509Certificate(tls.cert as Buffer)
    for (const address of addresses) {
      const server = this.#createServer(address, tls)
      const listener: Listener = { address, server, port: Promise.resolve(address.port) }
      listener.port = this.#listen(listener)
      listener.port.then(
        (listening) => log.info({ address: `${address.host}:${listening}`, tls: address.isTls }, 'listening for laboratories'),
        () => undefined,
      )
      this.#servers.push(listener)
    }
    this.#beating = setInterval(() => this.#noteStates(), this.#options.beat_ms ?? BEAT_MS).unref()
    if (tls) this.#watching = setInterval(() => void this.#renewTls(), CERTIFICATE_CHECK_MS).unref()
  }

  async #listen(listener: Listener): Promise<number> {
    const { server, address } = listener
    for (let isReported = false; ;) {
      try {
        listener.openPort = await server.listen()
        delete listener.reason
        this.#noteStates()
        return listener.openPort
      } catch (error) {
        if (this.#isStopped) throw error
        const { host, port } = address
        if (!isReported)
          this.#options.log.error(
            { address: `${host}:${port}`, causes: errorFields(error) },
            'port for laboratories cannot be opened; will retry',
          )
        isReported = true
        const reason = `Port ${port} for laboratories cannot be opened (${(error as NodeJS.ErrnoException).code ?? 'error'})`
        if (listener.reason !== reason) {
          listener.reason = reason
          this.#noteStates()
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve
          setTimeout(resolve, RETRY_MS).unref()
        })
        if (this.#isStopped) throw error
      }
    }
  }

  /** Notes whether laboratories can connect, for the links of all cells. Writes lab_listener, later. */
  #noteStates(): void {
    if (this.#isStopped) return
    const fault = this.#certificateFault()
    const states = this.#servers.map(({ address, openPort, reason }): OwnListener => ({
      host: address.host,
      port: openPort ?? address.port,
      is_tls: address.isTls,
      reason: reason ?? (address.isTls ? fault : null),
    }))
    // An address that the setting has twice is open once.
    const byAddress = new Map(
      states
        .toSorted((a, b) => Number(a.reason === null) - Number(b.reason === null))
        .map((state) => [`${state.host} ${state.port}`, state]),
    )
    const save = () =>
      this.#inCells((cell) => saveListeners(this.#options.cells.db(cell).queries, this.#owner, [...byAddress.values()]))
    this.#saving = this.#saving.then(save)
  }

  async #inCells(work: (cell: CellName) => Promise<unknown>): Promise<void> {
    const { cells, log } = this.#options
    for (const cell of cells.names)
      await work(cell).catch((error: unknown) =>
        log.error({ cell, causes: errorFields(error) }, 'states of the ports for laboratories cannot be noted; will retry'),
      )
  }

  #certificateFault(): string | null {
    if (!this.#certificate) return null
    const { validFrom, validTo } = this.#certificate
    const now_ms = (this.#options.now ?? systemNow)().getTime()
    if (now_ms > Date.parse(validTo)) return 'The certificate in LAB_TLS_CERTIFICATE has expired'
    return now_ms < Date.parse(validFrom) ? 'The certificate in LAB_TLS_CERTIFICATE is not valid yet' : null
  }

  #createServer(address: ListenAddress, tls: TlsOptions | undefined): MllpServer {
    const { receiver, troubles } = this.#options
    return new MllpServer({
      address,
      tls,
      connections: this.#connections,
      largeFrames: this.#largeFrames,
      limits: { ...LIMITS, ...this.#options.limits },
      bytes_max: MESSAGE_BYTES_MAX,
      isKnown: async (peer) => (await this.#options.links.find(({ isAddressAllowed }) => isAddressAllowed(peer))).length > 0,
      admit: (peer) => this.#admit(peer),
      receive: async (bytes, peer) => (await receiver.receiveAtPort(bytes, peer)).answers,
      onRefused: (reason: Refusal, peer) => troubles.reportRefusal(reason, peer),
      onEnd: (peer: Peer, end: StreamEnd) => void this.#reportEnd(peer, end),
    })
  }

  async #reportEnd(peer: Peer, end: StreamEnd): Promise<void> {
    if (end.fault === undefined && end.stray_bytes === 0) return
    const links = await this.#options.links.find((link) => mayConnect(link, peer)).catch(() => [])
    const [link] = links
    if (!link) return
    const link_account_id = links.length === 1 ? link.account_id : null
    this.#options.troubles.reportEnd({ db: link.db, link_account_id, source: `mllp ${peer.address}` }, end)
  }

  /** What the links allow to an address together. @returns undefined if none names it */
  async #admit(peer: Peer): Promise<Admission | undefined> {
    const links = await this.#options.links.find((link) => mayConnect(link, peer))
    if (links.length === 0) return undefined
    const listeners = links.map(({ profile }) => profile.transport.listener)
    return {
      connections_max: listeners.reduce((sum, { connections }) => sum + connections, 0),
      idle_ms: Math.max(...listeners.map(({ idle_timeout_s }) => idle_timeout_s)) * 1000,
      isCrOptional: listeners.every(({ ends_without_cr }) => ends_without_cr),
    }
  }

  #tlsVersion = ''

  /** Errors: a file is missing, or is not what it should be. */
  async #readTls(): Promise<TlsOptions> {
    const { lab_tls_certificate, lab_tls_key, lab_tls_authorities } = this.#options.settings
    this.#tlsVersion = await this.#versionOfFiles()
    const [cert, key, ca] = await Promise.all(
      [lab_tls_certificate, lab_tls_key, lab_tls_authorities].map((path) => (path === undefined ? undefined : readFile(path))),
    )
    return { cert: cert!, key: key!, ...(ca && { ca, rejectUnauthorized: true }) }
  }

  async #versionOfFiles(): Promise<string> {
    const { lab_tls_certificate, lab_tls_key, lab_tls_authorities } = this.#options.settings
    const files = [lab_tls_certificate, lab_tls_key, lab_tls_authorities].filter((path) => path !== undefined)
    return (await Promise.all(files.map(async (path) => (await stat(path)).mtimeMs))).join(' ')
  }

  /** Uses a new certificate once its files have changed; until they are valid the earlier one stays. */
  async #renewTls(): Promise<void> {
    try {
      if ((await this.#versionOfFiles()) === this.#tlsVersion) return
      const tls = await this.#readTls()
      for (const { server } of this.#servers) server.setTls(tls)
      this.#certificate = new X509Certificate(tls.cert as Buffer)
      this.#noteStates()
    } catch (error) {
      this.#options.log.error(
        { causes: errorFields(error) },
        'certificate for laboratories cannot be read; the earlier one stays',
      )
    }
  }
}
