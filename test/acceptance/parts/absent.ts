// What the SDK has a method for and the server does not offer: it says so, and in the form that clients read.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NOBODY, refused, type Customer } from '../client.ts'

export const absent = ({ sdk }: Customer): void =>
  void describe('what is not offered answers 404', () => {
    const calls: Record<string, () => Promise<unknown>> = {
      'link.token': () => sdk.link.token({ userId: NOBODY }),
      'link.getAllProviders': () => sdk.link.getAllProviders({ vitalLinkToken: 'x' }),
      'providers.getAll': () => sdk.providers.getAll({}),
      'user.getLatestUserInfo': () => sdk.user.getLatestUserInfo({ userId: NOBODY }),
      'user.refresh': () => sdk.user.refresh({ userId: NOBODY }),
      'sleep.get': () => sdk.sleep.get({ userId: NOBODY, startDate: '2024-01-01' }),
      'vitals.heartrateGrouped': () => sdk.vitals.heartrateGrouped({ userId: NOBODY, startDate: '2024-01-01' }),
      'aggregate.getTaskHistoryForContinuousQuery': () =>
        sdk.aggregate.getTaskHistoryForContinuousQuery({ userId: NOBODY, queryIdOrSlug: 'x' }),
      'compendium.search': () => sdk.compendium.search({ mode: 'canonical', query: 'glucose' }),
      'insurance.searchGetPayorInfo': () => sdk.insurance.searchGetPayorInfo({}),
      'labTests.create': () => sdk.labTests.create({ name: 'x', method: 'testkit', description: 'x', markerIds: [1] }),
      'labTests.updateLabTest': () => sdk.labTests.updateLabTest({ labTestId: NOBODY, name: 'x' }),
      'labTests.getMarkersForOrderSet': () => sdk.labTests.getMarkersForOrderSet({ body: { labTestIds: [NOBODY] } }),
      'labTests.importOrder': () =>
        sdk.labTests.importOrder({
          userId: NOBODY,
          billingType: 'client_bill',
          orderSet: { labTestIds: [NOBODY] },
          collectionMethod: 'testkit',
          sampleId: 'x',
          patientDetails: {
            firstName: 'A',
            lastName: 'B',
            dob: '1990-01-31',
            gender: 'female',
            phoneNumber: '+15550100199',
            email: 'a@example.com',
          },
          patientAddress: { receiverName: 'A B', firstLine: '1 Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
        }),
      'labTests.getAreaInfo': () => sdk.labTests.getAreaInfo({ zipCode: '85004' }),
      'labTests.getPscAppointmentAvailability': () => sdk.labTests.getPscAppointmentAvailability({ lab: 'quest' }),
      'labReport.parserGetJob': () => sdk.labReport.parserGetJob({ jobId: NOBODY }),
    }
    for (const [name, call] of Object.entries(calls))
      test(name, async () => {
        assert.deepEqual((await refused(call(), 404)).body, { detail: 'Not Found' })
      })
  })
