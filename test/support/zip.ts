// Writes zip archives as streams, sound ones and others.
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { crc32, createDeflateRaw } from 'node:zlib'

export interface ZipContent {
  name: string
  content: Iterable<string | Buffer> | AsyncIterable<string | Buffer>
  /** The directory says that the content is encrypted. */
  isEncrypted?: boolean
  /** What the directory says of the sum of the content; the real one by default. */
  crc32?: number
}

const MAX_32 = 0xffff_ffff

interface Written extends ZipContent {
  offset: number
  sum: number
  packedSize: number
  size: number
}

export interface ZipOptions {
  /** Sizes and places are written in 64 bits, as in archives of more than 4 GiB. */
  zip64?: boolean
  /** How well the content is packed: 1 takes a third of the time of 6. */
  level?: number
}

export async function* zipArchive(contents: ZipContent[], { zip64 = false, level = 6 }: ZipOptions = {}): AsyncGenerator<Buffer> {
  let offset = 0
  const written: Written[] = []
  for (const one of contents) {
    const entry = { ...one, offset, sum: 0, packedSize: 0, size: 0 }
    const name = Buffer.from(one.name)
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50)
    header.writeUInt16LE(zip64 ? 45 : 20, 4)
    header.writeUInt16LE(0x0808 | (one.isEncrypted ? 1 : 0), 6)
    header.writeUInt16LE(8, 8)
    header.writeUInt16LE(name.length, 26)
    yield Buffer.concat([header, name])
    const source = Readable.from(
      (async function* () {
        for await (const block of one.content) {
          const bytes = Buffer.from(block as string)
          entry.sum = crc32(bytes, entry.sum)
          entry.size += bytes.length
          if (bytes.length) yield bytes
        }
      })(),
    )
    const packer = createDeflateRaw({ level })
    source.on('error', (error) => packer.destroy(error))
    for await (const block of source.pipe(packer) as AsyncIterable<Buffer>) {
      entry.packedSize += block.length
      yield block
    }
    offset += header.length + name.length + entry.packedSize
    written.push(entry)
  }
  const directory = Buffer.concat(written.map((entry) => directoryEntry(entry, zip64)))
  yield directory
  yield endRecord(written.length, offset, directory.length, zip64)
}

function directoryEntry({ name, isEncrypted, crc32: said, offset, sum, packedSize, size }: Written, zip64: boolean): Buffer {
  const header = Buffer.alloc(46)
  const extra = Buffer.alloc(zip64 ? 28 : 0)
  header.writeUInt32LE(0x02014b50)
  header.writeUInt16LE(zip64 ? 45 : 20, 4)
  header.writeUInt16LE(zip64 ? 45 : 20, 6)
  header.writeUInt16LE(0x0808 | (isEncrypted ? 1 : 0), 8)
  header.writeUInt16LE(8, 10)
  header.writeUInt32LE(said ?? sum, 16)
  header.writeUInt32LE(zip64 ? MAX_32 : packedSize, 20)
  header.writeUInt32LE(zip64 ? MAX_32 : size, 24)
  header.writeUInt16LE(Buffer.byteLength(name), 28)
  header.writeUInt16LE(extra.length, 30)
  header.writeUInt32LE(zip64 ? MAX_32 : offset, 42)
  if (zip64) {
    extra.writeUInt16LE(1, 0)
    extra.writeUInt16LE(24, 2)
    for (const [i, value] of [size, packedSize, offset].entries()) extra.writeBigUInt64LE(BigInt(value), 4 + i * 8)
  }
  return Buffer.concat([header, Buffer.from(name), extra])
}

function endRecord(count: number, offset: number, size: number, zip64: boolean): Buffer {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50)
  end.writeUInt16LE(zip64 ? 0xffff : count, 8)
  end.writeUInt16LE(zip64 ? 0xffff : count, 10)
  end.writeUInt32LE(zip64 ? MAX_32 : size, 12)
  end.writeUInt32LE(zip64 ? MAX_32 : offset, 16)
  if (!zip64) return end
  const big = Buffer.alloc(56)
  big.writeUInt32LE(0x06064b50)
  big.writeBigUInt64LE(44n, 4)
  big.writeUInt16LE(45, 12)
  big.writeUInt16LE(45, 14)
  for (const [i, value] of [count, count, size, offset].entries()) big.writeBigUInt64LE(BigInt(value), 24 + i * 8)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50)
  locator.writeBigUInt64LE(BigInt(offset + size), 8)
  locator.writeUInt32LE(1, 16)
  return Buffer.concat([big, locator, end])
}

/** A whole archive in memory. */
export async function zipBytes(contents: ZipContent[], options?: ZipOptions): Promise<Buffer> {
  const blocks: Buffer[] = []
  for await (const block of zipArchive(contents, options)) blocks.push(block)
  return Buffer.concat(blocks)
}

/** Waits until a stream takes more. */
export async function writeAll(blocks: AsyncIterable<Buffer>, stream: NodeJS.WritableStream): Promise<void> {
  for await (const block of blocks) if (!stream.write(block)) await once(stream, 'drain')
  stream.end()
  await once(stream, 'finish')
}
