// A buffer of text lines, stored as bytes. Strings would live long enough to be promoted to V8's old generation, and collecting those costs
// more than building the lines.

/** Bytes of one block; a longer line has a block of its own. */
const BLOCK = 65_536

export interface Block {
  bytes: Buffer
  usedBytes: number
  lines: number
}

/** Maximum bytes of one UTF-16 unit in UTF-8. */
const UNIT = 3

/** Blocks kept for reuse. New blocks would make V8 collect its old generation because of their bytes alone (docs/decisions/worker-threads.md). */
const SPARE_MAX = 16

export class LineBuffer {
  readonly #blocks: Block[] = []
  readonly #spare: Buffer[] = []
  #lines = 0

  /** Number of buffered lines. */
  get lines(): number {
    return this.#lines
  }

  /**
   * Adds a line, without its line feed.
   * @returns the bytes of the line
   */
  add(line: string): number {
    let block = this.#blocks.at(-1)
    const most = line.length * UNIT + 1
    if (!block || block.bytes.length - block.usedBytes < most) {
      const bytes = (most <= BLOCK ? this.#spare.pop() : undefined) ?? Buffer.allocUnsafeSlow(Math.max(BLOCK, most))
      this.#blocks.push((block = { bytes, usedBytes: 0, lines: 0 }))
    }
    const written = block.bytes.write(line, block.usedBytes)
    block.usedBytes += written
    block.bytes[block.usedBytes++] = 10
    block.lines++
    this.#lines++
    return written + 1
  }

  /** Removes whole blocks from the beginning until they contain the given number of bytes. */
  take(bytes: number): Block[] {
    let count = 0
    for (let taken = 0; count < this.#blocks.length && taken < bytes; count++) taken += this.#blocks[count]!.usedBytes
    const blocks = this.#blocks.splice(0, count)
    this.#lines -= linesOf(blocks)
    return blocks
  }

  /** The removed lines have been written: their blocks may be reused. */
  recycle(blocks: readonly Block[]): void {
    for (const { bytes } of blocks) if (bytes.length === BLOCK && this.#spare.length < SPARE_MAX) this.#spare.push(bytes)
  }

  /** Returns removed lines to the beginning. */
  putBack(blocks: Block[]): void {
    this.#blocks.unshift(...blocks)
    this.#lines += linesOf(blocks)
  }
}

export const linesOf = (blocks: readonly Block[]): number => blocks.reduce((sum, { lines }) => sum + lines, 0)
export const bytesOf = (blocks: readonly Block[]): number => blocks.reduce((sum, { usedBytes }) => sum + usedBytes, 0)

/** The lines as one text, each with its line feed, followed by more text. */
export const joinBlocks = (blocks: readonly Block[], suffix = ''): Buffer =>
  Buffer.concat([...blocks.map(({ bytes, usedBytes }) => bytes.subarray(0, usedBytes)), Buffer.from(suffix)])
