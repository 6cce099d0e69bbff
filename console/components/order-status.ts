// Statuses of orders, in words and in what they mean.
import type { components } from '../api/schema.d.ts'
import type { Tone } from '../theme.ts'

export type OrderState = components['schemas']['OrderRow']['status']

/** Whether no work is expected for orders of this status. */
export const hasEnded = (state: OrderState): boolean => ['completed', 'cancelled', 'failed'].includes(state)

const TONES: Record<OrderState, Tone> = {
  received: 'neutral',
  collecting_sample: 'progress',
  sample_with_lab: 'progress',
  completed: 'good',
  cancelled: 'neutral',
  failed: 'failed',
}

/** Statuses of orders that go on, of which a person has to look at something. */
const NEED_ATTENTION = new Set([
  'problem_in_transit_customer',
  'problem_in_transit_lab',
  'lab_processing_blocked',
  'redraw_available',
  'appointment_cancelled',
  'corrected',
])

export const toneOfOrder = (state: OrderState, low_level_status: string): Tone =>
  NEED_ATTENTION.has(low_level_status) ? 'attention' : TONES[state]

/** A word of the API as people read it: `sample_with_lab` is "Sample with lab". */
export function toWords(word: string): string {
  const words = word.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const METHODS: Record<string, string> = {
  testkit: 'Test kit',
  walk_in_test: 'Walk-in',
  at_home_phlebotomy: 'At home',
  on_site_collection: 'On site',
}

export const methodWords = (method: string): string => METHODS[method] ?? toWords(method)
