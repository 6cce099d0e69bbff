// Posts of samples by phones. Source: users-wearables.md 4 C4, 16.5-16.7.
import { withZone, incoming, incomingList, PostZones } from './phone-samples.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { yieldIfLong } from '../../platform/runtime/loop-work.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import { noteUnits } from '../../wearables/ingestion/phone-units.ts'
import { Faults, placesOf } from './faults.ts'
import { resourceOf, type BloodPressurePost, type SamplePost, type SentTimeseries } from './schema.ts'
import { store, type SampleBatch } from './store.ts'

/**
 * Stores samples that a phone sends. A post repeated changes nothing. Faulty samples are left out and counted. Errors: 404 unknown user;
 * 422 no sample is good.
 */
export async function postSamples(tx: Tx, user_id: string, sentResource: SentTimeseries, { data, ...post }: SamplePost) {
  const envelope = await withZone(tx, user_id, post)
  const resource = resourceOf(sentResource)
  const { provider } = envelope
  await noteUnits(tx, provider, resource, data)
  const faults = new Faults()
  const context = {
    provider,
    zones: new PostZones(envelope.time_zone),
    now_ms: tx.now.getTime(),
    faults,
    location: ['body', 'data'],
  }
  const samples = await incomingList(resource, data, context)
  return store(tx, user_id, envelope, [{ resource, samples }], faults)
}

/** Stores blood pressures that a phone sends, and the pulses with them. Errors: as `postSamples`. */
export async function postBloodPressures(tx: Tx, user_id: string, { data, ...post }: BloodPressurePost) {
  const envelope = await withZone(tx, user_id, post)
  const { provider } = envelope
  const values = data.flatMap(({ systolic, diastolic }) => [systolic, diastolic])
  await noteUnits(tx, provider, 'blood_pressure', values)
  const faults = new Faults()
  await faults.addLeftOut('blood_pressure', data)
  const context = { provider, zones: new PostZones(envelope.time_zone), now_ms: tx.now.getTime(), faults }
  const placeOf = placesOf(data)
  const pressures: IncomingSample[] = []
  const pulses: IncomingSample[] = []
  for (const [i, { systolic, diastolic, pulse }] of data.entries()) {
    const turn = yieldIfLong()
    if (turn) await turn
    const at = ['body', 'data', placeOf(i)]
    const upper = incoming('blood_pressure', systolic, { ...context, location: [...at, 'systolic'] })
    const lower = upper && incoming('blood_pressure', diastolic, { ...context, location: [...at, 'diastolic'] })
    if (lower) pressures.push({ ...upper, second: lower.value })
    const beats = pulse && incoming('heartrate', pulse, { ...context, location: [...at, 'pulse'] })
    if (beats) pulses.push(beats)
  }
  const batches: SampleBatch[] = [
    { resource: 'blood_pressure', samples: pressures },
    ...(pulses.length ? [{ resource: 'heartrate' as const, samples: pulses, isBeside: true as const }] : []),
  ]
  return store(tx, user_id, envelope, batches, faults)
}
