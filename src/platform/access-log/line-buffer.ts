// Lines of text that wait to be written, as bytes. As strings they would live long enough to be moved among the old objects of the process,
// and collecting those costs more than making the lines.

/** Bytes of one block; a longer line has a block of its own. */
const BLOCK = 65_536

export interface Block {
  bytes: Buffer
  used: number
  lines: number
}

/** Bytes that a UTF-16 unit becomes at most. */
const UNIT = 3

/** Blocks kept to be filled again. Fresh ones would make V8 collect its old objects for their bytes alone (docs/decisions/memory.md). */
const SPARE_MAX = 16

export class LineBuffer {
  readonly #blocks: Block[] = []
  readonly #spare: Buffer[] = []
  #lines = 0

  /** How many lines wait. */
  get lines(): number {
    return this.#lines
  }

  /**
   * Add a line, without its line feed.
   * @returns its bytes
   */
  add(line: string): number {
    let block = this.#blocks.at(-1)
    const most = line.length * UNIT + 1
    if (!block || block.bytes.length - block.used < most) {
      const bytes = (most <= BLOCK ? this.#spare.pop() : undefined) ?? Buffer.allocUnsafeSlow(Math.max(BLOCK, most))
      this.#blocks.push((block = { bytes, used: 0, lines: 0 }))
    }
    const written = block.bytes.write(line, block.used)
    block.used += written
    block.bytes[block.used++] = 10
    block.lines++
    this.#lines++
    return written + 1
  }

  /** Take lines off the beginning: whole blocks, until there are so many bytes. */
  take(bytes: number): Block[] {
    let count = 0
    for (let taken = 0; count < this.#blocks.length && taken < bytes; count++) taken += this.#blocks[count]!.used
    const blocks = this.#blocks.splice(0, count)
    this.#lines -= linesOf(blocks)
    return blocks
  }

  /** What was taken has been written: its blocks may be filled again. */
  done(blocks: readonly Block[]): void {
    for (const { bytes } of blocks) if (bytes.length === BLOCK && this.#spare.length < SPARE_MAX) this.#spare.push(bytes)
  }

  /** Put what was taken back at the beginning. */
  putBack(blocks: Block[]): void {
    this.#blocks.unshift(...blocks)
    this.#lines += linesOf(blocks)
  }
}

export const linesOf = (blocks: readonly Block[]): number => blocks.reduce((sum, { lines }) => sum + lines, 0)
export const bytesOf = (blocks: readonly Block[]): number => blocks.reduce((sum, { used }) => sum + used, 0)

/** The lines as one text, each with its line feed, with more text behind them. */
export const textOf = (blocks: readonly Block[], more = ''): Buffer =>
  Buffer.concat([...blocks.map(({ bytes, used }) => bytes.subarray(0, used)), Buffer.from(more)])
