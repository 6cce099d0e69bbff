// The simulated laboratory on the network: it listens for orders and sends its messages over MLLP, each on connections of its own.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { FrameReader, frameOf } from '../../lab/hl7/frame-reader.ts'
import { readHl7 } from '../../lab/hl7/hl7-message.ts'
import type { Laboratory, QueuedMessage } from './laboratory.ts'

const FRAME_OPTIONS = { bytesMax: 64 * 1024 * 1024, endsWithoutReturn: false }
const ANSWER_MS_MAX = 30_000

export interface Address {
  host: string
  port: number
}

/** Answers order messages at an address. @param reportMessage called after each message, with its problem if it cannot be read */
export function listenForOrders(
  laboratory: Laboratory,
  { host, port }: Address,
  reportMessage: (problem?: string) => void,
): Promise<Server> {
  const server = createServer((socket) => {
    const reader = new FrameReader(FRAME_OPTIONS)
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => {
      for (const { kind, bytes } of reader.push(chunk)) {
        if (kind !== 'message') reportMessage(`a ${kind} frame`)
        else reportMessage(answer(laboratory, socket, bytes))
      }
    })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server))
  })
}

/** @returns why the message cannot be read */
function answer(laboratory: Laboratory, socket: Socket, bytes: Buffer): string | undefined {
  try {
    const { answers, isHalf } = laboratory.receive(bytes)
    for (const [i, message] of answers.entries()) {
      const bytesOfFrame = frameOf(message)
      const isCut = isHalf && i === answers.length - 1
      socket.write(isCut ? bytesOfFrame.subarray(0, bytesOfFrame.length >> 1) : bytesOfFrame)
    }
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

export interface MessageSender {
  /** The code of the acknowledgment. Errors: Error there is none. */
  send(message: QueuedMessage): Promise<string>
  /** Sends half of the next message and closes the connection; the message is then sent whole. */
  cutNext(): void
  close(): void
}

/** Sends messages over one connection, which opens again when it is lost. */
export function createMllpSender({ host, port }: Address): MessageSender {
  let socket: Socket | undefined
  let isCutNext = false
  const open = async (): Promise<Socket> => {
    if (socket && !socket.destroyed) return socket
    const next = connect({ host, port })
    await new Promise((resolve, reject) => {
      next.once('connect', resolve)
      next.once('error', reject)
    })
    next.on('error', () => next.destroy())
    return (socket = next)
  }
  return {
    send: async ({ controlId, bytes }) => {
      const connection = await open()
      const frame = frameOf(bytes)
      if (isCutNext) {
        isCutNext = false
        connection.end(frame.subarray(0, frame.length >> 1))
        socket = undefined
        throw new Error('half of the message was sent')
      }
      const code = readAnswer(connection, controlId)
      connection.write(frame)
      return code.catch((error: unknown) => {
        connection.destroy()
        throw error
      })
    },
    cutNext: () => (isCutNext = true),
    close: () => socket?.destroy(),
  }
}

/** The code of the acknowledgment of a message. */
function readAnswer(connection: Socket, controlId: string): Promise<string> {
  const reader = new FrameReader(FRAME_OPTIONS)
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(new Error('no acknowledgment came'))), ANSWER_MS_MAX)
    const onData = (chunk: Buffer) => {
      for (const { bytes } of reader.push(chunk)) {
        const message = readHl7(bytes, { charset: 'UNICODE UTF-8' })
        if (message.get('MSA-2') === controlId) return end(() => resolve(message.get('MSA-1')))
        end(() => reject(new Error('the acknowledgment is of another message')))
      }
    }
    const onClose = () => end(() => reject(new Error('the connection was closed')))
    const end = (settle: () => void) => {
      clearTimeout(timer)
      connection.off('data', onData).off('close', onClose)
      settle()
    }
    connection.on('data', onData).on('close', onClose)
  })
}
