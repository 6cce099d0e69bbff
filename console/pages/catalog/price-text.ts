// Prices as people read them.
import type { components } from '../../api/schema.d.ts'

export type Price = components['schemas']['SpecifiedPrice'] | components['schemas']['UnspecifiedPrice']

const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
const REASONS: Partial<Record<string, string>> = { refer_to_contract: 'By contract', price_unavailable: 'No price' }

/** With a mark if the price depends on more, such as the state of the patient. */
export function priceText(price: Price | undefined): string {
  if (!price) return ''
  if ('unspecified' in price) return REASONS[price.unspecified] ?? price.unspecified
  return `${DOLLARS.format(price.base_amount_minor / 100)}${price.modifiers?.length ? ' +' : ''}`
}
