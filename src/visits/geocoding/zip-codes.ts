// Locations of US ZIP codes: the GeoNames table (CC BY 4.0), which scripts/us-postal-codes.ts has made smaller. A process without queries does
// not load it. It contains the fifty states, DC and military post.
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

/** Places by five-digit ZIP code, ascending. */
export type ZipTable = ReadonlyMap<string, Place>

/** Military post: the file gives it no state, and puts one into the city that is not always right. */
const MILITARY = /^[AFD]PO(?= )/
const militaryState = (zip: string): string => (zip < '10000' ? 'AE' : zip < '35000' ? 'AA' : 'AP')

let table: Promise<ZipTable> | undefined

/** Returns the table; it is read at the first call and stays in memory. */
export const zipTable = (): Promise<ZipTable> => (table ??= readTable())

async function readTable(): Promise<ZipTable> {
  const compressed = await readFile(new URL('data/us-postal-codes.tsv.br', import.meta.url))
  const text = (await promisify(brotliDecompress)(compressed)).toString()
  return new Map(text.trimEnd().split('\n').map(parseLine))
}

/** @param line ZIP, city, state, latitude and longitude, with tabs between them */
function parseLine(line: string): [zip: string, place: Place] {
  const [zip, city, state, lat, lng] = line.split('\t') as [string, string, string, string, string]
  const post = state ? undefined : MILITARY.exec(city)?.[0]
  return [zip, { lat: Number(lat), lng: Number(lng), city: post ?? city, state: post ? militaryState(zip) : state }]
}
