// What other modules do when something happens to a team, within that transaction.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'

/** A team has got its place and its settings in a cell: a transaction of the team in that cell. */
export const teamPlaced = hookPoint<[]>('team.placed')

/** A team was deleted: a transaction of the control plane. */
export const teamDeleted = hookPoint<[team_id: string], PlainTx>('team.deleted')
