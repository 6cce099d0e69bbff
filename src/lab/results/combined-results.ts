// Combines the results of several orders of a transaction. Pure. Source: lab-testing.md 13.6.
import { mostSevere } from '../../lab-values/interpret.ts'
import type { ResultDocument } from './schema.ts'

interface Named {
  slug: string
  provider_id: string | null
}

/** Compares by the laboratory's code if both have one, else by slug: a redraw may report a result alone that was part of a panel before. */
const isSame = (a: Named, b: Named): boolean =>
  a.provider_id !== null && b.provider_id !== null ? a.provider_id === b.provider_id : a.slug === b.slug

/**
 * Combines result documents, oldest order first; at least one. A result of a later order replaces that of an earlier one, and a result
 * measured in any order is not missing. `completed`: the orders will receive no more results.
 */
export function combineResults(documents: ResultDocument[], isCompleted: boolean): ResultDocument {
  const latest = documents.at(-1)!
  const results = documents.flatMap((document, i) =>
    document.results.filter(
      (result) => !documents.slice(i + 1).some((later) => later.results.some((laterResult) => isSame(result, laterResult))),
    ),
  )
  const missing_results = documents.flatMap((document, i) =>
    document.missing_results.filter(
      (item) =>
        !results.some((result) => isSame(item, result)) &&
        !documents.slice(i + 1).some((later) => later.missing_results.some((laterItem) => isSame(item, laterItem))),
    ),
  )
  return {
    metadata: {
      ...latest.metadata,
      status: isCompleted ? 'final' : 'partial',
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
