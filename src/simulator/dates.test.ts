// Simulations that wait for an instant. Source: lab-testing.md 24.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { machineNow } from '../platform/clock.ts'
import { T } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'
import { placed } from '../testing-orders.ts'
import { given } from '../testing.ts'
import { start } from './simulator.fixture.ts'

const Due = T.Object({ due_at: T.String() })

test('the second step of a simulation comes no sooner than its delay after the first', async () => {
  const team = await given()
  const { id } = await placed(team)
  await start(team, id, { delay: '60' })
  // Late in a second: what is counted from its beginning comes too soon.
  const soon = (): boolean => machineNow().getMilliseconds() < 500 || machineNow().getMilliseconds() > 800
  for (const end = performance.now() + 60_000; soon(); await new Promise((resolve) => setTimeout(resolve, 10)))
    if (performance.now() > end) assert.fail('the clock stands still')
  const before = machineNow()
  await team.settle()
  const rows = await team.db.queries.many(
    Due,
    sql`select to_char(due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as due_at from job where team_id = ${team.team}`,
  )
  assert.equal(rows.length, 1)
  const left_ms = new Date(rows[0]!.due_at).getTime() - before.getTime()
  assert.ok(left_ms >= 60_000, `the second step is due after ${left_ms} ms`)
})
