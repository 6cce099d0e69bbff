// Carries the messages of one link while this process holds its lease: orders to the laboratory, and results from where the laboratory does not
// bring them itself.
import type { CellName } from '../../settings/cells.ts'
import type { FairQueue } from '../../platform/db/fair-queue.ts'
import type { Sql } from '../../platform/db/sql.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import { recordAnswer } from '../link-orders/record-answer.ts'
import { claimDue, findByControlId, markDelivered, postponeUnanswered, returnUnsent } from '../link-messages/outbox.ts'
import { MESSAGE_BYTES_MAX } from '../link-messages/receive-message.ts'
import type { ReceiveContext } from '../result-matching/receive.ts'
import type { ActiveLink } from './active-links.ts'
import type { FileStore } from './file-store.ts'
import { createFolderReceiver } from './folder-receiver.ts'
import { createFolderSender } from './folder-sender.ts'
import type { LinkTroubles } from './link-troubles.ts'
import { clientDestination, openFileStore } from './link-places.ts'
import type { LinkLoop } from './link-loop.ts'
import { createListenerWatch, type WatchTimes } from './listener-watch.ts'
import type { MessageReceiver } from './message-receiver.ts'
import { MllpSender, type Outbox } from './mllp-sender.ts'
import { Pauses, type PauseOptions } from './pauses.ts'
import { connectTo } from './secure-connect.ts'
import { TrafficNotes } from './traffic-notes.ts'

export interface LinkWorkerOptions {
  /** With its secrets. */
  link: ActiveLink
  context: ReceiveContext
  /** The condition that this process holds the lease. */
  isHeld: Sql
  receiver: MessageReceiver
  troubles: LinkTroubles
  targets: TargetPolicy
  largeFrames: FairQueue
  lab_folder: string | undefined
  log: Log
  /** Notes whether the link works, and why not. */
  saveState: (reason: string | null) => Promise<void>
  pauses?: PauseOptions
  watchTimes?: WatchTimes
}

interface Part {
  start(): void
  wake?(): void
  stop(answer_ms: number): Promise<void>
}

/** Whether a process has something to do for a link: to carry its messages, or to watch its port. */
export const needsWorker = ({ profile: { transport } }: Pick<ActiveLink, 'profile'>): boolean =>
  transport.orders !== 'none' || ['mllp', 'folder', 'sftp'].includes(transport.results)

export class LinkWorker {
  readonly #options: LinkWorkerOptions
  readonly #traffic = new TrafficNotes()
  readonly #parts: Part[] = []
  /** What does not work, by direction. */
  readonly #reasons = new Map<'orders' | 'results', string>()
  /** Undefined: not known yet. */
  #savedReason: string | null | undefined
  #saving: Promise<void> = Promise.resolve()

  constructor(options: LinkWorkerOptions) {
    this.#options = options
    const { orders, results } = options.link.profile.transport
    if (orders === 'mllp') this.#parts.push(this.#createMllpSender())
    if (orders === 'folder' || orders === 'sftp') this.#parts.push(this.#createFolderSender(orders))
    if (results === 'folder' || results === 'sftp') this.#parts.push(this.#createFolderReceiver(results))
    if (results === 'mllp') this.#parts.push(this.#createListenerWatch())
  }

  start(): void {
    for (const part of this.#parts) part.start()
  }

  /** Messages of the link are due. */
  wake(): void {
    for (const part of this.#parts) part.wake?.()
  }

  /** @param answer_ms how long the answer to a message in progress is waited for; 0 after the lease was lost */
  async stop(answer_ms: number): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.stop(answer_ms)))
    await this.#saving
  }

  #createMllpSender(): MllpSender {
    const { link, targets, receiver, troubles, largeFrames, pauses } = this.#options
    const { transport } = link.profile
    const destination = clientDestination(transport)
    const { host, port } = destination
    const source = `mllp ${host}:${port}`
    return new MllpSender({
      options: transport,
      connect: () => connectTo(destination, targets, isSandbox(link.cell)),
      outbox: this.#outbox(),
      receive: async (bytes) =>
        transport.results === 'same_connection' ? (await receiver.receiveFromLink(link, bytes, source)).answers : [],
      largeFrames,
      owner: link.account_id,
      onState: (reason) => this.#setState('orders', reason),
      onEnd: (end) => troubles.reportEnd({ db: link.db, link_account_id: link.account_id, source }, end),
      onError: (error) => this.#logError(error),
      ...(pauses && { pauses: new Pauses(pauses) }),
    })
  }

  #outbox(): Outbox {
    const { link, context, isHeld } = this.#options
    const { queries } = link.db
    const { account_id } = link
    const answer_s = link.profile.transport.client.answer_timeout_s
    return {
      claim: (max) => claimDue(queries, account_id, { max, answer_s, isHeld }),
      release: async (messages) => {
        if (messages.length)
          await returnUnsent(
            queries,
            messages.map(({ id }) => id),
            isHeld,
          )
      },
      postpone: async ({ id }, reason) => void (await postponeUnanswered(queries, id, { error: reason, isHeld })),
      recordAnswer: async ({ id }, answer) => {
        await recordAnswer(context, id, answer)
        this.#traffic.note(link, 'out')
      },
      recordLateAnswer: async (control_id, answer) => {
        const id = await findByControlId(queries, account_id, control_id)
        if (id !== undefined) await recordAnswer(context, id, answer)
        return id !== undefined
      },
    }
  }

  #createFolderSender(kind: 'folder' | 'sftp'): LinkLoop {
    const { link, pauses } = this.#options
    const { claim, release } = this.#outbox()
    return createFolderSender({
      open: () => this.#openStore(kind),
      folder: link.profile.transport[kind].orders,
      line_end: link.profile.text.line_end,
      outbox: {
        claim,
        release,
        markDelivered: async ({ id }) => {
          await markDelivered(link.db.queries, id, ['AL', 'SU'].includes(link.profile.acknowledgment.application_condition))
          this.#traffic.note(link, 'out')
        },
      },
      pauses: new Pauses(pauses),
      onState: (reason) => this.#setState('orders', reason),
      onError: (error) => this.#logError(error),
    })
  }

  #createFolderReceiver(kind: 'folder' | 'sftp'): LinkLoop {
    const { link, receiver, troubles, pauses } = this.#options
    const { results, pattern, stable_s, ends_with_terminator, poll_s, acknowledgment_files } = link.profile.transport[kind]
    return createFolderReceiver({
      open: () => this.#openStore(kind),
      reader: {
        folder: results,
        pattern,
        stable_ms: stable_s * 1000,
        endsWithTerminator: ends_with_terminator,
        bytes_max: MESSAGE_BYTES_MAX,
        writesAcknowledgments: acknowledgment_files,
        receive: async (bytes) => {
          const { fault, answers } = await receiver.receiveFromLink(link, bytes, `${kind} ${results}`)
          return { fault, acknowledgment: answers.at(-1) }
        },
        onIncomplete: (reason) =>
          troubles.reportFile({ db: link.db, link_account_id: link.account_id, source: `${kind} ${results}` }, reason),
        now_ms: () => performance.now(),
      },
      poll_ms: poll_s * 1000,
      pauses: new Pauses(pauses),
      onState: (reason) => this.#setState('results', reason),
      onError: (error) => this.#logError(error),
    })
  }

  #createListenerWatch(): LinkLoop {
    const { link, watchTimes } = this.#options
    return createListenerWatch({
      db: link.db,
      listener: link.profile.transport.listener,
      ...(watchTimes && { times: watchTimes }),
      onState: (reason) => this.#setState('results', reason),
      onError: (error) => this.#logError(error),
    })
  }

  #openStore(kind: 'folder' | 'sftp'): Promise<FileStore> {
    const { link, lab_folder, targets } = this.#options
    const { account_id, profile, cell } = link
    return openFileStore(kind, { account_id, profile, targets, lab_folder, isSandbox: isSandbox(cell) })
  }

  /** The state is saved when it changes; what fails does so again and again. */
  #setState(direction: 'orders' | 'results', reason: string | undefined): void {
    if (reason === undefined) this.#reasons.delete(direction)
    else this.#reasons.set(direction, reason)
    const all = [...new Set(this.#reasons.values())].join('; ') || null
    if (all === this.#savedReason) return
    this.#savedReason = all
    this.#saving = this.#saving
      .then(() => this.#options.saveState(all))
      .catch((error: unknown) => {
        this.#savedReason = undefined
        this.#logError(error)
      })
  }

  #logError(error: unknown): void {
    const { link, log } = this.#options
    log.error({ cell: link.cell, 'lab_account.id': link.account_id, causes: errorFields(error) }, 'link failed; will retry')
  }
}

const isSandbox = (cell: CellName): boolean => cell.startsWith('sandbox')
