// Places that nobody here knows, asked of a service that the operator names. It is told country, postal code and city, never who is
// asked for or a street. What it says is kept; while it fails it is left alone. The contract stands in docs/PLACES.md.
import type { Db } from '../../platform/db/database.ts'
import { expiringCache } from '../../platform/runtime/expiring-cache.ts'
import { isPoint } from './distance.ts'
import { askedOf, placeOf, rememberAnswer, remembered, type Asked, type Place, type Whereabouts } from './postal-places.ts'

/** Where a postal code is, by all means there are; undefined when it cannot be told. Not within a transaction. */
export type Locate = (db: Db, where: Whereabouts) => Promise<Place | undefined>

export interface GeocoderOptions {
  /** The address of the service; undefined for none. */
  url: () => string | undefined
  /** Told why the service could not be asked; never what about. */
  onFailure?: (reason: string) => void
}

const TIMEOUT_MS = 3000
const BYTES_MAX = 16_384
const AT_ONCE_MAX = 20
const LEFT_ALONE_MS = 30_000
const TEXT_MAX = 200

/** A way to find places: at most 20 questions at once, 3 s each, none for 30 s after a failure. Writes geocoded_place. */
export function locator({ url, onFailure = () => {} }: GeocoderOptions): Locate {
  const asking = new Map<string, Promise<Place | undefined>>()
  const failed = expiringCache<true>({ lifetime_ms: LEFT_ALONE_MS, size_max: 10 })

  async function askAndKeep(db: Db, address: string, where: Whereabouts, asked: Asked): Promise<Place | undefined> {
    // Another question may have been answered since this place was looked up.
    const known = await placeOf(db.queries, where)
    if (known) return known
    try {
      const place = await ask(address, asked)
      await db.plainTx((tx) => rememberAnswer(tx, asked, place))
      return place
    } catch (error) {
      if (!(error instanceof Unusable)) throw error
      failed.set(address, true)
      onFailure(error.message)
      return undefined
    }
  }

  return async (db, where) => {
    const known = await placeOf(db.queries, where)
    const [address, asked] = [url(), askedOf(where)]
    if (known || !asked || address === undefined || failed.get(address)) return known
    if (await remembered(db.queries, asked)) return undefined
    const key = JSON.stringify([address, asked])
    const same = asking.get(key)
    if (same) return same
    if (asking.size >= AT_ONCE_MAX) return undefined
    const answer = askAndKeep(db, address, where, asked).finally(() => asking.delete(key))
    asking.set(key, answer)
    return answer
  }
}

/** The service could not be asked, or did not answer as agreed. */
class Unusable extends Error {}

async function ask(address: string, asked: Asked): Promise<Place | undefined> {
  const { request } = await import('undici')
  const url = new URL(address)
  for (const [name, value] of Object.entries(asked)) if (value) url.searchParams.set(name, value)
  try {
    const { statusCode, body } = await request(url, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > BYTES_MAX) throw new Unusable('its answer is too long')
      chunks.push(chunk)
    }
    if (statusCode === 404) return undefined
    if (statusCode !== 200) throw new Unusable(`it answered ${statusCode}`)
    return placeFrom(Buffer.concat(chunks).toString())
  } catch (error) {
    if (error instanceof Unusable) throw error
    const { name, code } = error as { name: string; code?: string }
    throw new Unusable(code === undefined || name === 'TimeoutError' ? name : String(code))
  }
}

function placeFrom(text: string): Place {
  const answer = parsed(text)
  const { lat, lng } = answer
  if (typeof lat !== 'number' || typeof lng !== 'number' || !isPoint({ lat, lng })) throw new Unusable('its answer has no point')
  return { lat, lng, city: shortText(answer.city), state: shortText(answer.state) }
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Said below.
  }
  throw new Unusable('its answer is no JSON object')
}

const shortText = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, TEXT_MAX).toWellFormed().replaceAll('\0', '').trim() : ''
