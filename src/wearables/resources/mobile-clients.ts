// What the published mobile clients read otherwise than the documents of the API say: one field that they cannot read fails the whole
// response. They are known by their headers; everyone else gets what the documents say. Source: users-wearables.md 16.8, 19 D1.

type Headers = Record<string, unknown>

export const isAndroid = (headers: Headers): boolean => headers['x-vital-android-sdk-version'] !== undefined
const isIos = (headers: Headers): boolean => headers['x-vital-ios-sdk-version'] !== undefined

interface Workout {
  id: string
  user_id: string
  total_elevation_gain?: unknown
  map?: unknown
}

/** A workout as a client reads it: Android insists on `user_key` and `map.id`, and iOS reads an elevation only in whole meters. */
export function workoutFor<W extends Workout>(headers: Headers, workout: W): W & { user_key?: string } {
  const { id, user_id, total_elevation_gain: gain, map } = workout
  if (isAndroid(headers)) return { ...workout, user_key: user_id, map: map ? { id, ...map } : null }
  return isIos(headers) && typeof gain === 'number' ? { ...workout, total_elevation_gain: Math.round(gain) } : workout
}

/** The lists of a stream as a client reads them: one of Android that lacks a value cannot be read, and is empty instead. */
export function streamFor(headers: Headers, stream: string): string {
  if (!isAndroid(headers) || !stream.includes('null')) return stream
  const lists = Object.entries(JSON.parse(stream) as Record<string, (number | null)[]>)
  return JSON.stringify(Object.fromEntries(lists.map(([name, list]) => [name, list.includes(null) ? [] : list])))
}
