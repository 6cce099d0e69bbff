// Finds the analytes of the catalog that the results of a laboratory's list are. Pure.
import { readUnit } from '../../lab-values/ucum-units.ts'
import { AnalyteDefinition, type AnalyteEntry } from '../catalog-exchange/file-schema.ts'
import { withNulls } from '../../platform/schema/schema.ts'
import type { ListedResult } from './compendium-file.ts'

/** A result of the list; its LOINC code and unit may be those of the profile. */
export type KnownResult = Pick<ListedResult, 'name' | 'loinc' | 'unit'>

/** Why a result has no analyte: it has no LOINC code, or analytes differ in their units and the list does not say which it is. */
export type Unplaced = 'no LOINC code' | 'several analytes and no unit'

/** The analytes of a catalog, and those that a list adds. */
export class Analytes {
  readonly #bySlug: Map<string, AnalyteEntry>
  readonly #byLoinc: Map<string | null, AnalyteEntry[]>
  readonly newEntries: AnalyteEntry[] = []

  constructor(entries: AnalyteEntry[]) {
    this.#bySlug = new Map(entries.map((entry) => [entry.slug, entry]))
    this.#byLoinc = Map.groupBy(entries, ({ loinc }) => loinc)
  }

  bySlug(slug: string): AnalyteEntry {
    return this.#bySlug.get(slug)!
  }

  /**
   * The analyte with the LOINC code and the unit of a result; a new one if there is none, because other laboratories use the others with
   * their units and ranges.
   * @param expected slugs that the test has already; they are preferred
   */
  place(result: KnownResult, expected: ReadonlySet<string>, specimen: string | null): AnalyteEntry | Unplaced {
    const { loinc, unit } = result
    if (loinc === null) return 'no LOINC code'
    const withCode = this.#byLoinc.get(loinc) ?? []
    const candidates = unit === null ? withCode : withCode.filter(({ definition }) => isSameUnit(definition.unit, unit))
    const preferred = candidates.filter(({ slug }) => expected.has(slug))
    const only = preferred.length === 1 || unit !== null ? preferred[0] : undefined
    if (only) return only
    if (unit === null && candidates.length > 1) return 'several analytes and no unit'
    return candidates[0] ?? this.#add(result, loinc, specimen)
  }

  #add({ name, unit }: KnownResult, loinc: string, specimen: string | null): AnalyteEntry {
    const type = unit === null ? 'comment' : 'numeric'
    const definition = withNulls(AnalyteDefinition, { type, unit, specimen })
    const entry: AnalyteEntry = { slug: this.#freeSlug(name, loinc), name, loinc, loinc_name: null, definition }
    this.#bySlug.set(entry.slug, entry)
    this.#byLoinc.set(loinc, [...(this.#byLoinc.get(loinc) ?? []), entry])
    this.newEntries.push(entry)
    return entry
  }

  #freeSlug(name: string, loinc: string): string {
    const plain = toCatalogSlug(name, loinc)
    const choices = [plain, `${plain}-${loinc}`]
    for (let number = 2; ; number++) {
      const slug = choices.shift() ?? `${plain}-${loinc}-${number}`
      if (!this.#bySlug.has(slug)) return slug
    }
  }
}

/** A slug of the catalog, of letters and digits of ASCII; `fallback` if the name has none. */
export const toCatalogSlug = (name: string, fallback: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 100)
    .replace(/^-+|-+$/g, '') || fallback

/** Whether two spellings are of one unit. A spelling with several readings is only itself. */
export function isSameUnit(left: string | null, right: string | null): boolean {
  if (left === null || right === null || left === right) return left === right
  const [readings, others] = [readUnit(left), readUnit(right)]
  return readings.length === 1 && others.length === 1 && readings[0]!.canonical === others[0]!.canonical
}
