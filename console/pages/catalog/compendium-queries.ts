// Searches over the compendium: what laboratories call the same measurements.
import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type SearchBody = components['schemas']['SearchCompendium']
export type Canonical = components['schemas']['CanonicalCandidate']
export type PerLab = components['schemas']['PerLabCandidate']

/** Candidates of each laboratory, and sets of codes with a similar name. */
const LIMIT = 10

/** A search by a name, synonym, LOINC or code, or for one set of LOINC codes. */
export const toSearchBody = (text: string, hash: string): SearchBody => ({
  mode: 'crosswalk',
  ...(hash ? { loinc_set_hash: hash } : { query: text }),
  include_related: true,
  limit: LIMIT,
})

/** What a text, or a set of LOINC codes, is at each laboratory; nothing for an empty text. */
export function useCompendium(text: string, hash: string) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'compendium', text, hash],
    placeholderData: text || hash ? keepPreviousData : undefined,
    queryFn:
      text || hash
        ? ({ signal }) => dataOf(api.POST('/v3/compendium/search', { body: toSearchBody(text, hash), signal }))
        : skipToken,
  })
}
