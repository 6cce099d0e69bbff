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
      'labTests.listUnmatchedResults': () => sdk.labTests.listUnmatchedResults({}),
      'labReport.parserGetJob': () => sdk.labReport.parserGetJob({ jobId: NOBODY }),
    }
    for (const [name, call] of Object.entries(calls))
      test(name, async () => {
        assert.deepEqual((await refused(call(), 404)).body, { detail: 'Not Found' })
      })
  })
