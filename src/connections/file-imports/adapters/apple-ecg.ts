// An electrocardiogram in an Apple Health export: a file of comma-separated values for each, with labels in the language of the phone. The
// lines before the voltages are known by their place and by the form of their values.
import { decodeUtf8 } from '../../../platform/runtime/utf8.ts'
import { electrocardiogramOf, isRecording, VOLTAGES_MAX, type Recording } from '../../connectors/electrocardiograms.ts'
import { isPlausible, storable, type ReadContext, type Sink } from '../reading.ts'
import { exportKey } from './apple-sleep.ts'
import { appleTime, zoneName } from './apple-values.ts'

/** Lines before the voltages: eight values about the recording, two about the lead, and empty ones. */
const HEAD_MAX = 40
const VALUE = /^-?\d{1,7}([.,]\d{1,9})?$/
const RATE = /^(\d{2,4}(?:[.,]\d{1,6})?)\s*\D/

/** What phones call a result, in the languages of most exports. Others are not known. */
const results: readonly (readonly [pattern: RegExp, classification: NonNullable<Recording['classification']>])[] = [
  [/^(sinus rhythm|sinusrhythmus|ritmo sinusal|rythme sinusal|ritmo sinusale|sinusritme)$/i, 'sinus_rhythm'],
  [
    /^(atrial fibrillation|vorhofflimmern|fibrilaci[oó]n auricular|fibrillation auriculaire|fibrillazione atriale)$/i,
    'atrial_fibrillation',
  ],
  [/^(fibrila[cç][aã]o atrial|boezemfibrilleren|atriumfibrilleren)$/i, 'atrial_fibrillation'],
  [
    /^(inconclusive|nicht eindeutig|no concluyente|non concluant|non conclusivo|inconclusivo|niet doorslaggevend)/i,
    'inconclusive',
  ],
]
const causes: readonly (readonly [pattern: RegExp, cause: NonNullable<Recording['inconclusive_cause']>])[] = [
  [/high heart rate/i, 'high_heart_rate'],
  [/low heart rate/i, 'low_heart_rate'],
  [/poor (recording|reading)/i, 'poor_reading'],
]

/** The value of a line `label,value`, without the quotation marks that values with commas have. */
function valueOf(line: string): string {
  const at = line.search(/[,;]/)
  const value = at < 0 ? '' : line.slice(at + 1).trim()
  return /^".*"$/.test(value) ? value.slice(1, -1).replaceAll('""', '"') : value
}

const numberOf = (text: string): number => Number(text.replace(',', '.'))

const WATCH = /^Watch\d/

/** Reads one file, and passes on what it says; a file without time, rate or voltages is skipped. */
export function readElectrocardiogram(bytes: Buffer, sink: Sink, context: ReadContext): void {
  const lines = decodeUtf8(bytes).split(/\r?\n/, HEAD_MAX + VOLTAGES_MAX + 1)
  const first = lines.findIndex((line) => VALUE.test(line.trim()))
  if (first < 0 || first > HEAD_MAX) return sink.skip('no_value', 'Electrocardiogram')
  const head = lines.slice(0, first).map(valueOf)
  const recorded = head.findIndex((value) => appleTime(value) !== undefined)
  const start = appleTime(head[recorded])
  if (!start || !isPlausible(start.at_ms, start.at_ms, context, 0)) return sink.skip('invalid_time', 'Electrocardiogram')
  const rate = head.slice(recorded + 1).flatMap((value) => RATE.exec(value)?.[1] ?? [])[0]
  const [result = '', , version, model] = head.slice(recorded + 1)
  // The unit is the last value before the voltages: millivolts in no export that is known.
  const divisor = head.some((value) => /^mV$/.test(value)) ? 1 : 1000
  const millivolts = lines
    .slice(first)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => (VALUE.test(line) ? numberOf(line) / divisor : null))
  const source_type = 'watch'
  const recording: Recording = {
    key: exportKey('electrocardiogram', '', '', start.at_ms),
    source_type,
    // The file names the hardware (`Watch6,1`); records have it under the model of all watches.
    device: {
      source_type,
      manufacturer: 'Apple Inc.',
      model: WATCH.test(model ?? '') ? 'Watch' : storable(model, 200),
      version: null,
      device_id: null,
    },
    start_ms: start.at_ms,
    offset_s: start.zone_s,
    zone: zoneName(start.zone_s),
    frequency_hz: rate === undefined ? NaN : numberOf(rate),
    millivolts,
    heart_rate: null,
    classification: results.find(([pattern]) => pattern.test(result))?.[1] ?? null,
    inconclusive_cause: causes.find(([pattern]) => pattern.test(result))?.[1] ?? null,
    algorithm_version: storable(version, 100),
  }
  if (!isRecording(recording)) return sink.skip('invalid_value', 'Electrocardiogram')
  const { record, samples } = electrocardiogramOf(recording)
  const document = { ...record.document, source_device_model: storable(model, 200) }
  sink.summary({ kind: 'electrocardiogram', record: { ...record, document }, voltages: samples })
}
