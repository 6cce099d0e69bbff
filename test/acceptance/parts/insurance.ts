// Demographics, payors, diagnoses and insurances through the SDK.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Junction } from '@junction-api/sdk'
import { fieldErrors, home, UNKNOWN_ID, patient, assertRejected, type Customer } from '../client.ts'

export const insurance = ({ sdk, user }: Customer): void =>
  void describe('insurance', () => {
    const described = async (): Promise<string> => {
      const { userId } = await user()
      await sdk.user.upsertUserInfo({ userId, ...patient, address: home })
      return userId
    }
    const policy = {
      payorCode: 'AETNA',
      memberId: 'FICTIONAL-1',
      relationship: 'Self',
      insured: { ...patient, address: home },
    } as const

    test('demographics are kept, changed and read', async () => {
      const { userId } = await user()
      await assertRejected(sdk.user.getLatestUserInfo({ userId }), 404)
      const made = await sdk.user.upsertUserInfo({ userId, ...patient, address: home, race: 'asian' })
      assert.equal(made.address.country, 'United States')
      const changed = await sdk.user.upsertUserInfo({ userId, ...patient, lastName: 'Renamed', address: home })
      assert.deepEqual([changed.lastName, changed.race], ['Renamed', null])
      assert.deepEqual(await sdk.user.getLatestUserInfo({ userId }), changed)
      const error = await assertRejected(sdk.user.upsertUserInfo({ userId, ...patient, firstName: ' ', address: home }), 422)
      assert(error instanceof Junction.UnprocessableEntityError)
      assert.deepEqual(fieldErrors(error), ['body.first_name'])
    })

    test('payors are searched, and one of the team’s own is added', async () => {
      const [aetna] = await sdk.insurance.searchGetPayorInfo({ insuranceName: 'Aetna' })
      assert.deepEqual([aetna?.payorCode, aetna?.source], ['AETNA', 'platform'])
      const [same] = await sdk.insurance.searchPayorInfo({ provider: 'availity', providerId: '60054' })
      assert.equal(same?.code, 'AETNA')
      const name = `Fictional Mutual ${UNKNOWN_ID.slice(-4)}-${performance.now()}`
      const made = await sdk.payor.createPayor({ name, address: home })
      assert.equal(made.source, 'team')
      const found = await sdk.insurance.searchGetPayorInfo({ insuranceName: name })
      assert.deepEqual(
        found.map(({ payorCode }) => payorCode),
        [made.payorCode],
      )
      await assertRejected(sdk.payor.createPayor({ name: 'Aetna', address: home }), 400)
      await assertRejected(sdk.insurance.searchGetPayorInfo(), 422)
    })

    test('diagnoses are searched and held against each other', async () => {
      const [first] = await sdk.insurance.searchDiagnosis({ diagnosisQuery: 'E11.9' })
      assert.deepEqual([first?.diagnosisCode, first?.isSecondary], ['E11.9', false])
      const { valid, errors, violations } = await sdk.labTests.validateIcdCodes({ codes: ['E11.9', 'E10.9', 'nonsense'] })
      assert.deepEqual([valid, errors.length, violations[0]?.conflictsWith], [false, 1, 'E11.9'])
    })

    test('an insurance is added to a user who is known, and the newest is read', async () => {
      const userId = await described()
      await assertRejected(sdk.user.getLatestInsurance({ userId }), 404)
      const made = await sdk.user.createInsurance({ userId, ...policy })
      assert.deepEqual([made.company.name, made.isPrimary, made.insured.firstName], ['Aetna', true, 'Testa'])
      const medicare = await sdk.user.createInsurance({ userId, ...policy, payorCode: 'MEDFED', isPrimary: false })
      assert.equal(medicare.payorCode, 'MEDICARE-AZ')
      assert.deepEqual(await sdk.user.getLatestInsurance({ userId }), made)
      assert.deepEqual(await sdk.user.getLatestInsurance({ userId, isPrimary: false }), medicare)
      await assertRejected(sdk.user.createInsurance({ userId, ...policy, payorCode: 'nobody' }), 400)
      await assertRejected(sdk.user.createInsurance({ userId: (await user()).userId, ...policy }), 400)
    })
  })
