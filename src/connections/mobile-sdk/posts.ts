// Posts of samples by phones. Source: users-wearables.md 4 C4, 16.5-16.7.
import type { User } from '../../people/users/schema.ts'
import { findUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { completeHistory, ingestSamples, type Ingested, type IncomingSample } from '../../wearables/ingestion/ingest.ts'
import { startPull } from '../../wearables/ingestion/historical-pulls.ts'
import type { TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { connectionStatus, connectManually } from '../connections/connections.ts'
import { incoming } from './samples.ts'
import { resourceOf, type BloodPressurePost, type Envelope, type SamplePost, type SentTimeseries } from './schema.ts'

interface Batch {
  resource: TimeseriesName
  samples: IncomingSample[]
}

/** Stores samples that a phone sends. A post repeated changes nothing. Errors: 404 unknown user; those of `incoming`. */
export function postSamples(tx: Tx, user_id: string, sent: SentTimeseries, { data, ...envelope }: SamplePost) {
  const resource = resourceOf(sent)
  const context = { time_zone: envelope.time_zone, now_ms: tx.now.getTime() }
  const samples = data.map((sample, i) => incoming(resource, sample, { ...context, at: ['body', 'data', i] }))
  return store(tx, user_id, envelope, [{ resource, samples }])
}

/** Stores blood pressures that a phone sends, and the pulses with them. Errors: as `postSamples`. */
export function postBloodPressures(tx: Tx, user_id: string, { data, ...envelope }: BloodPressurePost) {
  const context = { time_zone: envelope.time_zone, now_ms: tx.now.getTime() }
  const pressures: IncomingSample[] = []
  const pulses: IncomingSample[] = []
  for (const [i, { systolic, diastolic, pulse }] of data.entries()) {
    const at = ['body', 'data', i]
    const pressure = incoming('blood_pressure', systolic, { ...context, at: [...at, 'systolic'] })
    pressures.push({ ...pressure, second: diastolic.value })
    if (pulse) pulses.push(incoming('heartrate', pulse, { ...context, at: [...at, 'pulse'] }))
  }
  return store(tx, user_id, envelope, [
    { resource: 'blood_pressure', samples: pressures },
    ...(pulses.length ? [{ resource: 'heartrate' as const, samples: pulses }] : []),
  ])
}

/** The first batch is what the post is about. */
async function store(tx: Tx, user_id: string, envelope: Envelope, batches: [Batch, ...Batch[]]) {
  const { provider, stage } = envelope
  const user = await findUser(tx, user_id)
  if (!user) throw notFound('User not found')
  tx.concerns(user_id)
  const status = await connectionStatus(tx, user_id, provider)
  const total: Ingested = { accepted: 0, created: 0, updated: 0, dropped: 0 }
  if (status === 'paused') return { success: true, ...total, dropped: batches[0].samples.length }
  // A phone that goes on sending after its connection was ended has been connected again by its user.
  if (!status) await connectManually(tx, provider, { user_id })
  const historical = stage === 'historical'
  for (const { resource, samples } of batches) {
    const ingested = await ingestSamples(tx, user, resource, { provider, samples, historical })
    for (const name of Object.keys(total) as (keyof Ingested)[]) total[name] += ingested[name]
  }
  if (historical) await recordHistory(tx, user, envelope, batches[0])
  return { success: true, ...total }
}

/** Records that a part of a history came in, or the last part of it. */
async function recordHistory(tx: Tx, user: User, envelope: Envelope, { resource, samples }: Batch): Promise<void> {
  const { provider, start_date, end_date } = envelope
  const instants = samples.map(({ at_ms }) => at_ms)
  const bound = (given: string | undefined, found: (a: number, b: number) => number) =>
    given === undefined ? (instants.length ? instants.reduce(found) : tx.now.getTime()) : Date.parse(given)
  const from_ms = bound(start_date, (a, b) => Math.min(a, b))
  const to_ms = Math.max(
    from_ms,
    bound(end_date, (a, b) => Math.max(a, b)),
  )
  const range = { from_ms, to_ms, is_whole: start_date !== undefined && end_date !== undefined }
  if (envelope.is_final_chunk === false) await startPull(tx, { user_id: user.user_id, provider, resource }, range)
  else await completeHistory(tx, user, resource, { provider, ...range })
}
