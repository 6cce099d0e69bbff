// The commands about results that name no team.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { receiveFromLink } from './matching/receive.ts'
import { resultCommand } from './result-command.ts'
import { deliveryFor, taken } from './testing-results.ts'
import { cells, given, guard, type Given } from './testing.ts'

const run = (...words: string[]) => resultCommand(cells, ['result', ...words, '--cell', 'sandbox-us'])

async function unassigned(team: Given): Promise<string> {
  const delivery = await deliveryFor(team, await taken(team), { sample_id: `NOBODYS-${randomUUID()}` })
  const intake = { cell: 'sandbox-us' as const, db: cells.of('sandbox-us'), tenantOf: guard.tenant }
  return (await receiveFromLink(intake, delivery)).raw_result_id
}

test('a result that names no team is listed without its patient, and given to one', async () => {
  const team = await given()
  const id = await unassigned(team)
  const list = await run('list')
  assert(list.includes(id))
  assert.doesNotMatch(list, /Testa|Fictional|1990/)
  assert.equal(await run('assign', id, '--team', team.team), 'match_demo, pending_customer_review\n')
  assert(!(await run('list')).includes(id))
  assert.equal((await team.api.get(`/v3/unmatched_result/${id}`)).status, 200)
  await assert.rejects(run('assign', id, '--team', team.team), /No such result waits/)
  await assert.rejects(run('drop', id), /No such result waits/)
})

test('a result that nobody wants goes', async () => {
  const id = await unassigned(await given())
  assert.equal(await run('drop', id), 'The result is gone.\n')
  assert(!(await run('list')).includes(id))
})

for (const [words, reason] of [
  [[], /Say "result list"/],
  [['assign', 'x'], /The result must be given as an id/],
  [['assign', randomUUID()], /--team must be given as an id/],
  [['assign', randomUUID(), '--team', randomUUID()], /no such team/],
  [['list', '--unknown'], /--unknown/],
] as [string[], RegExp][])
  test(`refused: result ${words.join(' ').replace(/[0-9a-f-]{36}/g, 'ID')}`, () => assert.rejects(run(...words), reason))
