// Messages that are stored together: by one commit, and with the same outcome as one after the other.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { labLink } from '../../../test/support/link-messages.ts'
import { freePort } from '../../../test/support/free-ports.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { MessageGroups } from './message-groups.ts'
import { prepareIncoming, storePrepared, type IncomingBytes } from './receive-message.ts'

const hl7 = (control_id: string, text: string = randomUUID()): Buffer =>
  Buffer.from(`MSH|^~\\&|LIS|LAB|APP|CLINIC|20300104101500||ORU^R01|${control_id}|P|2.5.1\rOBR|1|N${text}\r`)

const incoming = (link_account_id: string | null, bytes: Buffer, source = 'mllp 192.0.2.1:40000'): IncomingBytes => ({
  bytes,
  link_account_id,
  source,
})

const Stored = T.Object({
  id: T.String(),
  control_id: T.String(),
  bytes: T.Unsafe<Buffer>({}),
  reuses_control_id: T.Boolean(),
  repetitions: T.Integer(),
  created_at: T.String(),
})

/** In the order in which they are processed. */
const storedMessages = ({ db }: TestTeam, account: string) =>
  db.queries.many(
    Stored,
    sql`
    select id, control_id, bytes, reuses_control_id, repetitions, created_at::text from lab_message
    where link_account_id = ${account} order by created_at, lab_message.id`,
  )

async function linkedTeam() {
  const team = await createTestTeam()
  const account = await labLink(team)
  const groups = new MessageGroups()
  return { team, account, groups, store: (bytes: Buffer) => groups.store(team.db, incoming(account, bytes), account) }
}

describe('messages that arrive at once', () => {
  test('are stored by few commits, each with its own bytes and in the order of their arrival', async () => {
    const { team, account, store } = await linkedTeam()
    const messages = Array.from({ length: 100 }, (_, n) => hl7(`C${n}`, 'x'.repeat(n * 37)))
    const receipts = await Promise.all(messages.map(store))
    const rows = await storedMessages(team, account)
    assert.deepEqual(
      rows.map(({ id }) => id),
      receipts.map(({ message_id }) => message_id),
    )
    for (const [n, { bytes, control_id }] of rows.entries()) {
      assert.equal(control_id, `C${n}`)
      assert.ok(bytes.equals(messages[n]!))
    }
    const commits = new Set(rows.map(({ created_at }) => created_at)).size
    assert.ok(commits >= 4 && commits <= 6, `${commits} commits of at most 32 messages`)
  })

  test('are stored once if they have the same bytes, and are marked if they have the same control id', async () => {
    const { team, account, store } = await linkedTeam()
    const same = hl7('C1')
    const receipts = await Promise.all([same, hl7('C2'), same, hl7('C1'), same].map(store))
    assert.deepEqual(
      receipts.map(({ isRepetition }) => isRepetition),
      [false, false, true, false, true],
    )
    assert.equal(receipts[0]!.message_id, receipts[4]!.message_id)
    const rows = await storedMessages(team, account)
    assert.deepEqual(
      rows.map(({ control_id, reuses_control_id, repetitions }) => [control_id, reuses_control_id, repetitions]),
      [
        ['C1', false, 2],
        ['C2', false, 0],
        ['C1', true, 0],
      ],
    )
  })

  test('are refused alone if they are empty or too long', async () => {
    const { store } = await linkedTeam()
    const [empty, good] = await Promise.allSettled([store(Buffer.alloc(0)), store(hl7('C1'))])
    assert.equal(empty.status === 'rejected' && (empty.reason as { status: number }).status, 400)
    assert.equal(good.status, 'fulfilled')
  })

  test('do not fail with one of them that cannot be stored', async () => {
    const { team, account } = await linkedTeam()
    const messages = [account, randomUUID(), account].map((link, n) => prepareIncoming(incoming(link, hl7(`C${n}`))))
    const outcomes = await storePrepared(team.db, messages)
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    const rows = await storedMessages(team, account)
    assert.deepEqual(
      rows.map(({ control_id }) => control_id),
      ['C0', 'C2'],
    )
  })

  test('are all rejected if the database is away, and are stored when they are repeated', async () => {
    const { team, account, store } = await linkedTeam()
    const messages = Array.from({ length: 5 }, (_, n) => hl7(`C${n}`))
    const nowhere = { host: '127.0.0.1', port: await freePort(), user: 'nobody', password: '', database: 'none' }
    const away = new Db({ connection: nowhere, schema: 'none', connections_max: 3, checkRows: true })
    const groups = new MessageGroups()
    const outcomes = await Promise.allSettled(messages.map((bytes) => groups.store(away, incoming(account, bytes), account)))
    assert.deepEqual(new Set(outcomes.map(({ status }) => status)), new Set(['rejected']))
    await away.close()
    const receipts = await Promise.all(messages.map(store))
    assert.deepEqual(new Set(receipts.map(({ isRepetition }) => isRepetition)), new Set([false]))
    assert.equal((await storedMessages(team, account)).length, messages.length)
  })

  test('of unknown senders are stored up to 1,000 a day for one address', async () => {
    const { team, groups } = await linkedTeam()
    const source = `mllp 2001:db8::${randomUUID().slice(0, 4)}`
    await team.db.queries.run(sql`
      insert into lab_message (id, direction, source, digest, bytes, state, created_at, updated_at)
      select gen_random_uuid(), 'in', ${source}, gen_random_uuid()::text, 'x', 'failed', now(), now() from generate_series(1, 998)`)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, (_, n) => groups.store(team.db, incoming(null, hl7(`C${n}`), `${source}:${n + 1}`), source)),
    )
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected'],
    )
  })

  test('with control characters in their header are stored with all of their bytes', async () => {
    const { team, account, store } = await linkedTeam()
    const bytes = hl7('C\0 1', 'K\0 1')
    await store(bytes)
    const [row] = await storedMessages(team, account)
    assert.ok(row!.bytes.equals(bytes))
  })
})
