// Finds the lines about a user in the files of archived days, newest first. Each search reads few files and for a short time: what is older
// is left to the next page.
import type { Cells } from '../db/cells.ts'
import type { Queries } from '../db/transaction.ts'
import { sql } from '../db/sql.ts'
import { ConcurrencyLimit } from '../runtime/concurrency-limit.ts'
import { unavailable } from '../runtime/problem.ts'
import { StorageUnavailable } from '../stored-files/file-storage.ts'
import type { StoredFiles } from '../stored-files/stored-files.ts'
import { readSubjects, userKey } from './log-days.ts'
import { listLogFiles, LogFileFault, readLogFile, type LogFile } from './log-files.ts'

/** Files that one search reads at most, and after which time it reads no further one. */
const FILES_MAX = 16
const SEARCH_MS_MAX = 2_000
/** Each unpacked file takes up to 20 MB of memory while it is searched. */
const LIMITS = { running_max: 2, waiting_max: 32, wait_ms: 10_000 }

export interface ArchiveSearch {
  team: string
  user: string
  /** Only lines whose text contains this. */
  text: string | undefined
  /** Only lines with smaller numbers; undefined: all. */
  below_seq: number | undefined
  /** Only files with lines above this number. */
  above_seq: number
  /** Enough lines. */
  count: number
}

export interface ArchivedLine {
  seq: number
  line: string
}

export interface ArchivedLines {
  lines: ArchivedLine[]
  /** All lines from this number on are in it; 0: there are no others. */
  complete_from: number
}

export class ArchiveSearcher {
  readonly #cells: Cells
  readonly #files: StoredFiles
  readonly #limit = new ConcurrencyLimit(LIMITS)

  constructor(cells: Cells, files: StoredFiles) {
    this.#cells = cells
    this.#files = files
  }

  /** The lines of a team about a user in archived days; no transaction may be open. 503: a file cannot be read, or too many searches wait. */
  async search(cell: string, search: ArchiveSearch): Promise<ArchivedLines> {
    const db = this.#cells.db(cell)
    const files = await listLogFiles(
      db.queries,
      sql`
      user_keys @> array[${userKey(search.user)}]::integer[] and last_seq > ${search.above_seq} and (first_seq < ${search.below_seq ?? null}::bigint) is not false
      and day in (select day from access_day where archived_at is not null)`,
      sql`first_seq desc limit ${FILES_MAX + 1}`,
    )
    return files.length
      ? this.#limit.run(() => this.#searchFiles(db.queries, files, search), { owner: search.team })
      : { lines: [], complete_from: 0 }
  }

  async #searchFiles(queries: Queries, files: LogFile[], search: ArchiveSearch): Promise<ArchivedLines> {
    const began_ms = performance.now()
    const lines: ArchivedLine[] = []
    for (const [index, file] of files.entries()) {
      const isLate = index > 0 && performance.now() - began_ms > SEARCH_MS_MAX
      if (index === FILES_MAX || isLate || lines.length >= search.count)
        return { lines, complete_from: files[index - 1]!.first_seq }
      lines.push(...selectLines(await this.#read(queries, file), file, search))
    }
    return { lines, complete_from: 0 }
  }

  async #read(queries: Queries, file: LogFile): Promise<string[]> {
    try {
      return await readLogFile(queries, this.#files, file)
    } catch (error) {
      if (error instanceof StorageUnavailable) throw unavailable(`The access log of ${file.day} cannot be read now; try again`, 5)
      if (error instanceof LogFileFault)
        throw unavailable(`The access log of ${file.day} is damaged: the operator checks it with "access-log verify"`, 3600)
      throw error
    }
  }
}

/** The lines of a file that a search asks for, newest first. */
function selectLines(lines: string[], file: LogFile, { team, user, text, below_seq }: ArchiveSearch): ArchivedLine[] {
  const containsUser = new RegExp(user, 'i')
  return lines
    .map((line, index) => ({ seq: file.first_seq + index, line }))
    .filter(({ seq, line }) => {
      if ((below_seq !== undefined && seq >= below_seq) || !containsUser.test(line)) return false
      const subjects = readSubjects(line)
      return subjects?.team === team && subjects.users.includes(user.toLowerCase()) && (text === undefined || line.includes(text))
    })
    .reverse()
}
