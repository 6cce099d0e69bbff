// Transactions of FHIR that may be repeated: each Observation is updated by its identifier, or created if there is none. Pure.
// Source: https://hl7.org/fhir/R4/http.html#cond-update.

/** Observations in one transaction. */
const ENTRIES_MAX = 200

export interface Observation {
  resourceType: 'Observation'
  identifier: [{ system: string; value: string }]
  [field: string]: unknown
}

export interface TransactionBundle {
  resourceType: 'Bundle'
  type: 'transaction'
  entry: { resource: Observation; request: { method: 'PUT'; url: string } }[]
}

/** Observations in transactions of at most 200. */
export function transactionsOf(observations: readonly Observation[]): TransactionBundle[] {
  const bundles: TransactionBundle[] = []
  for (let at = 0; at < observations.length; at += ENTRIES_MAX)
    bundles.push({
      resourceType: 'Bundle',
      type: 'transaction',
      entry: observations.slice(at, at + ENTRIES_MAX).map((resource) => ({
        resource,
        request: { method: 'PUT', url: `Observation?identifier=${encodeURIComponent(tokenOf(resource))}` },
      })),
    })
  return bundles
}

/** A token of a search: backslashes, commas, dollars and bars of its parts are escaped. Source: search.html#escaping. */
function tokenOf({ identifier: [{ system, value }] }: Observation): string {
  const escaped = (text: string) => text.replace(/[\\,$|]/g, '\\$&')
  return `${escaped(system)}|${escaped(value)}`
}
