// Checkpoints along a team's list of users without deleted ones (platform/db/checkpoints.ts).
import { Checkpoints } from '../../platform/db/checkpoints.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { defineHandler, defineJob, enqueue } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { User } from './schema.ts'

/** About one in this many new users queues the job. */
const CHECKPOINT_TRIGGER_EVERY = 499

export const createUserCheckpoints = defineJob('users.create_checkpoints', T.Object({}))

/** Whether the user with this id queues the job: its last digits are random. */
export const shouldQueueCheckpoints = (id: string): boolean => Number.parseInt(id.slice(-8), 16) % CHECKPOINT_TRIGGER_EVERY === 0

/** Selects a "User" from the table "user". */
export const userColumns = sql`
  id as user_id, team_id, client_user_id, created_on, connected_sources, fallback_time_zone, fallback_birth_date, ingestion_start, ingestion_end`

/** The team's users without deleted ones. */
export const userList = new Checkpoints({
  table: '"user"',
  at: 'created_on',
  checkpoints: 'user_checkpoint',
  row: User,
  columns: userColumns,
  isShown: () => sql`t.deleted_at is null`,
})

/** Returns the number of users of the team, without deleted ones. */
export const countUsers = (tx: Tx): Promise<number> => userList.total(tx)

/** Creates the checkpoints that are due; queues itself again if more than one run's worth is left. Writes user_checkpoint. */
export const createUserCheckpointsHandler = defineHandler(createUserCheckpoints, (context) =>
  context.tx(async (tx) => {
    if (await userList.set(tx)) enqueue(tx, createUserCheckpoints, {})
  }),
)

/** Removes the checkpoint that was set at a user who is erased. Writes user_checkpoint. */
export const eraseUserCheckpoint = (tx: Tx, user_id: string): Promise<void> => userList.erase(tx, [user_id])
