// The organization that a management key belongs to.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import type { Plan } from './plans.ts'
import { sql } from '../../platform/db/sql.ts'
import { Org } from './schema.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'

/** Reads the organization. */
export const getOrg = (tx: PlainTx, org_id: string): Promise<Org> =>
  tx.one(Org, sql`select id, name, expires_at from org where id = ${org_id}`)

/** Renames the organization. Writes org. */
export const updateOrg = (tx: PlainTx, org_id: string, name: string): Promise<Org> =>
  tx.one(Org, sql`update org set name = ${name} where id = ${org_id} returning id, name, expires_at`)

/** Locks an organization's teams against concurrent changes: uniqueness among them is checked before the write. */
export const lockOrg = (tx: PlainTx, org_id: string): Promise<number> =>
  tx.locking.run(sql`select id from org where id = ${org_id} for no key update`)

/** Sets the plan of the organization. Writes org. @returns whether there is such an organization */
export const setPlan = async (tx: PlainTx, org_id: string, plan: Plan): Promise<boolean> =>
  (await tx.run(sql`update org set plan = ${plan} where id = ${org_id}`)) > 0

/** Sets the day from which the organization is read-only; null for never. Writes org. @returns whether there is such an organization */
export const setExpiry = async (tx: PlainTx, org_id: string, expiresAt: Date | null): Promise<boolean> =>
  (await tx.run(sql`update org set expires_at = ${expiresAt} where id = ${org_id}`)) > 0

/** Creates an organization. Writes org. */
export async function createOrg(tx: PlainTx, name: string): Promise<string> {
  const id = tx.uuid()
  await tx.run(sql`insert into org (id, name, created_at) values (${id}, ${name}, ${tx.now})`)
  return id
}

const ListedOrg = T.Object({
  id: T.String(),
  name: T.String(),
  plan: T.String(),
  created_at: T.String(),
  expires_at: Nullable(T.String()),
  /** How many teams it has now. */
  teams: T.Integer(),
})

/** The organizations of the installation, newest first. At most 1,000. */
export const listOrgs = (control: Queries) =>
  control.many(
    ListedOrg,
    sql`
    select id, name, plan, created_at, expires_at,
           (select count(*) from team t where t.org_id = o.id and t.deleted_at is null) as teams
    from org o order by created_at desc, id desc limit 1000`,
  )

const Found = T.Object({ id: T.String() })

/** The oldest organization with this id or name. */
export const findOrg = async (tx: PlainTx, idOrName: string): Promise<string | undefined> =>
  (
    await tx.maybe(
      Found,
      sql`select id from org where id::text = ${idOrName} or name = ${idOrName} order by created_at, id limit 1`,
    )
  )?.id
