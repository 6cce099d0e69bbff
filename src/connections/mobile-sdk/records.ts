// From what a phone sends to menstrual cycles and electrocardiograms. Source: users-wearables.md 9.7, 9.8, 16.6.
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import { localDate, zoneOffset } from '../../wearables/resources/zones.ts'
import type { IncomingSummary } from '../../wearables/summaries/summaries.ts'
import { wireTime } from '../../platform/runtime/clock.ts'
import { readRecorder, sourceTypeOf } from './phone-samples.ts'
import type { SentCycle, SentElectrocardiogram } from './record-schema.ts'

/** A cycle. A phone has no name for it: it is known by its app and its first day. */
export function cycleOf({ source_bundle, cycle }: SentCycle): IncomingSummary<'menstrual_cycle'> {
  return {
    key: `${cycle.period_start} ${source_bundle ?? ''}`,
    source_type: sourceTypeOf(source_bundle === undefined ? {} : { source_bundle }),
    app_id: source_bundle ?? null,
    calendar_date: cycle.period_start,
    // A list that a later post leaves out is empty, and a date null: a post has the whole cycle.
    document: {
      period_start: cycle.period_start,
      period_end: cycle.period_end ?? null,
      cycle_end: cycle.cycle_end ?? null,
      is_predicted: cycle.is_predicted ?? false,
      menstrual_flow: cycle.menstrual_flow ?? [],
      cervical_mucus: cycle.cervical_mucus ?? [],
      intermenstrual_bleeding: cycle.intermenstrual_bleeding ?? [],
      contraceptive: cycle.contraceptive ?? [],
      detected_deviations: cycle.detected_deviations ?? [],
      ovulation_test: cycle.ovulation_test ?? [],
      home_pregnancy_test: cycle.home_pregnancy_test ?? [],
      home_progesterone_test: cycle.home_progesterone_test ?? [],
      sexual_activity: (cycle.sexual_activity ?? []).map(({ date, protection_used }) => ({
        date,
        protection_used: protection_used ?? null,
      })),
      basal_body_temperature: cycle.basal_body_temperature ?? [],
    },
  }
}

/** An electrocardiogram, without its voltages. */
export function toElectrocardiogram(
  { electrocardiogram: sent }: SentElectrocardiogram,
  zone: string | null,
): IncomingSummary<'electrocardiogram'> {
  const [start, end] = [Date.parse(sent.session_start), Date.parse(sent.session_end)]
  return {
    key: sent.id,
    ...readRecorder(sent),
    calendar_date: localDate(zone, start),
    document: {
      session_start: wireTime(start),
      session_end: wireTime(end),
      voltage_sample_count: sent.voltage_sample_count,
      heart_rate_mean: sent.heart_rate_mean === undefined ? null : Math.round(sent.heart_rate_mean),
      sampling_frequency_hz: sent.sampling_frequency_hz ?? null,
      classification: sent.classification ?? null,
      inconclusive_cause: sent.inconclusive_cause ?? null,
      algorithm_version: sent.algorithm_version ?? null,
      time_zone: zone,
      source_device_model: sent.device_model ?? null,
    },
  }
}

/** The voltages of an electrocardiogram, each at its millisecond; gaps are left out. */
export function toVoltages(
  { electrocardiogram: sent, voltage_data }: SentElectrocardiogram,
  zone: string | null,
): IncomingSample[] {
  if (!voltage_data) return []
  const start = Date.parse(sent.session_start)
  const source = {
    second: null,
    length_ms: null,
    zone_s: zone === null ? null : zoneOffset(zone, start),
    type: null,
    ...readRecorder(sent),
  }
  const offsets = voltage_data.session_start_offset_millisecond
  return voltage_data.lead1.flatMap((value, i) => (value === null ? [] : [{ ...source, at_ms: start + offsets[i]!, value }]))
}
