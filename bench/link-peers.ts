// Laboratories for the bench: one that sends over several connections, and one that receives.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { FrameReader, frameOf } from '../src/lab/hl7/frame-reader.ts'

const FRAME_OPTIONS = { bytesMax: 64 * 1024 * 1024, endsWithoutReturn: false }

export interface Sender {
  /** Sends a message and waits for its acknowledgment. Errors: another code than AA, or the acknowledgment of another message. */
  send(message: Buffer): Promise<void>
  close(): void
}

/** Opens a connection to a port of this machine. */
export async function openSender(port: number): Promise<Sender> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  const reader = new FrameReader(FRAME_OPTIONS)
  let settle: { resolve: (answer: Buffer) => void; reject: (error: Error) => void } | undefined
  socket.on('data', (chunk) => {
    for (const { bytes } of reader.push(chunk)) settle?.resolve(bytes)
  })
  const fail = () => settle?.reject(new Error('the connection was closed'))
  socket.on('error', fail).on('close', fail)
  return {
    send: async (message) => {
      const answer = new Promise<Buffer>((resolve, reject) => (settle = { resolve, reject }))
      socket.write(frameOf(message))
      const msa = /MSA\|(\w+)\|([^|\r]*)/.exec((await answer).toString('latin1'))
      const control_id = message.toString('latin1', 0, 400).split('|')[9]
      if (msa?.[1] !== 'AA' || msa[2] !== control_id) throw new Error(`message ${control_id} was answered by ${msa?.[0]}`)
    },
    close: () => socket.destroy(),
  }
}

/** Sends messages over so many connections, each one message at a time. @returns the milliseconds that each took */
export async function sendAll(port: number, messages: readonly Buffer[], connections: number): Promise<number[]> {
  const senders = await Promise.all(Array.from({ length: connections }, () => openSender(port)))
  let next = 0
  const times: number[] = []
  await Promise.all(
    senders.map(async ({ send }) => {
      for (let message = messages[next++]; message; message = messages[next++]) {
        const began = performance.now()
        await send(message)
        times.push(performance.now() - began)
      }
    }),
  )
  for (const { close } of senders) close()
  return times
}

export interface Receiver {
  port: number
  count: () => number
  /** Resolves when so many messages have come. */
  waitFor(count: number): Promise<void>
  close(): Promise<void>
}

/** A laboratory that accepts each message at once, after a pause, or never. */
export async function startReceiver(answer: 'at once' | 'never' | { after_ms: number }): Promise<Receiver> {
  const sockets = new Set<Socket>()
  let count = 0
  let wake: (() => void) | undefined
  const server = createServer((socket) => {
    sockets.add(socket)
    const reader = new FrameReader(FRAME_OPTIONS)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      for (const { bytes } of reader.push(chunk)) {
        count++
        wake?.()
        const header = bytes.toString('latin1', 0, 400).split('\r')[0]!.split('|')
        const ack = `MSH|^~\\&|LIS|BENCH|DRAWBRIDGE|CLINIC|20300104101500+0000||ACK|A${header[9]}|${header[10]}|${header[11]}\rMSA|AA|${header[9]}\r`
        if (answer === 'at once') socket.write(frameOf(Buffer.from(ack)))
        else if (answer !== 'never') setTimeout(() => socket.write(frameOf(Buffer.from(ack))), answer.after_ms)
      }
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    count: () => count,
    waitFor: async (target) => {
      while (count < target) await new Promise<void>((resolve) => (wake = resolve))
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
