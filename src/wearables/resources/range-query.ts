// The range and the provider for which samples and summaries are read. Source: users-wearables.md 0, 9, 10.
import { invalidField } from '../../platform/http/errors.ts'
import { parseTimestamp } from '../../platform/schema/formats.ts'
import { Maybe, Text } from '../../platform/schema/schema.ts'

export const rangeQuery = {
  start_date: Text({ minLength: 1, maxLength: 40, example: '2026-01-01' }),
  end_date: Maybe(Text({ maxLength: 40 })),
  provider: Maybe(Text({ maxLength: 60 })),
}

export interface RangeQuery {
  start_date: string
  end_date?: string | undefined
  provider?: string | undefined
}

/** Reads a date or an instant of the query. Errors: 422 it is neither. */
export function readBound(name: 'start_date' | 'end_date', text: string): { at: Date; dateOnly: boolean } {
  const found = parseTimestamp(text.trim())
  if (!found) throw invalidField(['query', name], 'is not a date or a date-time')
  return found
}
