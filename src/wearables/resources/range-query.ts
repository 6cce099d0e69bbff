// The range and the provider for which samples and summaries are read. Source: users-wearables.md 0, 9, 10.
import { labSlugs, providers } from '../../people/users/sources.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { parseTimestamp } from '../../platform/schema/formats.ts'
import { RuleError } from '../../platform/schema/request-validation.ts'
import { Maybe, Text } from '../../platform/schema/schema.ts'

const slugs: ReadonlySet<string> = new Set([...providers, ...labSlugs])

/**
 * The provider whose data is read, in any letter case; an empty text is all of them. Errors: 422 a provider or laboratory that does not
 * exist. The reference describes it as a text, so that its schema lists no values.
 */
export const providerFilter = Maybe(
  Text({
    maxLength: 60,
    description: 'The slug of a provider, such as `oura`.',
    rule(text) {
      const slug = text.trim().toLowerCase()
      return slug === '' || slugs.has(slug) ? slug : new RuleError('must be the slug of a provider, such as oura')
    },
  }),
)

export const rangeQuery = {
  start_date: Text({ minLength: 1, maxLength: 40, example: '2026-01-01' }),
  end_date: Maybe(Text({ maxLength: 40 })),
  provider: providerFilter,
}

export interface RangeQuery {
  start_date: string
  end_date?: string | undefined
  provider?: string | undefined
}

/** Reads a date or an instant of the query. Errors: 422 it is neither. */
export function readBound(name: 'start_date' | 'end_date', text: string): { instant: Date; dateOnly: boolean } {
  const timestamp = parseTimestamp(text.trim())
  if (!timestamp) throw invalidField(['query', name], 'is not a date or a date-time')
  return timestamp
}
