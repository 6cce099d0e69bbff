// Overrides of `trigger`: fields of a request that are set by their path, `patient_details.first_name=Fiona`.
import { UsageError } from '../command-tree.ts'

const OVERRIDES_MAX = 50
const SEGMENT = /^(?:[a-zA-Z][a-zA-Z0-9_]*|\d{1,3})$/

export interface Override {
  path: string[]
  value: unknown
}

/** @param option that they were typed after @throws UsageError for a text that is not a path and value, and for more than 50 */
export function parseOverrides(texts: string[] = [], option = '--override'): Override[] {
  if (texts.length > OVERRIDES_MAX) throw new UsageError(`${option} can be repeated at most ${OVERRIDES_MAX} times.`)
  return texts.map((text) => {
    const at = text.indexOf('=')
    const path = text.slice(0, Math.max(at, 0)).split('.')
    if (!path.every((segment) => SEGMENT.test(segment) && !(segment in Object.prototype)))
      throw new UsageError(`${option} must be a path and a value such as patient_details.first_name=Fiona.`)
    return { path, value: jsonOrText(text.slice(at + 1)) }
  })
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A copy of a request's body with the overrides. @throws UsageError for a path through a value that is neither an object nor a list */
export function applyOverrides(body: unknown, overrides: Override[]): unknown {
  const copy: unknown = structuredClone(body)
  for (const { path, value } of overrides) {
    let node = copy as Record<string, unknown>
    for (const segment of path.slice(0, -1)) {
      node[segment] ??= {}
      if (typeof node[segment] !== 'object') throw new UsageError(`--override ${path.join('.')}: ${segment} is not an object.`)
      node = node[segment] as Record<string, unknown>
    }
    node[path.at(-1)!] = value
  }
  return copy
}
