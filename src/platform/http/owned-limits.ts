// How many of something an owner may have.
import type { Sql } from '../db/sql.ts'
import type { Queries } from '../db/transaction.ts'
import { T } from '../schema/schema.ts'
import { badRequest } from './errors.ts'

const Count = T.Object({ n: T.Integer() })

/**
 * 400: the owner has as many as it may have. The caller holds a lock, so that two concurrent creations cannot both pass.
 * @param count a statement that returns the present number as `n`
 */
export async function assertBelowLimit(
  tx: Pick<Queries, 'one'>,
  count: Sql,
  max: number,
  owner: string,
  what: string,
): Promise<void> {
  const { n } = await tx.one(Count, count)
  if (n >= max) throw badRequest(`${owner} has at most ${max} ${what}`)
}
