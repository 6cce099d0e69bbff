// What the SDK has a method for and the server does not offer: it says so, and in the form that clients read.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UNKNOWN_ID, assertRejected, type Customer } from '../client.ts'

export const unsupportedOperations = ({ sdk }: Customer): void =>
  void describe('what is not offered answers 404', () => {
    const calls: Record<string, () => Promise<unknown>> = {
      'labReport.parserGetJob': () => sdk.labReport.parserGetJob({ jobId: UNKNOWN_ID }),
    }
    for (const [name, call] of Object.entries(calls))
      test(name, async () => {
        assert.deepEqual((await assertRejected(call(), 404)).body, { detail: 'Not Found' })
      })
  })
