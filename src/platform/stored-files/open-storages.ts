// The storages of a process, from its settings.
import { DiskStorage } from './disk-storage.ts'
import type { FileStorage, StorageKind } from './file-storage.ts'
import { S3Storage, type S3Settings } from './s3-storage.ts'

export interface FileStorageSettings {
  /** Where new files go. */
  report_storage: StorageKind
  /** The folder of `disk`. */
  report_folder: string
  /** The object store; undefined: none is configured. */
  s3: S3Settings | undefined
}

/** The storages that a process can reach: files stay readable where they are after new ones go elsewhere. */
export const openStorages = ({ report_folder, s3 }: FileStorageSettings): Partial<Record<StorageKind, FileStorage>> => ({
  disk: new DiskStorage(report_folder),
  ...(s3 && { s3: new S3Storage(s3) }),
})
