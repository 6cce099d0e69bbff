// Posts of meals, menstrual cycles and electrocardiograms by phones. Source: users-wearables.md 16.5, 16.6.
import { withZone, PostZones } from './phone-samples.ts'
import type { Static } from '../../platform/schema/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { flatMapInSlices } from '../../platform/runtime/loop-work.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import { FUTURE } from '../../wearables/ingestion/plausible.ts'
import { Faults, placesOf } from './faults.ts'
import { buildMeals } from './meals.ts'
import { cycleOf, toElectrocardiogram, toVoltages } from './records.ts'
import type { ElectrocardiogramPost, MealPost, MenstrualCyclePost } from './record-schema.ts'
import { goodSessions, zonesOfSessions } from './sessions.ts'
import { store, type Batch } from './store.ts'

/** Meals in one post. */
const MEALS_MAX = 5_000
/** Voltages in one post: those of 20 electrocardiograms of 30 seconds, rounded up. */
const VOLTAGES_MAX = 320_000

/**
 * Stores the meals of a phone. Faulty parts of posts of this file are left out and counted. Errors: 404 unknown user; 422 more than 5,000
 * meals, or nothing is good.
 */
export async function postMeals(tx: Tx, user_id: string, { data, ...post }: Static<typeof MealPost>) {
  const envelope = await withZone(tx, user_id, post)
  const faults = new Faults()
  const context = { provider: envelope.provider, zones: new PostZones(envelope.time_zone), now_ms: tx.now.getTime(), faults }
  const { records, caffeine } = await buildMeals(data, context)
  if (records.length > MEALS_MAX) throw invalidField(['body', 'data'], `has more than ${MEALS_MAX} meals`)
  const batches: Batch[] = [
    { kind: 'meal', records },
    ...(caffeine.length ? [{ resource: 'caffeine' as const, samples: caffeine, isBeside: true as const }] : []),
  ]
  return store(tx, user_id, envelope, batches, faults)
}

/** Stores menstrual cycles. Errors: 404 unknown user; 422 each period or cycle ends before it starts, or starts in the future. */
export async function postCycles(tx: Tx, user_id: string, { data, ...envelope }: Static<typeof MenstrualCyclePost>) {
  const faults = new Faults()
  await faults.addLeftOut('menstrual_cycle', data)
  const placeOf = placesOf(data)
  const latest = new Date(tx.now.getTime() + DAY_MS).toISOString().slice(0, 10)
  const faultOf = ({ cycle }: (typeof data)[number]): [field: string, text: string] | undefined => {
    const isPredicted = cycle.is_predicted === true
    if (cycle.period_start < '1900-01-01' || (!isPredicted && cycle.period_start > latest)) return ['period_start', FUTURE]
    for (const end of ['period_end', 'cycle_end'] as const)
      if ((cycle[end] ?? cycle.period_start) < cycle.period_start) return [end, 'must not be before period_start']
    return undefined
  }
  const good = data.filter((record, i) => {
    const fault = faultOf(record)
    if (!fault) return true
    faults.add(
      'menstrual_cycle',
      ['body', 'data', placeOf(i), 'cycle', fault[0]],
      fault[1],
      Date.parse(record.cycle.period_start),
    )
    return false
  })
  return store(tx, user_id, envelope, [{ kind: 'menstrual_cycle', records: good.map(cycleOf) }], faults)
}

/**
 * Stores electrocardiograms and their voltages. Errors: 404 unknown user; 422 more than 320,000 voltages, or each has a session that cannot
 * be or lists of different lengths.
 */
export async function postElectrocardiograms(tx: Tx, user_id: string, { data, ...post }: Static<typeof ElectrocardiogramPost>) {
  const envelope = await withZone(tx, user_id, post)
  const faults = new Faults()
  const sessions = await goodSessions(tx, faults, 'electrocardiogram', data, {
    instantsOf: ({ electrocardiogram: { session_start, session_end } }) => [session_start, session_end],
    path: ['electrocardiogram'],
    names: ['session_start', 'session_end'],
  })
  let voltages = 0
  const good = sessions.filter(({ record: { electrocardiogram, voltage_data }, place }) => {
    const [times, values] = [voltage_data?.session_start_offset_millisecond.length ?? 0, voltage_data?.lead1.length ?? 0]
    voltages += values
    if (times === values) return true
    const loc = ['body', 'data', place, 'voltage_data', 'lead1']
    const text = 'must be as long as session_start_offset_millisecond'
    faults.add('electrocardiogram', loc, text, Date.parse(electrocardiogram.session_start))
    return false
  })
  if (voltages > VOLTAGES_MAX) throw invalidField(['body', 'data'], `has more than ${VOLTAGES_MAX} voltages`)
  const keys = good.map(({ record: sent }) => sent.electrocardiogram.id)
  const contextOf = await zonesOfSessions(tx, user_id, envelope, 'electrocardiogram', keys)
  const zoneOf = (record: (typeof data)[number]) => contextOf(record.electrocardiogram).zone
  const samples = await flatMapInSlices(good, ({ record: sent }) => toVoltages(sent, zoneOf(sent)))
  const batches: Batch[] = [
    {
      kind: 'electrocardiogram',
      records: good.map(({ record: sent }) => toElectrocardiogram(sent, zoneOf(sent))),
      derivedResources: ['electrocardiogram_voltage'],
    },
    ...(samples.length ? [{ resource: 'electrocardiogram_voltage' as const, samples }] : []),
  ]
  return store(tx, user_id, envelope, batches, faults)
}
