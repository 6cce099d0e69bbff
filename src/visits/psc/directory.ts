// The sites of each lab in memory, searched by location: a box query of a k-d tree, then great-circle miles. They are read from the
// database at the first query and after changes. A check for changes runs at most every two seconds, once for all labs.
import type KDBush from 'kdbush'
import { LRUCache } from 'lru-cache'
import type { CellName } from '../../settings/cells.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { boxesAround, chordFromMiles, milesFromChord, unitVector } from '../geocoding/distance.ts'
import type { Point } from '../geocoding/postal-places.ts'
import { BOOKABLE_VIA_API, BOOKABLE_VIA_API_ALIAS } from './schema.ts'
import { capabilities, directoryHeads, listSites, type Capability, type DirectoryHead, type SiteRecord } from './sites.ts'

const REFRESH_INTERVAL_MS = 2000
const PAGE = 2000

/** A set of capabilities as bits, in the order of `capabilities`. */
export type CapabilitySet = number

/** Returns the set of named capabilities; both spellings are accepted. */
export const capabilitySet = (names: readonly string[]): CapabilitySet =>
  names.reduce((set, name) => {
    const index = capabilities.indexOf((name === BOOKABLE_VIA_API_ALIAS ? BOOKABLE_VIA_API : name) as Capability)
    return index < 0 ? set : set | (1 << index)
  }, 0)

/** Returns capabilities as the API shows them: bookable sites have both spellings. */
export const shownCapabilities = (set: CapabilitySet): string[] =>
  capabilities
    .filter((_, index) => set & (1 << index))
    .flatMap((name) => (name === BOOKABLE_VIA_API ? [BOOKABLE_VIA_API, BOOKABLE_VIA_API_ALIAS] : [name]))

export const isBookable = (set: CapabilitySet): boolean => (set & capabilitySet([BOOKABLE_VIA_API])) !== 0

export interface NearbySite {
  /** Index in the lab's sites. */
  index: number
  /** Not rounded. */
  miles: number
}

/** Maximum number of cached responses of a lab, about 15 kB each at most. */
const RESPONSES_CACHED_MAX = 128

/** The data of a lab's sites for searches and responses, by ascending code. */
export class LabSites {
  readonly codes: readonly string[]
  readonly bill_types: readonly string[][]
  readonly capabilities: Uint8Array
  /** Points of the unit sphere, three numbers each: comparing chords gives the same order as comparing arcs, at a lower cost. */
  readonly #vectors: Float64Array
  readonly #tree: KDBush
  readonly #sites: readonly SiteRecord[]
  /** Cached responses. Clients repeat queries for the same cities. */
  readonly #answers = new LRUCache<string, string>({ max: RESPONSES_CACHED_MAX })

  constructor(sites: SiteRecord[], tree: KDBush) {
    this.codes = sites.map(({ site_code }) => site_code)
    this.bill_types = sites.map(({ supported_bill_types }) => supported_bill_types)
    this.capabilities = Uint8Array.from(sites, (site) => capabilitySet(site.capabilities))
    this.#vectors = Float64Array.from(sites.flatMap(unitVector))
    this.#tree = tree
    this.#sites = sites
  }

  /** Visits the sites within a radius, in no order, each with the squared chord length. */
  #within(center: Point, radius_miles: number, walkTree: (index: number, line2: number) => void): void {
    const [x, y, z] = unitVector(center)
    const vectors = this.#vectors
    const most = chordFromMiles(radius_miles) ** 2
    for (const { west, south, east, north } of boxesAround(center, radius_miles))
      for (const index of this.#tree.range(west, south, east, north)) {
        const [dx, dy, dz] = [vectors[3 * index]! - x, vectors[3 * index + 1]! - y, vectors[3 * index + 2]! - z]
        const line2 = dx * dx + dy * dy + dz * dz
        if (line2 <= most) walkTree(index, line2)
      }
  }

  /** Returns the nearest sites within a radius that have all needed capabilities; equally near ones by code. */
  nearest(center: Point, radius_miles: number, capabilities: CapabilitySet, limit: number): NearbySite[] {
    const found: { index: number; line2: number }[] = []
    this.#within(center, radius_miles, (index, line2) => {
      if ((this.capabilities[index]! & capabilities) === capabilities) found.push({ index, line2 })
    })
    const nearest = found.sort((a, b) => a.line2 - b.line2 || a.index - b.index).slice(0, limit)
    return nearest.map(({ index, line2 }) => ({ index, miles: milesFromChord(Math.sqrt(line2)) }))
  }

  /** Returns the nearest sites as a JSON text, with the billing types that `billingTypes` returns. */
  answer(
    center: Point,
    radius_miles: number,
    capabilities: CapabilitySet,
    limit: number,
    billingTypes?: (types: readonly string[]) => readonly string[],
  ): string {
    const key = billingTypes ? undefined : `${center.lat} ${center.lng} ${radius_miles} ${capabilities} ${limit}`
    const known = key === undefined ? undefined : this.#answers.get(key)
    if (known !== undefined) return known
    const near = this.nearest(center, radius_miles, capabilities, limit)
    const text = JSON.stringify(near.map(({ index, miles }) => toWire(this.#sites[index]!, miles, billingTypes)))
    if (key !== undefined) this.#answers.set(key, text)
    return text
  }

  /** Returns every site within a radius, in no order. */
  inRadius(center: Point, radius_miles: number): number[] {
    const found: number[] = []
    this.#within(center, radius_miles, (index) => found.push(index))
    return found
  }
}

/** A site as the API shows it. */
function toWire(
  site: SiteRecord,
  miles: number,
  billingTypes: (types: readonly string[]) => readonly string[] = (types) => types,
) {
  const { name, state, city, zip_code, first_line, second_line, phone_number, fax_number, hours, website } = site
  return {
    metadata: { name, state, city, zip_code, first_line, second_line, phone_number, fax_number, hours, website },
    distance: Math.round(miles),
    supported_bill_types: billingTypes(site.supported_bill_types),
    site_code: site.site_code,
    location: { lng: site.lng, lat: site.lat },
    capabilities: shownCapabilities(capabilitySet(site.capabilities)),
  }
}

async function loadSites(queries: DirectoryQuery, lab_id: number, scheduledSites: ScheduledSites): Promise<LabSites> {
  const { default: Tree } = await import('kdbush')
  const withSchedule = await scheduledSites(queries, lab_id)
  const sites: SiteRecord[] = []
  for (;;) {
    const page = await listSites(queries, lab_id, { afterKey: sites.at(-1)?.site_code ?? '', limit: PAGE, active: true })
    sites.push(...page.map((site) => (withSchedule?.has(site.site_code) === false ? withoutBooking(site) : site)))
    if (page.length < PAGE) break
  }
  const tree = new Tree(sites.length)
  for (const { lat, lng } of sites) tree.add(lng, lat)
  return new LabSites(sites, tree.finish())
}

/** A site as it is shown while appointments there cannot be booked here. */
const withoutBooking = (site: SiteRecord): SiteRecord => ({
  ...site,
  capabilities: site.capabilities.filter((name) => name !== BOOKABLE_VIA_API),
})

/**
 * The codes of a lab's sites with a schedule; undefined: every site that has the capability can be booked. Schedules belong to a module
 * above, which supplies this function and calls `bumpDirectoryVersion` when they change.
 */
export type ScheduledSites = (queries: DirectoryQuery, lab_id: number) => Promise<Set<string> | undefined>

interface CachedSites {
  version: number
  sites: Promise<LabSites>
}

interface CellDirectory {
  heads: Promise<Map<number, DirectoryHead>>
  asked_ms: number
  cachedSites: Map<number, CachedSites>
}

/** A team's transaction, or any other query interface with a cell. */
export type DirectoryQuery = Pick<Queries, 'many'> & { tenant: { cell: CellName } }

/** The directories of the cells that a process serves. */
export class PscDirectory {
  readonly #cells = new Map<CellName, CellDirectory>()
  readonly #scheduled: ScheduledSites

  constructor(scheduledSites: ScheduledSites) {
    this.#scheduled = scheduledSites
  }

  /** Returns every lab of the cell by id, at most two seconds old. */
  async labs(tx: DirectoryQuery): Promise<Map<number, DirectoryHead>> {
    return this.#cell(tx).heads
  }

  /** Returns the active sites of a lab; undefined if the lab is unknown. */
  async sites(tx: DirectoryQuery, lab_id: number): Promise<LabSites | undefined> {
    const cell = this.#cell(tx)
    const head = (await cell.heads).get(lab_id)
    if (!head) return undefined
    const cachedSites = cell.cachedSites.get(lab_id)
    if (cachedSites?.version === head.version) return cachedSites.sites
    const sites = loadSites(tx, lab_id, this.#scheduled)
    cell.cachedSites.set(lab_id, { version: head.version, sites })
    return sites.catch((error: unknown) => {
      if (cell.cachedSites.get(lab_id)?.sites === sites) cell.cachedSites.delete(lab_id)
      throw error
    })
  }

  #cell(tx: DirectoryQuery): CellDirectory {
    const { cell } = tx.tenant
    const now_ms = performance.now()
    const known = this.#cells.get(cell)
    if (known && now_ms - known.asked_ms < REFRESH_INTERVAL_MS) return known
    const heads = directoryHeads(tx).then((rows) => new Map(rows.map((row) => [row.lab_id, row])))
    const fresh = { heads, asked_ms: now_ms, cachedSites: known?.cachedSites ?? new Map<number, CachedSites>() }
    this.#cells.set(cell, fresh)
    heads.catch(() => this.#cells.get(cell) === fresh && (fresh.asked_ms = Number.NEGATIVE_INFINITY))
    return fresh
  }
}
