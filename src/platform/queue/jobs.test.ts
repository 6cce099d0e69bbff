// Jobs on a real cell, with handlers of the tests: who runs one, how often, and what it commits.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterEach, describe, test } from 'node:test'
import { defineHandler } from './outbox.ts'
import { T } from '../schema/schema.ts'
import { sql } from '../db/sql.ts'
import { createTestTeam, guard } from '../../../test/support/server.ts'
import {
  stopWorkers,
  work,
  working,
  queue,
  rowsOf,
  runJobsNow,
  waitUntil,
  waitForJobs,
  effect,
} from '../../../test/support/jobs.ts'

afterEach(stopWorkers)

describe('a job', { concurrency: 1 }, () => {
  test('the lease of a job is renewed while its handler runs, so that no other worker runs it', async () => {
    const team = await createTestTeam()
    let calls = 0
    const finish = Promise.withResolvers<void>()
    await queue(team)
    const handler = defineHandler(work, async (context) => {
      calls++
      await finish.promise
      await effect(context, 0)
    })
    working([handler], { lease_s: 1 })
    working([handler], { lease_s: 1 })
    await waitUntil('it runs', () => calls === 1)
    const first = (await rowsOf(team))[0]!
    const leases = new Set([first.leased_until])
    await waitUntil('the lease is renewed six times', async () => leases.add((await rowsOf(team))[0]!.leased_until).size > 6)
    finish.resolve()
    await waitForJobs(team)
    assert.deepEqual([calls, await team.events()], [1, ['test.effect.0']])
  })

  test('a job that is claimed again, by another owner or by the same, is not changed by the previous claim', async () => {
    const ways = ['succeeds', 'fails'].flatMap((outcome) => [true, false].map((isSame) => ({ outcome, isSame })))
    for (const { outcome, isSame } of ways) {
      const team = await createTestTeam()
      const finish = Promise.withResolvers<void>()
      let calls = 0
      await queue(team)
      // The first owner neither renews its lease nor notices that it has ended.
      const first = working(
        [
          defineHandler(work, async () => {
            calls++
            await finish.promise
            if (outcome === 'fails') throw new Error('late')
          }),
        ],
        { tick_ms: 0 },
      )
      await waitUntil('the first owner runs it', () => calls === 1)
      await team.db.queries.run(
        sql`update job set owner = ${isSame ? sql`owner` : randomUUID()}, fence = fence + 1, attempts = 2, leased_until = leased_until + interval '1 hour' where team_id = ${team.team}`,
      )
      const claimed = await rowsOf(team)
      finish.resolve()
      await first.stop()
      assert.deepEqual(await rowsOf(team), claimed, `${outcome}, ${isSame ? 'the same' : 'another'} owner`)
    }
  })

  test('a job commits nothing when its lease has ended', async () => {
    const team = await createTestTeam()
    const outcomes: string[] = []
    await queue(team)
    working(
      [
        defineHandler(work, async (context) => {
          await team.db.queries.run(sql`update job set leased_until = statement_timestamp() where team_id = ${team.team}`)
          for (const write of [
            () => effect(context, 1),
            () => context.tx(async (tx) => tx.defer(sql`update team set settings = '{}' where id = ${tx.team}`)),
          ])
            outcomes.push(
              await write().then(
                () => 'committed',
                (error: Error) => error.name,
              ),
            )
        }),
      ],
      { tick_ms: 0, lease_s: 3600 },
    )
    await waitUntil('both were tried', () => outcomes.length === 2)
    assert.deepEqual([outcomes, await team.events()], [['LeaseLost', 'LeaseLost'], []])
  })

  test('a job in an open transaction of its owner is not claimed by another one, even when its lease has ended', async () => {
    const team = await createTestTeam()
    let calls = 0
    const [began, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const handler = defineHandler(work, async (context) => {
      calls++
      await context.tx(async (tx) => {
        await tx.run(sql`update team set settings = settings where id = ${tx.team}`)
        began.resolve()
        await finish.promise
      })
    })
    await queue(team)
    working([handler], { tick_ms: 0 })
    await began.promise
    await team.db.queries.run(sql`update job set leased_until = statement_timestamp() where team_id = ${team.team}`)
    let looked = 0
    working([handler], { tenantOf: guard.tenant })
    for (; looked < 20; looked++) {
      await createTestTeam()
      assert.equal(calls, 1)
    }
    finish.resolve()
    await waitUntil('the first owner is done', async () => (await rowsOf(team)).length === 0 || calls === 2)
  })

  test('a job starts as soon as a slot is free, without waiting for other jobs to end', async () => {
    const team = await createTestTeam()
    const others = Promise.withResolvers<void>()
    let done = 0
    const handler = defineHandler(work, async (_context, { n }) => {
      if (n === 0) await others.promise
      else done++
    })
    await queue(team, 60)
    working([handler])
    await waitUntil('all others are done', () => done === 59)
    others.resolve()
    await waitForJobs(team)
  })

  test('a failing job is attempted as often as its kind allows, each under a fence of its own, then stays failed with its last error class and code', async () => {
    const team = await createTestTeam()
    let calls = 0
    const fences: number[] = []
    await queue(team)
    working([
      defineHandler(work, async () => {
        fences.push((await rowsOf(team))[0]!.fence)
        calls++
        throw Object.assign(new Error('Testa Fictional'), { code: 'E_TEST' })
      }),
    ])
    for (let attempt = 1; attempt <= 3; attempt++) {
      await waitUntil(`attempt ${attempt}`, () => calls === attempt)
      await waitUntil('its retry is scheduled', async () => (await rowsOf(team))[0]!.owner === null)
      await runJobsNow(team)
    }
    const [row] = await rowsOf(team)
    assert.deepEqual([row!.attempts, row!.last_error, row!.failed_at !== null, calls], [3, 'Error E_TEST', true, 3])
    assert.deepEqual(fences, [1, 2, 3])
  })

  test('a job whose process was killed in every attempt is not retried', async () => {
    const team = await createTestTeam()
    await queue(team)
    await team.db.queries.run(sql`update job set attempts = 3 where team_id = ${team.team}`)
    let calls = 0
    working([defineHandler(work, async () => void calls++)])
    await waitUntil('it failed', async () => (await rowsOf(team))[0]!.failed_at !== null)
    assert.deepEqual([calls, (await rowsOf(team))[0]!.last_error], [0, 'interrupted'])
  })

  test('a job without an attempt limit never fails permanently', async () => {
    const team = await createTestTeam()
    await queue(team)
    await team.db.queries.run(sql`update job set attempts = 5000 where team_id = ${team.team}`)
    working([
      defineHandler({ ...work, attempts_max: Infinity }, async () => {
        throw new Error('not yet')
      }),
    ])
    await waitUntil('its retry is scheduled', async () => (await rowsOf(team))[0]!.last_error === 'Error')
    const { pause_s } = await team.db.queries.one(
      T.Object({ pause_s: T.Number() }),
      sql`select round(extract(epoch from due_at - statement_timestamp()))::float8 as pause_s from job where team_id = ${team.team}`,
    )
    assert((await rowsOf(team))[0]!.failed_at === null && pause_s > 3500 && pause_s <= 3600, String(pause_s))
  })
})
