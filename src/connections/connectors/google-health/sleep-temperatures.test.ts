// The temperature of the skin in a night, beside its usual one, at a server that speaks the public protocol of the Google Health API.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { GoogleHealthPeer } from '../../../../test/support/vendors/google-health.ts'
import { collectAll, plainHttp, REDIRECT, listSamples } from '../../../../test/support/vendors/vendor-server.ts'
import { googleHealth } from './google-health.ts'

const dataSource = {
  platform: 'FITBIT',
  recordingMethod: 'DERIVED',
  device: { formFactor: 'WATCH', displayName: 'Fictional watch' },
}
const night = (day: number, nightlyTemperatureCelsius: number, baselineTemperatureCelsius?: number) => ({
  dataSource,
  dailySleepTemperatureDerivations: {
    date: { year: 2026, month: 1, day },
    nightlyTemperatureCelsius,
    ...(baselineTemperatureCelsius !== undefined && { baselineTemperatureCelsius }),
  },
})

/** A user's nights, those before and after the range included. */
async function pullTemperatures() {
  const peer = await new GoogleHealthPeer().start()
  peer.points.set('daily-sleep-temperature-derivations', [
    night(20, 34.1, 34),
    night(30, 34.62, 34.31),
    night(31, 33.9),
    night(28, 33.8, 34.05),
  ])
  const code = peer.agree([...googleHealth.scopes], REDIRECT)
  const asked = { code, redirect_uri: REDIRECT, code_verifier: '', now_ms: peer.now_ms }
  const { access_token } = await googleHealth.exchange(plainHttp, peer.app(), asked)
  const request = {
    resource: 'body_temperature_delta' as const,
    from_ms: Date.parse('2026-01-28T12:00:00Z'),
    to_ms: Date.parse('2026-01-31T00:00:00Z'),
    time_zone: 'America/Phoenix',
  }
  return {
    peer,
    samples: listSamples(await collectAll(googleHealth.pull(plainHttp, peer.app(), access_token, request)), request.resource),
  }
}

test('a night is compared with the median of thirty, at the beginning of its local day; one without a median is left out', async () => {
  const { samples } = await pullTemperatures()
  assert.deepEqual(
    samples.map(({ at_ms, value, zone_s, source_type }) => [new Date(at_ms).toISOString(), value, zone_s, source_type]),
    [
      ['2026-01-30T07:00:00.000Z', 0.31, -25_200, 'watch'],
      ['2026-01-28T07:00:00.000Z', -0.25, -25_200, 'watch'],
    ],
  )
})

test('the nights of the Google Health test server agree with the official description', async (t) => {
  if (noDescriptions) return t.skip(noDescriptions)
  const { peer } = await pullTemperatures()
  const compared = compareAnswers(readDescription('google-health/health-v4.openapi-converted.json'), peer.answers)
  assert.deepEqual([compared.differences, compared.operations.size], [[], 2])
})
