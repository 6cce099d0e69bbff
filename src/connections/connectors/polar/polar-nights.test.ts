// Nights of Polar against a server that speaks the vendor's public protocol.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { addPolarNight, beyondDescription } from '../../../../test/support/vendors/polar-night.ts'
import { PolarPeer } from '../../../../test/support/vendors/polar.ts'
import { pullResource } from '../../../../test/support/vendors/pulled.ts'
import { listRecords, listSamples } from '../../../../test/support/vendors/vendor-server.ts'
import { polar } from './polar.ts'

const DATE = '2026-01-31'

interface SentNight {
  sleepResult: { hypnogram: { sleepStateChanges?: unknown } }
  sleepEvaluation?: unknown
}
type SentRecovery = { hrvSamples: Record<string, unknown>[] }

async function peerWithNight(change: (night: SentNight, recovery: SentRecovery) => void = () => {}) {
  const peer = await new PolarPeer().start()
  addPolarNight(peer, DATE)
  const [night, recovery] = ['sleeps', 'nightly-recharge-results'].map((name) => peer.storedValues.get(name)![0] as unknown)
  change(night as SentNight, recovery as SentRecovery)
  return { peer, pull: (scopes?: readonly string[]) => pullResource(polar, peer, peer.user, 'sleep', scopes) }
}

test('a night has its stages: each lasts until the next change, equal ones are one, and one after its end is left out', async () => {
  const { pull } = await peerWithNight()
  const parts = await pull()
  const [cycle, ...none] = listRecords(parts, 'sleep_cycle')
  assert.deepEqual(none, [])
  assert.deepEqual([cycle!.key, cycle!.calendar_date, cycle!.source_type], [DATE, DATE, 'watch'])
  assert.deepEqual(cycle!.document.stage_type, [2, 1, 3, 4, -1, 2])
  assert.deepEqual(cycle!.document.stage_start_offset_second, [0, 3600, 7200, 9000, 9300, 9600])
  assert.deepEqual(cycle!.document.stage_end_offset_second, [3600, 7200, 9000, 9300, 9600, 28_800])
  const [night] = listRecords(parts, 'sleep')
  assert.deepEqual([night!.document.deep, night!.document.rem, night!.document.light], [3600, 1800, 22_800])
  assert.equal(JSON.stringify(night!.raw).includes('sleepStateChanges'), false)
})

test('a night without durations of phases has the durations of its stages, and one without stages has no stages', async () => {
  const staged = await peerWithNight((night) => delete night.sleepEvaluation)
  const { deep, rem, light, awake } = listRecords(await staged.pull(), 'sleep')[0]!.document
  assert.deepEqual([deep, rem, light, awake], [3600, 1800, 22_800, 300])
  const { pull } = await peerWithNight((night) => delete night.sleepResult.hypnogram.sleepStateChanges)
  const parts = await pull()
  assert.deepEqual([listRecords(parts, 'sleep').length, listRecords(parts, 'sleep_cycle')], [1, []])
})

test('a night has its heart rate variability and its respiratory rate every few minutes, at local times of the night', async () => {
  const { pull } = await peerWithNight((_night, recovery) => {
    const odd = [{ startTime: '2026-01-31T09:00:00', sampleInterval: '300s', hrvValues: [99] }, { hrvValues: [98] }]
    recovery.hrvSamples.push(...odd, { startTime: '2026-01-31T01:00:00+02:00', sampleInterval: '1e99s', hrvValues: [97] })
  })
  const parts = await pull()
  const shown = (resource: string) =>
    listSamples(parts, resource).map(({ at_ms, value, zone_s }) => [new Date(at_ms).toISOString(), value, zone_s])
  assert.deepEqual(shown('hrv'), [
    ['2026-01-30T21:00:00.000Z', 41, 7200],
    ['2026-01-30T21:10:00.000Z', 47, 7200],
  ])
  assert.deepEqual(shown('respiratory_rate'), [
    ['2026-01-30T21:00:00.000Z', 14.5, 7200],
    ['2026-01-30T21:05:00.000Z', 15, 7200],
  ])
})

test('without the scope of Nightly Recharge a night has its stages alone', async () => {
  const { pull } = await peerWithNight()
  const parts = await pull(['sleep:read'])
  assert.deepEqual([listRecords(parts, 'sleep_cycle').length, listSamples(parts, 'hrv')], [1, []])
})

test('the nights of the Polar test server agree with a reconstruction of the description', async (t) => {
  if (noDescriptions) return t.skip(noDescriptions)
  const { peer, pull } = await peerWithNight()
  await pull()
  const description = readDescription('polar/dynamic-v4.openapi-reconstructed.yaml')
  const compared = compareAnswers(description, peer.answers, { extraFields: beyondDescription })
  assert.deepEqual([compared.differences, compared.operations.size], [[], 2])
})
