// Unmatched-result tests in the sandbox: a run creates a result that cannot be matched, up to its review. Owns unmatched_result_test, one
// row for each run; stages.ts has the stages. Source: lab-testing.md 14.
import { findLabTest } from '../../lab/catalog/lab-tests.ts'
import { hasOrder } from '../../lab/orders/orders.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import { enqueue, defineJob } from '../../platform/queue/outbox.ts'
import { Nullable, T, Timestamp } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { assertSandbox } from '../clock/team-clock.ts'
import { requiredRoles } from './cases.ts'
import { stages, type Artifact, type CreateUnmatchedResultTest, type UnmatchedResultTest, type Stage } from './schema.ts'

/** Runs one stage and queues the next. */
export const runStage = defineJob(
  'simulator.run_test_stage',
  T.Object({ run_id: T.String(), stage: T.Unsafe<Stage>({ type: 'string' }) }),
)

/**
 * Starts a run. Writes unmatched_result_test. Queues simulator.run_test_stage.
 * Errors: 404 not a sandbox team, unknown lab test or order; 422 parameters that contradict the case or the source of the orders.
 */
export async function startUnmatchedResultTest(
  tx: Tx,
  body: CreateUnmatchedResultTest,
): Promise<{ run_id: string; status: 'queued' }> {
  assertSandbox(tx.tenant)
  for (const id of [body.lab_test_id, body.wrong_lab_test_id])
    if (id !== undefined && !(await findLabTest(tx, id))) throw notFound('Test does not exist')
  assertConsistent(body)
  for (const id of Object.values(body.orders ?? {})) if (!(await hasOrder(tx, id))) throw notFound("This order doesn't exist.")
  const run_id = tx.uuid()
  tx.defer(sql`
    insert into unmatched_result_test (id, team_id, status, stage, request, orders, created_at, updated_at)
    values (${run_id}, ${tx.team}, 'queued', 'queued', ${JSON.stringify(body)}, '{}', ${tx.now}, ${tx.now})`)
  enqueue(tx, runStage, { run_id, stage: stages[0] })
  return { run_id, status: 'queued' }
}

function assertConsistent({ case: name, order_source, orders, wrong_lab_test_id }: CreateUnmatchedResultTest): void {
  const managed = order_source === 'managed'
  if (managed && name === 'wrong_collection')
    throw invalidField(['body', 'order_source'], 'is required for wrong_collection: an at-home phlebotomy order')
  if (managed && orders && Object.keys(orders).length)
    throw invalidField(['body', 'orders'], 'must not be set for managed orders')
  if (wrong_lab_test_id !== undefined && !(managed && name === 'wrong_lab'))
    throw invalidField(['body', 'wrong_lab_test_id'], 'is only for wrong_lab with managed orders')
  const roles = Object.keys(requiredRoles[name])
  const given = Object.keys(orders ?? {})
  if (!managed && (given.length !== roles.length || given.some((role) => !roles.includes(role))))
    throw invalidField(['body', 'orders'], `must have exactly these roles: ${roles.join(', ') || 'none'}`)
}

const Row = T.Object({
  id: T.String(),
  status: T.Unsafe<UnmatchedResultTest['status']>({ type: 'string' }),
  stage: T.Unsafe<UnmatchedResultTest['stage']>({ type: 'string' }),
  request: T.String(),
  orders: T.String(),
  plan: Nullable(T.String()),
  raw_result_id: Nullable(T.String()),
  error: Nullable(T.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
})

/** A run locked by a stage. `plan` is the state of earlier stages. */
export interface TestRun<P> {
  id: string
  stage: UnmatchedResultTest['stage']
  request: CreateUnmatchedResultTest
  orders: Record<string, Artifact>
  plan: P
  raw_result_id: string | null
}

const testColumns = sql`
  id, status, stage, request, orders, plan, raw_result_id, error, created_at, updated_at, started_at, completed_at`

/** Returns a run. Errors: 404 not a sandbox team, or unknown run. */
export async function getUnmatchedResultTest(tx: Tx, id: string): Promise<UnmatchedResultTest> {
  assertSandbox(tx.tenant)
  const row = await tx.maybe(Row, sql`select ${testColumns} from unmatched_result_test where id = ${id} and team_id = ${tx.team}`)
  if (!row) throw notFound('Test run not found')
  const { case: name, order_source, result_status = 'final' } = JSON.parse(row.request) as CreateUnmatchedResultTest
  return {
    run_id: row.id,
    status: row.status,
    stage: row.stage,
    case: name,
    order_source,
    result_status,
    orders: JSON.parse(row.orders) as Record<string, Artifact>,
    raw_result_id: row.raw_result_id,
    error: row.error === null ? null : (JSON.parse(row.error) as { code: string; message: string }),
    created_at: row.created_at,
    updated_at: row.updated_at,
    started_at: row.started_at,
    completed_at: row.completed_at,
  }
}

/** Locks an unfinished run; undefined if it is finished. */
export async function lockTestRun<P>(tx: Tx, id: string): Promise<TestRun<P> | undefined> {
  const row = await tx.locking.maybe(
    Row,
    sql`
    select ${testColumns} from unmatched_result_test
    where id = ${id} and team_id = ${tx.team} and status in ('queued', 'running') for update`,
  )
  return (
    row && {
      id: row.id,
      stage: row.stage,
      request: JSON.parse(row.request) as CreateUnmatchedResultTest,
      orders: JSON.parse(row.orders) as Record<string, Artifact>,
      plan: JSON.parse(row.plan ?? '{}') as P,
      raw_result_id: row.raw_result_id,
    }
  )
}

/** Deletes the runs that use a user or an order of the user; one in progress ends. Writes unmatched_result_test. */
export async function eraseTestRuns(tx: Tx, user_id: string): Promise<void> {
  await tx.run(sql`
    delete from unmatched_result_test r
    where r.team_id = ${tx.team} and (
      position(${user_id}::text in r.orders || coalesce(r.plan, '')) > 0
      or exists (
        select from lab_order o
        where o.user_id = ${user_id} and o.team_id = ${tx.team} and position(o.id::text in r.request) > 0))`)
}

/** Saves a run after a stage, or at its end. Writes unmatched_result_test. */
export function saveTestRun(
  tx: Tx,
  { id, orders, plan, raw_result_id }: TestRun<unknown>,
  progress: {
    status: UnmatchedResultTest['status']
    stage: UnmatchedResultTest['stage']
    error?: { code: string; message: string }
  },
): void {
  const over = progress.status === 'succeeded' || progress.status === 'failed' ? iso(tx.now) : null
  tx.defer(sql`
    update unmatched_result_test
    set status = ${progress.status}, stage = ${progress.stage}, orders = ${JSON.stringify(orders)}, plan = ${JSON.stringify(plan)},
        raw_result_id = ${raw_result_id}, error = ${progress.error ? JSON.stringify(progress.error) : null}, updated_at = ${tx.now},
        started_at = coalesce(started_at, ${tx.now}), completed_at = ${over}
    where id = ${id} and team_id = ${tx.team}`)
}
