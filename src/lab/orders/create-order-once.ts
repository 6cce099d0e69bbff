// Creating an order idempotently by the content of its request. Source: lab-testing.md 7, interface.md «idempotent against duplicate
// orders».
import { createHash } from 'node:crypto'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { claimKey, storeResponse, releaseKey } from '../../platform/http/idempotency.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { notDeletedHere } from '../../people/users/users.ts'
import type { CoversCharacter } from '../../platform/pdf/extra-fonts.ts'
import { createdReply, createOrder } from './create-order.ts'
import type { CreateOrder, OrderReply } from './schema.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'

/** Idempotency keys of both creation paths share one scope and are stored for a day. */
export const createOrderIdempotency = { scope: 'create_order', retention_s: DAY_S }

const CONTENT_SCOPE = 'create_order.content'
const Status = T.Object({ low_level_status: T.String(), shown: T.Boolean() })
const REPLACEABLE_STATUSES = new Set([
  'cancelled',
  'do_not_process',
  'sample_error',
  'failure_to_deliver_to_customer',
  'failure_to_deliver_to_lab',
  'lost',
])

/**
 * As `createOrder`, but the same body within a day returns the same order, unless that order was cancelled or has failed. Writes also
 * idempotency. Errors: as `createOrder`; 404 the user of the order that it would return is deleted.
 */
export async function createOrderOnce(
  tx: Tx,
  body: CreateOrder,
  covers: CoversCharacter,
): Promise<PreserializedJson<OrderReply>> {
  const key = createHash('sha256').update(canonicalJson(body)).digest('base64url')
  const stored = await claimKey(tx, CONTENT_SCOPE, key, DAY_S)
  if (stored) {
    if (!(await canBeReordered(tx, stored.object_id))) return new PreserializedJson(stored.text)
    // The 24-hour window restarts with the replacing order.
    await releaseKey(tx, CONTENT_SCOPE, key)
    await claimKey(tx, CONTENT_SCOPE, key, DAY_S)
  }
  const placed = await createOrder(tx, body, covers)
  const reply = createdReply(placed)
  storeResponse(tx, { scope: CONTENT_SCOPE, key }, { status: 200, text: reply.text, user_ids: [body.user_id] }, placed.id)
  return reply
}

/** Whether a request with the same content may create a new order. Errors: 404 the order's user is deleted. */
async function canBeReordered(tx: Tx, order_id: string | null): Promise<boolean> {
  const row = await tx.maybe(
    Status,
    sql`
    select low_level_status, ${notDeletedHere(tx, sql`user_id`)} as shown from lab_order where id = ${order_id} and team_id = ${tx.team}`,
  )
  if (row && !row.shown) throw notFound('User does not exist on this team')
  return !row || REPLACEABLE_STATUSES.has(row.low_level_status)
}

/** JSON with sorted keys. The parsed body already has one spelling for addresses, states and enum values; phone numbers are normalized here. */
function canonicalJson(value: unknown, name = ''): string {
  if (name === 'phone_number' && typeof value === 'string') return JSON.stringify(value.replace(/[ ().-]/g, ''))
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item, key)}`)
    .join(',')}}`
}
