// The commands on unassigned results.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { unassignedCleanup } from '../../lab/result-matching/operator-reviews.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { acceptedOrder, deliveryFor, receiveOverLink } from '../../../test/support/results.ts'
import { cells, expire, createTestTeam, guard, newCells, type TestTeam } from '../../../test/support/server.ts'
import { command } from '../../../test/support/commands.ts'
import { BIRTH_YEAR } from '../../../test/support/people.ts'

const Kind = T.Object({ kind: T.String() })

const run = (...words: string[]) => command(cells, ['result', ...words, '--cell', 'sandbox-us'])

async function createUnassignedResult(team: TestTeam): Promise<string> {
  const delivery = await deliveryFor(team, await acceptedOrder(team), { sample_id: `NOBODYS-${randomUUID()}` })
  return (await receiveOverLink(delivery)).raw_result_id
}

test('an unassigned result is listed without its patient, and assigned to a team', async () => {
  const team = await createTestTeam()
  const id = await createUnassignedResult(team)
  const list = await run('list')
  assert(list.includes(id))
  assert.doesNotMatch(list, new RegExp(String.raw`Testa|Fictional|${BIRTH_YEAR}`))
  assert.equal(await run('assign', id, '--team', team.team), 'match_demo, pending_customer_review\n')
  assert(!(await run('list')).includes(id))
  assert.equal((await team.api.get(`/v3/unmatched_result/${id}`)).status, 200)
  await assert.rejects(run('assign', id, '--team', team.team), /Unassigned result not found/)
  await assert.rejects(run('drop', id), /Unassigned result not found/)
})

test('assigning a result advances its order and notifies its patient, as if the result had named the team', async () => {
  const team = await createTestTeam()
  const order = await acceptedOrder(team)
  const sample_id = `NOBODYS-${randomUUID()}`
  const { raw_result_id } = await receiveOverLink(await deliveryFor(team, order, { sample_id }))
  await team.db.queries.run(
    sql`update raw_result set payload = replace(payload, ${sample_id}, ${order.sample_id}) where id = ${raw_result_id}`,
  )
  const messageKinds = async () =>
    (await team.db.queries.many(Kind, sql`select kind from patient_message where order_id = ${order.id}`)).map(({ kind }) => kind)
  const before = await messageKinds()
  const ofCommand = newCells()
  try {
    const words = ['result', 'assign', raw_result_id, '--team', team.team, '--cell', 'sandbox-us']
    assert.equal(await command(ofCommand, words), `match_sample_id, matched, order ${order.id}\n`)
  } finally {
    await ofCommand.close()
  }
  assert.equal((await team.api.get(`/v3/order/${order.id}`)).body.status, 'completed')
  assert((await messageKinds()).length > before.length)
})

test('deletes an unassigned result', async () => {
  const id = await createUnassignedResult(await createTestTeam())
  assert.equal(await run('drop', id), 'Result deleted.\n')
  assert(!(await run('list')).includes(id))
})

describe('unassigned results expire', () => {
  const db = cells.db('sandbox-us')
  const age = (id: string, days: number) =>
    db.queries.run(sql`update raw_result set created_at = created_at - make_interval(days => ${days}) where id = ${id}`)

  test('after 90 days, but not before', async () => {
    const team = await createTestTeam()
    const [id, younger] = [await createUnassignedResult(team), await createUnassignedResult(team)]
    await age(id, 89)
    await expire(db, unassignedCleanup)
    assert((await run('list')).includes(id))
    await age(id, 2)
    await expire(db, unassignedCleanup)
    const list = await run('list')
    assert.deepEqual([list.includes(id), list.includes(younger)], [false, true])
    await assert.rejects(run('assign', id, '--team', team.team), /Unassigned result not found/)
  })

  test('keeps results assigned to a team', async () => {
    const team = await createTestTeam()
    const id = await createUnassignedResult(team)
    await run('assign', id, '--team', team.team)
    await age(id, 4000)
    await expire(db, unassignedCleanup)
    assert.equal((await team.api.get(`/v3/unmatched_result/${id}`)).status, 200)
  })

  test('in batches of a thousand, oldest first, and never while one is being assigned to a team', async () => {
    const team = await createTestTeam()
    const id = await createUnassignedResult(team)
    const tenant = (await guard.tenant('sandbox-us', team.team))!
    await db.queries.run(sql`
      insert into raw_result (id, lab_id, sender, message_id, digest, search_text, payload, status, decision_code, candidates, created_at, updated_at)
      select gen_random_uuid(), 1, 'link', ${id} || n, '', '', '{}', 'pending_ops_review', 'no_match', '[]',
             timestamptz '2001-01-01' + make_interval(secs => n), '2001-01-01'
      from generate_series(1, 1001) n`)
    const left = async () =>
      (
        await db.queries.one(
          T.Object({ n: T.Integer() }),
          sql`select count(*)::integer as n from raw_result where message_id like ${`${id}%`} and team_id is null`,
        )
      ).n
    await age(id, 91)
    assert.equal(await unassignedCleanup.remove(db, cells.control, () => false), 1000)
    assert.equal(await left(), 1)
    await db.txOnWholeCell(tenant, async (tx) => {
      await tx.run(sql`update raw_result set team_id = ${tx.team} where id = ${id}`)
      await expire(db, unassignedCleanup)
    })
    assert.equal(await left(), 0)
    const [kept] = await db.queries.many(T.Object({ id: T.String() }), sql`select id from raw_result where id = ${id}`)
    assert.equal(kept?.id, id)
  })
})

for (const [words, reason] of [
  [['assign', 'x'], /The result must be an id/],
  [['assign', randomUUID()], /--team must be an id/],
  [['assign', randomUUID(), '--team', randomUUID()], /Team not found/],
  [['list', '--unknown'], /--unknown/],
] as [string[], RegExp][])
  test(`refused: result ${words.join(' ').replace(/[0-9a-f-]{36}/g, 'ID')}`, () => assert.rejects(run(...words), reason))
