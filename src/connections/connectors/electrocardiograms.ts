// Electrocardiograms of vendors and of files: a record, and its voltages as samples. Source: users-wearables.md 9.7, 10.
import type { IncomingDevice } from '../../wearables/devices/devices.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import type { SourceType } from '../../wearables/resources/timeseries.ts'
import type { IncomingSummary } from '../../wearables/summaries/summaries.ts'
import { wireTime } from '../../platform/runtime/clock.ts'
import { localDay } from './answers.ts'
import type { Pulled } from './connector.ts'
import type { Values } from './reading.ts'
import { BATCH_MAX } from './vendor-records.ts'

/** Voltages of one recording: five minutes at 500 Hz. */
export const VOLTAGES_MAX = 150_000
const HERTZ_MAX = 1000
const HERTZ_MIN = 1

export interface Recording {
  key: string
  source_type: SourceType
  device: IncomingDevice | null
  app_id?: string | null
  start_ms: number
  /** Seconds east of UTC, and the zone by name, as far as they are known. */
  offset_s: number | null
  zone: string | null
  frequency_hz: number
  millivolts: readonly (number | null)[]
  heart_rate: number | null
  classification: 'sinus_rhythm' | 'atrial_fibrillation' | 'inconclusive' | null
  inconclusive_cause?: 'high_heart_rate' | 'low_heart_rate' | 'poor_reading' | null
  algorithm_version?: string | null
  raw?: Values | undefined
}

/** Whether a recording can be placed in time: it has voltages, at most 150,000, at least one a second and at most one for each millisecond. */
export const isRecording = ({ frequency_hz, millivolts }: Pick<Recording, 'frequency_hz' | 'millivolts'>): boolean =>
  frequency_hz >= HERTZ_MIN && frequency_hz <= HERTZ_MAX && millivolts.length > 0 && millivolts.length <= VOLTAGES_MAX

/** The record of a recording that `isRecording`, and its voltages, each at its millisecond; gaps are left out. */
export function electrocardiogramOf(recording: Recording): {
  record: IncomingSummary<'electrocardiogram'>
  samples: IncomingSample[]
} {
  const { key, source_type, device, app_id = null, start_ms, offset_s, frequency_hz, millivolts, raw } = recording
  const at = (i: number) => start_ms + Math.round((i * 1000) / frequency_hz)
  const record: IncomingSummary<'electrocardiogram'> = {
    key,
    source_type,
    app_id,
    device,
    ...(raw && { raw }),
    calendar_date: localDay(start_ms, offset_s),
    document: {
      session_start: wireTime(start_ms),
      session_end: wireTime(at(millivolts.length)),
      voltage_sample_count: millivolts.length,
      heart_rate_mean: recording.heart_rate === null ? null : Math.round(recording.heart_rate),
      sampling_frequency_hz: frequency_hz,
      classification: recording.classification,
      inconclusive_cause: recording.inconclusive_cause ?? null,
      algorithm_version: recording.algorithm_version ?? null,
      time_zone: recording.zone,
      source_device_model: device?.model ?? null,
    },
  }
  const source = { second: null, length_ms: null, zone_s: offset_s, type: null, source_type, app_id, device }
  const samples = millivolts.flatMap((value, i) => (value === null ? [] : [{ ...source, at_ms: at(i), value }]))
  return { record, samples }
}

/** What a connector yields of a recording. */
export function* pulledRecording(recording: Recording): Generator<Pulled> {
  const { record, samples } = electrocardiogramOf(recording)
  yield { kind: 'electrocardiogram', records: [record] }
  for (let i = 0; i < samples.length; i += BATCH_MAX)
    yield { resource: 'electrocardiogram_voltage', samples: samples.slice(i, i + BATCH_MAX) }
}
