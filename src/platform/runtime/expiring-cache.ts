// Cached values that every request reads, that change rarely, and that may be a few seconds old.
import { LRUCache } from 'lru-cache'
import { systemNow } from './clock.ts'

/** The clock of lru-cache, whose default tests cannot move. */
const clock = { now: () => systemNow().getTime() }

/** A cache whose entries expire; when it is full, the least recently used entry is removed. It allocates memory as entries are added. */
export const expiringCache = <V extends {}>({
  lifetime_ms,
  size_max,
}: {
  lifetime_ms: number
  size_max: number
}): LRUCache<string, V> =>
  new LRUCache({ maxSize: size_max, sizeCalculation: () => 1, ttl: lifetime_ms, ttlResolution: 0, perf: clock })

/** Removes every entry whose value matches. */
export function removeWhere<V extends {}>(cache: LRUCache<string, V>, matches: (value: V) => boolean): void {
  for (const [key, value] of cache.entries()) if (matches(value)) cache.delete(key)
}
