// Where the bytes of stored files are: on disk, in an object store, or in the database.

export const storageKinds = ['disk', 's3', 'database'] as const
export type StorageKind = (typeof storageKinds)[number]

/** Bytes by their key, outside the database. Each method may be repeated. Errors of all: `StorageUnavailable`. */
export interface FileStorage {
  /** Writes a file whole or not at all, and replaces the one with the same key. */
  put(key: string, bytes: Uint8Array): Promise<void>
  /** undefined: there is none. */
  get(key: string): Promise<Buffer | undefined>
  /** Does nothing if there is none. */
  remove(key: string): Promise<void>
  close(): Promise<void>
}

/** The storage did not do what it was asked; it may do so later. The message holds no bytes and no secret. */
export class StorageUnavailable extends Error {
  override name = 'StorageUnavailable'
}
