// Results of queries as Parquet files. Source: users-wearables.md 15.1. Unsourced: the names in the archive, and the types of columns.
import { gzipSync } from 'node:zlib'
import type { SchemaElement } from 'hyparquet'
import { FileReply } from '../../platform/http/operation.ts'
import type { Value } from './align.ts'
import type { Scalar } from './columns.ts'
import type { Query } from './query-language.ts'
import type { Table } from './run-query.ts'
import { layoutOf } from './stored-results.ts'

/** The media type of one result. */
export const PARQUET = 'application/vnd.apache.parquet'
/** That of the results of a request: an archive of Parquet files. */
export const PARQUET_ARCHIVE = 'application/vnd.vital.tar+gzip+parquet'

interface Result {
  query: Query
  table: Table
}

/** The result of one query. Times are wall times of the user, which Parquet calls not adjusted to UTC. */
export const createFile = async (name: string, result: Result): Promise<FileReply> =>
  new FileReply(PARQUET, `${name}.parquet`, await parquetOf(result))

/** The results of several queries: `0.parquet`, `1.parquet` and so on, in the order of the queries. */
export async function archiveOf(results: Result[]): Promise<FileReply> {
  const blocks: Buffer[] = []
  for (const [i, result] of results.entries()) blocks.push(...entry(`${i}.parquet`, await parquetOf(result)))
  return new FileReply(PARQUET_ARCHIVE, 'results.tar.gz', gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)])))
}

const date = (value: Value): Date | null =>
  value === null ? null : new Date(`${String(value).slice(0, 19)}${String(value).length > 10 ? 'Z' : ''}`)

type Column = { type: SchemaElement; data: unknown[] }

function createColumn(name: string, kind: Scalar, values: Value[]): Column {
  const as = (type: Omit<SchemaElement, 'name' | 'repetition_type'>, data: unknown[] = values): Column => ({
    type: { name, repetition_type: 'OPTIONAL', ...type },
    data,
  })
  switch (kind) {
    case 'int':
      // Sources send fractions of some numbers that are whole in general, such as heart rates.
      if (!values.every((value) => value === null || Number.isSafeInteger(value))) return as({ type: 'DOUBLE' })
      return as(
        { type: 'INT64' },
        values.map((value) => (value === null ? null : BigInt(value as number))),
      )
    case 'double':
      return as({ type: 'DOUBLE' })
    case 'bool':
      return as({ type: 'BOOLEAN' })
    case 'text':
      return as({ type: 'BYTE_ARRAY', converted_type: 'UTF8' })
    case 'date':
      return as({ type: 'INT32', converted_type: 'DATE' }, values.map(date))
    case 'time':
      return as({ type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' } }, values.map(date))
  }
}

async function parquetOf({ query, table }: Result): Promise<Buffer> {
  const { parquetWriteBuffer } = await import('hyparquet-writer')
  const columns = layoutOf(query).columns.map(({ name, kind }) => createColumn(name, kind, table[name]!))
  const schema: SchemaElement[] = [{ name: 'root', num_children: columns.length }, ...columns.map(({ type }) => type)]
  const columnData = columns.map(({ type: { name }, data }) => ({ name, data }))
  return Buffer.from(parquetWriteBuffer({ columnData, schema }))
}

/** Bytes of a block of a tar archive. */
const BLOCK = 512

/** A file in a tar archive: its header, and its bytes filled up to whole blocks. Source: POSIX, pax, "ustar Interchange Format". */
function entry(name: string, bytes: Buffer): Buffer[] {
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, '0')
  header.write(name, 0)
  header.write(octal(0o644, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(bytes.length, 12), 124)
  header.write(octal(0, 12), 136)
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\0' + '00', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 7)}\0 `, 148)
  return [header, bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)]
}
