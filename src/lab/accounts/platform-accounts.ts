// The platform's own accounts, for teams without a linked account: a cell with a catalog gets one for each lab. Changes by the operator are
// kept.
import type { Db } from '../../platform/db/database.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { billingTypes } from '../catalog/enums.ts'
import { usStates } from '../../people/person/countries.ts'

const Lab = T.Object({ id: T.Integer() })

/** The account number at the labs until the operator sets another one. Source: lab-testing.md 24. */
const NUMBER = '1234567890'

const allStates = JSON.stringify(Object.fromEntries(billingTypes.map((type) => [type, usStates])))

/** Creates the platform account of each lab that has none. Writes lab_account. Two processes may run this at the same time. */
export async function createDefaultAccounts(db: Db): Promise<void> {
  await db.plainTx(async (tx) => {
    const missing = await tx.many(
      Lab,
      sql`
      select id from lab l where not exists (select from lab_account a where a.lab_id = l.id and a.org_id is null) order by id`,
    )
    if (missing.length === 0) return
    const rows = missing.map(({ id }) => ({ id: tx.uuid(), lab_id: id, provider_account_id: NUMBER }))
    await tx.run(sql`
      insert into lab_account (id, lab_id, status, delegated_flow, provider_account_id, account_name, allowed_billing, created_at)
      select id, lab_id, 'active', 'not_delegated', provider_account_id, 'Platform', ${allStates}::jsonb, ${tx.now}
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (id uuid, lab_id integer, provider_account_id text)
      on conflict (lab_id) where org_id is null do nothing`)
  })
}
