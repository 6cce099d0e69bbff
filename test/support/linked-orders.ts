// Orders under the account of a link, and what their laboratory sends.
import { expectedResults } from '../../src/lab/catalog/lab-tests.ts'
import type { ProfileOptions } from '../../src/lab/links/profile/link-profile.ts'
import type { LinkMessage } from '../../src/lab/links/link-message.ts'
import { expectations } from '../../src/lab/results/expected-results.ts'
import { labLink, messageFor, observation, observedTest, receiveBytes, toBytes } from './link-messages.ts'
import { getOrder } from './orders.ts'
import { acceptedOrder } from './results.ts'
import { createTestTeam } from './server.ts'

/** A team with a link, and an order under the account of this link that awaits its result. */
export async function linkedOrder(changes: ProfileOptions = {}) {
  const team = await createTestTeam()
  const account = await labLink(team, changes)
  const order = await acceptedOrder(team, 'walk_in_test', { lab_account_id: account })
  const expected = expectations(await team.db.tx(team.tenant, (tx) => expectedResults(tx, order.lab_test.id)))
  return {
    team,
    account,
    order,
    expected,
    /** A message with a value for everything that the order expects. */
    complete: (value = '5', overrides: Partial<LinkMessage> = {}) => {
      const codes = [...new Set(expected.map((item) => item.source_markers[0]!.provider_id!))]
      const tests = codes.map((code) => {
        const items = expected.filter((item) => item.source_markers[0]!.provider_id === code)
        const observations = items.map((item) =>
          observation(item.provider_id ?? item.slug, value, { ...(item.loinc && { loinc: item.loinc }) }),
        )
        return observedTest({ code, observations })
      })
      return messageFor(order, tests, overrides)
    },
    send: (message: unknown) => receiveBytes(team, account, toBytes(message)),
    status: async () => (await getOrder(team, order.id)).last_event.status.split('.').at(-1),
    result: async () => (await team.api.get(`/v3/order/${order.id}/result`)).body,
  }
}
