// Locations of postal codes. Owns postal_code_location and geocoding_cache. Stores no part of an address except country, postal code and city. The
// program contains the ZIP codes of the United States (zip-codes.ts); other countries come from imports of the operator or from a geocoder.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { countryCode } from '../../people/person/countries.ts'
import { zipTable, type Place, type Point } from './zip-codes.ts'

export type { Place, Point }

/** The query of a place: never a name or a street. */
export interface PlaceQuery {
  /** Two-letter code or English name, as in addresses. */
  country: string
  /** As written; spaces, hyphens and letter case do not matter. A ZIP+4 counts as its ZIP. */
  postal_code: string
  /** Selects among the places of one postal code. */
  city?: string | undefined
}

/** A normalized query, as the tables and the geocoder use it. */
export interface NormalizedPlaceQuery {
  country: string
  postal_code: string
  city: string
}

const CODE_LENGTH_MAX = 20
const CITY_LENGTH_MAX = 200

/** Returns a postal code without spaces and hyphens, in upper case. */
export const normalizePostalCode = (code: string): string => code.replace(/[\s-]/g, '').toUpperCase()

/** Returns the normalized query; undefined if no place can match. */
export function normalizePlaceQuery({ country, postal_code, city = '' }: PlaceQuery): NormalizedPlaceQuery | undefined {
  const code = countryCode(country)
  const plain = normalizePostalCode(postal_code)
  if (code === undefined || plain.length > CODE_LENGTH_MAX || !/^[\p{L}\p{N}]+$/u.test(plain)) return undefined
  const name = city.slice(0, CITY_LENGTH_MAX).toWellFormed().replaceAll('\0', '').trim().toLowerCase()
  const placeQuery = { country: code, postal_code: plain, city: name }
  return code === 'US' ? { ...placeQuery, postal_code: plain.slice(0, 5) } : placeQuery
}

const Row = T.Object({ postal_code: T.String(), city: T.String(), state: T.String(), lat: T.Number(), lng: T.Number() })

/** Territories that use US addresses and are separate countries in GeoNames. */
const TERRITORIES = ['PR', 'GU', 'VI', 'AS', 'MP', 'FM', 'MH', 'PW']

/**
 * GeoNames has only the first part of these countries' codes: number of characters, or, if negative, number of characters cut from the end.
 */
const CODE_PREFIX_LENGTH: Record<string, number> = { CA: 3, GB: -3, IE: 3, MT: 3, NL: 4 }

const codesOf = ({ country, postal_code }: NormalizedPlaceQuery): string[] => {
  const part = CODE_PREFIX_LENGTH[country]
  return part === undefined ? [postal_code] : [postal_code, postal_code.slice(0, part)]
}

/**
 * Returns the center of a postal code's area from the tables, without a request to the geocoder, so that it can be used within a
 * transaction.
 * Undefined if the place is unknown, for any input.
 */
export async function findPlace(queries: Pick<Queries, 'many' | 'maybe'>, where: PlaceQuery): Promise<Place | undefined> {
  const placeQuery = normalizePlaceQuery(where)
  if (!placeQuery) return undefined
  const zip = placeQuery.country === 'US' ? (await zipTable()).get(placeQuery.postal_code) : undefined
  return zip ?? (await findImportedPlace(queries, placeQuery)) ?? (await cachedGeocoding(queries, placeQuery))?.place
}

/** Returns the place of the city if several places have the code, else their mean. */
async function findImportedPlace(queries: Pick<Queries, 'many'>, placeQuery: NormalizedPlaceQuery): Promise<Place | undefined> {
  const countries = placeQuery.country === 'US' ? ['US', ...TERRITORIES] : [placeQuery.country]
  const rows = await queries.many(
    Row,
    sql`
    select postal_code, city, state, lat, lng from postal_code_location
    where country = any (${countries}::text[]) and postal_code = any (${codesOf(placeQuery)}::text[])
    order by length(postal_code) desc, city limit 200`,
  )
  const nearest = rows.filter(({ postal_code }) => postal_code === rows[0]!.postal_code)
  const one = nearest.find(({ city }) => city.toLowerCase() === placeQuery.city)
  return one ? placeIn(one) : midpoint(nearest)
}

const placeIn = ({ city, state, lat, lng }: Static<typeof Row>): Place => ({ lat, lng, city, state })

function midpoint(rows: Static<typeof Row>[]): Place | undefined {
  const [first] = rows
  if (!first) return undefined
  if (rows.length === 1) return placeIn(first)
  // Longitudes are relative to the first one, so that the mean of places on both sides of the 180th meridian lies between them.
  const east = rows.map(({ lng }) => ((lng - first.lng + 540) % 360) - 180)
  const mean = (figures: number[]) => figures.reduce((sum, figure) => sum + figure, 0) / figures.length
  const lng = first.lng + mean(east)
  return { ...placeIn(first), lat: mean(rows.map(({ lat }) => lat)), lng: ((lng + 540) % 360) - 180 }
}

const CachedGeocoding = T.Object({
  lat: T.Union([T.Number(), T.Null()]),
  lng: T.Union([T.Number(), T.Null()]),
  result_city: T.String(),
  result_state: T.String(),
})

/** Returns a cached response of the geocoder; its place is undefined for a negative result. */
export async function cachedGeocoding(
  queries: Pick<Queries, 'maybe'>,
  { country, postal_code, city }: NormalizedPlaceQuery,
): Promise<{ place: Place | undefined } | undefined> {
  const row = await queries.maybe(
    CachedGeocoding,
    sql`
    select lat, lng, result_city, result_state from geocoding_cache
    where country = ${country} and postal_code = ${postal_code} and city = ${city}`,
  )
  if (!row) return undefined
  const { lat, lng, result_city, result_state } = row
  return { place: lat === null || lng === null ? undefined : { lat, lng, city: result_city, state: result_state } }
}

/** Caches a response of the geocoder. Writes geocoding_cache. */
export async function cacheGeocoding(
  tx: PlainTx,
  { country, postal_code, city }: NormalizedPlaceQuery,
  place: Place | undefined,
): Promise<void> {
  await tx.run(sql`
    insert into geocoding_cache (country, postal_code, city, lat, lng, result_city, result_state, fetched_at)
    values (${country}, ${postal_code}, ${city}, ${place?.lat ?? null}, ${place?.lng ?? null}, ${place?.city ?? ''},
            ${place?.state ?? ''}, ${tx.now})
    on conflict (country, postal_code, city) do update set
      lat = excluded.lat, lng = excluded.lng, result_city = excluded.result_city, result_state = excluded.result_state,
      fetched_at = excluded.fetched_at`)
}

const FOUND_TTL_S = 180 * 86_400
const NOT_FOUND_TTL_S = 86_400

/** Deletes cached places after half a year and negative results after a day. Deletes from geocoding_cache. */
export const placeCleanups = [
  cleanup({ table: 'geocoding_cache', column: 'fetched_at', retention_s: FOUND_TTL_S }),
  cleanup({
    kind: 'geocoding_cache_unknown',
    table: 'geocoding_cache',
    column: 'fetched_at',
    retention_s: NOT_FOUND_TTL_S,
    condition: sql`t.lat is null`,
  }),
]
