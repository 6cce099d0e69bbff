// Statuses and durations of lab tests, in words.
import type { Tone } from '../../theme.ts'
import type { LabTest } from './catalog-queries.ts'

export const TONES: Record<LabTest['status'], Tone> = { active: 'good', pending_approval: 'attention', inactive: 'neutral' }

type Durations = Pick<LabTest, 'common_tat_days' | 'worst_case_tat_days'>

/** How long results take: `3 days, at worst 7`. */
export function durationText({ common_tat_days: common, worst_case_tat_days: worst }: Durations): string {
  if (common === null) return ''
  const days = `${common} ${common === 1 ? 'day' : 'days'}`
  return worst === null || worst === common ? days : `${days}, at worst ${worst}`
}
