import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { eventually } from '../../../test/support/eventually.ts'
import { connection } from '../../../test/support/server.ts'
import { PipelinedConnections } from './pipelined-connections.ts'

const config = { ...connection, pipeline: true, application_name: 'pipelined statements' } as pg.ClientConfig
const other = new pg.Client(connection)
// The database goes with the file, and may go first.
other.on('error', () => {})
await other.connect()
after(() => other.end())

const using = async (max: number, work: (connections: PipelinedConnections) => Promise<void>): Promise<void> => {
  const pipelined = new PipelinedConnections({ config, connections_max: max, lifetime_ms: 600_000, onConnect: async () => {} })
  await work(pipelined).finally(() => pipelined.close())
}

const runNumbered = (connections: PipelinedConnections, count: number) =>
  Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const { rows } = await connections.query('', { text: 'select $1::int as n', values: [i] })
      assert.equal(rows[0].n, i)
    }),
  )

const connections = async (): Promise<number> => {
  const { rows } = await other.query(
    `select count(*)::int as n from pg_stat_activity where application_name = 'pipelined statements' and datname = current_database()`,
  )
  return rows[0].n
}

test('many statements share a few connections, and each gets its own result', () =>
  using(5, async (pipeline) => {
    await runNumbered(pipeline, 500)
    const open = await connections()
    assert(open >= 1 && open <= 5, `${open} connections`)
  }))

test('a failing statement does not affect others', () =>
  using(1, async (connections) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => connections.query('', { text: 'select 10 / $1::int as n', values: [i] })),
    )
    assert.deepEqual(
      outcomes.flatMap(({ status }, i) => (status === 'rejected' ? [i] : [])),
      [0],
    )
  }))

test('a statement waiting for a lock does not block others', () =>
  using(5, async (connections) => {
    await other.query('begin')
    await other.query('select pg_advisory_xact_lock(4711)')
    let isOver = false
    const waiting = connections.query('', { text: 'select pg_advisory_xact_lock(4711)' }).then(() => (isOver = true))
    // Longer than a connection is believed to be about to answer, and than others are held up by a machine that is busy.
    await sleep(500)
    for (let i = 0; i < 20; i++) await runNumbered(connections, 10)
    assert.equal(isOver, false)
    assert.deepEqual([connections.stats.in_use, connections.stats.waiting], [1, 0])
    await other.query('commit')
    await waiting
    assert.equal(connections.stats.in_use, 0)
  }))

test('statements of a broken connection fail, and the next one uses another connection', () =>
  using(1, async (pipeline) => {
    const sleeping = pipeline.query('', { text: 'select pg_sleep(60)' })
    const broken = assert.rejects(sleeping)
    await eventually(async () => (await connections()) > 0, 'the statement has a connection')
    await other.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pipelined statements' and datname = current_database()`,
    )
    await broken
    // Until it is noticed here that the connection is gone.
    await sleep(100)
    await runNumbered(pipeline, 3)
  }))
