/** The small tasks that the tests of the process pool run in its child processes. The server never loads it. */
import { spawn } from 'node:child_process'
import { existsSync, linkSync, readFileSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createCanvas, type Canvas } from '@napi-rs/canvas'

export default function area({ width, height }: { width: number; height: number }): { area: number; pid: number } {
  return { area: width * height, pid: process.pid }
}

export const reverseBytes = (bytes: Uint8Array): Uint8Array => bytes.toReversed()

export function throwError(): never {
  throw new RangeError('the width is missing')
}

export function loopForever(): never {
  for (;;);
}

export const abortProcess = (): never => process.abort()
export const killProcess = (): boolean => process.kill(process.pid, 'SIGSEGV')

/** Blocks until a file exists, so that a test decides how long a process is taken. */
export function blockUntilExists(path: string): number {
  const never = new Int32Array(new SharedArrayBuffer(4))
  while (!existsSync(path)) Atomics.wait(never, 0, 0, 10)
  return 1
}

/** Keeps all it makes: small objects, buffers outside the heap, or pixels, of which V8 knows nothing. */
export function allocateForever(kind: 'objects' | 'buffers' | 'pixels'): never {
  const all: (object | Canvas)[] = []
  for (let index = 0; ; index++) {
    if (kind === 'objects') all.push(Array.from({ length: 100 }, () => index))
    if (kind === 'buffers') all.push(new Uint8Array(1_000_000).fill(1))
    if (kind === 'pixels') {
      const canvas = createCanvas(500, 500)
      const context = canvas.getContext('2d')
      context.fillRect(0, 0, 500, 500)
      context.getImageData(0, 0, 1, 1)
      all.push(canvas)
    }
  }
}

/** Bytes at once, of which none is used. → how many the system has given */
export const allocateOnce = (bytes: number): number => Buffer.allocUnsafeSlow(bytes).length

export const manyBytes = (bytes: number): Uint8Array => new Uint8Array(bytes)

/** The code of the error of each thing that a task must not do; null if it could. */
export function forbidden({ file, fresh, secret }: Record<'file' | 'fresh' | 'secret', string>): Record<string, string | null> {
  const codeOf = (action: () => unknown): string | null => {
    try {
      action()
      return null
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? (error as Error).name
    }
  }
  return {
    read: codeOf(() => readFileSync(secret)),
    write: codeOf(() => writeFileSync(fresh, 'x')),
    truncate: codeOf(() => truncateSync(file)),
    link: codeOf(() => linkSync(file, fresh)),
    remove: codeOf(() => unlinkSync(file)),
    environment: codeOf(() => readFileSync(`/proc/${process.ppid}/environ`)),
    spawn: codeOf(() => spawn('/bin/true')),
  }
}

export const environment = (): string[] => Object.keys(process.env).sort()

/** The code of the error of a connection to a port of this machine; null if there is one. */
export const tryConnect = (port: number): Promise<string | null> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(null)).on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name))
  })
