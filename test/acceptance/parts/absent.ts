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
      'user.refresh': () => sdk.user.refresh({ userId: NOBODY }),
      'sleep.get': () => sdk.sleep.get({ userId: NOBODY, startDate: '2024-01-01' }),
      'vitals.heartrateGrouped': () => sdk.vitals.heartrateGrouped({ userId: NOBODY, startDate: '2024-01-01' }),
      'aggregate.getTaskHistoryForContinuousQuery': () =>
        sdk.aggregate.getTaskHistoryForContinuousQuery({ userId: NOBODY, queryIdOrSlug: 'x' }),
      'labReport.parserGetJob': () => sdk.labReport.parserGetJob({ jobId: NOBODY }),
    }
    for (const [name, call] of Object.entries(calls))
      test(name, async () => {
        assert.deepEqual((await refused(call(), 404)).body, { detail: 'Not Found' })
      })
  })
