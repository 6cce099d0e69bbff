// Erasing who moved the clock of a deleted team.
import { eraseInOrder } from '../../platform/db/erasure.ts'
import { sql } from '../../platform/db/sql.ts'

export const eraseTeamClockMoves = eraseInOrder((team) => sql`delete from clock_move where team_id = ${team}`)
