// Finding objects of the team by an id, a part of it, or a name.
import { skipToken, useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type FoundObject = components['schemas']['FoundObject']

/** Shorter texts mean too many things. */
const TEXT_LENGTH_MIN = 3
const NONE: readonly FoundObject[] = []

/** What a text means; nothing while it is short. What was found before stays until the next is there. */
export function useObjectSearch(text: string): { objects: readonly FoundObject[]; isSearching: boolean; error: Error | null } {
  const { api, key } = useTeam()
  const isLongEnough = text.length >= TEXT_LENGTH_MIN
  const { data, error, isFetching } = useQuery({
    queryKey: [...key, 'search', text],
    queryFn: isLongEnough
      ? ({ signal }) => dataOf(api.GET('/console/v1/search', { params: { query: { search_input: text } }, signal }))
      : skipToken,
    placeholderData: (previous) => previous,
  })
  return { objects: isLongEnough ? (data?.data ?? NONE) : NONE, isSearching: isFetching, error }
}
