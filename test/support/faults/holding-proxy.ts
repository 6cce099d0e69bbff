// A TCP proxy that stops at a chosen moment: it holds back the piece of data in which a text first occurs, or what answers that piece. A test
// kills one side then, and so knows what the other side has and has not received.
import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'

type Side = 'client' | 'server'

interface Hold {
  side: Side
  text: string
  kind: 'piece' | 'answer'
  resolve: () => void
}

export interface HoldingProxy {
  port: number
  /**
   * Holds back the next piece from a side with a text, or what the other side answers to it, and all that follows on the connection.
   * Fulfilled when it is held.
   */
  hold(side: Side, text: string, kind?: Hold['kind']): Promise<void>
  /** Lets what is held pass. */
  release(): void
  /** Closes the connections of which something is held; it never arrives. */
  drop(): void
  close(): Promise<void>
}

class Pair {
  readonly #sockets: Record<Side, Socket>
  readonly #pieces: Record<Side, Buffer[]> = { client: [], server: [] }
  readonly #holds = new Set<Side>()
  #onAnswer: (() => void) | undefined

  constructor(client: Socket, server: Socket) {
    this.#sockets = { client, server }
  }

  get isHeld(): boolean {
    return this.#holds.size > 0
  }

  /** @param hold what is to be held next; @returns whether this piece has begun it */
  pass(side: Side, piece: Buffer, hold: Hold | undefined): boolean {
    const isChosen = hold?.side === side && piece.includes(hold.text)
    if (isChosen && hold.kind === 'piece') {
      this.#holds.add(side)
      hold.resolve()
    }
    if (isChosen && hold.kind === 'answer') {
      this.#holds.add(otherSide(side))
      this.#onAnswer = hold.resolve
    }
    if (!this.#holds.has(side)) {
      this.#sockets[otherSide(side)].write(piece)
      return isChosen
    }
    this.#pieces[side].push(piece)
    if (!isChosen) this.#onAnswer?.()
    return isChosen
  }

  release(): void {
    this.#holds.clear()
    for (const side of ['client', 'server'] as const)
      for (const piece of this.#pieces[side].splice(0)) this.#sockets[otherSide(side)].write(piece)
  }

  destroy(): void {
    this.#sockets.client.destroy()
    this.#sockets.server.destroy()
  }
}

const otherSide = (side: Side): Side => (side === 'client' ? 'server' : 'client')

/** Starts a proxy. @param target where the server listens; a `host` that begins with `/` is the folder of the socket of a PostgreSQL */
export async function holdingProxy(target: { host: string; port: number }): Promise<HoldingProxy> {
  const pairs = new Set<Pair>()
  let hold: Hold | undefined
  const listener = createServer({ noDelay: true }, (client) => {
    const server = target.host.startsWith('/')
      ? createConnection(`${target.host}/.s.PGSQL.${target.port}`)
      : createConnection({ ...target, noDelay: true })
    const pair = new Pair(client, server)
    pairs.add(pair)
    for (const [side, socket] of [
      ['client', client],
      ['server', server],
    ] as const)
      socket
        .on('error', () => {})
        .on('data', (piece: Buffer) => {
          if (pair.pass(side, piece, hold)) hold = undefined
        })
        .on('close', () => {
          // While something is held, the other side does not learn that this one has ended.
          if (pair.isHeld) return
          pairs.delete(pair)
          pair.destroy()
        })
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    hold: (side, text, kind = 'piece') => new Promise((resolve) => (hold = { side, text, kind, resolve })),
    release() {
      hold = undefined
      for (const pair of pairs) pair.release()
    },
    drop() {
      hold = undefined
      for (const pair of pairs) {
        if (!pair.isHeld) continue
        pairs.delete(pair)
        pair.destroy()
      }
    },
    async close() {
      const end = once(listener, 'close')
      listener.close()
      for (const pair of pairs) pair.destroy()
      await end
    },
  }
}
