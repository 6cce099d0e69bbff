// What of results of continuous queries is exported as Observations: which groups changed, and the Observations of some groups.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { getUser } from '../../people/users/users.ts'
import type { Row } from './align.ts'
import { mappersOf, toObservations, type MappedObservation } from './result-observations.ts'
import { changedRows, layoutOf, readQuery, readStored, type Layout, type StoredQuery } from './stored-results.ts'

export interface ChangedGroups {
  user_id: string
  query_id: string
  /** Local times at which the first and the last changed group begin. */
  from: string
  to: string
}

/** The result of a query with `fhir_observations` has changed, in groups that mappings apply to. */
export const resultChanged = hookPoint<[ChangedGroups & { mappers: string[] }]>('query.result_changed')

const bucketIn = ({ keys }: Layout) => {
  const { position } = keys.find(({ isTruncated }) => isTruncated)!
  return (row: Row): string | null => row[position] as string | null
}

/** Notifies `resultChanged` of the groups that are new or have another value. */
export async function exportChanges(
  tx: Tx,
  user_id: string,
  { id: query_id, query }: Pick<StoredQuery, 'id' | 'query'>,
  layout: Layout,
  previousRows: readonly Row[],
  newRows: readonly Row[],
): Promise<void> {
  const mappers = mappersOf(query)
  if (!mappers.length) return
  const bucketOf = bucketIn(layout)
  const changed = changedRows(layout, previousRows, newRows)
    .flatMap((row) => bucketOf(row) ?? [])
    .toSorted()
  if (changed.length) await tx.notify(resultChanged, { user_id, query_id, from: changed[0]!, to: changed.at(-1)!, mappers })
}

export interface ResultPart {
  mappers: string[]
  observations: MappedObservation[]
  /** Where the next part begins; null: this is the last one. */
  next: string | null
}

/**
 * The Observations of a result between two groups, as it is now, oldest first and in parts of whole groups.
 * @param size how many Observations a part has, unless its first group has more
 * @returns undefined if there is no such user or query any more, or the query has no preference for it
 */
export async function readObservations(
  tx: Tx,
  { user_id, query_id, from, to }: ChangedGroups,
  size: number,
): Promise<ResultPart | undefined> {
  const user = await getUser(tx, user_id).catch((error: unknown) => {
    if (error instanceof Problem && error.status === 404) return undefined
    throw error
  })
  const stored = await readQuery(tx, query_id)
  if (!user || !stored?.fhir_observations) return undefined
  const { query } = stored
  const compiled = layoutOf(query)
  const bucketOf = bucketIn(compiled)
  const { computed } = await readStored(tx, user_id, query_id)
  const groups = Map.groupBy(computed, (row) => bucketOf(row) ?? '')
  const observations: MappedObservation[] = []
  const mappers = mappersOf(query)
  for (const [bucket, rows] of groups) {
    if (bucket < from || bucket > to) continue
    const more = toObservations(user, { query_id, query, layout: compiled, rows })
    if (observations.length && observations.length + more.length > size) return { mappers, observations, next: bucket }
    observations.push(...more)
  }
  return { mappers, observations, next: null }
}
