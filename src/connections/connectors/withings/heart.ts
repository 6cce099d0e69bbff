// Electrocardiograms of Withings. Source: heart v2, list and get.
import type { Access, PullRequest, Pulled } from '../connector.ts'
import { isRecording, pulledRecording, type Recording } from '../electrocardiograms.ts'
import { idOf, instantOfSeconds, readList, readNumber, objectOrEmpty, rawValues, readText, type Values } from '../reading.ts'
import { knownZone, offsetAt } from '../vendor-records.ts'
import { deviceIn } from './withings-devices.ts'
import { ask, fetchPages } from './withings-requests.ts'

/** What a recording says about atrial fibrillation. The absence of signs is not a finding of a sinus rhythm. */
const classifications = { 1: 'atrial_fibrillation', 2: 'inconclusive' } as const
/** The models of cuffs that record electrocardiograms. */
const BPM = new Set([44, 48])
/** Voltages are in µV. */
const MICROVOLTS = 1000

/** The recordings of a range, with their voltages: one request for the list, and one for each. */
export async function* pullHeart({ http, app, access_token }: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const url = `${app.urls.api}/v2/heart`
  const bounds = { startdate: String(Math.floor(request.from_ms / 1000)), enddate: String(Math.floor(request.to_ms / 1000)) }
  for await (const body of fetchPages(http, url, access_token, 'list', bounds))
    for (const measured of readList(body.series)) {
      const ecg = objectOrEmpty(measured.ecg)
      const [key, at_ms] = [idOf(ecg.signalid), instantOfSeconds(measured.timestamp)]
      if (key === null || at_ms === null) continue
      const signal = await ask(http, url, access_token, 'get', { signalid: key })
      const recording = toRecording(key, at_ms, measured, signal, request.time_zone)
      if (recording) yield* pulledRecording(recording)
    }
}

function toRecording(
  key: string,
  start_ms: number,
  measurement: Values,
  { signal, sampling_frequency }: Values,
  user_zone: string | null,
): Recording | undefined {
  const zone = knownZone(readText(measurement.timezone), user_zone)
  const frequency_hz = readNumber(sampling_frequency)
  if (frequency_hz === null || !Array.isArray(signal)) return undefined
  const source_type = BPM.has(readNumber(measurement.model) ?? 0) ? 'cuff' : 'watch'
  const afib = readNumber(objectOrEmpty(measurement.ecg).afib)
  const heart_rate = readNumber(measurement.heart_rate)
  const recording: Recording = {
    key,
    source_type,
    device: deviceIn({ ...measurement, model_id: measurement.model }, source_type),
    start_ms,
    offset_s: offsetAt(zone, start_ms),
    zone,
    frequency_hz,
    millivolts: signal.map((value: unknown) => {
      const microvolts = readNumber(value)
      return microvolts === null ? null : microvolts / MICROVOLTS
    }),
    heart_rate: heart_rate !== null && heart_rate > 0 ? heart_rate : null,
    classification: afib === 1 || afib === 2 ? classifications[afib] : null,
    raw: rawValues(measurement),
  }
  return isRecording(recording) ? recording : undefined
}
