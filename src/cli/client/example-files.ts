// Files of health data for `trigger`, as devices write them, with one made-up record each.

const UNIX_TO_FIT_S = 631_065_600
/** `.FIT` in ASCII. */
const SIGNATURE = [0x2e, 0x46, 0x49, 0x54]
const FILE_ID = 0
const STRESS = 227
/** Base types of the protocol: the code and the bytes of a value. */
const types = { enum: [0x00, 1], sint16: [0x83, 2], uint16: [0x84, 2], uint32: [0x86, 4] } as const

type Field = [number: number, type: keyof typeof types, value: number]

/** A file of a watch with one level of stress, in percent. */
export function stressFile(at_ms: number, percent: number): Uint8Array<ArrayBuffer> {
  const at = Math.floor(at_ms / 1000) - UNIX_TO_FIT_S
  const data = Buffer.concat([
    message(FILE_ID, [
      [0, 'enum', 32],
      [1, 'uint16', 1],
      [2, 'uint16', 3113],
      [4, 'uint32', at],
    ]),
    message(STRESS, [
      [0, 'sint16', percent],
      [1, 'uint32', at],
    ]),
  ])
  const header = Buffer.from([14, 0x20, 0x54, 0x08, 0, 0, 0, 0, ...SIGNATURE, 0, 0])
  header.writeUInt32LE(data.length, 4)
  header.writeUInt16LE(checksum(header.subarray(0, 12)), 12)
  const file = Buffer.concat([header, data, Buffer.alloc(2)])
  file.writeUInt16LE(checksum(file.subarray(0, -2)), file.length - 2)
  return new Uint8Array(file)
}

/** A message with its definition. */
function message(kind: number, fields: Field[]): Buffer {
  const definition = fields.flatMap(([number, type]) => [number, types[type][1], types[type][0]])
  const values = fields.map(([, type, value]) => {
    const bytes = Buffer.alloc(types[type][1])
    bytes.writeUIntLE(value, 0, bytes.length)
    return bytes
  })
  return Buffer.concat([Buffer.from([0x40, 0, 0, kind & 0xff, kind >> 8, fields.length, ...definition, 0]), ...values])
}

/** The checksum as the protocol defines it. */
function checksum(bytes: Uint8Array): number {
  let sum = 0
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xa001 : sum >>> 1
  }
  return sum
}

/** The `export.xml` of a phone with one record. @param metadata an entry of the record */
export function appleExport(
  at_ms: number,
  { type, value, unit, metadata }: { type: string; value: number; unit: string; metadata?: [key: string, value: string] },
): Uint8Array<ArrayBuffer> {
  const at = `${new Date(at_ms).toISOString().slice(0, 19).replace('T', ' ')} +0000`
  const inside = metadata ? `<MetadataEntry key="${metadata[0]}" value="${metadata[1]}"/>` : ''
  return new TextEncoder().encode(
    `<?xml version="1.0" encoding="UTF-8"?>\n<HealthData locale="en_US">\n<Record type="HKQuantityTypeIdentifier${type}" sourceName="Fictional" unit="${unit}" startDate="${at}" endDate="${at}" creationDate="${at}" value="${value}">${inside}</Record>\n</HealthData>\n`,
  )
}
