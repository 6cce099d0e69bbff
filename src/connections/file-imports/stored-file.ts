// The bytes of uploaded files, encrypted, in the database: any process may import what another one received, and nothing is left on a disk.
// Each file has a key of its own, which is deleted with it. Owns the table file_import_part.
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { FileKey, newFileKey } from '../../platform/files/file-key.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { join, sql } from '../../platform/db/sql.ts'

/** Bytes of a row: what a reader holds at once. */
const ROW_BYTES = 1024 * 1024
/** Rows that one statement deletes. */
const DELETED_AT_ONCE = 64

const context = (import_id: string) => `file import ${import_id}`

export const encryptedKeyColumn: EncryptedColumn = {
  plane: 'cell',
  table: 'file_import',
  column: 'file_key',
  of: ['id'],
  context,
}

/** A new key for the file of an import, encrypted. */
export const newImportKey = (vault: Vault, import_id: string): string => newFileKey(vault, context(import_id))

/** The key of the file of an import. Errors: VaultError. */
export const importKey = (vault: Vault, import_id: string, file_key: string): FileKey =>
  new FileKey(vault, { file_id: import_id, context: context(import_id) }, file_key)

/** Stores bytes of a file from a place on. Writes file_import_part. */
export async function storeBytes(tx: Tx, key: FileKey, import_id: string, start: number, bytes: Uint8Array): Promise<void> {
  const rows = []
  for (let at = 0; at < bytes.length; at += ROW_BYTES) {
    const encrypted = key.encrypt(bytes.subarray(at, at + ROW_BYTES), start + at)
    rows.push(sql`(${tx.team}::uuid, ${import_id}::uuid, ${start + at}::bigint, ${encrypted}::bytea)`)
  }
  if (rows.length)
    await tx.run(sql`insert into file_import_part (team_id, import_id, start_byte, bytes) values ${join(rows, ', ')}`)
}

const Part = T.Object({ start_byte: T.Integer(), bytes: T.Unsafe<Buffer>({}) })

/** The part of a file that has the byte at a place; undefined if it is no more there. */
export async function readPart(
  tx: Tx,
  key: FileKey,
  import_id: string,
  offset: number,
): Promise<{ start: number; bytes: Buffer } | undefined> {
  const part = await tx.maybe(
    Part,
    sql`
    select start_byte, bytes from file_import_part
    where team_id = ${tx.team} and import_id = ${import_id} and start_byte <= ${offset} order by start_byte desc limit 1`,
  )
  return part && { start: part.start_byte, bytes: key.decrypt(part.bytes, part.start_byte) }
}

/** Deletes some of the bytes of the file of an import that has ended. Writes file_import_part. @returns whether there may be more */
export async function deleteSomeBytes(tx: Tx, import_id: string): Promise<boolean> {
  const deleted = await tx.run(sql`
    delete from file_import_part
    where team_id = ${tx.team} and import_id = ${import_id} and start_byte in (
      select p.start_byte from file_import_part p join file_import f on f.team_id = p.team_id and f.id = p.import_id
      where p.team_id = ${tx.team} and p.import_id = ${import_id} and f.finished_at is not null limit ${DELETED_AT_ONCE})`)
  return deleted === DELETED_AT_ONCE
}
