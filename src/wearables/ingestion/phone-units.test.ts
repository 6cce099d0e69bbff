// Units that phones name. Source: users-wearables.md 16.7.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'
import { tenantOf } from '../../../test/support/orders.ts'
import { createLog } from '../../platform/telemetry/log.ts'
import { timeseriesNames, timeseriesOf, type TimeseriesName } from '../resources/timeseries.ts'
import { logUnits, findConversion } from './phone-units.ts'

const isKnown = (name: TimeseriesName, unit: string) => findConversion('apple_health_kit', name, unit) !== undefined

describe('the units of a resource', () => {
  test('are its own, those of the tables of all three phones, and no text', () => {
    for (const name of timeseriesNames)
      for (const unit of [timeseriesOf(name).unit, '', ' ']) assert.ok(isKnown(name, unit), name)
    const sent: [TimeseriesName, ...string[]][] = [
      ['calories_active', 'kcal', 'kJ'],
      ['calories_basal', 'kcal', 'kJ'],
      ['glucose', 'mmol/L', 'mg/dL'],
      ['body_fat', 'percent', '%'],
      ['blood_oxygen', '%'],
      ['steps', 'count', ''],
      ['water', 'mL', 'ml'],
      ['caffeine', 'mg'],
      ['uv_exposure', 'count', 'index'],
      ['hrv', 'ms', 'rmssd'],
      ['peak_expiratory_flow_rate', 'L/min'],
      ['heartrate', 'bpm', 'count/min'],
    ]
    for (const [name, ...units] of sent) for (const unit of units) assert.ok(isKnown(name, unit), `${name} ${unit}`)
    for (const unit of ['furlong', 'constructor', 'mmHg', 'kg']) assert.equal(isKnown('heartrate', unit), false, unit)
  })
})

test('the log names a unit that is not known once a day, for each team, and no other text', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'units-'))
  const path = join(folder, 'log')
  const log = createLog('info', { path })
  const note = logUnits(log)
  const teams = [await createTestTeam(), await createTestTeam()]
  for (const team of [...teams, teams[0]!])
    await team.db.tx(await tenantOf(team), async (tx) =>
      note(tx, 'manual', 'heartrate', ['furlong', 'a fictional text', 'furlong']),
    )
  await new Promise((resolve) => log.flush(resolve))
  const text = readFileSync(path, 'utf8')
  rmSync(folder, { recursive: true })
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.deepEqual(
    lines.map((line) => [line['team.id'], line.provider, line.resource, line.unit]),
    teams.flatMap(({ team }) => ['furlong', 'other'].map((unit) => [team, 'manual', 'heartrate', unit])),
  )
})
