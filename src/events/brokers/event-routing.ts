// The hub or container of an event: the first matcher that matches, else the default hub. Source: events.md 8.1, 8.2.
import type { AzureAmqp, Matcher } from './schema.ts'

type Storage = NonNullable<Matcher['blob_storage']>

export interface Router {
  /** A hub, or the container that a matcher names. */
  route(type: string): { hub: string } | { storage: Storage }
  /** The destination of an event that is too large for a hub: the first container among the matching matchers. */
  overflowStorage(type: string): Storage | undefined
}

/** Routes are computed once for each type. */
export async function createRouter(azure: Pick<AzureAmqp, 'default_event_hub' | 'event_hub_matchers'>): Promise<Router> {
  const { RE2JS } = await import('re2js')
  const rules = azure.event_hub_matchers.map((matcher) => {
    const { event_type_prefix: prefix, event_type_regex } = matcher
    if (event_type_regex === null) return { matcher, matches: (type: string) => type.startsWith(prefix ?? '') }
    const pattern = RE2JS.compile(event_type_regex)
    return { matcher, matches: (type: string) => pattern.matcher(type).find() }
  })
  const known = new Map<string, Matcher[]>()
  const matching = (type: string): Matcher[] => {
    const found = known.get(type) ?? rules.filter(({ matches }) => matches(type)).map(({ matcher }) => matcher)
    known.set(type, found)
    return found
  }
  return {
    route(type) {
      const [first] = matching(type)
      if (first?.blob_storage) return { storage: first.blob_storage }
      return { hub: first?.event_hub ?? azure.default_event_hub }
    },
    overflowStorage: (type) => matching(type).find(({ blob_storage }) => blob_storage)?.blob_storage ?? undefined,
  }
}
