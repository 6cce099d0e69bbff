// A night as Polar's Dynamic API answers it: its stages and what Nightly Recharge has measured in it. The reconstruction of the description does
// not name these fields; several clients of the service read them alike.
import type { PolarPeer } from './polar.ts'

/** Fields of a night that the reconstruction of the description does not name. */
export const beyondDescription = ['sleepStateChanges', 'breathingRateSamples']

/** Adds a night in Helsinki, from 22:30 on the evening before a date to 06:30. */
export function addPolarNight(peer: PolarPeer, date: string): void {
  const evening = new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10)
  const change = (offsetFromStart: string, newState: string) => ({ offsetFromStart, newState })
  peer.storedValues.set('sleeps', [
    {
      sleepDate: date,
      sleepResult: {
        hypnogram: {
          sleepStart: `${evening}T22:30:00+02:00`,
          sleepEnd: `${date}T06:30:00+02:00`,
          sleepStateChanges: [
            change('0s', 'SLEEP_STATE_NON_REM1'),
            change('1200s', 'SLEEP_STATE_NON_REM2'),
            change('3600s', 'SLEEP_STATE_NON_REM3'),
            change('7200s', 'SLEEP_STATE_REM'),
            change('9000s', 'SLEEP_STATE_WAKE'),
            change('9300s', 'SLEEP_STATE_UNKNOWN'),
            change('9600s', 'SLEEP_STATE_NON_REM2'),
            change('28800s', 'SLEEP_STATE_WAKE'),
          ],
        },
      },
      sleepEvaluation: { phaseDurations: { wake: '300s', rem: '1800s', light: '22800s', deep: '3600s', unknown: '300s' } },
    },
  ])
  peer.storedValues.set('nightly-recharge-results', [
    {
      sleepResultDate: date,
      meanNightlyRecoveryRmssd: 44,
      hrvSamples: [{ startTime: `${evening}T23:00:00`, sampleInterval: '300s', hrvValues: [41, 0, 47] }],
      breathingRateSamples: [{ startTime: `${evening}T23:00:00`, sampleInterval: '300s', breathingRateValues: [14.5, 15] }],
    },
  ])
  peer.storedValues.set('continuous-samples', [
    { date, samples: [{ heartRate: 52, offsetMillis: 3_600_000, triggerType: 'TRIGGER_TIMED_247' }] },
  ])
}
