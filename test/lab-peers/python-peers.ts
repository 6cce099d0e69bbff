// Laboratories that are independent of this program: python-hl7 of Debian sends and receives messages over MLLP, and reads what the program
// writes. A peer ends with the process that started it, however that ends. Its log is a file, which survives `kill`.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { eventually } from '../support/eventually.ts'

/** Debian's: another one does not find the packages of Debian. */
const PYTHON = '/usr/bin/python3'
const LIBRARY = '/usr/lib/python3/dist-packages/hl7/mllp'
const PROGRAM_MS_MAX = 60_000

/** Why tests with python-hl7 are left out; false: they are not. With CI_HL7=required they fail instead. */
export const skipWithoutPythonHl7: string | false =
  existsSync(LIBRARY) || process.env.CI_HL7 === 'required' ? false : 'python3-hl7 (Debian) is not installed'

/** Paths of PEM files. The server demands certificates of clients if it has a `ca`. */
export interface PeerTls {
  cert?: string
  key?: string
  ca?: string
  /** The name that the client expects. */
  name?: string
}

/** What laboratory_server.py answers; the fields are described there. */
export interface LaboratoryMode {
  code?: string
  commit?: string
  without_answer?: boolean
  error?: string
  type?: 'ACK' | 'ORL^O22' | 'ORR^O02'
  order_control?: string
  order_status?: string
  delay_s?: number
  fault?: 'deaf' | 'wrong_id' | 'half_answer' | 'half_answer_then_close' | 'close' | 'close_after_bytes'
  bytes?: number
  unanswered_deliveries?: number
  times?: number
}

/** A line of a peer's log. `bytes` is Base64, and null for messages of more than 1 MiB. */
interface PeerLine {
  event:
    | 'connected'
    | 'disconnected'
    | 'closed'
    | 'failed'
    | 'received'
    | 'sent'
    | 'sent half'
    | 'sent raw'
    | 'answered'
    | 'unanswered'
  /** Seconds since 1970. */
  time: number
  connection?: number | string
  type?: string | null
  control_id?: string | null
  /** MSA-1 and MSA-2. */
  code?: string | null
  answered_id?: string | null
  /** SHA-256 in hexadecimal digits. */
  digest?: string
  length?: number
  bytes?: string | null
  /** Which delivery of the same bytes with the same control id it is, from 1. */
  delivery?: number
  sent_id?: string
  sent_digest?: string
  error?: string
}

interface Peer {
  log(): PeerLine[]
  /** The first line of the log that fits, as soon as there is one. */
  waitFor(isWanted: (line: PeerLine) => boolean, subject?: string): Promise<PeerLine>
  /** `kill -9`. The log remains. */
  kill(): Promise<void>
  /** Kills the peer and deletes its log. */
  remove(): Promise<void>
}

export interface LaboratoryServer extends Peer {
  port: number
  /** Changes what the laboratory answers to later messages. */
  setMode(mode: LaboratoryMode): Promise<void>
  /** Starts the laboratory again on its port, with its log and without its mode. */
  restart(): Promise<void>
}

interface SendOptions {
  connection?: string
  timeout_s?: number
  attempts?: number
  retry_s?: number
  chunk_bytes?: number
  pause_s?: number
}

/** `answer` is the bytes of the acknowledgment; with `error` there is none. */
interface SendResult {
  answer?: Buffer
  code?: string | null
  answered_id?: string | null
  error?: string
}

export interface LaboratoryClient extends Peer {
  /** Sends a message and waits for its acknowledgment. */
  send(message: Uint8Array | string, options?: SendOptions): Promise<SendResult>
  /** Writes bytes without a frame and waits for a number of frames. */
  sendRaw(
    bytes: Uint8Array | string,
    options?: SendOptions & { answers?: number; close?: boolean },
  ): Promise<{ answers?: Buffer[]; error?: string }>
  disconnect(connection?: string): Promise<void>
  /** Starts the laboratory again, with its log. What it was sending is to be sent again. */
  restart(): Promise<void>
}

/** Starts a laboratory that receives orders. It listens on 127.0.0.1. */
export async function startLaboratoryServer({ port = 0, tls }: { port?: number; tls?: PeerTls } = {}): Promise<LaboratoryServer> {
  const folder = mkdtempSync(join(tmpdir(), 'lab-peer-'))
  const log = join(folder, 'log')
  let program = await startProgram('laboratory_server.py', { port, log, tls })
  const listenPort = program.ready.port as number
  return {
    ...createPeer(folder, log, () => program),
    port: listenPort,
    setMode: async (mode) => {
      program.write(mode)
      await program.next('mode')
    },
    restart: async () => {
      await program.kill()
      program = await startProgram('laboratory_server.py', { port: listenPort, log, tls })
    },
  }
}

/** Starts a laboratory that sends to 127.0.0.1. It connects with its first message. */
export async function startLaboratoryClient({ port, tls }: { port: number; tls?: PeerTls }): Promise<LaboratoryClient> {
  const folder = mkdtempSync(join(tmpdir(), 'lab-peer-'))
  const log = join(folder, 'log')
  let program = await startProgram('laboratory_client.py', { port, log, tls })
  let count = 0
  const run = async (command: Record<string, unknown>) => {
    const id = ++count
    program.write({ ...command, id })
    return program.next('done', id)
  }
  return {
    ...createPeer(folder, log, () => program),
    send: async (message, options = {}) => {
      const { answer, ...others } = await run({ command: 'send', bytes: toBase64(message), ...options })
      return { ...(others as SendResult), ...(typeof answer === 'string' && { answer: Buffer.from(answer, 'base64') }) }
    },
    sendRaw: async (bytes, options = {}) => {
      const { answers, ...others } = await run({ command: 'raw', bytes: toBase64(bytes), ...options })
      return {
        ...others,
        ...(answers !== undefined && { answers: (answers as string[]).map((text) => Buffer.from(text, 'base64')) }),
      }
    },
    disconnect: async (connection = 'main') => void (await run({ command: 'disconnect', connection })),
    restart: async () => {
      await program.kill()
      program = await startProgram('laboratory_client.py', { port, log, tls })
    },
  }
}

/** Sends messages with `mllp_send`, the command of python-hl7. @param file the messages, each in a frame @returns what the command prints */
export const mllpSend = (port: number, file: string): Promise<string> =>
  output('/usr/bin/mllp_send', ['--port', String(port), '--file', file, '127.0.0.1'], '')

/** A segment as python-hl7 reads it: `fields[5]` has the repetitions of field 5, each a list of components, each a list of subcomponents. */
export interface PythonSegment {
  name: string
  fields: string[][][][]
}

/** Reads a message with python-hl7, with escape sequences resolved. @param charset a name of Python's */
export async function readByPython(bytes: Uint8Array, charset = 'utf-8'): Promise<{ segments: PythonSegment[] }> {
  const [segments] = await readAllByPython([bytes], charset)
  return { segments: segments! }
}

/** Reads messages with one process. */
export async function readAllByPython(messages: readonly Uint8Array[], charset = 'utf-8'): Promise<PythonSegment[][]> {
  const sources = messages.map((bytes) => ({ bytes: toBase64(bytes), charset }))
  return JSON.parse(await output(PYTHON, [pathOf('read_messages.py')], JSON.stringify(sources))) as PythonSegment[][]
}

/**
 * The text at a place such as `PID-5.1`, `OBR[2]-4.1` (the second OBR), `PID-3(2).1` (the second repetition) or `PID-5.1.2` (a subcomponent);
 * undefined if it is not in the message.
 */
export function textAt(segments: readonly PythonSegment[], place: string): string | undefined {
  const parts = /^([A-Z][A-Z0-9]{2})(?:\[(\d+)\])?-(\d+)(?:\((\d+)\))?(?:\.(\d+))?(?:\.(\d+))?$/.exec(place)
  if (!parts) throw new Error(`${place} is not a place in a message`)
  const [, name, segment = '1', field, repetition = '1', component = '1', subcomponent = '1'] = parts
  const named = segments.filter((item) => item.name === name)[Number(segment) - 1]
  return named?.fields[Number(field)]?.[Number(repetition) - 1]?.[Number(component) - 1]?.[Number(subcomponent) - 1]
}

const toBase64 = (bytes: Uint8Array | string): string => Buffer.from(bytes as string).toString('base64')
const pathOf = (name: string): string => join(import.meta.dirname, name)

type Reply = Record<string, unknown> & { event: string; id?: number }

interface Program {
  ready: Reply
  write(command: unknown): void
  /** The reply to a command. */
  next(event: string, id?: number): Promise<Reply>
  kill(): Promise<void>
}

async function startProgram(name: string, options: Record<string, unknown>): Promise<Program> {
  const child = spawn(PYTHON, [pathOf(name), JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4000)))
  child.stdin.on('error', () => undefined)
  const replies: Reply[] = []
  createInterface({ input: child.stdout }).on('line', (line) => replies.push(JSON.parse(line) as Reply))
  const next = (event: string, id?: number) =>
    eventually(() => {
      const index = replies.findIndex((reply) => reply.event === event && reply.id === id)
      if (index >= 0) return replies.splice(index, 1)[0]
      if (hasEnded(child)) throw new Error(`${name} has ended: ${errors}`)
      return undefined
    }, `${name} replies: ${event}`)
  return {
    ready: await next('ready'),
    write: (command) => void child.stdin.write(`${JSON.stringify(command)}\n`),
    next,
    kill: async () => {
      if (hasEnded(child)) return
      const end = once(child, 'exit')
      child.kill('SIGKILL')
      await end
    },
  }
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

function createPeer(folder: string, path: string, program: () => Program): Peer {
  const log = () => (existsSync(path) ? readLines(path) : [])
  return {
    log,
    waitFor: (isWanted, subject = String(isWanted)) => eventually(() => log().find(isWanted), subject),
    kill: () => program().kill(),
    remove: async () => {
      await program().kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A line that is being written is left out. */
const readLines = (path: string): PeerLine[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as PeerLine)

function output(program: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { timeout: PROGRAM_MS_MAX, maxBuffer: 256 * 1024 * 1024 }, (error, stdout, stderr) =>
      error ? reject(new Error(`${program} failed: ${stderr}`, { cause: error })) : resolve(stdout),
    )
    child.stdin!.on('error', () => undefined)
    child.stdin!.end(input)
  })
}
