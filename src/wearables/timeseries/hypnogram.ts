// The deprecated timeseries of sleep stages, made from the stages of nights when it is read. Source: users-wearables.md 9.3, 10.
import type { Tx } from '../../platform/db/transaction.ts'
import { iso } from '../../platform/runtime/clock.ts'
import { zoneOffset } from '../resources/zones.ts'
import { nightOffsets, listSummaries } from '../summaries/summaries.ts'
import type { FoundSample } from './chunks.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

const dayOf = (ms: number): string => iso(new Date(ms)).slice(0, 10)

/** Stages whose beginning lies in a range, in the order of time. Errors: 422 a range with more than 2,000 nights. */
export async function readHypnogram(
  tx: Tx,
  user_id: string,
  { provider, from_ms, to_ms }: { provider?: string | undefined; from_ms: number; to_ms: number },
): Promise<FoundSample[]> {
  // A night is listed by the local day of its end, which is up to a week and an offset after its first stage.
  const query = { provider, start_date: dayOf(from_ms - DAY_MS), end_date: dayOf(Math.min(to_ms, tx.now.getTime()) + 8 * DAY_MS) }
  const nights = await listSummaries(tx, user_id, 'sleep_cycle', query)
  // Stages of files and of some vendors name no zone; their nights have an offset.
  const offsets = await nightOffsets(
    tx,
    user_id,
    nights.flatMap(({ time_zone, sleep_id }) => (time_zone === null ? [sleep_id as string] : [])),
  )
  return nights
    .flatMap((night) => {
      const start = Date.parse(night.session_start as string)
      const [from, to, types] = [
        night.stage_start_offset_second as number[],
        night.stage_end_offset_second as number[],
        night.stage_type as number[],
      ]
      const source = night.source as { provider: string; type: never; app_id: string | null; device_id: string | null }
      const { provider, type: source_type, app_id, device_id } = source
      const zone = night.time_zone as string | null
      const offset_s = offsets.get(night.sleep_id as string) ?? null
      return types.map((value, i): FoundSample => {
        const at_ms = start + from[i]! * 1000
        return {
          source: { provider, source_type, app_id, device_id, workout_id: null, sport: null },
          sample: {
            at_ms,
            value,
            second: null,
            length_ms: (to[i]! - from[i]!) * 1000,
            zone_s: zone === null ? offset_s : zoneOffset(zone, at_ms),
            type: null,
          },
        }
      })
    })
    .filter(({ sample }) => sample.at_ms >= from_ms && sample.at_ms <= to_ms)
    .toSorted((a, b) => a.sample.at_ms - b.sample.at_ms)
}
