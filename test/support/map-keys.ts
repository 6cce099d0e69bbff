// Records the text keys of every `Map` that the program's own sources fill, whichever module holds it, so that a test can present them
// as credentials. Import this file before the program: it wraps `Map.prototype.set`, whose behavior stays the same.
const SOURCES = new URL('../../src/', import.meta.url).href
const KEY_LENGTH_MAX = 512
/** Reference data fills maps with thousands of keys of one kind, and each statement is a key: a sample of them is enough. */
const OF_ONE_LINE_MAX = 60
const OF_ONE_FORM_MAX = 3

/** The line of source that filled a map → the keys it gave, and how many there are of each form. */
const recorded = new Map<string, { keys: Set<string>; forms: Map<string, number> }>()
let recording = false

const set = Map.prototype.set
const count = (forms: Map<string, number>, form: string): number => {
  const n = (forms.get(form) ?? 0) + 1
  set.call(forms, form, n)
  return n
}

Map.prototype.set = function <K, V>(this: Map<K, V>, key: K, value: V): Map<K, V> {
  if (recording && typeof key === 'string' && key !== '' && key.length <= KEY_LENGTH_MAX) record(key)
  return set.call(this, key, value) as Map<K, V>
}

function record(key: string): void {
  const line = callingLine()
  if (!line.includes(SOURCES)) return
  let known = recorded.get(line)
  if (!known) set.call(recorded, line, (known = { keys: new Set(), forms: new Map() }))
  if (known.keys.has(key) || known.keys.size >= OF_ONE_LINE_MAX) return
  const form = key.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id').replace(/\d+/g, '0')
  if (count(known.forms, form) <= OF_ONE_FORM_MAX) known.keys.add(key)
}

/** The line that called the wrapped method, or that called the package which did: the third frame above this one and those before it. */
function callingLine(): string {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 10
  const frames = new Error().stack!.split('\n').slice(4)
  Error.stackTraceLimit = limit
  return frames.find((frame) => !frame.includes('/node_modules/')) ?? ''
}

/**
 * Runs `work` and returns its result and the keys that sources below `src/` gave to maps meanwhile: of each line of source a sample of every
 * form. What is cached already is not set again.
 */
export async function keysSetDuring<R>(work: () => Promise<R>): Promise<{ result: R; keys: string[] }> {
  recording = true
  try {
    const result = await work()
    return { result, keys: [...new Set([...recorded.values()].flatMap(({ keys }) => [...keys]))] }
  } finally {
    recording = false
    recorded.clear()
  }
}
