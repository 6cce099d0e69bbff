// What the laboratories of a cell lack before they can take orders, for the operator.
import type { CellName } from '../../settings/cells.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { needsIdentity } from '../catalog/lab-identity.ts'
import { hasIdentity } from '../catalog/labs.ts'

const Row = T.Object({ slug: T.String(), name: T.String(), has_identity: T.Boolean(), accounts: T.Integer() })

export interface LabState {
  slug: string
  name: string
  /** Laboratories of sandboxes are fictional. */
  identity: 'set' | 'not set' | 'fictional'
  accounts: number
}

/** The laboratories of a cell by id, each with its number of lab accounts. */
export async function listLabStates(tx: Queries, cell: CellName): Promise<LabState[]> {
  const rows = await tx.many(
    Row,
    sql`
    select l.slug, l.name, ${hasIdentity} as has_identity, (select count(*) from lab_account a where a.lab_id = l.id) as accounts
    from lab l order by l.id`,
  )
  return rows.map(({ has_identity, ...lab }) => ({
    ...lab,
    identity: !needsIdentity({ cell }) ? 'fictional' : has_identity ? 'set' : 'not set',
  }))
}
