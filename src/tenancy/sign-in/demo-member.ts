// The fictional administrator of the demo organization, as whom a demo server signs everybody in.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { addMember } from '../members/members.ts'

const DEMO_MEMBER = { name: 'Adina Testmann', email: 'adina.testmann@drawbridge.example' }

/** Adds the member to the demo organization if it has none. Writes member. */
export async function ensureDemoMember(tx: PlainTx, org_id: string): Promise<void> {
  if (await findDemoMember(tx)) return
  await addMember(tx, { ...DEMO_MEMBER, org_id, role: 'org_admin', team_ids: [], team_roles: {} })
}

const MemberOfOrg = T.Object({ id: T.String(), org_id: T.String() })

/** The member of the demo organization; undefined if it was removed. */
export const findDemoMember = (tx: PlainTx): Promise<Static<typeof MemberOfOrg> | undefined> =>
  tx.maybe(MemberOfOrg, sql`select id, org_id from member where lower(email) = ${DEMO_MEMBER.email}`)
