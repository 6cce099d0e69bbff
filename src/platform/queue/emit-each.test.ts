// Events of many megabytes in one transaction: their bodies are sent in several statements.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { sql } from '../db/sql.ts'
import { T } from '../schema/schema.ts'
import { emitEach, type Event } from './outbox.ts'

const COUNT = 20
const TEXT = 'x'.repeat(500_000)

function* largeEvents(object_id: string): Generator<Event> {
  for (let i = 0; i < COUNT; i++)
    yield {
      type: 'daily.data.activity.created',
      object_id,
      user_id: null,
      client_user_id: null,
      data: JSON.stringify({ number: i, text: TEXT }),
    }
}

const storedEvents = ({ db, team }: TestTeam) =>
  db.queries.many(
    T.Object({ number: T.Integer(), length: T.Integer() }),
    sql`
    select (b.body::json -> 'data' ->> 'number')::int as number, length(b.body::json -> 'data' ->> 'text') as length
    from event e join event_body b on b.team_id = e.team_id and b.event_id = e.id
    where e.team_id = ${team} order by e.id`,
  )
const countBodies = ({ db, team }: TestTeam) =>
  db.queries.one(T.Object({ n: T.Integer() }), sql`select count(*) as n from event_body where team_id = ${team}`)

describe('events of ten megabytes', () => {
  test('are stored once each, whole and in order', async () => {
    const team = await createTestTeam()
    await team.db.tx(team.tenant, (tx) => emitEach(tx, largeEvents(team.team)))
    const expected = Array.from({ length: COUNT }, (_, i) => ({ number: i, length: TEXT.length }))
    assert.deepEqual(await storedEvents(team), expected)
  })

  test('are not stored, nor their bodies, if the transaction fails', async () => {
    const team = await createTestTeam()
    const failing = team.db.tx(team.tenant, async (tx) => {
      await emitEach(tx, largeEvents(team.team))
      throw new Error('after the events')
    })
    await assert.rejects(failing, { message: 'after the events' })
    assert.deepEqual([await storedEvents(team), await countBodies(team)], [[], { n: 0 }])
  })
})
