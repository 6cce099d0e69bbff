// Measurements of one instant, and profiles: a later record adds what it has, and replaces only what it says.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exportXml, importFile, record } from '../../../test/support/file-imports.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const AT = '2026-01-31 08:00:00 +0000'
const scale = { sourceName: 'Fictional Scale', device: '' }
const weight = (kg: number, time = AT) => record('BodyMass', kg, 'kg', time, scale)
const fat = (percent: number, time = AT) => record('BodyFatPercentage', percent / 100, '%', time, scale)
const height = (cm: number, time = AT) => record('Height', cm, 'cm', time, scale)
const me = (sex = 'Female') =>
  `<Me HKCharacteristicTypeIdentifierDateOfBirth="1990-01-31" HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSex${sex}"/>`

const readBody = async ({ api }: TestTeam, user: string) => {
  const { body } = (await api.get(`/v2/summary/body/${user}?start_date=2026-01-01&end_date=2026-02-10`)).body
  return body.map(({ weight: kg, fat: percent, body_mass_index: index }: Record<string, unknown>) => [kg, percent, index])
}
const readProfile = async ({ api }: TestTeam, user: string) => {
  const { body } = await api.get(`/v2/summary/profile/${user}`)
  return [body.height, body.birth_date, body.sex, body.wheelchair_use]
}
const post = ({ api }: TestTeam, user: string, kind: string, data: object) =>
  api.post(`/v2/summary/${kind}/${user}`, { stage: 'daily', provider: 'apple_health_kit', time_zone: 'UTC', data })

describe('measurements of one instant are one record', () => {
  test('in one file, in any order', async () => {
    const team = await createTestTeam()
    const index = record('BodyMassIndex', 24.2, 'count', AT, scale)
    for (const elements of [
      [weight(70), fat(19.4), index],
      [index, fat(19.4), weight(70)],
      [weight(69), fat(19.4), index, weight(70)],
    ]) {
      const user = await team.user()
      await importFile(team, user, exportXml(...elements))
      assert.deepEqual(await readBody(team, user), [[70, 19.4, 24.2]])
    }
  })

  test('in two files are merged: the later file replaces only the fields that it has', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await importFile(team, user, exportXml(weight(70), fat(19)))
    const later = await importFile(team, user, exportXml(fat(19.4), record('BodyMassIndex', 24.2, 'count', AT, scale)))
    assert.deepEqual([later.resources.body.created, later.resources.body.updated], [0, 1])
    assert.deepEqual(await readBody(team, user), [[70, 19.4, 24.2]])
  })

  test('and measurements of another instant or app are separate records', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const other = record('BodyFatPercentage', 0.2, '%', AT, { sourceName: 'Other app', device: '' })
    await importFile(team, user, exportXml(weight(70), fat(19, '2026-01-31 08:00:01 +0000'), other))
    assert.deepEqual(
      (await readBody(team, user)).toSorted(),
      [
        [70, null, null],
        [null, 19, null],
        [null, 20, null],
      ].toSorted(),
    )
  })

  test('also if a phone has sent a part of them, which stays', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const sent = {
      value: 71,
      unit: 'kg',
      start_date: '2026-01-31T08:00:00Z',
      end_date: '2026-01-31T08:00:00Z',
      source_bundle: 'com.fictional.scale',
    }
    assert.equal((await post(team, user, 'body', { body_mass: [sent] })).status, 200)
    const shown = await importFile(team, user, exportXml(weight(70), fat(19)))
    assert.deepEqual(
      (await readBody(team, user)).toSorted(),
      [
        [71, null, null],
        [null, 19, null],
      ].toSorted(),
    )
    assert.equal(shown.skipped.already_there.body, 1)
  })
})

describe('a profile keeps the fields that a later one does not have', () => {
  test('in files', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await importFile(team, user, exportXml(me(), height(170)))
    await importFile(team, user, exportXml(me('NotSet')))
    assert.deepEqual(await readProfile(team, user), [170, '1990-01-31', 'female', null])
    await importFile(team, user, exportXml(height(165, '2026-01-01 08:00:00 +0000'), height(171)))
    assert.deepEqual(await readProfile(team, user), [171, '1990-01-31', 'female', null])
  })

  test('in posts of phones', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const whole = { biological_sex: 'female', date_of_birth: '1990-01-31', height: 170, wheelchair_use: true }
    await post(team, user, 'profile', whole)
    for (const less of [
      { biological_sex: 'female', date_of_birth: '1990-01-31' },
      {},
      { height: null },
      { biological_sex: 'not_set' },
    ]) {
      assert.equal((await post(team, user, 'profile', less)).status, 200, JSON.stringify(less))
      assert.deepEqual(await readProfile(team, user), [170, '1990-01-31', 'female', true], JSON.stringify(less))
    }
    await post(team, user, 'profile', { height: 172, biological_sex: 'other' })
    assert.deepEqual(await readProfile(team, user), [172, '1990-01-31', 'other', true])
  })

  test('and a file adds the fields that a phone has not sent', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await post(team, user, 'profile', { biological_sex: 'other', wheelchair_use: true })
    await importFile(team, user, exportXml(me(), height(170)))
    assert.deepEqual(await readProfile(team, user), [170, '1990-01-31', 'other', true])
    const again = await importFile(team, user, exportXml(me(), height(170)))
    assert.deepEqual([again.created, again.updated, again.skipped.already_there.profile], [0, 0, 1])
  })
})
