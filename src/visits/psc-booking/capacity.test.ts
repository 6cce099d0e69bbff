// Concurrent bookings of the last capacity of a slot, on a real database: the number of bookings equals the capacity.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertAgreement } from '../../../test/support/appointments.ts'
import { getAvailability, book, move, read, siteWithSchedule, slots, walkIn } from '../../../test/support/psc-booking.ts'
import { countLockWaiters } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { countBookingsLocked } from './capacity.ts'

const GONE = 'This appointment slot is no longer available. Please select a new time.'
const answers = (replies: { status: number; body: { detail?: string } }[]) => ({
  got: replies.filter(({ status }) => status === 200).length,
  gone: replies.filter(({ status, body }) => status === 404 && body.detail === GONE).length,
})

/** Returns the first slot of a site, and a number of orders of as many teams that may book it. */
async function rivals(code: string, places: number, count: number) {
  await siteWithSchedule(code, { places })
  const teams = await Promise.all(Array.from({ length: count }, () => createTestTeam('production-us')))
  return Promise.all(
    teams.map(async (team) => {
      const [id, free] = [await walkIn(team), await slots(team, `lab=quest&site_codes=${code}`)]
      return { team, id, key: free[40]!.booking_key!, next: free[41]!.booking_key! }
    }),
  )
}

describe('concurrent bookings of one slot', () => {
  for (const places of [1, 2])
    test(`exactly ${places} of six concurrent bookings succeed`, async () => {
      const all = await rivals(`LAST-${places}`, places, 6)
      const replies = await Promise.all(all.map(({ team, id, key }) => book(team, id, key)))
      assert.deepEqual(answers(replies), { got: places, gone: 6 - places })
      for (const [i, { team, id }] of all.entries()) {
        assert.equal((await read(team, id)).status, replies[i]!.status === 200 ? 200 : 404)
        await assertAgreement(team)
      }
    })

  test('a rescheduling and a booking of the same slot do not both succeed', async () => {
    const [mover, booker] = (await rivals('LAST-MOVE', 1, 2)) as [Rival, Rival]
    assert.equal((await book(mover.team, mover.id, mover.next)).status, 200)
    const replies = await Promise.all([move(mover.team, mover.id, mover.key), book(booker.team, booker.id, booker.key)])
    assert.deepEqual(answers(replies), { got: 1, gone: 1 })
    await assertAgreement(mover.team)
    await assertAgreement(booker.team)
  })

  test('the second booking waits for the first and counts after its commit', async () => {
    const [first, second] = (await rivals('LAST-WAIT', 1, 2)) as [Rival, Rival]
    const [slot] = await slots(first.team, 'lab=quest&site_codes=LAST-WAIT')
    const span = { start: new Date(slot!.start), end: new Date(slot!.end) }
    let reply: ReturnType<typeof book> | undefined
    await first.team.db.tx(first.team.tenant, async (tx) => {
      await countBookingsLocked(tx, 'quest', 'LAST-WAIT', span)
      reply = book(second.team, second.id, second.key)
      await countLockWaiters(1)
      assert.equal((await read(second.team, second.id)).status, 404)
    })
    assert.equal((await reply!).status, 200)
  })

  test('two concurrent bookings for the same order create one appointment', async () => {
    const [one] = (await rivals('LAST-TWICE', 5, 1)) as [Rival]
    const replies = await Promise.all([1, 2, 3].map(() => book(one.team, one.id, one.key)))
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 400, 400],
    )
    await assertAgreement(one.team)
  })

  test('booking an appointment while cancelling the order leaves both in agreement', async () => {
    const [one] = (await rivals('LAST-ORDER', 5, 1)) as [Rival]
    const [booked, cancelled] = await Promise.all([
      book(one.team, one.id, one.key),
      one.team.api.post(`/v3/order/${one.id}/cancel`),
    ])
    assert.equal(cancelled.status, 200)
    assert([200, 400].includes(booked.status))
    await assertAgreement(one.team)
  })
})

interface Rival {
  team: TestTeam
  id: string
  key: string
  next: string
}

test('availability shows the remaining capacity', async () => {
  const [one] = (await rivals('COUNT-1', 3, 1)) as [Rival]
  await book(one.team, one.id, one.key)
  const free = await slots(one.team, 'lab=quest&site_codes=COUNT-1')
  const { body } = await read(one.team, one.id)
  assert.deepEqual(
    free.filter(({ num_appointments_available: n }) => n !== 3).map(({ start, num_appointments_available: n }) => [start, n]),
    [[body.start_at, 2]],
  )
  assert.equal((await getAvailability(one.team, 'lab=quest&site_codes=COUNT-1')).status, 200)
})
