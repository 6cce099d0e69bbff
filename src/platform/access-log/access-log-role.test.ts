// What the role of the program can do to the access log with statements of its own: it can append lines, and shorten nothing.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import type pg from 'pg'
import { storedFiles as files } from '../../../test/support/report-files.ts'
import { cells } from '../../../test/support/server.ts'
import { verifyLog } from './access-archive.ts'
import { lineOf } from './access-line.ts'
import { appendLines } from './access-log.ts'

const db = cells.db('sandbox-us')
const today = new Date().toISOString().slice(0, 10)
const line = () =>
  lineOf({
    at: new Date(),
    request: 'fictional-1',
    key: randomUUID(),
    org: randomUUID(),
    team: null,
    operation: 'get_order',
    objects: [],
    users: [randomUUID()],
    address: '192.0.2.1',
    outcome: 200,
  })

/** Runs statements in a transaction that is rolled back, and looks at the log within it. */
async function trying<V>(statements: string, look: (client: pg.PoolClient) => Promise<V>): Promise<V> {
  const client = await db.pool.connect()
  try {
    await client.query('begin')
    // An attack may fail as a whole: what it has done until then does not count.
    await client.query('savepoint attack')
    await client.query(statements).catch(() => client.query('rollback to savepoint attack'))
    return await look(client)
  } finally {
    await client.query('rollback')
    await client.query('discard temp')
    client.release()
  }
}

const stateOf = async (client: pg.PoolClient) => {
  const { rows } = await client.query(
    `select (select count(*)::int from sandbox_us.access_log) as lines, array_agg(day::text order by day) as days,
            count(*) filter (where dropped_at > '1970-01-02')::int as dropped
     from sandbox_us.access_day`,
  )
  return rows[0] as { lines: number; days: string[]; dropped: number }
}

describe('the role of the program', () => {
  before(() => appendLines(db, [line(), line()]))

  const attacks: [string, string][] = [
    ['names the same day before Christ, whose table would have the same name', `select drop_access_log_day('${today} BC')`],
    ['names no finite day', `select drop_access_log_day('-infinity')`],
    [
      'puts a retention of its own first',
      `create temp table access_log_retention as select true as id, -10000 as days; grant all on access_log_retention to public;
       select drop_access_log_day('${today}')`,
    ],
    [
      'puts a list of days of its own first',
      `create temp table access_day as select * from sandbox_us.access_day; grant all on access_day to public;
       update access_day set day = '2001-01-01' where day = '${today}';
       select drop_access_log_day('${today} BC'), drop_access_log_day('2001-01-01')`,
    ],
    ['calls the function with the rights of its caller', `select append_access_log_on('2200-01-01', e'\\t{}\\t{}')`],
  ]
  for (const [what, statements] of attacks)
    test(`drops no day of the log when it ${what}`, async () => {
      assert.deepEqual(await trying(statements, stateOf), { lines: 2, days: ['1970-01-01', today], dropped: 0 })
    })

  test('appends lines under the day of the database', async () => {
    assert.deepEqual(await trying(`select append_access_log(e'\\t{}\\t{}')`, stateOf), {
      lines: 3,
      days: ['1970-01-01', today],
      dropped: 0,
    })
  })

  test('runs no code of its own as the owner of the tables', async () => {
    const attack = `
      create temp table seen (name text); grant all on seen to public;
      create function pg_temp.look() returns uuid language plpgsql as $$ begin insert into pg_temp.seen values (current_user); return null; end $$;
      create temp view phlebotomy_visit as select pg_temp.look() as staff_id, now() as start_at, now() as end_at, 1 as blocked_minutes, gen_random_uuid() as appointment_id;
      grant all on phlebotomy_visit to public;
      select count(staff_id) from sandbox_us.booked_times_of_staff(array[gen_random_uuid()], '-infinity', 'infinity', null)`
    const seen = await trying(attack, async (client) => (await client.query(`select name from pg_temp.seen`)).rows)
    assert.deepEqual(seen, [])
  })

  test('makes the check of the log name a line that is not the text of one', async () => {
    const texts = ['no JSON', '{}', 'null', '{"team":null,"users":[null]}', '{"team":null,"users":{}}']
    for (const text of texts)
      assert.equal(
        await trying(`select append_access_log(e'\\t{}\\t${text}')`, async (client) => {
          const many = async (_row: unknown, { text, values }: { text: string; values: unknown[] }) =>
            (await client.query({ text, values })).rows
          const one = async (...args: Parameters<typeof many>) => (await many(...args))[0]
          return (await verifyLog({ ...db, queries: { many, one, maybe: one } } as never, files)).fault
        }),
        `line 3 of ${today} has been changed: its columns do not fit its text`,
      )
  })
})
