// The bytes of uploaded files, encrypted, in the database: any process may import what another one received, and nothing is left on a disk.
// Each file has a key of its own, which is deleted with it. Owns the table file_import_part.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import { VaultError, type Vault } from '../../platform/crypto/vault.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { join, sql } from '../../platform/db/sql.ts'

/** Bytes of a row: what a reader holds at once. */
const ROW_BYTES = 1024 * 1024
const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32
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

/** A new key for a file, encrypted. */
export const newFileKey = (vault: Vault, import_id: string): string =>
  vault.encrypt(randomBytes(KEY_BYTES).toString('base64'), context(import_id))

/** Encrypts and decrypts the bytes of one file. Errors: VaultError. */
export class FileKey {
  readonly #import_id: string
  readonly #key: Buffer

  constructor(vault: Vault, import_id: string, file_key: string) {
    this.#import_id = import_id
    this.#key = Buffer.from(vault.decrypt(file_key, context(import_id)), 'base64')
  }

  #place = (start: number): Buffer => Buffer.from(`${this.#import_id} ${start}`)

  encrypt(bytes: Uint8Array, start: number): Buffer {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(this.#place(start))
    return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
  }

  decrypt(stored: Buffer, start: number): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', this.#key, stored.subarray(0, IV_BYTES)).setAAD(this.#place(start))
    decipher.setAuthTag(stored.subarray(-TAG_BYTES))
    try {
      return Buffer.concat([decipher.update(stored.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()])
    } catch {
      throw new VaultError('A part of a file failed authentication; it was changed outside Drawbridge.')
    }
  }
}

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
  at: number,
): Promise<{ start: number; bytes: Buffer } | undefined> {
  const part = await tx.maybe(
    Part,
    sql`
    select start_byte, bytes from file_import_part
    where team_id = ${tx.team} and import_id = ${import_id} and start_byte <= ${at} order by start_byte desc limit 1`,
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
