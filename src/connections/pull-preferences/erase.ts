// Erasing how much history a deleted team wanted from providers.
import { eraseInOrder } from '../../platform/db/erasure.ts'
import { sql } from '../../platform/db/sql.ts'

export const eraseTeamPulls = eraseInOrder((team) => sql`delete from data_pull_preference where team_id = ${team}`)
