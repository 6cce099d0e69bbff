// Posts of samples by phones. Source: users-wearables.md 4 C4, 16.5-16.7.
import type { Tx } from '../../platform/db/transaction.ts'
import { expectSamples } from '../../platform/runtime/young-generation.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import { noteUnits } from '../../wearables/ingestion/units.ts'
import { incoming, incomingOf, PostZones } from './samples.ts'
import { resourceOf, type BloodPressurePost, type QuantityColumns, type SamplePost, type SentTimeseries } from './schema.ts'
import { store } from './store.ts'

/**
 * Stores samples that a phone sends. A post repeated changes nothing. Errors: 404 unknown user; those of `incoming`.
 * @param post its samples may be columns in place of a list
 */
export async function postSamples(
  tx: Tx,
  user_id: string,
  sent: SentTimeseries,
  { data, columns, ...envelope }: SamplePost & { columns?: QuantityColumns },
) {
  const resource = resourceOf(sent)
  await noteUnits(tx, envelope.provider, resource, columns?.kinds ?? data)
  const context = { zones: new PostZones(envelope.time_zone), now_ms: tx.now.getTime(), at: ['body', 'data'] }
  const samples = columns
    ? incomingOf(resource, columns, context)
    : data.map((sample, i) => incoming(resource, sample, context, i))
  expectSamples(samples.length)
  return store(tx, user_id, envelope, [{ resource, samples }])
}

/** Stores blood pressures that a phone sends, and the pulses with them. Errors: as `postSamples`. */
export async function postBloodPressures(tx: Tx, user_id: string, { data, ...envelope }: BloodPressurePost) {
  const values = data.flatMap(({ systolic, diastolic }) => [systolic, diastolic])
  await noteUnits(tx, envelope.provider, 'blood_pressure', values)
  const context = { zones: new PostZones(envelope.time_zone), now_ms: tx.now.getTime() }
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
    ...(pulses.length ? [{ resource: 'heartrate' as const, samples: pulses, isBeside: true as const }] : []),
  ])
}
