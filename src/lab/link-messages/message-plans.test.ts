// The indexes by which messages are found among many: what is looked up for each message must not read the others.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { labLink } from '../../../test/support/link-messages.ts'
import { messageReads, statementsOf } from '../../../test/support/message-reads.ts'
import { asOwner, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { countOpenIssues } from './issues.ts'
import { storeBytes } from './message-store.ts'
import { claimDue, findByControlId } from './outbox.ts'
import { prepareIncoming } from './receive-message.ts'

const MESSAGES = 3000

let team: TestTeam
let account: string

before(async () => {
  team = await createTestTeam()
  account = await labLink(team)
  await team.db.queries.run(sql`
    insert into lab_message (id, link_account_id, direction, source, digest, bytes, sender, control_id, ordering_key, state, reason, due_at,
                             created_at, updated_at)
    select gen_random_uuid(), ${account}, 'in', 'folder', gen_random_uuid()::text, 'x', 'LAB', n::text, n::text,
           (array['received', 'done', 'received', 'failed'])[1 + n % 4], case when n % 4 = 3 then 'rejected' end, now(),
           now() - n * interval '1 second', now()
    from generate_series(1, ${MESSAGES}::int) as n`)
  await team.db.queries.run(sql`
    insert into lab_message (id, team_id, order_id, link_account_id, direction, digest, bytes, control_id, state, created_at, updated_at)
    select gen_random_uuid(), ${team.team}, gen_random_uuid(), ${account}, 'out', gen_random_uuid()::text, 'x', 'O' || n, 'accepted',
           now() - n * interval '1 second', now()
    from generate_series(1, ${MESSAGES}::int) as n`)
  await asOwner(`analyze ${team.db.schema}.lab_message`)
})

const readsOf = (statement: Sql): Promise<string[]> => messageReads(team.db, statement)

/** The statement that a function sends first. */
const statementOf = async (call: (queries: Queries) => Promise<unknown>): Promise<Sql> => (await statementsOf(call))[0]!

describe('many messages', () => {
  test('of other organizations are not read to count the open issues of one', async () => {
    const org_id = randomUUID()
    const reads = await readsOf(await statementOf((queries) => countOpenIssues(queries, org_id)))
    assert.deepEqual(reads, ['lab_message__open_issues'])
  })

  for (const [column, index] of [
    ['order_id', 'lab_message__order'],
    ['raw_result_id', 'lab_message__raw_result'],
    ['team_id', 'lab_message__team'],
  ] as const)
    test(`are found by their ${column} in an index without the messages that have none`, async () => {
      const condition = { order_id: sql`order_id`, raw_result_id: sql`raw_result_id`, team_id: sql`team_id` }[column]
      const reads = await readsOf(sql`select id from lab_message where ${condition} = ${randomUUID()}`)
      assert.deepEqual(reads, [index])
    })

  test('are not read when another one is stored', async () => {
    const bytes = Buffer.from('MSH|^~\\&|LIS|LAB|APP|CLINIC|20300104101500||ORU^R01|C1|P|2.5.1\r')
    const message = prepareIncoming({ bytes, link_account_id: account, source: 'folder' })
    const reads = await readsOf(await statementOf((queries) => storeBytes(queries, [message])))
    assert.deepEqual(reads, ['lab_message__control_id', 'lab_message__unknown'])
  })

  test('are not read when an answer or a due order is looked for', async () => {
    const answered = await readsOf(await statementOf((queries) => findByControlId(queries, account, 'C1')))
    assert.equal(answered.length, 1)
    assert.match(answered[0]!, /^lab_message__(?:control_id|sent_once)$/u)
    const due = await statementOf((queries) => claimDue(queries, account, { max: 10, answer_s: 30, isHeld: sql`true` }))
    const reads = await readsOf(due)
    assert(reads.includes('lab_message__outbox') && reads.includes('lab_message__order'), reads.join())
    assert(!reads.includes('Seq Scan on lab_message'), reads.join())
  })
})
