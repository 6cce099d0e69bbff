// Keys of uploaded files: each file has one of its own, which is stored encrypted next to it and deleted with it.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { VaultError, type Vault } from '../crypto/vault.ts'

const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/** A new key for a file, encrypted. `context` names the file in words of the module that has it. */
export const newFileKey = (vault: Vault, context: string): string =>
  vault.encrypt(randomBytes(KEY_BYTES).toString('base64'), context)

/** Encrypts and decrypts the parts of one file; a part is bound to its place. Errors: VaultError. */
export class FileKey {
  readonly #file_id: string
  readonly #key: Buffer

  /** @param context as given to `newFileKey` */
  constructor(vault: Vault, { file_id, context }: { file_id: string; context: string }, file_key: string) {
    this.#file_id = file_id
    this.#key = Buffer.from(vault.decrypt(file_key, context), 'base64')
  }

  #place = (start: number | string): Buffer => Buffer.from(`${this.#file_id} ${start}`)

  encrypt(bytes: Uint8Array, start: number | string): Buffer {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(this.#place(start))
    return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
  }

  decrypt(ciphertext: Buffer, start: number | string): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', this.#key, ciphertext.subarray(0, IV_BYTES)).setAAD(this.#place(start))
    decipher.setAuthTag(ciphertext.subarray(-TAG_BYTES))
    try {
      return Buffer.concat([decipher.update(ciphertext.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()])
    } catch {
      throw new VaultError('A part of a file failed authentication; it was changed outside Drawbridge.')
    }
  }
}
