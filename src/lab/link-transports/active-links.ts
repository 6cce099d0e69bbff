// The links of the cells of this process whose messages are transported. They are read again when they are needed and a second old: changes
// by commands and by other processes take effect at once for what a person notices.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cells } from '../../platform/db/cells.ts'
import type { Db } from '../../platform/db/database.ts'
import { isWithin } from '../../platform/net/network.ts'
import type { CellName } from '../../settings/cells.ts'
import { listLinks, type AccountLink } from '../accounts/account-links.ts'
import { activeModes } from '../links/link-modes.ts'

/** A link that is not off. */
export interface ActiveLink extends AccountLink {
  cell: CellName
  db: Db
  /** Whether the laboratory may connect from an address. */
  isAddressAllowed: (address: string) => boolean
}

const AGE_MS_MAX = 1000
const REFRESH_MS = 250

export class ActiveLinks {
  readonly #cells: Cells
  readonly #cached = new Map<CellName, { read_ms: number; links: Promise<ActiveLink[]> }>()
  /** By account; profiles are long. */
  readonly #known = new Map<string, ActiveLink>()
  #refreshing: Promise<void> | undefined

  constructor(cells: Cells) {
    this.#cells = cells
  }

  /** The links of a cell, from at most a second ago. Errors: the database cannot be read. */
  async ofCell(cell: CellName): Promise<ActiveLink[]> {
    const cached = this.#cached.get(cell)
    if (cached && performance.now() - cached.read_ms < AGE_MS_MAX) return cached.links
    const links = this.#read(cell)
    this.#cached.set(cell, { read_ms: performance.now(), links })
    links.catch(() => this.#cached.delete(cell))
    return links
  }

  /**
   * The links of all cells that fit. If these are not enough they are read again, because a link may be new: at most four times a second, however
   * often strangers ask.
   */
  async find(
    fits: (link: ActiveLink) => boolean,
    isEnough: (links: ActiveLink[]) => boolean = (links) => links.length > 0,
  ): Promise<ActiveLink[]> {
    const links = (await this.#all()).filter(fits)
    if (isEnough(links)) return links
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined))
    await this.#refreshing
    return (await this.#all()).filter(fits)
  }

  async #all(): Promise<ActiveLink[]> {
    return (await Promise.all(this.#cells.names.map((cell) => this.ofCell(cell)))).flat()
  }

  async #refresh(): Promise<void> {
    await sleep(REFRESH_MS)
    this.#cached.clear()
    await this.#all()
  }

  async #read(cell: CellName): Promise<ActiveLink[]> {
    const db = this.#cells.db(cell)
    const links = await listLinks(db.queries, { modes: activeModes })
    return links.map((read) => {
      const known = this.#known.get(read.account_id)
      if (known?.version === read.version) return known
      const link = { ...read, cell, db, isAddressAllowed: isWithin(read.profile.transport.listener.addresses) }
      this.#known.set(link.account_id, link)
      return link
    })
  }
}
