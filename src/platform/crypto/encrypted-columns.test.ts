import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { contents } from '../../app/contents.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { addSecret, decryptSecret, encryptedSecretsColumn } from '../../events/endpoints/signing-secrets.ts'
import { reencryptColumn, countByKey } from './encrypted-columns.ts'
import { sql } from '../db/sql.ts'
import { T } from '../schema/schema.ts'
import { generateVaultKey, Vault, VaultError } from './vault.ts'

const { encryptedColumns } = contents

const [oldKey, newKey, foreignKey] = [generateVaultKey(), generateVaultKey(), generateVaultKey()]
const vaultOf = (...keys: string[]): Vault => new Vault(() => keys)
const before = vaultOf(oldKey)
const both = vaultOf(newKey, oldKey)
const after = vaultOf(newKey)

/** An endpoint without secrets, in a cell where no other test keeps any. */
async function endpoint(): Promise<{ team: TestTeam; id: string }> {
  const team = await createTestTeam('production-eu')
  const id = `ep_${randomUUID().replaceAll('-', '')}`
  await team.db.queries.run(sql`
    insert into webhook (id, team_id, url, description, disabled, headers, created_at, updated_at)
    values (${id}, ${team.team}, 'https://receiver.example.com/', '', false, ${before.encrypt('{}', `headers of ${id}`)}, '2030-01-01Z', '2030-01-01Z')`)
  return { team, id }
}

const Secret = T.Object({ secret: T.String() })
const secretsOf = async ({ team, id }: { team: TestTeam; id: string }): Promise<string[]> =>
  (await team.db.queries.many(Secret, sql`select secret from webhook_secret where webhook_id = ${id} order by id`)).map(
    (row) => row.secret,
  )

test('more than one batch of texts is re-encrypted while others are added, and unreadable texts stay', async () => {
  const hook = await endpoint()
  const { team, id } = hook
  const texts = Array.from({ length: 450 }, () => randomUUID())
  const write = (vault: Vault, texts: string[]) =>
    team.db.tx(team.tenant, async (tx) => {
      for (const text of texts) await addSecret(tx, vault, id, text)
    })
  await write(before, texts)
  const foreign = vaultOf(foreignKey).encrypt('of another installation', `secret of ${id}`)
  const [broken] = (await secretsOf(hook)).slice(-1)
  await team.db.queries.run(
    sql`update webhook_secret set secret = ${`${broken!.slice(0, -4)}AAAA`} where webhook_id = ${id} and secret = ${broken!}`,
  )
  await team.db.tx(team.tenant, async (tx) => {
    await tx.run(sql`
      insert into webhook_secret (id, team_id, webhook_id, secret, created_at)
      values (${tx.uuid()}, ${tx.team}, ${id}, ${foreign}, ${tx.now})`)
  })
  const more = Array.from({ length: 50 }, () => randomUUID())
  const [moved] = await Promise.all([reencryptColumn(team.db, both, encryptedSecretsColumn), write(before, more)])
  const again = await reencryptColumn(team.db, both, encryptedSecretsColumn)
  assert.equal(moved.reencrypted + again.reencrypted, 499)
  assert.equal(again.unreadable, 2)
  assert.equal((await reencryptColumn(team.db, both, encryptedSecretsColumn)).reencrypted, 0)

  const read: string[] = []
  let refused = 0
  for (const secret of await secretsOf(hook))
    try {
      read.push(decryptSecret(after, id, secret).replace('whsec_', ''))
    } catch (error) {
      assert(error instanceof VaultError)
      refused += 1
    }
  assert.equal(refused, 2)
  assert.deepEqual(read.toSorted(), [...texts.slice(0, -1), ...more].toSorted())
  const keys = await countByKey(team.db, encryptedSecretsColumn)
  assert.deepEqual(
    [after, before, vaultOf(foreignKey)].map((vault) => keys.get(vault.keyIds()[0]!)),
    [499, 1, 1],
  )
})

test('a locked row is skipped and found by the next pass', async () => {
  const hook = await endpoint()
  const { team, id } = hook
  await team.db.tx(team.tenant, (tx) => addSecret(tx, before, id, 'locked'))
  let moved = -1
  await team.db.tx(team.tenant, async (tx) => {
    await tx.run(sql`update webhook_secret set created_at = created_at where webhook_id = ${id}`)
    moved = (await reencryptColumn(team.db, both, encryptedSecretsColumn)).reencrypted
  })
  assert.equal(moved, 0)
  assert.equal((await reencryptColumn(team.db, both, encryptedSecretsColumn)).reencrypted, 1)
  assert.equal(decryptSecret(after, id, (await secretsOf(hook))[0]!), 'whsec_locked')
})

test('every declared column exists, in a table whose rows keep their location and have a team unless they are shared', async () => {
  const { db } = await createTestTeam('production-eu')
  for (const { table, column, of, isShared } of encryptedColumns.filter(({ plane }) => plane === 'cell')) {
    const { rows } = await db.pool.query('select relkind from pg_class where oid = $1::regclass', [table])
    assert.deepEqual(rows, [{ relkind: 'r' }], table)
    await db.pool.query(`select ${[column, ...of, ...(isShared ? [] : ['team_id'])].join()} from ${table} limit 0`)
  }
})

test('a text cannot be decrypted in another row, after a change, or with another key', () => {
  const text = before.encrypt('secret', 'here')
  assert.equal(both.decrypt(text, 'here'), 'secret')
  assert.throws(() => before.decrypt(text, 'there'), VaultError)
  const changed = `${text.slice(0, -3)}${text.at(-3) === 'A' ? 'B' : 'A'}${text.slice(-2)}`
  assert.throws(() => before.decrypt(changed, 'here'), VaultError)
  assert.throws(() => after.decrypt(text, 'here'), VaultError)
  assert.throws(() => vaultOf().encrypt('secret', 'here'), VaultError)
  assert.throws(() => vaultOf('too short').encrypt('secret', 'here'), VaultError)
})
