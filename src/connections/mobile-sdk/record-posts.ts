// Posts of meals, menstrual cycles and electrocardiograms by phones. Source: users-wearables.md 16.5, 16.6.
import type { Static } from '../../platform/schema/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { mealsOf } from './meals.ts'
import { cycleOf, electrocardiogramOf, voltagesOf } from './records.ts'
import type { ElectrocardiogramPost, MealPost, MenstrualCyclePost } from './record-schema.ts'
import { PostZones } from './samples.ts'
import { store } from './store.ts'
import { assertSessions } from './summary-posts.ts'

/** Meals in one post. */
const MEALS_MAX = 5_000
/** Voltages in one post: those of 20 electrocardiograms of 30 seconds, rounded up. */
const VOLTAGES_MAX = 320_000

/** Stores the meals of a phone. Errors: 404 unknown user; 422 more than 5,000 meals, or one of more than 256 kB; those of `incoming`. */
export function postMeals(tx: Tx, user_id: string, { data, ...envelope }: Static<typeof MealPost>) {
  const context = { zones: new PostZones(envelope.time_zone), now_ms: tx.now.getTime() }
  const { records, caffeine } = mealsOf(data, context)
  if (records.length > MEALS_MAX) throw invalidField(['body', 'data'], `has more than ${MEALS_MAX} meals`)
  return store(tx, user_id, envelope, [
    { kind: 'meal', records },
    ...(caffeine.length ? [{ resource: 'caffeine' as const, samples: caffeine, isBeside: true as const }] : []),
  ])
}

/** Stores menstrual cycles. Errors: 404 unknown user; 422 a period or a cycle that ends before it starts, or starts in the future. */
export function postCycles(tx: Tx, user_id: string, { data, ...envelope }: Static<typeof MenstrualCyclePost>) {
  const latest = new Date(tx.now.getTime() + 86_400_000).toISOString().slice(0, 10)
  for (const [i, { cycle }] of data.entries()) {
    const at = ['body', 'data', i, 'cycle']
    const isPredicted = cycle.is_predicted === true
    if (cycle.period_start < '1900-01-01' || (!isPredicted && cycle.period_start > latest))
      throw invalidField([...at, 'period_start'], 'must be after 1900 and not in the future')
    for (const end of ['period_end', 'cycle_end'] as const)
      if ((cycle[end] ?? cycle.period_start) < cycle.period_start)
        throw invalidField([...at, end], 'must not be before period_start')
  }
  return store(tx, user_id, envelope, [{ kind: 'menstrual_cycle', records: data.map(cycleOf) }])
}

/**
 * Stores electrocardiograms and their voltages. Errors: 404 unknown user; 422 sessions as for sleep, lists of different lengths, more than
 * 320,000 voltages.
 */
export function postElectrocardiograms(tx: Tx, user_id: string, { data, ...envelope }: Static<typeof ElectrocardiogramPost>) {
  assertSessions(
    tx,
    data.map(({ electrocardiogram: { session_start, session_end } }) => ({ start_date: session_start, end_date: session_end })),
    { path: ['electrocardiogram'], start: 'session_start', end: 'session_end' },
  )
  let voltages = 0
  for (const [i, { voltage_data }] of data.entries()) {
    const [times, values] = [voltage_data?.session_start_offset_millisecond.length ?? 0, voltage_data?.lead1.length ?? 0]
    if (times !== values)
      throw invalidField(['body', 'data', i, 'voltage_data', 'lead1'], 'must be as long as session_start_offset_millisecond')
    voltages += values
  }
  if (voltages > VOLTAGES_MAX) throw invalidField(['body', 'data'], `has more than ${VOLTAGES_MAX} voltages`)
  const zones = new PostZones(envelope.time_zone)
  const zoneOf = (sent: (typeof data)[number]) => zones.of(sent.electrocardiogram)
  const samples = data.flatMap((sent) => voltagesOf(sent, zoneOf(sent)))
  return store(tx, user_id, envelope, [
    {
      kind: 'electrocardiogram',
      records: data.map((sent) => electrocardiogramOf(sent, zoneOf(sent))),
      derived: ['electrocardiogram_voltage'],
    },
    ...(samples.length ? [{ resource: 'electrocardiogram_voltage' as const, samples }] : []),
  ])
}
