/** Owns the small tasks that the tests of the heavy pool run in its workers. The server never loads it. */
import { isMainThread } from 'node:worker_threads'

type Shape = { width: number; height: number }

export default function area({ width, height }: Shape): { area: number; in_worker: boolean } {
  return { area: width * height, in_worker: !isMainThread }
}

export function reverseBytes(bytes: Uint8Array): Uint8Array {
  return bytes.toReversed()
}

export function throwError(): never {
  throw new RangeError('the width is missing')
}

export function loopForever(): never {
  for (;;);
}

export function exitProcess(): never {
  process.exit(3)
}

/** Keeps all it makes: small objects, buffers outside the heap, or a map, whose growth asks for large pieces at once. */
export function allocateForever(kind: 'objects' | 'buffers' | 'map'): never {
  const objects: object[] = []
  const map = new Map<string, number>()
  for (let index = 0; ; index++) {
    if (kind === 'objects') objects.push(Array.from({ length: 100 }, () => index))
    if (kind === 'buffers') objects.push(new Uint8Array(1_000_000).fill(1))
    if (kind === 'map') map.set(`key ${index}`, index)
  }
}

/** Ends when the other side of the shared cell is set, so that a test decides how long a thread is taken. */
export function blockUntilSet(cell: Int32Array): number {
  Atomics.wait(cell, 0, 0)
  return cell[0]!
}

/** Ends only when two of it run at the same time. */
export function meeting(cell: Int32Array): number {
  const count = Atomics.add(cell, 0, 1) + 1
  if (count < 2) Atomics.wait(cell, 0, count)
  else Atomics.notify(cell, 0)
  return Atomics.load(cell, 0)
}
