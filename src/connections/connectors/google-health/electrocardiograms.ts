// Electrocardiograms of the Google Health API. Source: discovery document of v4, Electrocardiogram.
import { isRecording, type Recording } from '../electrocardiograms.ts'
import { instantOfText, readNumber, numberOrText, objectOrEmpty, ownValue, rawValues, readText, type Values } from '../reading.ts'
import { toDevice, knownZone, offsetAt } from '../vendor-records.ts'
import { divideNullable, idIn, offsetOf, sourceOf } from './data-points.ts'

const classifications: Readonly<
  Record<string, Pick<Recording, 'classification'> & Pick<Partial<Recording>, 'inconclusive_cause'>>
> = {
  NORMAL_SINUS_RHYTHM: { classification: 'sinus_rhythm' },
  ATRIAL_FIBRILLATION: { classification: 'atrial_fibrillation' },
  INCONCLUSIVE: { classification: 'inconclusive' },
  INCONCLUSIVE_HIGH_HEART_RATE: { classification: 'inconclusive', inconclusive_cause: 'high_heart_rate' },
  INCONCLUSIVE_LOW_HEART_RATE: { classification: 'inconclusive', inconclusive_cause: 'low_heart_rate' },
  UNREADABLE: { classification: 'inconclusive', inconclusive_cause: 'poor_reading' },
}

/** The beginning of a recording; null without one. Its end is the same: the voltages say how long it is. */
export const startOf = (point: Values): number | null =>
  instantOfText(objectOrEmpty(objectOrEmpty(point.electrocardiogram).interval).startTime)

/** A recording; undefined without an id, a time, or voltages that can be placed in time. */
export function toRecording(point: Values, user_zone: string | null): Recording | undefined {
  const values = objectOrEmpty(point.electrocardiogram)
  const [key, start_ms] = [idIn(point.name), startOf(point)]
  const [frequency_hz, factor] = [readNumber(values.samplingFrequencyHertz), readNumber(values.millivoltsScalingFactor)]
  const { waveformSamples } = values
  if (key === null || start_ms === null || frequency_hz === null || factor === null || factor <= 0) return undefined
  if (!Array.isArray(waveformSamples)) return undefined
  const info = objectOrEmpty(values.medicalDeviceInfo)
  const { source_type, app_id, device } = sourceOf(point)
  const named = { manufacturer: device?.manufacturer, model: info.deviceModel ?? device?.model, version: info.firmwareVersion }
  const zone = knownZone(user_zone)
  const result = ownValue(classifications, readText(values.resultClassification) ?? '') ?? { classification: null }
  const recording: Recording = {
    key,
    source_type,
    app_id,
    device: toDevice(source_type, named),
    start_ms,
    // Old recordings say that they were made in UTC: then the user's own zone counts.
    offset_s: (offsetOf(objectOrEmpty(values.interval).startUtcOffset) || null) ?? offsetAt(zone, start_ms),
    zone,
    frequency_hz,
    millivolts: waveformSamples.map((sample: unknown) => divideNullable(readNumber(sample), factor)),
    heart_rate: numberOrText(values.beatsPerMinuteAvg),
    ...result,
    algorithm_version: readText(info.algorithmVersion),
    raw: rawValues({ ...point, electrocardiogram: { ...values, waveformSamples: undefined } }),
  }
  return isRecording(recording) ? recording : undefined
}
