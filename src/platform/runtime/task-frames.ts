// Messages between a process and its children: the length in four bytes, then a value as V8 serializes it.
import { deserialize, serialize } from 'node:v8'

const HEAD_BYTES = 4

/** A message as the bytes to send, one after the other. Errors: DataCloneError for what cannot be copied. */
export function toFrame(value: unknown): [head: Buffer, body: Buffer] {
  const body = serialize(value)
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(body.length)
  return [head, body]
}

/**
 * Puts messages together from the bytes that arrive, and calls `receive` with each.
 * Errors: a message of more than `bytes_max` bytes; bytes that are not a message.
 */
export function frameReader(bytes_max: number, receive: (value: unknown) => void): (bytes: Buffer) => void {
  let parts: Buffer[] = []
  let count = 0
  let bytes_needed = HEAD_BYTES
  let isHead = true
  return (bytes) => {
    parts.push(bytes)
    count += bytes.length
    while (count >= bytes_needed) {
      const all = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
      const [one, rest] = [all.subarray(0, bytes_needed), all.subarray(bytes_needed)]
      parts = rest.length ? [rest] : []
      count = rest.length
      if (isHead) {
        bytes_needed = one.readUInt32LE()
        if (bytes_needed > bytes_max) throw new Error(`a message has ${bytes_needed} bytes, of at most ${bytes_max}`)
      } else {
        bytes_needed = HEAD_BYTES
        receive(deserialize(one))
      }
      isHead = !isHead
    }
  }
}
