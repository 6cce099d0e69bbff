// Zones of heart rate of a user's workouts after the birth date has changed: all of them, the newest first, in jobs of a hundred.
// Source: users-wearables.md 8.
import { findUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { defineHandler, defineJob, enqueue } from '../../platform/queue/outbox.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { workoutsBefore, WorkoutPosition } from '../summaries/workout-zones.ts'
import { notifyZones } from './ingest.ts'
import { emitUpdated, lockHeartRates, updateZones } from './workout-zones.ts'

const WORKOUTS_AT_ONCE = 100

const updateAllZones = defineJob('ingestion.update_zones', T.Object({ user_id: T.String(), before: Nullable(WorkoutPosition) }), {
  timeout_s: 120,
})

/** Has the zones of all workouts of a user computed again. Queues ingestion.update_zones. */
export const recomputeZones = (tx: Tx, user_id: string): void => enqueue(tx, updateAllZones, { user_id, before: null })

/** Writes summary. Emits daily.data.workouts.updated for workouts that are shown with other zones. Queues itself for the older workouts. */
export const updateAllZonesHandler = defineHandler(updateAllZones, (context, { user_id, before }) =>
  context.tx(async (tx) => {
    const user = await findUser(tx, user_id)
    if (!user) return
    await lockHeartRates(tx, user_id)
    const workouts = await workoutsBefore(tx, user_id, before, WORKOUTS_AT_ONCE)
    for (const provider of new Set(workouts.map((workout) => workout.provider))) {
      const keys = workouts.flatMap((workout) => (workout.provider === provider ? [workout.key] : []))
      const changed = await updateZones(tx, user, provider, keys)
      await notifyZones(tx, user_id, emitUpdated(tx, user, changed, { historical: false }))
    }
    if (workouts.length === WORKOUTS_AT_ONCE) enqueue(tx, updateAllZones, { user_id, before: workouts.at(-1)! })
  }),
)
