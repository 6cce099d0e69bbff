// Values that are asked for with every request, change seldom, and may be a few seconds old.
import { LRUCache } from 'lru-cache'
import { systemNow } from './clock.ts'

/** Of lru-cache, whose default clock tests cannot move. */
const clock = { now: () => systemNow().getTime() }

/** A cache whose entries expire; when it is full, what was unused for longest goes. Memory is taken as entries come, not beforehand. */
export const expiringCache = <V extends {}>({
  lifetime_ms,
  size_max,
}: {
  lifetime_ms: number
  size_max: number
}): LRUCache<string, V> =>
  new LRUCache({ maxSize: size_max, sizeCalculation: () => 1, ttl: lifetime_ms, ttlResolution: 0, perf: clock })

/** Remove every entry whose value is meant. */
export function removeWhere<V extends {}>(cache: LRUCache<string, V>, matches: (value: V) => boolean): void {
  for (const [key, value] of cache.entries()) if (matches(value)) cache.delete(key)
}
