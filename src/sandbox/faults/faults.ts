// The faults that a sandbox team has asked for. Owns sandbox_fault. A fault is used up by the request or the delivery that takes it; what is
// left ends an hour after it was set. The database's clock decides, as clocks of teams are moved.
import { invalidField } from '../../platform/http/errors.ts'
import { faultStatuses, type RequestFault } from './request-faults.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { LIFETIME_S, type DeliveryFaultRule, type Faults, type RequestFaultRule, type SetFaults } from './schema.ts'

const OUT_OF_ORDER_S = 5

/** The names that faults may have. */
export interface KnownNames {
  operations: () => ReadonlySet<string>
  eventTypes: () => ReadonlySet<string>
}

const Row = T.Object({
  kind: T.String(),
  matches: Nullable(T.String()),
  fault: T.Record(T.String(), T.Unknown()),
  remaining: T.Integer(),
  expires_at: T.String(),
})

const isLeft: Sql = sql`remaining > 0 and expires_at > ${dbNow}`

/** The faults of a team that are left. */
export async function readFaults(tx: Tx): Promise<Faults> {
  const rows = await tx.many(
    Row,
    sql`
    select kind, matches, fault, remaining, expires_at from sandbox_fault
    where team_id = ${tx.team} and ${isLeft} order by kind, position`,
  )
  const of = (kind: string, name: 'operation' | 'type') =>
    rows
      .filter((row) => row.kind === kind)
      .map(({ matches, fault, remaining }) => ({ [name]: matches, ...fault, times: remaining }))
  return {
    requests: of('request', 'operation') as RequestFaultRule[],
    deliveries: of('delivery', 'type') as DeliveryFaultRule[],
    expires_at: rows[0]?.expires_at ?? null,
  }
}

/**
 * Sets the faults of a team in place of those it has; none of them with empty lists. Writes sandbox_fault.
 * Errors: 422 a fault that does nothing or two things at once, an unknown operation or type. At most 20 of each kind.
 */
export async function setFaults(tx: Tx, { requests = [], deliveries = [] }: SetFaults, knownNames: KnownNames): Promise<Faults> {
  requests.forEach((rule, i) => checkRequest(rule, i, knownNames))
  deliveries.forEach((rule, i) => checkDelivery(rule, i, knownNames))
  await removeFaults(tx)
  const rows = [
    ...requests.map(({ operation, times, ...fault }, i) => ({ kind: 'request', i, matches: operation, fault, times })),
    ...deliveries.map(({ type, times, ...fault }, i) => ({ kind: 'delivery', i, matches: type, fault, times })),
  ]
  for (const { kind, i, matches = null, fault, times = 1 } of rows)
    await tx.run(sql`
      insert into sandbox_fault (team_id, kind, position, matches, fault, remaining, expires_at)
      values (${tx.team}, ${kind}, ${i}, ${matches}, ${JSON.stringify(fault)}, ${times}, ${dbNowPlus(LIFETIME_S)})`)
  return readFaults(tx)
}

/** Removes the faults of a team. Writes sandbox_fault. */
export const removeFaults = (tx: Tx): Promise<number> => tx.run(sql`delete from sandbox_fault where team_id = ${tx.team}`)

function checkRequest({ operation, status, delay_ms, drop }: RequestFaultRule, i: number, { operations }: KnownNames): void {
  const at = ['body', 'requests', i]
  if (operation != null && !operations().has(operation))
    throw invalidField([...at, 'operation'], 'must be the id of an operation')
  if (status !== undefined && !faultStatuses.some((allowedStatus) => allowedStatus === status))
    throw invalidField([...at, 'status'], `must be one of ${faultStatuses.join(', ')}`)
  if (status !== undefined && drop) throw invalidField([...at, 'drop'], 'cannot be combined with status')
  if (status === undefined && delay_ms === undefined && !drop) throw invalidField(at, 'must have status, delay_ms or drop')
}

function checkDelivery(rule: DeliveryFaultRule, i: number, { eventTypes }: KnownNames): void {
  const { type, delay_s, out_of_order, copies } = rule
  const at = ['body', 'deliveries', i]
  if (type != null && !eventTypes().has(type)) throw invalidField([...at, 'type'], 'must be a type of event')
  const isLate = delay_s !== undefined || out_of_order
  if (isLate && copies !== undefined) throw invalidField([...at, 'copies'], 'cannot be combined with delay_s and out_of_order')
  if (!isLate && copies === undefined) throw invalidField(at, 'must have delay_s, out_of_order or copies')
}

const TeamId = T.Object({ team_id: T.String() })

/** The teams of a cell that have faults left. */
export const teamsWithFaults = async (db: Queries): Promise<Set<string>> =>
  new Set((await db.many(TeamId, sql`select distinct team_id from sandbox_fault where ${isLeft}`)).map(({ team_id }) => team_id))

const Taken = T.Object({ fault: T.Record(T.String(), T.Unknown()) })

/** The first fault of a team that matches, which has one less left then. Writes sandbox_fault. @param options a further condition, and whether to wait for another taker */
async function take(
  db: Queries,
  { team_id, kind, name }: { team_id: string; kind: 'request' | 'delivery'; name: string },
  { condition = sql`true`, wait = sql`for update` }: { condition?: Sql; wait?: Sql } = {},
) {
  const row = await db.maybe(
    Taken,
    sql`
    update sandbox_fault f set remaining = remaining - 1
    where f.team_id = ${team_id} and f.kind = ${kind} and ${isLeft} and f.position = (
      select position from sandbox_fault
      where team_id = ${team_id} and kind = ${kind} and ${isLeft} and (matches is null or matches = ${name}) and ${condition}
      order by position limit 1 ${wait})
    returning f.fault`,
  )
  return row?.fault
}

/** The fault of a request of an operation, which is used up by it. Writes sandbox_fault. */
export const takeRequestFault = (db: Queries, team_id: string, operation: string): Promise<RequestFault | undefined> =>
  take(db, { team_id, kind: 'request', name: operation })

/** The fault of an event of a type: how late it is, or how often it is sent. It is used up by it. Writes sandbox_fault. */
export async function takeDeliveryFault(
  db: Queries,
  team_id: string,
  type: string,
  kind: 'late' | 'doubled',
): Promise<{ delay_s: number } | { copies: number } | undefined> {
  const condition = kind === 'doubled' ? sql`fault ? 'copies'` : sql`not fault ? 'copies'`
  // Events of other teams are queued in the same transaction, and must not wait.
  const wait = sql`for update skip locked`
  const fault: DeliveryFaultRule | undefined = await take(db, { team_id, kind: 'delivery', name: type }, { condition, wait })
  if (!fault) return undefined
  if (fault.copies !== undefined) return { copies: fault.copies }
  const { out_of_order, delay_s = OUT_OF_ORDER_S } = fault
  return { delay_s: out_of_order ? Math.random() * delay_s : delay_s }
}
