// The sums of the checkpoints of lists of users and orders, beside programs of earlier releases.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { connection, createTestTeam } from '../../../test/support/server.ts'

test('a program that does not know the sums of checkpoints can erase a team', async () => {
  const team = await createTestTeam('production-us')
  const id = randomUUID()
  const owner = new pg.Client({ ...connection, options: '-c search_path=production_us' })
  await owner.connect()
  try {
    await owner.query(
      `insert into team select (jsonb_populate_record(t, jsonb_build_object('id', $2::uuid))).* from team t where id = $1`,
      [team.team, id],
    )
    for (const [list, at] of [
      ['user', 'created_on'],
      ['order', 'created_at'],
    ]) {
      await owner.query(
        `insert into ${list}_checkpoint (team_id, ${at}, id, shown) values ($1, '2026-03-09', gen_random_uuid(), 500)`,
        [id],
      )
      assert.equal((await owner.query(`select from ${list}_checkpoint_week where team_id = $1`, [id])).rowCount, 1)
      await owner.query(`delete from ${list}_checkpoint where team_id = $1`, [id])
    }
    assert.equal((await owner.query('delete from team where id = $1', [id])).rowCount, 1)
  } finally {
    await owner.end()
  }
})
