// What links need of a place with files: a folder of this server or one on an SFTP server. Paths are relative to the place and have `/`.
export interface FileEntry {
  name: string
  bytes: number
  /** As the place says; only compared with earlier values. */
  modified_ms: number
}

export interface FileStore {
  /** The regular files of a folder, at most `ENTRIES_MAX`. Errors: the folder is missing or may not be read. */
  list(folder: string): Promise<FileEntry[]>
  /** The bytes of a file, of a longer one the first `bytes_max + 1`. */
  read(path: string, bytes_max: number): Promise<Buffer>
  /** Undefined if there is no such file. */
  stat(path: string): Promise<Omit<FileEntry, 'name'> | undefined>
  /** Writes a file and what it needs to survive a power failure. An existing file is replaced. */
  write(path: string, bytes: Uint8Array): Promise<void>
  /** Moves a file within the place. Replaces no other file where the place can avoid it. */
  rename(path: string, newPath: string): Promise<void>
  remove(path: string): Promise<void>
  /** Creates a folder unless it exists. */
  createFolder(folder: string): Promise<void>
  close(): Promise<void>
}

/** Of one look into a folder; the rest is seen at the next one. */
export const ENTRIES_MAX = 20_000

/** A folder cannot be used. The message says why, without names of files. */
export class FolderError extends Error {
  override name = 'FolderError'
}

/** `GLUCOSE*.hl7` as a test of names. In linear time: each part between stars is looked for where the one before it was. */
export function matchesPattern(pattern: string): (name: string) => boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return (name) => name === first
  return (name) => {
    if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
    let position = first.length
    const end = name.length - last.length
    return others.every((part) => {
      const start = name.indexOf(part, position)
      position = start + part.length
      return start >= 0 && position <= end
    })
  }
}

/** What files that other programs are still writing are called, and files that are ours. */
const UNFINISHED = /(?:^\.|\.(?:tmp|part|partial|filepart|ack|reason)$)/iu

export const isUnfinished = (name: string): boolean => UNFINISHED.test(name)

/** Writes a file under a name that nobody reads yet, and then gives it its own. Half a file, such as one on a full disk, does not stay. */
export async function writeWhole(store: FileStore, path: string, bytes: Uint8Array): Promise<void> {
  try {
    await store.write(`${path}.tmp`, bytes)
    await store.rename(`${path}.tmp`, path)
  } catch (error) {
    await store.remove(`${path}.tmp`).catch(() => undefined)
    throw error
  }
}
