// The messages of a FIT file with their native fields, by number. Developer fields may have any name and unit, that of a native field too:
// `fit-developer.ts` says which of them count. Source: the FIT protocol, https://developer.garmin.com/fit/protocol/.
import { decodeUtf8 } from '../../../platform/runtime/utf8.ts'
import { ReadError } from '../reading.ts'
import { DeveloperFields, FIELD_DESCRIPTION, RECORD, type DeveloperField, type FitValue } from './fit-developer.ts'

export interface FitMessage {
  /** The global number of its kind. */
  number: number
  /** Fields that have a value, by their number. */
  fields: ReadonlyMap<number, FitValue>
}

/** The field with the time of a message, in every kind. */
export const TIMESTAMP = 253
const CHECKSUM_BYTES = 2

/** A base type: the number of bytes of a value, how it is read, and the value that means "none". */
interface BaseType {
  size: number
  read(view: DataView, offset: number, isLittle: boolean): number
  isNone(value: number): boolean
}
const integer = (size: number, read: BaseType['read'], absentValue: number): BaseType => ({
  size,
  read,
  isNone: (value) => value === absentValue,
})
const byte: BaseType['read'] = (view, offset) => view.getUint8(offset)
const uint16: BaseType['read'] = (view, offset, isLittle) => view.getUint16(offset, isLittle)
const uint32: BaseType['read'] = (view, offset, isLittle) => view.getUint32(offset, isLittle)
const STRING = 7
/** By the lower five bits. 64-bit integers are left out: no field that is read has one. */
const baseTypes: ReadonlyMap<number, BaseType> = new Map([
  [0, integer(1, byte, 0xff)],
  [1, integer(1, (view, offset) => view.getInt8(offset), 0x7f)],
  [2, integer(1, byte, 0xff)],
  [3, integer(2, (view, offset, isLittle) => view.getInt16(offset, isLittle), 0x7fff)],
  [4, integer(2, uint16, 0xffff)],
  [5, integer(4, (view, offset, isLittle) => view.getInt32(offset, isLittle), 0x7fff_ffff)],
  [6, integer(4, uint32, 0xffff_ffff)],
  [8, { size: 4, read: (view, offset, isLittle) => view.getFloat32(offset, isLittle), isNone: Number.isNaN }],
  [9, { size: 8, read: (view, offset, isLittle) => view.getFloat64(offset, isLittle), isNone: Number.isNaN }],
  [10, integer(1, byte, 0)],
  [11, integer(2, uint16, 0)],
  [12, integer(4, uint32, 0)],
  [13, integer(1, byte, 0xff)],
])

interface Field {
  number: number
  size: number
  type: number
}

interface Definition {
  number: number
  isLittle: boolean
  fields: Field[]
  /** Behind the native ones. */
  developer: DeveloperField[]
  developer_bytes: number
}

const NIBBLES = [
  0, 0xcc01, 0xd801, 0x1400, 0xf001, 0x3c00, 0x2800, 0xe401, 0xa001, 0x6c00, 0x7800, 0xb401, 0x5000, 0x9c01, 0x8801, 0x4400,
]

/** The checksum of FIT files. */
function checksumOf(bytes: Uint8Array): number {
  let sum = 0
  for (const one of bytes) {
    sum = (sum >>> 4) ^ NIBBLES[sum & 15]! ^ NIBBLES[one & 15]!
    sum = (sum >>> 4) ^ NIBBLES[sum & 15]! ^ NIBBLES[one >>> 4]!
  }
  return sum
}

/** Errors: ReadError `damaged` for a file whose bytes do not match its checksum. */
export function assertChecksum(file: Buffer): void {
  const end = file.length - CHECKSUM_BYTES
  if (checksumOf(file.subarray(0, end)) !== file.readUInt16LE(end)) throw new ReadError('damaged')
}

/**
 * Yields the messages of one file in order; its checksum has been checked. Messages of other kinds than the chosen ones are passed over.
 * Errors: ReadError `damaged` for a message without a definition, and for one that ends behind the file.
 * @param onMessage gets the end of each whole message
 */
export function* fitMessages(
  file: Buffer,
  kinds: ReadonlySet<number>,
  onMessage?: (offset: number) => void,
): Generator<FitMessage> {
  const definitions: (Definition | undefined)[] = []
  const described = new DeveloperFields()
  const end = file.length - CHECKSUM_BYTES
  let time: number | undefined
  for (let at = file[0]!; at < end;) {
    const header = file[at++]!
    const isCompressed = (header & 0x80) !== 0
    if (!isCompressed && (header & 0x40) !== 0) {
      const { definition, next } = readDefinition(file, at, end, (header & 0x20) !== 0)
      definitions[header & 0x0f] = definition
      at = next
      continue
    }
    const definition = definitions[isCompressed ? (header >> 5) & 3 : header & 0x0f]
    if (!definition) throw new ReadError('damaged')
    // A message whose header has the time has no field for it; some writers declare one and leave it out.
    const fields = isCompressed ? definition.fields.filter(({ number }) => number !== TIMESTAMP) : definition.fields
    const size = fields.reduce((sum, field) => sum + field.size, 0)
    if (at + size + definition.developer_bytes > end) throw new ReadError('damaged')
    const { number, isLittle, developer } = definition
    const values = kinds.has(number) ? readFields(file, at, fields, isLittle) : undefined
    if (number === FIELD_DESCRIPTION) described.describe(readFields(file, at, fields, isLittle))
    if (values && developer.length && number === RECORD)
      described.complete(values, developer, at + size, (place, bytes, type) =>
        readField(file, place, { number: 0, size: bytes, type }, isLittle),
      )
    if (isCompressed) {
      // The last five bits of the time; it goes on from that of the message before.
      if (time !== undefined) time += ((header & 0x1f) - (time & 0x1f)) & 0x1f
      if (time !== undefined) values?.set(TIMESTAMP, time)
    } else time = timeIn(file, at, definition) ?? time
    at += size + definition.developer_bytes
    onMessage?.(at)
    if (values) yield { number, fields: values }
  }
}

/**
 * The whole messages of a file that ends too early, as a file: with two bytes where its checksum would be. What follows a message that
 * cannot be read is left out.
 */
export function wholeMessages(cut: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  let end = Math.min(cut[0]!, cut.length)
  const messages = fitMessages(Buffer.concat([cut, checksum]), new Set(), (offset) => (end = offset))
  try {
    while (!messages.next().done);
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
  }
  return Buffer.concat([cut.subarray(0, end), checksum])
}

/** The time of any message, since that of a compressed header goes on from it. */
function timeIn(file: Buffer, offset: number, { fields, isLittle }: Definition): number | undefined {
  for (const field of fields) {
    if (field.number === TIMESTAMP) {
      const value = readField(file, offset, field, isLittle)
      return typeof value === 'number' ? value : undefined
    }
    offset += field.size
  }
  return undefined
}

function readDefinition(file: Buffer, offset: number, end: number, hasDeveloperFields: boolean) {
  const need = (bytes: number) => {
    if (offset + bytes > end) throw new ReadError('damaged')
  }
  need(5)
  const isLittle = file[offset + 1] === 0
  const number = isLittle ? file.readUInt16LE(offset + 2) : file.readUInt16BE(offset + 2)
  const count = file[offset + 4]!
  offset += 5
  need(3 * count)
  const fields: Field[] = []
  for (let i = 0; i < count; i++, offset += 3)
    fields.push({ number: file[offset]!, size: file[offset + 1]!, type: file[offset + 2]! & 0x1f })
  const developer: DeveloperField[] = []
  if (hasDeveloperFields) {
    need(1)
    const developers = file[offset++]!
    need(3 * developers)
    for (let i = 0; i < developers; i++, offset += 3)
      developer.push({ number: file[offset]!, size: file[offset + 1]!, index: file[offset + 2]! })
  }
  const developer_bytes = developer.reduce((sum, { size }) => sum + size, 0)
  return { definition: { number, isLittle, fields, developer, developer_bytes }, next: offset }
}

function readFields(file: Buffer, offset: number, fields: Field[], isLittle: boolean): Map<number, FitValue> {
  const values = new Map<number, FitValue>()
  for (const field of fields) {
    const value = readField(file, offset, field, isLittle)
    if (value !== undefined) values.set(field.number, value)
    offset += field.size
  }
  return values
}

function readField(file: Buffer, start: number, { size, type }: Field, isLittle: boolean): FitValue | undefined {
  if (type === STRING) {
    const bytes = file.subarray(start, start + size)
    const zero = bytes.indexOf(0)
    return decodeUtf8(zero < 0 ? bytes : bytes.subarray(0, zero))
  }
  const base = baseTypes.get(type)
  if (!base || size === 0 || size % base.size !== 0) return undefined
  const view = new DataView(file.buffer, file.byteOffset + start, size)
  const values: (number | undefined)[] = []
  for (let offset = 0; offset < size; offset += base.size) {
    const value = base.read(view, offset, isLittle)
    values.push(base.isNone(value) ? undefined : value)
  }
  return values.length === 1 ? values[0] : values
}

/** The number of a field, in its unit: what is stored, divided by the scale, less the offset. */
export function numberIn({ fields }: FitMessage, field: number, scale = 1, offset = 0): number | undefined {
  const value = fields.get(field)
  return typeof value === 'number' && Number.isFinite(value) ? value / scale - offset : undefined
}

/** The numbers of a field that holds several. */
export function numbersIn({ fields }: FitMessage, field: number): (number | undefined)[] {
  const value = fields.get(field)
  return typeof value === 'number' ? [value] : Array.isArray(value) ? value : []
}

/** The text of a field; undefined if it is not UTF-8. */
export function textIn({ fields }: FitMessage, field: number): string | undefined {
  const value = fields.get(field)
  return typeof value === 'string' && value !== '' && value.isWellFormed() ? value : undefined
}
