// What the bench of links works with: accounts with live links in the cell of the demo team, and orders that await their results.
import { contentsWith } from '../src/app/contents.ts'
import { saveLink, setLinkMode } from '../src/lab/accounts/account-links.ts'
import { createAccount } from '../src/lab/accounts/accounts.ts'
import type { ExpectedMarker } from '../src/lab/catalog/analytes.ts'
import { billingTypes } from '../src/lab/catalog/enums.ts'
import { expectedResults } from '../src/lab/catalog/lab-tests.ts'
import { updateOrder } from '../src/lab/orders/change-order.ts'
import { expectations } from '../src/lab/results/expected-results.ts'
import { usStates } from '../src/people/person/countries.ts'
import { generateVaultKey, Vault } from '../src/platform/crypto/vault.ts'
import { Cells } from '../src/platform/db/cells.ts'
import type { CellName } from '../src/settings/cells.ts'
import { loadTenant } from '../src/tenancy/teams/teams.ts'
import { PATIENT, type BenchOrder } from './link-messages.ts'
import { address, type Bench } from './program.ts'

const CELL: CellName = 'sandbox-us'
const AT_ONCE = 10
export const OBSERVATIONS = 20

export interface LinkBench extends Bench {
  /** Creates an account with a link in mode live. @returns its id */
  createLink: (transport: Record<string, unknown>, receiver_facility?: string) => Promise<string>
  /** Creates orders under an account. */
  createOrders: (account: string, count: number) => Promise<string[]>
  /** Creates orders that the laboratory has accepted. */
  createAcceptedOrders: (account: string, count: number) => Promise<BenchOrder[]>
  markers: ExpectedMarker[]
  close: () => Promise<void>
}

/** Prepares the demo team: a test with 20 results, and a user. */
export async function prepareLinks(bench: Bench): Promise<LinkBench> {
  const { api, connection, demo, team } = bench
  const options = { connection, connections_max: 4, checkRows: false }
  const cells = new Cells(options, new Map([[CELL, options]]))
  const db = cells.db(CELL)
  const vaultKeys = [generateVaultKey()]
  const settings = { support_email: '', webhook_schedule_s: [0], lab_listen: [] }
  db.hooks = contentsWith({ settings, vault: new Vault(() => vaultKeys), publicUrl: () => '' }).hooks
  const tenant = (await loadTenant(cells, CELL, team))!
  const lab_test_id = await createTestOf20(bench)
  const markers = await db.tx(tenant, (tx) => expectedResults(tx, lab_test_id))
  if (expectations(markers).length !== OBSERVATIONS) throw new Error(`the test has ${expectations(markers).length} results`)
  const { user_id } = await api('POST', '/v2/user', { client_user_id: `bench-links-${performance.now()}` })
  const order = {
    user_id,
    lab_test_id,
    patient_details: { ...PATIENT, phone_number: '+15550100199', email: 'testa@example.com' },
    patient_address: address,
  }
  const createOrders: LinkBench['createOrders'] = async (account, count) => {
    const ids: string[] = []
    const create = async () => {
      while (ids.length < count) {
        const place = ids.push('') - 1
        ids[place] = (await api('POST', '/v3/order', { ...order, lab_account_id: account })).order.id
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, create))
    return ids
  }
  let accounts = 0
  return {
    ...bench,
    markers,
    createLink: (transport, receiver_facility) =>
      db.plainTx(async (tx) => {
        const id = await createAccount(tx, {
          lab: 'quest',
          org_id: demo.org_id,
          provider_account_id: `BENCH-${++accounts}-${Math.round(performance.now())}`,
          allowed_billing: Object.fromEntries(billingTypes.map((type) => [type, usStates])),
          team_ids: [team],
        })
        await saveLink(tx, id, {
          identity: { ...(receiver_facility !== undefined && { receiver_facilities: [receiver_facility] }) },
          transport,
          text: { decimal_mark: '.', time_zone: 'America/New_York' },
          results: { reports: 'incremental' },
        })
        await setLinkMode(tx, id, 'live')
        return id
      }),
    createOrders,
    createAcceptedOrders: async (account, count) => {
      const ids = await createOrders(account, count)
      const accept = (id: string) =>
        db.tx(tenant, async (tx) => {
          const sample_id = `BENCH-${id}`
          await updateOrder(tx, id, (lockedOrder) => {
            lockedOrder.order.sample_id = sample_id
            lockedOrder.transitionTo('requisition_created')
          })
          return { id, sample_id }
        })
      const accepted: BenchOrder[] = []
      for (let i = 0; i < ids.length; i += AT_ONCE) accepted.push(...(await Promise.all(ids.slice(i, i + AT_ONCE).map(accept))))
      return accepted
    },
    close: () => cells.close(),
  }
}

/** A lab test whose markers have 20 results together, and no questions. */
async function createTestOf20({ api }: Bench): Promise<string> {
  const marker_ids: number[] = []
  // Markers share results.
  const slugs = new Set<string>()
  for (let page = 1; slugs.size < OBSERVATIONS && page < 10; page++) {
    const { markers } = await api('GET', `/v3/lab_tests/markers?lab_slug=quest&a_la_carte_enabled=true&size=100&page=${page}`)
    for (const { id, aoe, expected_results } of markers as OfferedMarker[]) {
      const additions = expected_results.filter(({ slug }) => !slugs.has(slug))
      if (aoe?.questions.length || additions.length === 0 || slugs.size + additions.length > OBSERVATIONS) continue
      marker_ids.push(id)
      for (const { slug } of additions) slugs.add(slug)
    }
  }
  const { id } = await api('POST', '/v3/lab_tests', {
    name: `Bench of ${OBSERVATIONS} results`,
    description: 'For the bench of links',
    method: 'walk_in_test',
    marker_ids,
  })
  return id
}

interface OfferedMarker {
  id: number
  aoe: { questions: unknown[] } | null
  expected_results: { slug: string }[]
}
