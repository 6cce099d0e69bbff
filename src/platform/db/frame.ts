// Builds messages of PostgreSQL's protocol in one buffer. Source: PostgreSQL's documentation, "Message Formats".
import { Buffer } from 'node:buffer'

const BIND = 66
const DESCRIBE = 68
const EXECUTE = 69
const SYNC = 83
const PORTAL = 80

const SIZE = 16_384
/** Maximum bytes of one UTF-16 unit in UTF-8. */
const UNIT = 3
const NULL = -1

/** Long texts are measured: fresh memory for three times as much costs more than that. */
const bytesMax = (text: string): number => (text.length < SIZE ? UNIT * text.length : Buffer.byteLength(text))

export class Frame {
  #bytes = Buffer.allocUnsafeSlow(SIZE)
  #used = 0

  /**
   * Runs a prepared statement; `''` is the unnamed one. Strings are sent as text, bytes unchanged. Errors: RangeError for more than 65,535
   * values; the buffer is then incomplete, see `clear`.
   */
  run(statement: string, values: readonly (string | Buffer | null)[], describe: boolean): void {
    const start = this.#open(BIND)
    this.#ensure(6 + UNIT * statement.length + 2 * values.length)
    this.#bytes[this.#used++] = 0
    this.#text(statement)
    this.#bytes[this.#used++] = 0
    this.#formats(values)
    this.#int16(values.length)
    for (const value of values) this.#value(value)
    this.#ensure(2)
    // Columns are returned as text.
    this.#int16(0)
    this.#close(start)
    if (describe) {
      const described = this.#open(DESCRIBE)
      this.#ensure(2)
      this.#bytes[this.#used++] = PORTAL
      this.#bytes[this.#used++] = 0
      this.#close(described)
    }
    const executed = this.#open(EXECUTE)
    this.#ensure(5)
    this.#bytes[this.#used++] = 0
    this.#int32(0)
    this.#close(executed)
  }

  sync(): void {
    this.#close(this.#open(SYNC))
  }

  /** Discards the buffered messages. */
  clear(): void {
    this.#used = 0
  }

  /** Returns the buffered messages; the caller owns the buffer from then on. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#used)
    this.#used = 0
    if (this.#bytes.length === SIZE) return Buffer.from(bytes)
    this.#bytes = Buffer.allocUnsafeSlow(SIZE)
    return bytes
  }

  #formats(values: readonly (string | Buffer | null)[]): void {
    if (!values.some((value) => value instanceof Buffer)) return this.#int16(0)
    this.#int16(values.length)
    for (const value of values) this.#int16(value instanceof Buffer ? 1 : 0)
  }

  #value(value: string | Buffer | null): void {
    if (value === null) {
      this.#ensure(4)
      return this.#int32(NULL)
    }
    this.#ensure(4 + (typeof value === 'string' ? bytesMax(value) : value.length))
    const at = this.#used
    this.#used += 4
    if (typeof value === 'string') this.#text(value)
    else this.#used += value.copy(this.#bytes, this.#used)
    this.#bytes.writeInt32BE(this.#used - at - 4, at)
  }

  /** The buffer must have room for it. */
  #text(value: string): void {
    this.#used += this.#bytes.write(value, this.#used)
  }

  /** @returns the offset at which its length will be written */
  #open(type: number): number {
    this.#ensure(5)
    this.#bytes[this.#used++] = type
    const at = this.#used
    this.#used += 4
    return at
  }

  #close(at: number): void {
    this.#bytes.writeInt32BE(this.#used - at, at)
  }

  #int16(value: number): void {
    this.#used = this.#bytes.writeUInt16BE(value, this.#used)
  }

  #int32(value: number): void {
    this.#used = this.#bytes.writeInt32BE(value, this.#used)
  }

  #ensure(more: number): void {
    if (this.#bytes.length - this.#used >= more) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#used + more + SIZE))
    this.#bytes.copy(larger, 0, 0, this.#used)
    this.#bytes = larger
  }
}
