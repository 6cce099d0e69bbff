// Memory for long texts as bytes, which is used again: of fresh memory each page is a fault, and V8 takes fresh memory for every text of
// more than 128 kB.

const SIZE = 2 * 1024 * 1024
/** How many pieces of memory are kept. */
const KEPT_MAX = 4
const free: Buffer[] = []

/** Bytes in memory that is used again after `release`. What is never released is collected as anything else. */
export interface ReusedBytes {
  bytes: Buffer
  /** The bytes are used no more. Called once. */
  release: () => void
}

/** The texts in UTF-8, one after another. */
export function encoded(texts: readonly string[]): ReusedBytes {
  let memory = free.pop() ?? Buffer.allocUnsafeSlow(SIZE)
  let at = 0
  for (const text of texts) {
    // A character takes at most three bytes, and most take one.
    if (at + 3 * text.length > memory.length) {
      const needed = at + Buffer.byteLength(text)
      if (needed > memory.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * memory.length))
        memory.copy(larger, 0, 0, at)
        memory = larger
      }
    }
    at += memory.write(text, at)
  }
  const release = () => {
    if (memory.length === SIZE && free.length < KEPT_MAX) free.push(memory)
  }
  return { bytes: memory.subarray(0, at), release }
}
