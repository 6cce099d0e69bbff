// Addresses that can be visited. Source: lab-testing.md 19.3.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { homeOrder, street, usAddress, visitCalls, createAtHomeTeam } from '../../../test/support/home-visits.ts'
import type { TestTeam } from '../../../test/support/server.ts'
import { hasStreetAddress } from './visit-location.ts'

const door = { detail: 'The address must have a street and a house number.' }
const addressAt = (first_line: string, second_line?: string) => ({ ...street, first_line, ...(second_line && { second_line }) })

const offers = async ({ api }: TestTeam, first_line: string, second_line?: string) =>
  api.post('/v3/order/phlebotomy/appointment/availability', {
    ...usAddress(street),
    first_line,
    ...(second_line && { second_line }),
  })

const numbered: [string, string?][] = [
  ['1 West Lincoln Street'],
  ['1 W Lincoln St'],
  ['1 w. lincoln st.'],
  ['12A West Lincoln St', 'Apt 4'],
  ['12-14 W. Lincoln Street'],
  ['West Lincoln Street 100'],
  ['West Lincoln Street', '100'],
]
const unnumbered: [string, string?][] = [
  ['West Lincoln Street'],
  ['W Lincoln St', 'Apt 4'],
  ['West Lincoln Street Apt 4'],
  ['5th West Lincoln Street'],
]

describe('an address with a house number', () => {
  for (const cell of ['sandbox-us', 'production-us'] as const)
    test(`accepts abbreviated streets and rejects a missing house number, in availability and in bookings: ${cell}`, async () => {
      const team = await createAtHomeTeam(cell)
      const { slots } = (await offers(team, '1 West Lincoln Street')).body
      const { booking_key } = slots.at(-1).slots[0]
      for (const [first, second] of unnumbered) {
        const offer = await offers(team, first, second)
        assert.deepEqual([offer.status, offer.body], [400, door], first)
        const order = await homeOrder(team, { patient_address: addressAt(first, second) })
        const booked = await visitCalls(team, order).book(booking_key)
        assert.deepEqual([booked.status, booked.body], [400, door], first)
      }
      for (const [first, second] of numbered) assert.equal((await offers(team, first, second)).status, 200, first)
      const order = await homeOrder(team, { patient_address: addressAt('1 W Lincoln St') })
      assert.equal((await visitCalls(team, order).book(booking_key)).status, 200)
    })

  test('recognizes the number of a house, not that of a road, a box or an apartment', () => {
    const reachable = (first_line: string, second_line: string | null = null) =>
      hasStreetAddress({
        first_line,
        second_line,
        city: 'Phoenix',
        state: 'AZ',
        zip_code: '85004',
        unit: null,
        access_notes: null,
      })
    for (const line of [
      '100 Highway 61',
      '5 4th Street',
      'N6W23001 Bluemound Road',
      '12 1/2 Sample Way',
      'Calle Sol #12',
      'Sample Way 12 B',
    ])
      assert.equal(reachable(line), true, line)
    for (const line of ['Highway 61', '4th Street', 'PO Box 12', '12', 'Sample Way Suite 7', 'County Road 5', '']) {
      assert.equal(reachable(line), false, line)
      assert.equal(reachable(line, 'Apt 4'), false, line)
    }
    assert.equal(reachable('12 Sample Way', 'P.O. Box 7'), false)
  })
})
