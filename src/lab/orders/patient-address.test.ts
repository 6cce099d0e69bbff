// The address of a patient: which spellings an order accepts, and how it is shown. Source: lab-testing.md 5.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'
import { orderWith, faultsOf } from '../../../test/support/patients.ts'

describe('the address of a patient', () => {
  test('address fields are accepted under their alternative names', async () => {
    const { status, body } = await orderWith(await createTestTeam(), 'patient_address', {
      first_line: undefined,
      zip: undefined,
      street: '2 Sample Way',
      street_number: 'Unit 3',
      zip_code: '85004-1234',
    })
    assert.equal(status, 200)
    const { first_line, second_line, zip } = body.order.patient_address
    assert.deepEqual([first_line, second_line, zip], ['2 Sample Way', 'Unit 3', '85004-1234'])
    assert.ok(!('street' in body.order.patient_address))
  })

  test('the country is shown by its full name for every accepted spelling', async () => {
    const team = await createTestTeam()
    for (const [country, shown] of [
      ['US', 'United States'],
      ['us', 'United States'],
      ['USA', 'United States'],
      ['U.S.', 'United States'],
      ['U.S.A.', 'United States'],
      ['United States', 'United States'],
      ['united states of america', 'United States'],
      [' US ', 'United States'],
      ['CA', 'Canada'],
      ['canada', 'Canada'],
      ['DE', 'Germany'],
    ] as const) {
      const { status, body } = await orderWith(team, 'patient_address', { country })
      assert.deepEqual([status, body.order?.patient_address.country], [200, shown], country)
    }
    for (const country of ['XX', 'ZZ', 'Atlantis', 'EU', '1', ' ']) {
      const { status, body } = await orderWith(team, 'patient_address', { country })
      assert.deepEqual([status, faultsOf(body)], [422, ['patient_address.country value_error']], country)
    }
  })

  test('a US state is stored as its two-letter code for every accepted spelling, and other countries accept any state', async () => {
    const team = await createTestTeam()
    for (const [state, shown] of [
      ['AZ', 'AZ'],
      ['az', 'AZ'],
      ['Arizona', 'AZ'],
      ['ARIZONA', 'AZ'],
      [' new york ', 'NY'],
      ['DC', 'DC'],
      ['District of Columbia', 'DC'],
      ['Puerto Rico', 'PR'],
    ] as const) {
      const { status, body } = await orderWith(team, 'patient_address', { state })
      assert.deepEqual([status, body.order?.patient_address.state], [200, shown], state)
    }
    for (const state of ['ZZ', 'Ontario', 'A', 'Arizonaa']) {
      const { status, body } = await orderWith(team, 'patient_address', { state })
      assert.deepEqual([status, faultsOf(body)], [422, ['patient_address.state value_error']], state)
    }
    const { body } = await orderWith(team, 'patient_address', { state: 'Ontario', country: 'CA' })
    assert.equal(body.order.patient_address.state, 'Ontario')
  })

  test('a US ZIP code has five or nine digits', async () => {
    const team = await createTestTeam()
    for (const zip of ['85004', '85004-1234']) assert.equal((await orderWith(team, 'patient_address', { zip })).status, 200)
    for (const zip of ['', '8500', '850045', '85004-', '85004-123', '85004 1234', 'ABCDE', '٨٥٠٠٤', '85004\n']) {
      const { status, body } = await orderWith(team, 'patient_address', { zip })
      assert.deepEqual([status, faultsOf(body)], [422, ['patient_address.zip string_pattern_mismatch']], zip)
    }
  })

  for (const field of ['first_line', 'city', 'state', 'zip', 'country'])
    test(`the address requires ${field}`, async () => {
      const { status, body } = await orderWith(await createTestTeam(), 'patient_address', { [field]: undefined })
      assert.deepEqual([status, faultsOf(body)], [422, [`patient_address.${field} missing`]])
    })

  test('access notes have at most 1,000 characters, and receiver name and phone number are shown as given', async () => {
    const team = await createTestTeam()
    const given_ = { access_notes: '🚪'.repeat(1000), receiver_name: 'Testa', phone_number: '555 0100' }
    const { status, body } = await orderWith(team, 'patient_address', given_)
    assert.equal(status, 200)
    const { access_notes, receiver_name, phone_number } = body.order.patient_address
    assert.deepEqual({ access_notes, receiver_name, phone_number }, given_)
    const long = await orderWith(team, 'patient_address', { access_notes: 'a'.repeat(1001) })
    assert.deepEqual([long.status, faultsOf(long.body)], [422, ['patient_address.access_notes string_too_long']])
  })
})
