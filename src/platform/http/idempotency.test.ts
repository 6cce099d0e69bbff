// What is kept under an idempotency key, and what is not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'
import { badRequest, conflict } from './errors.ts'
import { withIdempotencyKey } from './idempotency.ts'
import { Problem, unavailable } from '../runtime/problem.ts'

test('an error that may pass is not kept, and the same key works afterwards; any other error is kept', async () => {
  const { db, tenant } = await createTestTeam()
  const done = { status: 200, text: '{"done":true}', user_ids: [] }
  for (const [error, kept] of [
    [unavailable('Try again'), undefined],
    [conflict('Not now'), undefined],
    [new Problem(429, { detail: 'Too many' }), undefined],
    [badRequest('Never'), { status: 400, text: '{"detail":"Never"}', user_ids: [] }],
  ] as const) {
    let runs = 0
    const run = () =>
      withIdempotencyKey(
        db,
        tenant,
        { scope: 'test', key: `answer ${error.status}`, retention_s: 60, storeFailures: true },
        {
          usersOfError: () => [],
          assertShown: async () => {},
          work: async () => {
            if (++runs === 1) throw error
            return done
          },
        },
      )
    if (kept) assert.deepEqual(await run(), kept)
    else await assert.rejects(run(), error)
    const { status, text, user_ids } = await run()
    assert.deepEqual({ status, text, user_ids }, kept ?? done, `after ${error.status}`)
    assert.equal(runs, kept ? 1 : 2)
  }
})
