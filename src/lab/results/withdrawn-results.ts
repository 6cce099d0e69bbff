// Results that a later report on the same order no longer has. Pure.
import type { BiomarkerResult } from './schema.ts'

export interface WithdrawnResult {
  /** As in `resultKeys`. */
  key: string
  name: string
  loinc: string | null
}

/**
 * Names that tell the results of an order apart, the same in each report on it: the slug, or else code or name, after the parent and before
 * the sub-id, numbered if it repeats.
 */
export function resultKeys(results: readonly Pick<BiomarkerResult, 'slug' | 'loinc' | 'name' | 'sub_id' | 'parent'>[]): string[] {
  const seen = new Map<string, number>()
  return results.map(({ slug, loinc, name, sub_id, parent }) => {
    const origin = parent ? [parent.code, parent.sub_id].filter(Boolean) : []
    const key = [...origin, slug || (loinc ?? name), ...(sub_id ? [sub_id] : [])].join(':')
    const n = (seen.get(key) ?? 0) + 1
    seen.set(key, n)
    return n === 1 ? key : `${key}/${n}`
  })
}

/** What reports have withdrawn from an order so far. `withdrawn`: by the reports before the earlier one. */
export function withdrawnResults(
  earlier: readonly BiomarkerResult[],
  entries: readonly WithdrawnResult[],
  results: readonly BiomarkerResult[],
): WithdrawnResult[] {
  const present = new Set(resultKeys(results))
  const keys = resultKeys(earlier)
  const reported = earlier.map(({ name, loinc }, i): WithdrawnResult => ({ key: keys[i]!, name, loinc }))
  const all = new Map([...entries, ...reported].map((result) => [result.key, result]))
  return [...all.values()].filter(({ key }) => !present.has(key))
}
