// Carries the messages of all links of a cell that no other process carries. Links that are new, changed or switched off are noticed within two
// seconds; those of a process that was killed are carried by another one once its leases have ended.
import type { CellName } from '../../settings/cells.ts'
import { FairQueue } from '../../platform/db/fair-queue.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { Service } from '../../platform/module/module.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { QueueLoop } from '../../platform/queue/queue-loop.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { findLinkWithSecrets, setLinkState } from '../accounts/account-links.ts'
import { expireUnanswered, listLinksWithDue } from '../link-messages/outbox.ts'
import type { ReceiveContext } from '../result-matching/receive.ts'
import type { ActiveLink, ActiveLinks } from './active-links.ts'
import { LARGE_FRAMES } from './frame-stream.ts'
import { LinkLeases, type LinkLease } from './link-leases.ts'
import type { LinkTroubles } from './link-troubles.ts'
import { LinkWorker, needsWorker } from './link-worker.ts'
import type { WatchTimes } from './listener-watch.ts'
import type { MessageReceiver } from './message-receiver.ts'
import type { PauseOptions } from './pauses.ts'

export interface LinkRunnerOptions {
  cells: Cells
  findTenant: ReceiveContext['findTenant']
  links: ActiveLinks
  receiver: MessageReceiver
  troubles: LinkTroubles
  vault: Vault
  targets: TargetPolicy
  settings: { lab_folder: string | undefined }
  log: Log
  /** For tests. */
  pauses?: PauseOptions
  watchTimes?: WatchTimes
  lease_s?: number
  poll_ms?: number
}

const POLL_MS = 250
const PACE_MS = 20
const EXPIRY_CHECK_MS = 60_000
/** How long a stopping process waits for answers to messages in progress. */
const ANSWER_MS = 5000

/** The links of the cells of this process. */
export class LinkRunner implements Service {
  readonly #runners: CellRunner[]

  constructor(options: LinkRunnerOptions) {
    const largeFrames = new FairQueue(LARGE_FRAMES)
    this.#runners = options.cells.names.map((cell) => new CellRunner(cell, options, largeFrames))
  }

  start(): void {
    for (const runner of this.#runners) runner.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#runners.map((runner) => runner.stop()))
  }
}

interface CarriedLink {
  link: ActiveLink
  lease: LinkLease
  worker: LinkWorker
}

class CellRunner {
  readonly #cell: CellName
  readonly #options: LinkRunnerOptions
  readonly #largeFrames: FairQueue
  readonly #leases: LinkLeases
  readonly #loop: QueueLoop
  readonly #carriedLinks = new Map<string, CarriedLink>()
  #expired_ms = -Infinity

  constructor(cell: CellName, options: LinkRunnerOptions, largeFrames: FairQueue) {
    const { cells, log, lease_s, poll_ms = POLL_MS } = options
    this.#cell = cell
    this.#options = options
    this.#largeFrames = largeFrames
    const onError = (error: unknown) =>
      log.error({ cell, causes: errorFields(error) }, 'links cannot be looked after; will retry')
    this.#leases = new LinkLeases(cells.db(cell), onError, lease_s)
    this.#loop = new QueueLoop({ round: () => this.#round(), poll_ms, pace_ms: PACE_MS, onError })
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    await Promise.all([...this.#carriedLinks.values()].map((carriedLink) => this.#end(carriedLink, ANSWER_MS)))
  }

  async #round(): Promise<boolean> {
    const db = this.#options.cells.db(this.#cell)
    const links = (await this.#options.links.ofCell(this.#cell)).filter(needsWorker)
    await this.#endChanged(links)
    const missing = links.filter(({ account_id }) => !this.#carriedLinks.has(account_id))
    await this.#begin(missing)
    if (this.#carriedLinks.size > 0) {
      for (const account_id of await listLinksWithDue(db.queries)) this.#carriedLinks.get(account_id)?.worker.wake()
    }
    const now_ms = performance.now()
    if (now_ms - this.#expired_ms > EXPIRY_CHECK_MS) {
      this.#expired_ms = now_ms
      await expireUnanswered(db.queries)
    }
    return false
  }

  /** Ends links that were changed, switched off or lost. They begin again in this round, or in another process. */
  async #endChanged(links: readonly ActiveLink[]): Promise<void> {
    const versions = new Map(links.map(({ account_id, version }) => [account_id, version]))
    const over = [...this.#carriedLinks.values()].filter(
      ({ link, lease }) => lease.end ?? versions.get(link.account_id) !== link.version,
    )
    await Promise.all(over.map((carriedLink) => this.#end(carriedLink, carriedLink.lease.end ? 0 : ANSWER_MS)))
  }

  async #begin(links: readonly ActiveLink[]): Promise<void> {
    const leases = await this.#leases.claim(links.map(({ account_id }) => account_id))
    for (const lease of leases)
      await this.#beginOne(
        links.find(({ account_id }) => account_id === lease.row.account_id)!,
        lease,
      )
  }

  /** A link whose secrets cannot be read fails, and is tried again with the next round; the others begin. */
  async #beginOne(link: ActiveLink, lease: LinkLease): Promise<void> {
    try {
      const worker = await this.#createWorker(link, lease)
      this.#carriedLinks.set(link.account_id, { link, lease, worker })
      // A lost lease ends the work at once, not with the next round.
      lease.whileHeld(new Promise<never>(() => {})).catch(() => void worker.stop(0))
      worker.start()
    } catch (error) {
      const { log, cells } = this.#options
      log.error(
        { cell: this.#cell, 'lab_account.id': link.account_id, causes: errorFields(error) },
        'link cannot begin; will retry',
      )
      await this.#leases.release(lease)
      await cells
        .db(this.#cell)
        .plainTx(async (tx) => void (await setLinkState(tx, link.account_id, 'The link cannot begin: see the log of the server')))
    }
  }

  async #createWorker(link: ActiveLink, lease: LinkLease): Promise<LinkWorker> {
    const { cells, findTenant, vault, receiver, troubles, targets, settings, log, pauses, watchTimes } = this.#options
    const db = cells.db(this.#cell)
    const withSecrets = await findLinkWithSecrets(db.queries, vault, link.account_id)
    return new LinkWorker({
      link: { ...link, profile: withSecrets?.profile ?? link.profile },
      context: { cell: this.#cell, db, findTenant },
      isHeld: this.#leases.isHeld(lease),
      receiver,
      troubles,
      targets,
      largeFrames: this.#largeFrames,
      lab_folder: settings.lab_folder,
      log,
      saveState: (reason) => db.plainTx(async (tx) => void (await setLinkState(tx, link.account_id, reason))),
      ...(pauses && { pauses }),
      ...(watchTimes && { watchTimes }),
    })
  }

  async #end({ link, lease, worker }: CarriedLink, answer_ms: number): Promise<void> {
    await worker.stop(answer_ms)
    this.#carriedLinks.delete(link.account_id)
    try {
      await this.#leases.release(lease)
    } catch (error) {
      const fields = { cell: this.#cell, 'lab_account.id': link.account_id, causes: errorFields(error) }
      this.#options.log.error(fields, 'lease of a link cannot be ended; it expires')
    }
  }
}
