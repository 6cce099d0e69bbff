// Writes FIT files byte by byte, by the FIT protocol and without the code that reads them.

type Type = 'enum' | 'sint8' | 'uint8' | 'uint16' | 'sint16' | 'uint32' | 'sint32' | 'float32' | 'float64' | 'byte' | 'string'
const types: Record<Type, [code: number, size: number]> = {
  enum: [0x00, 1],
  sint8: [0x01, 1],
  uint8: [0x02, 1],
  sint16: [0x83, 2],
  uint16: [0x84, 2],
  sint32: [0x85, 4],
  uint32: [0x86, 4],
  string: [0x07, 1],
  float32: [0x88, 4],
  float64: [0x89, 8],
  byte: [0x0d, 1],
}

export type FitField = [number: number, type: Type, value: number | number[] | string | Uint8Array]

export interface FitMessage {
  kind: number
  fields: FitField[]
  /** Developer fields: their number, and their values. */
  developer?: FitField[]
  /** The header has the last five bits of the time, and the message no field for it. */
  offset?: number
}

export interface FitFileOptions {
  isBigEndian?: boolean
  /** Added to the checksum. */
  checksum_error?: number
}

const MESSAGES = { file_id: 0, developer_data_id: 207, field_description: 206 }

/** 1989-12-31T00:00:00Z, from which FIT counts seconds. */
export const fitTime = (instant: string): number => Date.parse(instant) / 1000 - 631_065_600

function valueBytes([, type, value]: FitField, isBigEndian: boolean): Buffer {
  if (typeof value === 'string') return Buffer.from(`${value}\0`)
  if (value instanceof Uint8Array) return Buffer.from(value)
  const values = Array.isArray(value) ? value : [value]
  const [, size] = types[type]
  const bytes = Buffer.alloc(size * values.length)
  for (const [i, one] of values.entries()) {
    const at = i * size
    if (type === 'float32') bytes.writeFloatLE(one, at)
    else if (type === 'float64') bytes.writeDoubleLE(one, at)
    else if (type.startsWith('sint')) bytes.writeIntLE(one, at, size)
    else bytes.writeUIntLE(one, at, size)
    if (isBigEndian) bytes.subarray(at, at + size).reverse()
  }
  return bytes
}

function definition({ kind, fields, developer, offset }: FitMessage, isBigEndian: boolean): Buffer {
  const listed = offset === undefined ? fields : fields.filter(([number]) => number !== 253)
  const number = Buffer.alloc(2)
  if (isBigEndian) number.writeUInt16BE(kind)
  else number.writeUInt16LE(kind)
  const head = Buffer.from([0x40 | (developer ? 0x20 : 0), 0, isBigEndian ? 1 : 0, ...number, listed.length])
  const own = listed.map((field) => Buffer.from([field[0], valueBytes(field, isBigEndian).length, types[field[1]][0]]))
  const more = developer
    ? [
        Buffer.from([developer.length]),
        ...developer.map((field) => Buffer.from([field[0], valueBytes(field, isBigEndian).length, 0])),
      ]
    : []
  return Buffer.concat([head, ...own, ...more])
}

/** The checksum as the protocol defines it, bit by bit. */
function checksum(bytes: Uint8Array): number {
  let sum = 0
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xa001 : sum >>> 1
  }
  return sum
}

/** A file of these messages, each with a definition of its own. */
export function fitBytes(messages: FitMessage[], { isBigEndian = false, checksum_error = 0 }: FitFileOptions = {}): Buffer {
  const parts = messages.map((message) => {
    const { fields, developer = [], offset } = message
    const header = offset === undefined ? 0 : 0x80 | offset
    const all = offset === undefined ? fields : fields.filter(([number]) => number !== 253)
    const values = [...all, ...developer].map((field) => valueBytes(field, isBigEndian))
    return Buffer.concat([definition(message, isBigEndian), Buffer.from([header]), ...values])
  })
  const data = Buffer.concat(parts)
  const header = Buffer.from([14, 0x20, 0x54, 0x08, 0, 0, 0, 0, ...Buffer.from('.FIT'), 0, 0])
  header.writeUInt32LE(data.length, 4)
  header.writeUInt16LE(checksum(header.subarray(0, 12)), 12)
  return withChecksum(Buffer.concat([header, data, Buffer.alloc(2)]), checksum_error)
}

/** A file whose last two bytes are its checksum, or another number. */
export function withChecksum(file: Buffer, error = 0): Buffer {
  file.writeUInt16LE((checksum(file.subarray(0, -2)) + error) & 0xffff, file.length - 2)
  return file
}

/** Describes developer fields: their names, types and units, as apps of watches do. */
export const developerFields = (
  fields: [number: number, type: Type, name: string, units?: string, native?: number][],
): FitMessage[] => [
  {
    kind: MESSAGES.developer_data_id,
    fields: [
      [1, 'byte', Array(16).fill(7)],
      [3, 'uint8', 0],
    ],
  },
  ...fields.map(([number, type, name, units = '', native]): FitMessage => ({
    kind: MESSAGES.field_description,
    fields: [
      [0, 'uint8', 0],
      [1, 'uint8', number],
      [2, 'uint8', types[type][0]],
      [3, 'string', name],
      [8, 'string', units],
      ...(native === undefined ? [] : ([[15, 'uint8', native]] satisfies FitField[])),
    ],
  })),
]

export const fileId = (fields: Partial<{ type: number; manufacturer: number; created_s: number }> = {}): FitMessage => ({
  kind: MESSAGES.file_id,
  fields: [
    [0, 'enum', fields.type ?? 4],
    [1, 'uint16', fields.manufacturer ?? 1],
    [2, 'uint16', 3113],
    [4, 'uint32', fields.created_s ?? 0xffff_ffff],
  ],
})
