// Hook points of teams: other modules run code within these transactions.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'

/** A team got its row and its settings in a cell: a transaction of the team in that cell. */
export const teamPlaced = hookPoint<[]>('team.placed')

/** A team changed its priorities of sources. */
export const prioritiesChanged = hookPoint<[]>('team.priorities_changed')

/** A team was deleted: a transaction of the control plane. */
export const teamDeleted = hookPoint<[team_id: string], PlainTx>('team.deleted')
