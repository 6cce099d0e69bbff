// Locations of US ZIP codes: the GeoNames table (CC BY 4.0), which scripts/us-postal-codes.ts has made smaller, read at the first query and
// kept in about 2 MB of memory. A process without queries does not load it. It contains the fifty states, DC and military post.
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'

/** A point on the map, in degrees. */
export interface Point {
  lat: number
  lng: number
}

/** The center of the area of a postal code. */
export interface Place extends Point {
  city: string
  /** Two-letter code in the United States; elsewhere the name in GeoNames or from the geocoder, empty if they have none. */
  state: string
}

export interface ZipPlace extends Place {
  zip: string
}

const ZIPS = 100_000
const DEGREE = 10_000
const [TAB, LF] = [9, 10]
const [ZIP, CITY, STATE, LAT, LNG] = [0, 1, 2, 3, 4] as const
/** Military post: the file gives it no state, and puts one into the city that is not always right. */
const MILITARY = /^[AFD]PO(?= )/
const militaryState = (zip: number): string => (zip < 10_000 ? 'AE' : zip < 35_000 ? 'AA' : 'AP')

/** A table of unique names, by number. */
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

  /** @param bytes ZIP, city, state, latitude and longitude, with tabs between them */
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

  /** Returns the place of a five-digit ZIP code; undefined if the table does not contain it. */
  find(zip: string): Place | undefined {
    const row = /^\d{5}$/.test(zip) ? this.#rowOf[Number(zip)]! : 0
    return row ? this.#at(row) : undefined
  }

  /** Yields every ZIP code, ascending. */
  *places(): Generator<ZipPlace, void> {
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

/**
 * Yields each line as a function that returns the text of a field. Each text is a copy: a slice of one large text would keep that text in
 * memory.
 */
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

/** Returns the table; it is read at the first call and stays in memory. */
export const zipTable = (): Promise<ZipTable> => (table ??= readTable())

async function readTable(): Promise<ZipTable> {
  const compressed = await readFile(new URL('data/us-postal-codes.tsv.br', import.meta.url))
  return new ZipTable(await promisify(brotliDecompress)(compressed))
}
