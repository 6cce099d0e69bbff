// A laboratory as a raw socket: it writes what a test says, and collects the frames that it gets.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { after } from 'node:test'
import { eventually } from './eventually.ts'

export interface MllpSocketOptions {
  port: number
  /** The address that it connects from; every address of 127.0.0.0/8 is this machine. */
  address?: string
  tls?: ConnectionOptions
}

export interface MllpSocket {
  socket: Socket
  /** Writes bytes, and waits until they have left. */
  write(bytes: Uint8Array | string): Promise<void>
  /** Writes a message in a frame. */
  send(message: Uint8Array | string): Promise<void>
  /** The messages of all frames that have come. */
  answers(): string[]
  /** Waits for frames. @returns the messages of the last `count` ones */
  next(count?: number): Promise<string[]>
  /** Waits until the other side has closed the connection. */
  waitForEnd(): Promise<void>
  isClosed(): boolean
}

export const frame = (message: Uint8Array | string): Buffer =>
  Buffer.concat([Buffer.of(0x0b), Buffer.from(message as string), Buffer.of(0x1c, 0x0d)])

/** FS, CR. */
const END = Buffer.of(0x1c, 0x0d).toString()

const sockets = new Set<Socket>()
after(() => {
  for (const socket of sockets) socket.destroy()
})

/** Connects to 127.0.0.1. */
export async function openMllpSocket({ port, address = '127.0.0.1', tls }: MllpSocketOptions): Promise<MllpSocket> {
  const options = { port, host: '127.0.0.1', localAddress: address, noDelay: true }
  const socket = tls ? connectTls({ ...options, rejectUnauthorized: false, ...tls }) : connect(options)
  sockets.add(socket)
  let isClosed = false
  let bytes = Buffer.alloc(0)
  let taken = 0
  socket.on('error', () => undefined)
  socket.on('close', () => {
    isClosed = true
    sockets.delete(socket)
  })
  socket.on('data', (chunk) => (bytes = Buffer.concat([bytes, chunk])))
  const answers = () =>
    bytes
      .toString('utf8')
      .split(END)
      .slice(0, -1)
      .map((part) => part.slice(1))
  await once(socket, tls ? 'secureConnect' : 'connect')
  const write = (content: Uint8Array | string) =>
    new Promise<void>((resolve) => (isClosed ? resolve() : socket.write(content, () => resolve())))
  return {
    socket,
    write,
    send: (message) => write(frame(message)),
    answers,
    next: async (count = 1) => {
      await eventually(() => answers().length >= taken + count || isClosed, `${count} answers come`)
      const found = answers().slice(taken, taken + count)
      taken += found.length
      return found
    },
    waitForEnd: async () => {
      await eventually(() => isClosed, 'the connection is closed')
    },
    isClosed: () => isClosed,
  }
}
