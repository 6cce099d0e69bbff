// Pictures of the pages of a report, for the person who reviews it: drawn when they are asked for, and stored nowhere.
import type { LRUCache } from 'lru-cache'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { FileReply } from '../../platform/http/operation.ts'
import { expiringCache } from '../../platform/runtime/expiring-cache.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { fileOfPage } from '../parsing-jobs/jobs-in-review.ts'
import type { FileThreads } from '../reading/opened-files.ts'

const task = new URL('../reading/file.task.ts', import.meta.url)

/** Drawing a page takes half a second, and a reviewer looks at the same pages again. */
const CACHED_MAX = 8
const CACHED_MS = 120_000
const CACHED_BYTES_MAX = 8 * 1024 * 1024

/** Runs a transaction of the team whose report it is. */
export type Read = <R>(execute: (tx: Tx) => Promise<R>) => Promise<R>

export class PagePictures {
  readonly #vault: Vault
  readonly #threads: FileThreads
  readonly #cache: LRUCache<string, Uint8Array> = expiringCache({ lifetime_ms: CACHED_MS, size_max: CACHED_MAX })

  constructor(vault: Vault, threads: FileThreads) {
    this.#vault = vault
    this.#threads = threads
  }

  /**
   * The picture of a page, at most 2,400 pixels high and wide. The files are read each time, so that nothing is shown of a report that has
   * been erased, or whose files have been deleted.
   * Errors: those of `fileOfPage` and `FileThreads`; 400 the page cannot be drawn within its limits.
   */
  async draw(read: Read, job_id: string, number: number): Promise<FileReply> {
    const { team, cell, ...asked } = await read(async (tx) => ({
      ...(await fileOfPage(tx, this.#vault, job_id, number)),
      team: tx.team,
      cell: tx.tenant.cell,
    }))
    const key = `${cell} ${team} ${job_id} ${number}`
    const picture = this.#cache.get(key) ?? (await this.#drawn(team, asked))
    if (picture.length <= CACHED_BYTES_MAX) this.#cache.set(key, picture)
    return new FileReply('image/png', `${job_id}-${number}.png`, picture)
  }

  async #drawn(team: string, { file, page }: Awaited<ReturnType<typeof fileOfPage>>): Promise<Uint8Array> {
    try {
      return await this.#threads.run<Uint8Array>(team, task, 'drawPageOf', { file, page })
    } catch (error) {
      throw error instanceof Problem ? error : badRequest('The page cannot be drawn')
    }
  }
}
