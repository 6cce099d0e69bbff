// Lists that the server gives page by page: each page names the cursor of the next one.
import { keepPreviousData, useInfiniteQuery, type QueryKey } from '@tanstack/react-query'
import { refreshHeaders } from './refresh.ts'

interface KeysetPage {
  next_cursor: string | null
}

/** What a list adds to its own request. */
interface PageRequest {
  query: { limit: number; next_cursor?: string }
  headers: Record<string, string>
  signal: AbortSignal
}

/** Rows of a request: some screens of them. */
const PAGE_SIZE = 100

interface KeysetListOptions<Page> {
  queryKey: QueryKey
  readPage: (request: PageRequest) => Promise<Page>
  /** How often the loaded pages are read again; false: never. */
  refresh_ms?: number | false
}

/** The pages of a list. The former list stays until the first page of another filter is there. */
export const useKeysetList = <Page extends KeysetPage>({ queryKey, readPage, refresh_ms = false }: KeysetListOptions<Page>) =>
  useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: (context) =>
      readPage({
        query: { limit: PAGE_SIZE, ...(context.pageParam !== undefined && { next_cursor: context.pageParam }) },
        headers: refresh_ms === false ? {} : refreshHeaders(context),
        signal: context.signal,
      }),
    getNextPageParam: ({ next_cursor }: Page) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: refresh_ms,
  })
