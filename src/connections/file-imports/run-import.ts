// The job that imports a file: a thread reads it, the process stores what the thread finds, a batch in each transaction.
import { fallbackZone } from '../../people/users/fallbacks.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { Service } from '../../platform/module/module.ts'
import { defineHandler, enqueue, type Handler, type JobContext } from '../../platform/queue/outbox.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import { runLongWork } from '../../platform/runtime/long-work.ts'
import { keepHeapSmall, letHeapGrow } from '../../platform/runtime/small-heap.ts'
import { version } from '../../platform/runtime/version.ts'
import { createWorkerPool, WorkerLimitExceeded } from '../../platform/runtime/worker-pool.ts'
import { findUser } from '../../people/users/users.ts'
import { completeHistory } from '../../wearables/ingestion/ingest.ts'
import { isTimeseries, timeseriesNames, resourceNameOf, type TimeseriesName } from '../../wearables/resources/timeseries.ts'
import type { SummaryKind } from '../../wearables/summaries/schema.ts'
import type { FileKey } from '../../platform/files/file-key.ts'
import {
  claimImport,
  endImport,
  endTurn,
  recordBatch,
  turnJobs,
  type ClaimedImport,
  type Phase,
  type Results,
} from './imports.ts'
import { deleteSomeBytes, importKey, readPart } from './stored-file.ts'
import { storeBatch } from './store-batch.ts'
import { answerThread } from '../../platform/runtime/port-calls.ts'
import type { Question, ReadEnd, ReadState } from './read-file.task.ts'

const RETRY_S = 1
/** For how long an import of another cell that was postponed counts as one that waits. */
const PUT_OFF_MS = 5000
/** Attempts without progress. */
const ATTEMPTS_MAX = 5
const READ_MS_MAX = 6 * 3_600_000
const THREAD_MB_MAX = 256
const WAIT_MS = 10_000
/** After a batch an import rests for this part of the time that the batch took, and no longer than that. */
const REST_PART = 0.5
const REST_MS_MAX = 200

/** Its user was deleted. */
class UserDeleted extends Error {
  override name = 'UserDeleted'
}
/** The import was erased, or another process runs it. */
class Gone extends Error {
  override name = 'Gone'
}
/** The process is about to end. */
class Stopping extends Error {
  override name = 'Stopping'
}

/** Others have their turn. */
class TurnEnded extends Error {
  override name = 'TurnEnded'
}

export interface ImportOptions {
  vault: Vault
  turn_limits?: Record<Phase, TurnLimits>
  /** What a thread that reads a file may hold, in MB; 256 by default. */
  thread_mb_max?: number
  /** How long a batch waits for other long work of its team before imports of other teams have their turn; 10 s by default. */
  wait_ms?: number
}

/** The imports of a process. */
export class ImportRunner implements Service {
  readonly #vault: Vault
  readonly #thread_mb_max: number
  readonly #wait_ms: number
  readonly #turn_limits: Record<Phase, TurnLimits>
  readonly #running = new Map<string, { phase: Phase; end: Promise<void> }>()
  /** When an import was postponed because one of another cell runs. */
  readonly #put_off_ms: Record<Phase, number> = { first: -Infinity, further: -Infinity }
  #isStopping = false

  constructor({ vault, turn_limits = TURN_LIMITS, thread_mb_max = THREAD_MB_MAX, wait_ms = WAIT_MS }: ImportOptions) {
    this.#vault = vault
    this.#turn_limits = turn_limits
    this.#thread_mb_max = thread_mb_max
    this.#wait_ms = wait_ms
  }

  readonly handlers: Record<Phase, Handler> = { first: this.#handler('first'), further: this.#handler('further') }

  #handler(phase: Phase): Handler {
    return defineHandler(turnJobs[phase], (context, { import_id }) => this.#handle(context, import_id, phase))
  }

  start(): void {}

  /** Ends imports in progress between two batches; another process goes on with them. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.allSettled([...this.#running.values()].map(({ end }) => end))
  }

  async #handle(context: JobContext, id: string, phase: Phase): Promise<void> {
    // The lease of the job was lost, and what runs here ends with its next question: the import is read again after that.
    if (this.#isStopping || this.#running.has(id)) return later(context, id, phase, RETRY_S)
    // The queue limits them in each cell; cells share the threads of the process.
    if ([...this.#running.values()].some((run) => run.phase === phase)) {
      this.#put_off_ms[phase] = performance.now()
      return later(context, id, phase, RETRY_S)
    }
    if (this.#running.size === 0) keepHeapSmall()
    const end = this.#run(context, id, phase)
    this.#running.set(id, { phase, end })
    try {
      await end
    } catch (error) {
      if (error instanceof Stopping) await later(context, id, phase, 0)
      else if (error instanceof TurnEnded) await context.tx((tx) => endTurn(tx, id, phase))
      else if (!(error instanceof Gone)) throw error
    } finally {
      this.#running.delete(id)
      if (this.#running.size === 0) letHeapGrow()
    }
  }

  async #run(context: JobContext, id: string, phase: Phase): Promise<void> {
    const claimed = await context.tx((tx) => claimImport(tx, id, phase, version))
    if (!claimed) return deleteBytes(context, id)
    if (phase === 'first' && claimed.is_behind) throw new TurnEnded()
    const zone = await context.tx((tx) => fallbackZone(tx, claimed.user_id))
    const othersWait = async () =>
      phase === 'first' || performance.now() - this.#put_off_ms[phase] < PUT_OFF_MS || (await context.othersWait?.()) === true
    const turn = new ImportTurn(this.#turn_limits[phase], claimed.turns)
    const work = new ImportInProgress(context, { id, phase, turn, othersWait, wait_ms: this.#wait_ms }, claimed)
    const end =
      claimed.attempts > ATTEMPTS_MAX || claimed.file_key === null
        ? { ...work.state, error: 'interrupted' as const }
        : await this.#read(work, { ...claimed, zone }, importKey(this.#vault, id, claimed.file_key))
    await work.end(end)
    await deleteBytes(context, id)
  }

  /** Reads a file in a thread. Errors: whatever kept this process from storing it. */
  async #read(work: ImportInProgress, claim: ClaimedImport & { zone: string | null }, key: FileKey): Promise<ReadEnd> {
    const { port1, port2 } = new MessageChannel()
    const reply = async (question: Question) => {
      if (this.#isStopping) throw new Stopping()
      if ('read' in question) return { answer: await work.part(key, question.read, question.read_bytes) }
      await work.store(question.batch, question.state)
      return {}
    }
    const answers = answerThread<Question>(port1, reply)
    // A pool of its own, which ends with the import: one that is idle keeps its memory.
    const pool = createWorkerPool({ threads_max: 1, memory_max_mb: this.#thread_mb_max })
    const { received_bytes: size, zone } = claim
    const input = {
      port: port2,
      size,
      now_ms: Date.parse(claim.created_at),
      zone,
      provider: 'manual',
      isLong: claim.turns > 0,
    }
    try {
      const task = new URL('./read-file.task.ts', import.meta.url)
      return await pool.run<ReadEnd>(task, input, { timeout_ms: READ_MS_MAX, transfer: [port2] })
    } catch (error) {
      const failure = answers.failure()
      if (failure instanceof UserDeleted) return { ...work.state, error: 'user_deleted' }
      if (failure) throw failure
      if (error instanceof WorkerLimitExceeded)
        return { ...work.state, error: error.limit === 'memory' ? 'too_complex' : 'too_slow' }
      throw this.#isStopping ? new Stopping() : error
    } finally {
      answers.close()
      await pool.close()
    }
  }
}

interface OwnTurn {
  id: string
  phase: Phase
  turn: ImportTurn
  /** Whether the turn ends where it is over: a first one always does, a further one if another one waits. */
  othersWait: () => Promise<boolean>
  wait_ms: number
}

/** One import, and what of it is stored. */
class ImportInProgress {
  readonly #context: JobContext
  readonly #own: OwnTurn
  readonly #user_id: string
  /** Batches that an earlier turn, or one that was interrupted, has stored. */
  readonly #stored: number
  #results: Results
  #batches = 0
  state: ReadState = { progress: { read_bytes: 0, content_bytes: 0 }, skips: {} }

  constructor(context: JobContext, ownTurn: OwnTurn, { user_id, batches, results }: ClaimedImport) {
    this.#context = context
    this.#own = ownTurn
    this.#user_id = user_id
    this.#stored = batches
    this.#results = results
  }

  /** A part of the file. Errors: Gone, TurnEnded. */
  async part(key: FileKey, start: number, read_bytes: number): Promise<{ start: number; bytes: Uint8Array }> {
    this.#own.turn.startReading()
    await this.#endTurnIfOver(read_bytes)
    return this.#context.tx(async (tx) => {
      const part = await readPart(tx, key, this.#own.id, start)
      if (!part) throw new Gone()
      return part
    })
  }

  /** Stores a batch, unless an earlier turn has. Errors: Gone, UserDeleted, TurnEnded. */
  async store(batch: Parameters<typeof storeBatch>[2], state: ReadState): Promise<void> {
    this.state = state
    if (++this.#batches <= this.#stored) return
    const { read_bytes } = state.progress
    this.#own.turn.batch(read_bytes)
    const began = performance.now()
    this.#results = await this.#runInTurn(() => this.#context.tx((tx) => this.#storeBatch(tx, batch)))
    await this.#endTurnIfOver(read_bytes)
    await sleep(Math.min(REST_MS_MAX, (performance.now() - began) * REST_PART))
  }

  /** Waits while other long work of the team runs. Errors: TurnEnded if that takes too long for the imports that wait. */
  async #runInTurn(store: () => Promise<Results>): Promise<Results> {
    for (;;) {
      let hasBegun = false
      const work = () => {
        hasBegun = true
        return store()
      }
      try {
        return await runLongWork(this.#context.tenant.team, work, this.#own.wait_ms)
      } catch (error) {
        if (hasBegun) throw error
        if (await this.#own.othersWait()) throw new TurnEnded()
        await sleep(REST_MS_MAX)
      }
    }
  }

  /** @returns the results with those of the batch */
  async #storeBatch(tx: Tx, batch: Parameters<typeof storeBatch>[2]): Promise<Results> {
    const { progress, skips } = this.state
    const results = await storeBatch(tx, await this.#user(tx), batch, this.#results)
    const { format = null } = progress
    const recorded = { batches: this.#batches, results, skipped: skips, format, progress: progressOf(this.state) }
    if (!(await recordBatch(tx, this.#own.id, recorded))) throw new Gone()
    return results
  }

  /** Errors: TurnEnded. */
  async #endTurnIfOver(read_bytes: number): Promise<void> {
    if (this.#own.turn.isOver(read_bytes) && (await this.#own.othersWait())) throw new TurnEnded()
  }

  async #user(tx: Tx) {
    const user = await findUser(tx, this.#user_id)
    if (!user) throw new UserDeleted()
    return user
  }

  /**
   * Ends the import; the histories of what it has brought are complete. Emits historical.data.{resource}.created. After an error what is
   * stored stays.
   */
  async end({ error, ...state }: ReadEnd): Promise<void> {
    const has_data = Object.values(this.#results).some(({ accepted }) => accepted > 0)
    const status = error === null ? 'completed' : has_data ? 'partial' : 'failed'
    await this.#context.tx(async (tx) => {
      const user = await findUser(tx, this.#user_id)
      if (user)
        for (const [key, { provider, accepted, oldest_ms, newest_ms }] of Object.entries(this.#results)) {
          if (!accepted || oldest_ms === null || newest_ms === null) continue
          const resource = timeseriesOrKind(key.slice(provider.length + 1))
          await completeHistory(tx, user, resource, { provider, from_ms: oldest_ms, to_ms: newest_ms, is_whole: true })
        }
      const progress = error === null ? 1 : progressOf(state)
      await endImport(tx, this.#own.id, this.#own.phase, { status, error, skipped: state.skips, progress })
    })
  }
}

const byResource = new Map<string, TimeseriesName>(timeseriesNames.map((name) => [resourceNameOf(name), name]))

const timeseriesOrKind = (resource: string): TimeseriesName | SummaryKind | 'workout_stream' =>
  byResource.get(resource) ?? (isTimeseries(resource) ? resource : (resource as SummaryKind))

const progressOf = ({ progress: { read_bytes, content_bytes } }: ReadState): number =>
  content_bytes === 0 ? 0 : Math.min(1, read_bytes / content_bytes)

const later = (context: JobContext, import_id: string, phase: Phase, seconds: number): Promise<void> =>
  context.tx(async (tx) => enqueue(tx, turnJobs[phase], { import_id }, addSeconds(tx.now, seconds)))

/** Deletes the file of an import that has ended; a crash between leaves the rest to the next attempt, or to the erasure of the import. */
async function deleteBytes(context: JobContext, id: string): Promise<void> {
  while (await context.tx((tx) => deleteSomeBytes(tx, id)));
}

interface TurnLimits {
  ms: number
  /** Bytes of content. */
  bytes: number
}

/**
 * A first turn is short, so that a small file of any team waits for seconds. Further ones are longer, because each reads again what is
 * stored.
 */
const TURN_LIMITS: Record<Phase, TurnLimits> = {
  first: { ms: 3000, bytes: 16 * 1024 ** 2 },
  further: { ms: 15_000, bytes: 64 * 1024 ** 2 },
}
/** Doublings of the time of a turn in which nothing could be stored: the next one reads the same again. */
const DOUBLINGS_MAX = 10

export class ImportTurn {
  readonly #limits: TurnLimits
  /** The turns before. */
  readonly #turns: number
  readonly #now_ms: () => number
  readonly #began_ms: number
  /** When the thread asked for the file first. */
  #asked_ms: number | undefined
  /** The first batch of this turn: how long it took to get there, when, and where. */
  #first: { after_ms: number; at_ms: number; at_byte: number } | undefined

  constructor(limits: TurnLimits, turns: number, now_ms: () => number = () => performance.now()) {
    this.#limits = limits
    this.#turns = turns
    this.#now_ms = now_ms
    this.#began_ms = now_ms()
  }

  /** The thread asks for a part of the file. Its start, which takes seconds on a busy machine, is no part of the turn. */
  startReading(): void {
    this.#asked_ms ??= this.#now_ms()
  }

  /** A batch is about to be stored. */
  batch(read_bytes: number): void {
    const at_ms = this.#now_ms()
    // Before a first turn nothing is stored, and the time until its first batch is that of the thread's start.
    this.#first ??= { after_ms: this.#turns === 0 ? 0 : at_ms - this.#began_ms, at_ms, at_byte: read_bytes }
  }

  /** Whether others that wait may have their turn. At most half of a turn is spent on reading again. */
  isOver(read_bytes: number): boolean {
    const { ms, bytes } = this.#limits
    const now_ms = this.#now_ms()
    if (!this.#first) return now_ms - (this.#asked_ms ?? now_ms) >= ms * 2 ** Math.min(this.#turns, DOUBLINGS_MAX)
    const { after_ms, at_ms, at_byte } = this.#first
    return now_ms - at_ms >= Math.max(ms, after_ms) || (read_bytes - at_byte >= bytes && now_ms - at_ms >= after_ms)
  }
}
