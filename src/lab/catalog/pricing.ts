// Prices with their modifiers, as the API shows them. The amounts are those of the catalog and the lab test. Only reads.
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { Price, type LabTest, type LabTestPricing, type Marker, type MarkerPricing } from './schema.ts'

/** A catalog price, dollars as text, in cents. Any other text, such as `N/A`, is not a price. */
export function priceOf(price: string | null): Price {
  const [, dollars, fraction = ''] = /^(\d{1,10})(?:\.(\d{1,2}))?$/.exec(price ?? '') ?? []
  return dollars === undefined ? { unspecified: 'price_unavailable' } : cents(Number(dollars + fraction.padEnd(2, '0')))
}

const cents = (base_amount_minor: number): Price => ({ base_amount_minor, modifiers: null })

const Broken = T.Object({ id: T.Integer(), pricing: Price })

/** Prices by marker: the laboratory's detailed pricing, such as states with a higher price, else the marker's price. */
async function getPrices(tx: Tx, markers: Marker[]): Promise<Record<string, Price>> {
  const ids = [...new Set(markers.map(({ id }) => id))]
  const said = await tx.many(
    Broken,
    sql`select id, pricing from marker where id = any (${ids}::integer[]) and pricing is not null`,
  )
  const prices = new Map(said.map(({ id, pricing }) => [id, pricing]))
  return Object.fromEntries(markers.map(({ id, price }) => [id, prices.get(id) ?? priceOf(price)]))
}

export const priceMarkers = async (tx: Tx, markers: Marker[]): Promise<MarkerPricing> => ({
  currency: 'USD',
  data: await getPrices(tx, markers),
})

/** Prices by lab test: its own price, which can differ from the sum, and the prices of its markers. */
export async function priceLabTests(tx: Tx, tests: LabTest[]): Promise<LabTestPricing> {
  const prices = await getPrices(
    tx,
    tests.flatMap(({ markers }) => markers ?? []),
  )
  const breakdown = ({ markers }: LabTest) => Object.fromEntries((markers ?? []).map(({ id }) => [id, prices[id]!]))
  return {
    currency: 'USD',
    data: Object.fromEntries(
      tests.map((test) => [test.id, { pricing: cents(Math.round(test.price * 100)), marker_breakdown: breakdown(test) }]),
    ),
  }
}
