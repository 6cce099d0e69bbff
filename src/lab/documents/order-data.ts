// The data of documents: an order with its internal data, its laboratory and its lab account. Only reads.
import { accreditationLine } from '../catalog/lab-identity.ts'
import { findLab, type LabRecord } from '../catalog/labs.ts'
import { findAccount } from '../accounts/accounts.ts'
import type { LabAccount } from '../accounts/schema.ts'
import type { InternalData } from '../orders/locked-order.ts'
import type { Order } from '../orders/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { addressLine } from './printable-patient.ts'
import { notDeleted } from '../../people/users/users.ts'

export interface OrderData {
  order: Order
  internalData: InternalData
  lab: LabRecord
  account: LabAccount | undefined
}

const Row = T.Object({ document: T.String(), internal_data: T.String(), lab_id: T.Integer() })

/** Errors: 404 unknown order, or its user is deleted. */
export async function loadOrderData(tx: Tx, id: string): Promise<OrderData> {
  const row = await tx.maybe(
    Row,
    sql`
    select document, internal_data, lab_id from lab_order
    where id = ${id} and team_id = ${tx.team} and ${notDeleted(tx, sql`user_id`)}`,
  )
  if (!row) throw notFound('Order not found')
  const order = JSON.parse(row.document) as Order
  tx.concerns(order.user_id)
  const [lab, account] = await Promise.all([
    findLab(tx, row.lab_id),
    order.lab_account_id === null ? undefined : findAccount(tx, order.lab_account_id),
  ])
  return { order, internalData: JSON.parse(row.internal_data) as InternalData, lab: lab!, account }
}

/** When the order first had a status; undefined if it never had it. */
export const statusReachedAt = ({ events }: Order, lowLevelStatus: string): string | undefined =>
  events.find(({ status }) => status.endsWith(`.${lowLevelStatus}`))?.created_at

export interface PrintableLab {
  name: string
  address: string
  /** `CLIA 99D0000001`, other accreditations; empty if the laboratory has none. */
  accreditation: string
}

export const toPrintableLab = ({ name, first_line_address, city, state, zipcode, country, ...lab }: LabRecord): PrintableLab => ({
  name,
  address: addressLine({ first_line: first_line_address, city, state, zip: zipcode, country }),
  accreditation: accreditationLine(lab),
})

/** Sandbox documents are marked, so that they cannot be mistaken for those of a laboratory. */
export const isSandbox = (tx: Tx): boolean => tx.tenant.cell.startsWith('sandbox')
