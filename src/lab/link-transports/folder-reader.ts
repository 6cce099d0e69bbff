// Reads the files of a laboratory from a folder. A file is taken when it has not changed for a while and ends as messages end; it is stored
// and committed before it is moved, and never deleted. Whatever happens in between, the next look finds the file again.
import { createHash } from 'node:crypto'
import { uuid } from '../../platform/runtime/uuid.ts'
import { FolderError, isUnfinished, matchesPattern, writeWhole, type FileEntry, type FileStore } from './file-store.ts'

export interface FolderReaderOptions {
  folder: string
  pattern: string
  /** A file is taken when it has not changed for so long. */
  stable_ms: number
  /** A file that does not end as messages end is not complete. */
  endsWithTerminator: boolean
  bytes_max: number
  /** Whether an acknowledgment is written for each file, as `NAME.ack`. */
  writesAcknowledgments: boolean
  /** Stores a message. If it rejects, the file stays where it is. */
  receive: (bytes: Buffer) => Promise<FileReceipt>
  /** A file was moved to `error` that is not stored as a message. */
  onIncomplete?: (reason: string) => void
  /** A monotonic clock. */
  now_ms: () => number
}

interface FileReceipt {
  /** Why the message goes to a person; undefined: it can be read. Without patient data. */
  fault: string | undefined
  /** Undefined: the laboratory wants none. */
  acknowledgment: Uint8Array | undefined
}

/** How often a file is looked at. */
interface Sighting extends Omit<FileEntry, 'name'> {
  since_ms: number
}

type FileOutcome = 'taken' | 'waiting' | 'faulty'

/** How a look into the folder went. */
export interface FolderLook {
  /** Files that were stored and moved. */
  taken_count: number
  /** Files that are not finished yet. */
  waiting_count: number
  /** Files that were moved to `error`. */
  faulty_count: number
  /** Why a file stays where it is, such as one that may not be read. The others were taken. */
  failure: FolderError | undefined
}

/** A file that never ends as messages end, or has nothing in it, goes to `error` after this long without a change, or longer by the profile. */
const UNFINISHED_MS_MAX = 60_000
/** After so many files that cannot be used, it is the place that does not work. */
const FAILURES_MAX = 3
/** Names of files have at most 255 bytes, and what is written beside a file has a longer name. */
const NAME_BYTES_MAX = 200
export const DONE = 'done'
const ERROR = 'error'
/** What is added to the name of a file for its acknowledgment. */
export const ACKNOWLEDGMENT_ENDING = '.ack'

export class FolderReader {
  readonly #options: FolderReaderOptions
  readonly #isWanted: (name: string) => boolean
  #sightings = new Map<string, Sighting>()
  /** Names of files that could not be used at the last look; they are tried after the others. */
  #unusable = new Set<string>()

  constructor(options: FolderReaderOptions) {
    this.#options = options
    const isMatch = matchesPattern(options.pattern)
    this.#isWanted = (name) => !isUnfinished(name) && isMatch(name)
  }

  /**
   * Looks into the folder once and takes what is finished, oldest first. A file that cannot be used stays, and does not stop the others. Errors:
   * FolderError; errors of `receive`, after which all further files stay for the next look.
   * @param isStopped asked before each file
   */
  async look(store: FileStore, isStopped: () => boolean): Promise<FolderLook> {
    const { folder, now_ms } = this.#options
    const entries = (await store.list(folder)).filter(({ name }) => this.#isWanted(name))
    const looked_ms = now_ms()
    this.#sightings = new Map(entries.map((entry) => [entry.name, this.#sighting(entry, looked_ms)]))
    const result: FolderLook = { taken_count: 0, waiting_count: 0, faulty_count: 0, failure: undefined }
    let failure_count = 0
    if (entries.length > 0) for (const name of [DONE, ERROR]) await store.createFolder(`${folder}/${name}`)
    for (const { name } of this.#inTurn(entries)) {
      if (isStopped() || failure_count >= FAILURES_MAX) break
      try {
        const outcome =
          looked_ms - this.#sightings.get(name)!.since_ms < this.#options.stable_ms ? 'waiting' : await this.#take(store, name)
        result[`${outcome}_count`]++
        this.#unusable.delete(name)
      } catch (error) {
        if (!(error instanceof FolderError)) throw error
        result.failure ??= error
        this.#unusable.add(name)
        failure_count++
      }
    }
    return result
  }

  #inTurn(entries: FileEntry[]): FileEntry[] {
    this.#unusable = new Set(entries.flatMap(({ name }) => (this.#unusable.has(name) ? [name] : [])))
    const rank = ({ name }: FileEntry) => Number(this.#unusable.has(name))
    return entries.sort((a, b) => rank(a) - rank(b) || a.modified_ms - b.modified_ms || (a.name < b.name ? -1 : 1))
  }

  #sighting({ name, bytes, modified_ms }: FileEntry, looked_ms: number): Sighting {
    const earlier = this.#sightings.get(name)
    const isUnchanged = earlier?.bytes === bytes && earlier.modified_ms === modified_ms
    return { bytes, modified_ms, since_ms: isUnchanged ? earlier.since_ms : looked_ms }
  }

  async #take(store: FileStore, name: string): Promise<FileOutcome> {
    const { folder, bytes_max, receive, writesAcknowledgments } = this.#options
    const path = `${folder}/${name}`
    const { bytes: size, modified_ms } = this.#sightings.get(name)!
    if (Buffer.byteLength(name) > NAME_BYTES_MAX)
      return this.#rejectUnstored(store, name, `The name of the file has more than ${NAME_BYTES_MAX} bytes`)
    if (size > bytes_max) return this.#rejectUnstored(store, name, `The file has more than ${bytes_max} bytes`)
    const bytes = await readPresent(store, path, bytes_max)
    if (!bytes) return 'waiting'
    const after = await store.stat(path)
    if (after?.bytes !== size || after.modified_ms !== modified_ms || bytes.length !== size) {
      this.#sightings.delete(name)
      return 'waiting'
    }
    const fault = this.#incompleteness(bytes)
    if (fault !== undefined) return this.#isLate(name) ? this.#rejectUnstored(store, name, fault) : 'waiting'
    const { fault: unreadable, acknowledgment } = await receive(bytes)
    if (writesAcknowledgments && acknowledgment) await writeWhole(store, `${path}${ACKNOWLEDGMENT_ENDING}`, acknowledgment)
    if (unreadable !== undefined) return this.#reject(store, name, unreadable)
    await this.#move(store, name, DONE)
    return 'taken'
  }

  #incompleteness(bytes: Buffer): string | undefined {
    if (bytes.length === 0) return 'The file is empty'
    const isComplete = !this.#options.endsWithTerminator || endsAsMessage(bytes)
    return isComplete ? undefined : 'The file does not end with CR or LF: it is not complete'
  }

  #isLate(name: string): boolean {
    const { stable_ms, now_ms } = this.#options
    return now_ms() - this.#sightings.get(name)!.since_ms >= Math.max(UNFINISHED_MS_MAX, stable_ms)
  }

  async #rejectUnstored(store: FileStore, name: string, reason: string): Promise<'faulty'> {
    const outcome = await this.#reject(store, name, reason)
    this.#options.onIncomplete?.(reason)
    return outcome
  }

  /** Moves a file to `error`, with a file beside it that says why. */
  async #reject(store: FileStore, name: string, reason: string): Promise<'faulty'> {
    const target = await this.#freeName(store, name, ERROR)
    await writeWhole(store, `${this.#options.folder}/${ERROR}/${target}.reason`, Buffer.from(`${reason}\n`))
    await this.#move(store, name, ERROR, target)
    return 'faulty'
  }

  async #move(store: FileStore, name: string, subfolder: string, target?: string): Promise<void> {
    const { folder } = this.#options
    await store.rename(`${folder}/${name}`, `${folder}/${subfolder}/${target ?? (await this.#freeName(store, name, subfolder))}`)
    this.#sightings.delete(name)
  }

  /** Laboratories use names again. */
  async #freeName(store: FileStore, name: string, subfolder: string): Promise<string> {
    const short = shortName(name)
    const isTaken = await store.stat(`${this.#options.folder}/${subfolder}/${short}`)
    return isTaken ? `${short}.${uuid()}` : short
  }
}

/** Undefined if the laboratory has removed the file. */
const readPresent = (store: FileStore, path: string, bytes_max: number): Promise<Buffer | undefined> =>
  store.read(path, bytes_max).catch(async (error: unknown) => {
    if (await store.stat(path)) throw error
    return undefined
  })

/** A name that is too long, cut, with a digest that keeps such names apart. */
const shortName = (name: string): string =>
  Buffer.byteLength(name) > NAME_BYTES_MAX
    ? `${Array.from(name).slice(0, 30).join('')}-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`
    : name

const LAST_BYTES = new Set([0x0a, 0x0d, 0x1c])

/** Segments end with CR or LF, frames with FS; a file that ends within a segment was cut off. Some programs fill up with zeros and spaces. */
function endsAsMessage(bytes: Uint8Array): boolean {
  let last = bytes.length - 1
  while (last >= 0 && (bytes[last] === 0x00 || bytes[last] === 0x20 || bytes[last] === 0x1a)) last--
  return last >= 0 && LAST_BYTES.has(bytes[last]!)
}
