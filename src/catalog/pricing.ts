// Prices as the interface breaks them down. Pure: what things cost is written in the catalog and in the lab test.
import type { LabTest, LabTestPricing, Marker, MarkerPricing, Price } from './schema.ts'

/** A catalog price, dollars as text, in cents. Anything else, `N/A` above all, is no price. */
export function priceOf(price: string | null): Price {
  const [, dollars, fraction = ''] = /^(\d{1,10})(?:\.(\d{1,2}))?$/.exec(price ?? '') ?? []
  return dollars === undefined ? { unspecified: 'price_unavailable' } : cents(Number(dollars + fraction.padEnd(2, '0')))
}

const cents = (base_amount_minor: number): Price => ({ base_amount_minor, modifiers: null })

const pricesOf = (markers: Marker[]): Record<string, Price> =>
  Object.fromEntries(markers.map((marker) => [marker.id, priceOf(marker.price)]))

export const priceMarkers = (markers: Marker[]): MarkerPricing => ({ currency: 'USD', data: pricesOf(markers) })

/** By lab test: its own price, which need not be the sum, beside the prices of its markers. */
export const priceLabTests = (tests: LabTest[]): LabTestPricing => ({
  currency: 'USD',
  data: Object.fromEntries(
    tests.map((test) => [
      test.id,
      { pricing: cents(Math.round(test.price * 100)), marker_breakdown: pricesOf(test.markers ?? []) },
    ]),
  ),
})
