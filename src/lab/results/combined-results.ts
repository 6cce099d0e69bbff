// The results of several orders that serve one purpose, as one. Pure. Source: lab-testing.md 13.6.
import { mostSevere } from './reference-ranges.ts'
import type { ResultDocument } from './schema.ts'

interface Named {
  slug: string
  provider_id: string | null
}

/** By the laboratory's code where both have one, else by slug: a redraw may name alone what a panel reported before. */
const isSame = (a: Named, b: Named): boolean =>
  a.provider_id !== null && b.provider_id !== null ? a.provider_id === b.provider_id : a.slug === b.slug

/**
 * Unite result documents, oldest order first; there is at least one. What a later order measured replaces what an earlier one did, and
 * what any order measured is not missing. `completed`: nothing more is to come from the orders.
 */
export function combineResults(documents: ResultDocument[], completed: boolean): ResultDocument {
  const latest = documents.at(-1)!
  const results = documents.flatMap((document, i) =>
    document.results.filter(
      (result) => !documents.slice(i + 1).some((later) => later.results.some((other) => isSame(result, other))),
    ),
  )
  const missing_results = documents.flatMap((document, i) =>
    document.missing_results.filter(
      (item) =>
        !results.some((result) => isSame(item, result)) &&
        !documents.slice(i + 1).some((later) => later.missing_results.some((other) => isSame(item, other))),
    ),
  )
  return {
    metadata: {
      ...latest.metadata,
      status: completed ? 'final' : 'partial',
      interpretation: mostSevere(results.map((result) => result.interpretation)),
    },
    results,
    missing_results,
    sample_information: Object.assign(
      {},
      ...documents.map((document) => document.sample_information),
    ) as ResultDocument['sample_information'],
  }
}
