// What documents are made of: an order with what was given with it, its laboratory and the account it went under. Only reads.
import { findLab, type LabRecord } from '../catalog/labs.ts'
import { findAccount } from '../accounts/accounts.ts'
import type { LabAccount } from '../accounts/schema.ts'
import type { Intake } from '../orders/open-order.ts'
import type { Order } from '../orders/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { addressLine } from './person-text.ts'
import { notDeleted } from '../../people/users/users.ts'

export interface OrderFile {
  order: Order
  intake: Intake
  lab: LabRecord
  account: LabAccount | undefined
}

const Row = T.Object({ document: T.String(), intake: T.String(), lab_id: T.Integer() })

/** 404: the team has no such order, or its user is deleted. */
export async function openFile(tx: Tx, id: string): Promise<OrderFile> {
  const row = await tx.maybe(
    Row,
    sql`
    select document, intake, lab_id from lab_order
    where id = ${id} and team_id = ${tx.team} and ${notDeleted(tx, sql`user_id`)}`,
  )
  if (!row) throw notFound('Order not found')
  const order = JSON.parse(row.document) as Order
  tx.concerns(order.user_id)
  const [lab, account] = await Promise.all([
    findLab(tx, row.lab_id),
    order.lab_account_id === null ? undefined : findAccount(tx, order.lab_account_id),
  ])
  return { order, intake: JSON.parse(row.intake) as Intake, lab: lab!, account }
}

/** When the order first had a status; undefined: it never had it. */
export const reachedAt = ({ events }: Order, low: string): string | undefined =>
  events.find(({ status }) => status.endsWith(`.${low}`))?.created_at

export interface PrintedLab {
  name: string
  address: string
  clia: string | null
}

export const printedLab = ({ name, first_line_address, city, state, zipcode, clia }: LabRecord): PrintedLab => ({
  name,
  address: addressLine({ first_line: first_line_address, city, state, zip: zipcode }),
  clia,
})

/** Nothing that is made up may pass for the work of a laboratory. */
export const isSandbox = (tx: Tx): boolean => tx.tenant.cell.startsWith('sandbox')
