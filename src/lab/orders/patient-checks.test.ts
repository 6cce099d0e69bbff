// Patients: which patients and addresses an order accepts. Source: lab-testing.md 5.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { SECONDS_PER_DAY, orderBody, advanceClock, createOrder, proxy, tenantOf } from '../../../test/support/orders.ts'
import { createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { teamNow } from '../../platform/db/database.ts'
import { ageOn } from '../../platform/runtime/clock.ts'
import { orderWith, faultsOf } from '../../../test/support/patients.ts'

/** The team's date plus a number of years and days. */
async function dayAt(team: TestTeam, years: number, days = 0, timeZone = 'UTC'): Promise<string> {
  const today = new Intl.DateTimeFormat('en-CA', { timeZone }).format(teamNow(await tenantOf(team)))
  const shifted = new Date(`${today}T00:00:00Z`)
  shifted.setUTCDate(shifted.getUTCDate() + days)
  shifted.setUTCFullYear(shifted.getUTCFullYear() + years)
  return shifted.toISOString().slice(0, 10)
}

describe('the name of a patient', () => {
  const good = [
    'A',
    'Mary-Jane',
    "O'Connor",
    'Dr. Smith',
    'Smith, Jr.',
    'Anna Maria Luisa',
    '3CPO',
    'de la Cruz-Fictional',
    'Mary-',
    'a'.repeat(50),
  ]
  const bad: [string, string][] = [
    ['', 'string_too_short'],
    [' ', 'string_pattern_mismatch'],
    [' John', 'string_pattern_mismatch'],
    ['John ', 'string_pattern_mismatch'],
    ['-John', 'string_pattern_mismatch'],
    ["'John", 'string_pattern_mismatch'],
    ['.John', 'string_pattern_mismatch'],
    ['Anna  Maria', 'string_pattern_mismatch'],
    ['John@Smith', 'string_pattern_mismatch'],
    ['John_Smith', 'string_pattern_mismatch'],
    ['John/Smith', 'string_pattern_mismatch'],
    ['José', 'string_pattern_mismatch'],
    ['Zoë', 'string_pattern_mismatch'],
    ['李', 'string_pattern_mismatch'],
    ['O’Connor', 'string_pattern_mismatch'],
    ['John\n', 'string_pattern_mismatch'],
    ['a'.repeat(51), 'string_too_long'],
    [`${'a '.repeat(24)}a@`, 'string_pattern_mismatch'],
    [`${'a '.repeat(40_000)}@`, 'string_too_long'],
  ]
  for (const field of ['first_name', 'last_name'] as const) {
    test(`${field} accepts the characters that laboratories print`, async () => {
      const team = await createTestTeam()
      for (const name of good) {
        const { status, body } = await orderWith(team, 'patient_details', { [field]: name })
        assert.deepEqual([status, body.order?.patient_details[field]], [200, name])
      }
    })

    test(`${field} rejects all other characters and lengths`, async () => {
      const team = await createTestTeam()
      for (const [name, type] of bad) {
        const { status, body } = await orderWith(team, 'patient_details', { [field]: name })
        assert.equal(status, 422, name.slice(0, 60))
        assert.deepEqual(faultsOf(body), [`patient_details.${field} ${type}`], name.slice(0, 60))
      }
      assert.deepEqual(await team.events(), [])
    })
  }
})

describe('the phone number of a patient', () => {
  test('a phone number must be in international format, loses its separators, and is not checked against national plans', async () => {
    const team = await createTestTeam()
    for (const [phone_number, kept] of [
      ['+15550100199', '+15550100199'],
      ['+1 (555) 010-0199', '+15550100199'],
      ['+1.555.010.0199', '+15550100199'],
      ['+1123456789', '+1123456789'],
      ['+1234567', '+1234567'],
      ['+123456789012345', '+123456789012345'],
      ['+44 20 7946 0000', '+442079460000'],
    ] as const) {
      const { status, body } = await orderWith(team, 'patient_details', { phone_number })
      assert.deepEqual([status, body.order?.patient_details.phone_number], [200, kept])
    }
  })

  test('a phone number without a plus or with too few or too many digits is rejected', async () => {
    const team = await createTestTeam()
    for (const phone_number of [
      '15550100199',
      '+0123456789',
      '+123456',
      '+1234567890123456',
      '+1 555 CALL-NOW',
      '+',
      '++15550100199',
    ]) {
      const { status, body } = await orderWith(team, 'patient_details', { phone_number })
      assert.deepEqual([status, faultsOf(body)], [422, ['patient_details.phone_number value_error']], phone_number)
    }
  })
})

describe('the other details of a patient', () => {
  const required = ['first_name', 'last_name', 'dob', 'gender', 'phone_number', 'email']
  for (const field of required)
    test(`the patient's ${field} is required`, async () => {
      const { status, body } = await orderWith(await createTestTeam(), 'patient_details', { [field]: undefined })
      assert.deepEqual([status, faultsOf(body)], [422, [`patient_details.${field} missing`]])
    })

  test('enum values are accepted in any case and shown as listed', async () => {
    const team = await createTestTeam()
    for (const [field, given_, shown] of [
      ['gender', 'FEMALE', 'female'],
      ['gender', 'Other', 'other'],
      ['gender', 'unknown', 'unknown'],
      ['race', 'ASIAN', 'asian'],
      ['ethnicity', 'Non_Hispanic', 'non_hispanic'],
      ['sexual_orientation', 'Dont_Know', 'dont_know'],
      ['gender_identity', 'Genderqueer', 'genderqueer'],
    ] as const) {
      const { status, body } = await orderWith(team, 'patient_details', { [field]: given_ })
      assert.deepEqual([status, body.order?.patient_details[field]], [200, shown])
    }
    for (const field of ['gender', 'race', 'ethnicity', 'sexual_orientation', 'gender_identity']) {
      const { status, body } = await orderWith(team, 'patient_details', { [field]: 'x' })
      assert.deepEqual([status, faultsOf(body)], [422, [`patient_details.${field} enum`]])
    }
  })

  test('optional patient fields can be absent or null', async () => {
    const nothing = Object.fromEntries(
      ['medical_proxy', 'race', 'ethnicity', 'sexual_orientation', 'gender_identity', 'household_income', 'household_size'].map(
        (field) => [field, null],
      ),
    )
    const { status, body } = await orderWith(await createTestTeam(), 'patient_details', nothing)
    assert.equal(status, 200)
    assert.ok(!('household_income' in body.order.patient_details))
  })

  test("the patient's email is required and must be valid", async () => {
    const { status, body } = await orderWith(await createTestTeam(), 'patient_details', { email: 'testa@' })
    assert.deepEqual([status, faultsOf(body)], [422, ['patient_details.email value_error']])
  })
})

describe('the date of birth', () => {
  test('the date of birth is accepted in several formats and shown as a date', async () => {
    const team = await createTestTeam()
    for (const dob of [
      '1990-01-31',
      '1990/01/31',
      '1990-01-31T00:00:00',
      '1990-01-31T00:00:00.000Z',
      '1990-01-31 00:00:00+05:00',
      '1990-01-31T23:59:59Z',
    ]) {
      const { status, body } = await orderWith(team, 'patient_details', { dob })
      assert.deepEqual([status, body.order?.patient_details.dob], [200, '1990-01-31'], dob)
    }
  })

  test('an invalid date of birth is rejected', async () => {
    const team = await createTestTeam()
    for (const [dob, type] of [
      ['1990-02-30', 'date_from_datetime_parsing'],
      ['31/01/1990', 'date_from_datetime_parsing'],
      ['', 'date_from_datetime_parsing'],
      [19900131, 'string_type'],
    ] as const) {
      const { status, body } = await orderWith(team, 'patient_details', { dob })
      assert.deepEqual([status, faultsOf(body)], [422, [`patient_details.dob ${type}`]], String(dob))
    }
  })

  test("the date of birth must not be in the future or more than 130 years ago, by the team's clock", async () => {
    const team = await createTestTeam()
    for (const dob of [await dayAt(team, 0, 1), '9999-12-31', await dayAt(team, -131, -1), '0001-01-01']) {
      const { status, body } = await orderWith(team, 'patient_details', { dob, medical_proxy: proxy })
      assert.deepEqual([status, faultsOf(body)], [422, ['patient_details.dob value_error']], dob)
    }
    for (const dob of [await dayAt(team, 0), await dayAt(team, -130)])
      assert.equal((await orderWith(team, 'patient_details', { dob, medical_proxy: proxy })).status, 200, dob)
    const tomorrow = await dayAt(team, 0, 1)
    await advanceClock(team, SECONDS_PER_DAY)
    assert.equal((await orderWith(team, 'patient_details', { dob: tomorrow, medical_proxy: proxy })).status, 200)
  })

  test('the age is counted in whole calendar years', () => {
    for (const [dob, today, age] of [
      ['1990-01-31', '2008-01-30', 17],
      ['1990-01-31', '2008-01-31', 18],
      ['1990-01-31', '2008-02-01', 18],
      ['2008-02-29', '2026-02-28', 17],
      ['2008-02-29', '2026-03-01', 18],
      ['2008-02-29', '2028-02-29', 20],
      ['1999-12-31', '2000-01-01', 0],
      ['2000-01-01', '2000-01-01', 0],
    ] as const)
      assert.equal(ageOn(dob, today), age, `${dob} on ${today}`)
  })
})

describe('a patient under 18', () => {
  const needsProxy = { detail: 'A medical_proxy is required for a patient under 18' }
  const notEnabled = { detail: 'Ordering for patients under 18 is not enabled for this team (minor_ordering_enabled)' }

  test('a minor in the sandbox needs a medical proxy, which the order shows', async () => {
    const team = await createTestTeam()
    const dob = await dayAt(team, -18, 1)
    const without = await orderWith(team, 'patient_details', { dob })
    assert.deepEqual([without.status, without.body], [400, needsProxy])
    const { status, body } = await orderWith(team, 'patient_details', { dob, medical_proxy: proxy })
    assert.equal(status, 200)
    assert.deepEqual(body.order.patient_details.medical_proxy, {
      ...proxy,
      address: { ...proxy.address, country: 'United States' },
    })
    assert.deepEqual(await team.events(), ['labtest.order.created'])
  })

  test('a patient is an adult on the 18th birthday, by the calendar of the address', async () => {
    const team = await createTestTeam()
    assert.equal((await orderWith(team, 'patient_details', { dob: await dayAt(team, -18, 0, 'America/Phoenix') })).status, 200)
  })

  test('an order for a minor in production is rejected unless the team has minor_ordering_enabled', async () => {
    const team = await createTestTeam('production-us')
    const dob = await dayAt(team, -10)
    for (const medical_proxy of [proxy, undefined]) {
      const { status, body } = await orderWith(team, 'patient_details', { dob, medical_proxy })
      assert.deepEqual([status, body], [400, notEnabled])
    }
    await team.db.queries.run(
      sql`update team set settings = settings || '{"minor_ordering_enabled": true}' where id = ${team.team}`,
    )
    guard.invalidate(team.team)
    assert.deepEqual((await orderWith(team, 'patient_details', { dob })).body, needsProxy)
    assert.equal((await orderWith(team, 'patient_details', { dob, medical_proxy: proxy })).status, 200)
  })

  test('a medical proxy needs a name, an address and a phone number', async () => {
    const team = await createTestTeam()
    const dob = await dayAt(team, -10)
    const { status, body } = await orderWith(team, 'patient_details', { dob, medical_proxy: { address: { city: 'Phoenix' } } })
    assert.equal(status, 422)
    assert.deepEqual(
      faultsOf(body),
      ['first_name', 'last_name', 'address.first_line', 'address.state', 'address.zip', 'address.country', 'phone_number'].map(
        (field) => `patient_details.medical_proxy.${field} missing`,
      ),
    )
  })
})

describe('clinical notes', () => {
  for (const field of ['clinical_notes', 'comments'])
    test(`clinical notes have at most 1,000 characters and can be sent as ${field}`, async () => {
      const team = await createTestTeam()
      const notes = `${'é'.repeat(998)}\n2`
      assert.equal((await createOrder(team, { [field]: notes })).clinical_notes, notes)
      const { status, body } = await team.api.post('/v3/order', await orderBody(team, { [field]: 'a'.repeat(1001) }))
      assert.deepEqual([status, faultsOf(body)], [422, ['clinical_notes string_too_long']])
    })
})

test('a physician needs a name and an NPI, which is not verified', async () => {
  const team = await createTestTeam()
  for (const npi of ['0', '123', '1234567890', '1234567893'])
    assert.deepEqual((await createOrder(team, { physician: { first_name: 'Medica', last_name: 'F', npi } })).physician, {
      first_name: 'Medica',
      last_name: 'F',
      npi,
    })
  const { status, body } = await team.api.post('/v3/order', await orderBody(team, { physician: { npi: 123 } }))
  assert.equal(status, 422)
  assert.deepEqual(faultsOf(body), ['physician.first_name missing', 'physician.last_name missing', 'physician.npi string_type'])
})
