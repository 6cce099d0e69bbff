// Which provider's data a query prefers. Source: users-wearables.md 14, Q6, Q7.
import type { Tx } from '../../platform/db/transaction.ts'
import { getPriorities } from '../../tenancy/teams/own-team.ts'
import type { SourceRows } from './source-rows.ts'

/** The fields in which an item of the list may name its source: the list is kept as it was given. */
const SLUGS = ['source_slug', 'provider', 'slug', 'source', 'id'] as const

/** Providers by a team's priorities, best first. Items without a name or a number are left out. */
export function rankedProviders(list: readonly Record<string, unknown>[]): string[] {
  const ranks = new Map<string, number>()
  for (const item of list) {
    const slug = SLUGS.map((field) => item[field]).find((value): value is string => typeof value === 'string')
    const { priority } = item
    if (slug === undefined || typeof priority !== 'number' || !Number.isFinite(priority)) continue
    ranks.set(slug.toLowerCase(), Math.max(priority, ranks.get(slug.toLowerCase()) ?? -Infinity))
  }
  return [...ranks].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([slug]) => slug)
}

/** The providers that a query prefers, best first: those of the query, then those of the team. */
export async function preferredProviders(
  tx: Tx,
  dataType: SourceRows['priorities'],
  overrides: readonly string[] | null | undefined,
): Promise<string[]> {
  const ofTeam = dataType === null ? [] : rankedProviders(await getPriorities(tx, dataType))
  return [...new Set([...(overrides ?? []), ...ofTeam])]
}
