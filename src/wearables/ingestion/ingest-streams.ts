// Streams of workouts that arrive: they are stored, and announced when they can be read. Source: events.md 4.3.
import type { User } from '../../people/users/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { flatMapInSlices } from '../../platform/runtime/loop-work.ts'
import { emit } from '../../platform/queue/outbox.ts'
import { writeStreams, type IncomingStream } from '../streams/workout-streams.ts'
import { notifyZones, type Ingested } from './ingest.ts'
import { dayOf } from './day-records.ts'
import { checkStream } from './plausible.ts'
import { recordRejected } from './rejected-posts.ts'
import { recordPost } from './resource-states.ts'
import { emitUpdated, lockHeartRates, updateZones } from './workout-zones.ts'

const MESSAGE = 'The stream can be read with GET /v2/timeseries/workouts/{workout_id}/stream.'

/**
 * Stores streams of workouts of a user, whose summaries are stored before. Writes workout_stream, resource_state. Emits
 * daily.data.workout_stream.created and .updated in the transaction that makes the stream readable; a stream that says nothing new changes
 * nothing. Streams of workouts that were dropped are dropped. Zones of heart rate are computed of the stream if the source of the workout
 * sends none: writes summary, emits daily.data.workouts.updated.
 */
export async function ingestWorkoutStreams(
  tx: Tx,
  user: User,
  { provider, streams, historical }: { provider: string; streams: IncomingStream[]; historical: boolean },
): Promise<Ingested> {
  const { user_id, client_user_id } = user
  await lockHeartRates(tx, user_id)
  const checked = await flatMapInSlices(
    streams.filter(({ time }) => time.length),
    checkStream,
  )
  const given = checked.map(({ stream }) => stream)
  const rejected = checked.reduce((sum, check) => sum + check.rejected_count, 0)
  const { knownStreams: known, writtenStreams: written } = await writeStreams(tx, user_id, provider, given)
  for (const { key, is_new, workout_id, sport, source } of written) {
    const data = { message: MESSAGE, provider_id: key, workout_id, sport, source, user_id }
    const type = `daily.data.workout_stream.${is_new ? 'created' : 'updated'}`
    emit(tx, { type, object_id: workout_id, user_id, client_user_id, data: JSON.stringify(data), historical })
  }
  const keys = written.map(({ key }) => key)
  const zoned = await updateZones(tx, user, provider, keys, known)
  await notifyZones(tx, user_id, emitUpdated(tx, user, zoned, { historical }))
  const instants = known.flatMap(({ time }) => [time[0]! * 1000, time.at(-1)! * 1000])
  recordPost(tx, {
    user_id,
    provider,
    resource: 'workout_stream',
    oldest_ms: instants.length ? Math.min(...instants) : null,
    newest_ms: instants.length ? Math.max(...instants) : null,
    changed: written.length,
  })
  const created = written.filter(({ is_new }) => is_new).length
  const fault = rejected ? 'stream has values outside of their bounds' : null
  if (fault !== null) {
    const days = checked.flatMap(({ stream, rejected_count: rejected }) => (rejected ? [dayOf(stream.time[0]! * 1000)] : []))
    await recordRejected(tx, { user_id, provider, resource: 'workout_stream', count: rejected, days, message: fault })
  }
  const dropped = given.length - known.length
  return { accepted: known.length, created, updated: written.length - created, dropped, rejected, fault }
}
