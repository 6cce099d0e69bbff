// Encrypted columns: which columns hold encrypted texts, and how those are re-encrypted with the newest key. Each module declares the
// columns of its own tables. Re-encryption writes them here: the one exception from "a module writes its own tables".
import type { Db } from '../db/database.ts'
import type { PlainTx } from '../db/transaction.ts'
import { T } from '../schema/schema.ts'
import { join, raw, sql, type Sql } from '../db/sql.ts'
import { VaultError, type Vault } from './vault.ts'

/** A column that holds only encrypted texts, or null. */
export interface EncryptedColumn {
  plane: 'control' | 'cell'
  /** An ordinary table, not a partitioned one. */
  table: string
  /** A table of a cell whose rows belong to no team. */
  isShared?: boolean
  column: string
  /** Columns of the same row from which the context is built. */
  of: readonly string[]
  /** The context of a text, from the values of `of` in PostgreSQL's text format. */
  context: (...ids: string[]) => string
}

const BATCH = 200

export interface ReencryptResult {
  reencrypted: number
  /** Texts that cannot be decrypted: their key is missing, or the text was changed. They stay as they are. */
  unreadable: number
}

/**
 * Re-encrypts every text of a column with the newest key, team by team, one batch per transaction, while other processes read and write. It
 * skips locked rows. An interrupted run may be repeated: it does not re-encrypt a text twice.
 */
export async function reencryptColumn(db: Db, vault: Vault, column: EncryptedColumn): Promise<ReencryptResult> {
  const sum: ReencryptResult = { reencrypted: 0, unreadable: 0 }
  const newest = vault.keyIds()[0]!
  for (const rows of await listParts(db, newest, column))
    for (let after: string | undefined = '(0,0)'; after !== undefined;) {
      const afterKey: string = after
      const batch = await db.plainTx((tx) => reencryptBatch(tx, vault, newest, column, { rows, afterKey }))
      sum.reencrypted += batch.reencrypted
      sum.unreadable += batch.unreadable
      after = batch.last
    }
  return sum
}

const Team = T.Object({ team_id: T.String() })

/** A condition for each team that has texts of other keys; one for all rows where they belong to no team. */
async function listParts(db: Db, newest: string, { plane, table, column, isShared }: EncryptedColumn): Promise<Sql[]> {
  if (plane === 'control' || isShared) return [sql`true`]
  const teams = await db.queries.many(
    Team,
    sql`select distinct team_id from ${raw(`"${table}"`)} where ${isOutdated(raw(`"${column}"`), newest)}`,
  )
  return teams.map(({ team_id }) => sql`team_id = ${team_id}`)
}

const Row = T.Object({ at: T.String(), encrypted: T.String(), of: T.Array(T.String()) })

const keyOf = (column: Sql): Sql => sql`split_part(${column}, '.', 1)`

const isOutdated = (column: Sql, newest: string): Sql => sql`${column} is not null and ${keyOf(column)} <> ${newest}`

async function reencryptBatch(
  tx: PlainTx,
  vault: Vault,
  newest: string,
  encryptedColumn: EncryptedColumn,
  part: { rows: Sql; afterKey: string },
) {
  const [table, column] = [raw(`"${encryptedColumn.table}"`), raw(`"${encryptedColumn.column}"`)]
  const of = join(
    encryptedColumn.of.map((name) => sql`${raw(`"${name}"`)}::text`),
    ', ',
  )
  const rows = await tx.locking.many(
    Row,
    sql`
    select ctid::text as at, ${column} as encrypted, to_json(array[${of}]) as of from ${table}
    where ${part.rows} and ctid > ${part.afterKey}::tid and ${isOutdated(column, newest)}
    order by ctid limit ${BATCH} for no key update skip locked`,
  )
  const moved = rows.flatMap(({ at, encrypted, of }) => {
    const text = decryptValue(vault, encrypted, encryptedColumn.context(...of))
    return text === undefined ? [] : [{ at, encrypted: vault.encrypt(text, encryptedColumn.context(...of)) }]
  })
  // The rows are locked, so they are still at the same ctid.
  if (moved.length)
    await tx.run(sql`
      update ${table} as t set ${column} = v.encrypted
      from unnest(${moved.map(({ at }) => at)}::tid[], ${moved.map(({ encrypted }) => encrypted)}::text[]) as v (at, encrypted)
      where ${part.rows} and t.ctid = v.at`)
  return { reencrypted: moved.length, unreadable: rows.length - moved.length, last: rows.at(-1)?.at }
}

function decryptValue(vault: Vault, ciphertext: string, context: string): string | undefined {
  try {
    return vault.decrypt(ciphertext, context)
  } catch (error) {
    if (error instanceof VaultError) return undefined
    throw error
  }
}

const Count = T.Object({ key: T.String(), n: T.Integer() })

/** How many texts of a column each key has encrypted, by the id of the key. */
export async function countByKey(db: Db, { table, column }: EncryptedColumn): Promise<Map<string, number>> {
  const name = raw(`"${column}"`)
  const rows = await db.queries.many(
    Count,
    sql`select ${keyOf(name)} as key, count(*) as n from ${raw(`"${table}"`)} where ${name} is not null group by 1 order by 1`,
  )
  return new Map(rows.map(({ key, n }) => [key, n]))
}
