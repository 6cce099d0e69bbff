// Geocoding of unknown places through a service that the operator configures. Requests contain country, postal code and city, never a
// person or a street. Responses are cached; after a failure no request is made for a while. docs/PSC_DIRECTORY.md describes the contract.
import type { Db } from '../../platform/db/database.ts'
import { readOutsideJson } from '../../platform/net/outside-json.ts'
import { expiringCache } from '../../platform/runtime/expiring-cache.ts'
import { isPoint } from './distance.ts'
import {
  normalizePlaceQuery,
  findPlace,
  cacheGeocoding,
  cachedGeocoding,
  type NormalizedPlaceQuery,
  type Place,
  type PlaceQuery,
} from './postal-places.ts'

/** Finds a postal code in the tables or through the service; undefined if not found. Must not be called within a transaction. */
export type Geocode = (db: Db, where: PlaceQuery) => Promise<Place | undefined>

export interface GeocoderOptions {
  /** Address of the service; undefined for none. */
  url: () => string | undefined
  /** Called with the reason when a request to the service failed; the reason never contains the query. */
  onFailure?: (reason: string) => void
}

const TIMEOUT_MS = 3000
const BYTES_MAX = 16_384
const CONCURRENT_REQUESTS_MAX = 20
const FAILURE_BACKOFF_MS = 30_000
const TEXT_MAX = 200

/** Creates a geocoder: at most 20 concurrent requests, 3 s each, none for 30 s after a failure. Writes geocoding_cache. */
export function createGeocoder({ url, onFailure = () => {} }: GeocoderOptions): Geocode {
  const asking = new Map<string, Promise<Place | undefined>>()
  const failed = expiringCache<true>({ lifetime_ms: FAILURE_BACKOFF_MS, size_max: 10 })

  async function requestAndCache(
    db: Db,
    address: string,
    where: PlaceQuery,
    query: NormalizedPlaceQuery,
  ): Promise<Place | undefined> {
    // Another request may have found the place in the meantime.
    const known = await findPlace(db.queries, where)
    if (known) return known
    try {
      const place = await requestGeocoding(address, query)
      await db.plainTx((tx) => cacheGeocoding(tx, query, place))
      return place
    } catch (error) {
      if (!(error instanceof GeocoderError)) throw error
      failed.set(address, true)
      onFailure(error.message)
      return undefined
    }
  }

  return async (db, where) => {
    const known = await findPlace(db.queries, where)
    const [address, asked] = [url(), normalizePlaceQuery(where)]
    if (known || !asked || address === undefined || failed.get(address)) return known
    // Another request may have found the place since it was looked for.
    if (await cachedGeocoding(db.queries, asked)) return findPlace(db.queries, where)
    const key = JSON.stringify([address, asked])
    const same = asking.get(key)
    if (same) return same
    if (asking.size >= CONCURRENT_REQUESTS_MAX) return undefined
    const answer = requestAndCache(db, address, where, asked).finally(() => asking.delete(key))
    asking.set(key, answer)
    return answer
  }
}

/** The request failed, or the response did not follow the contract. */
class GeocoderError extends Error {}

async function requestGeocoding(address: string, query: NormalizedPlaceQuery): Promise<Place | undefined> {
  const { request } = await import('undici')
  const url = new URL(address)
  for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value)
  try {
    const { statusCode, body } = await request(url, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > BYTES_MAX) throw new GeocoderError('the response is too long')
      chunks.push(chunk)
    }
    if (statusCode === 404) return undefined
    if (statusCode !== 200) throw new GeocoderError(`the response has status ${statusCode}`)
    return parsePlace(Buffer.concat(chunks).toString())
  } catch (error) {
    if (error instanceof GeocoderError) throw error
    const { name, code } = error as { name: string; code?: string }
    throw new GeocoderError(code === undefined || name === 'TimeoutError' ? name : String(code))
  }
}

function parsePlace(text: string): Place {
  const answer = parseBody(text)
  const { lat, lng } = answer
  if (typeof lat !== 'number' || typeof lng !== 'number' || !isPoint({ lat, lng }))
    throw new GeocoderError('the response has no coordinates')
  return { lat, lng, city: shortText(answer.city), state: shortText(answer.state) }
}

function parseBody(text: string): Record<string, unknown> {
  try {
    const value = readOutsideJson(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // The error below reports this case.
  }
  throw new GeocoderError('the response is not a JSON object')
}

const shortText = (value: unknown): string =>
  typeof value === 'string' && value.isWellFormed() ? value.slice(0, TEXT_MAX).toWellFormed().replaceAll('\0', '').trim() : ''
