// Measures how long a laboratory's report takes: record, match, flag, apply to its order, emit the event.
import { contentsWith } from '../src/app/contents.ts'
import { receiveForTeam } from '../src/lab/result-matching/receive.ts'
import { loadTenant } from '../src/tenancy/teams/teams.ts'
import { updateOrder } from '../src/lab/orders/change-order.ts'
import { Cells } from '../src/platform/db/cells.ts'
import { generateVaultKey, Vault } from '../src/platform/crypto/vault.ts'
import type { CellName } from '../src/settings/cells.ts'
import type { Connection } from '../src/platform/db/database.ts'
import { expectedResults } from '../src/lab/catalog/lab-tests.ts'
import { expectations } from '../src/lab/results/expected-results.ts'
import type { Api } from './program.ts'

const PATIENT = { first_name: 'Testa', last_name: 'Fictional', dob: '1990-01-31', gender: 'female' }
const CELL: CellName = 'sandbox-us'

/** A test of so many markers of one laboratory, and an order for it. */
async function orders(api: Api, markers_count: number, count: number): Promise<{ ids: string[]; lab_test_id: string }> {
  const marker_ids: number[] = []
  for (let page = 1; marker_ids.length < markers_count && page < 10; page++) {
    const { markers } = await api('GET', `/v3/lab_tests/markers?lab_slug=quest&a_la_carte_enabled=true&size=100&page=${page}`)
    for (const { id, aoe } of markers as { id: number; aoe: { questions: unknown[] } | null }[])
      if (!aoe?.questions.length) marker_ids.push(id)
  }
  const { id: lab_test_id } = await api('POST', '/v3/lab_tests', {
    name: 'Bench of many markers',
    description: 'For the bench',
    method: 'walk_in_test',
    marker_ids: marker_ids.slice(0, markers_count),
  })
  const { user_id } = await api('POST', '/v2/user', { client_user_id: 'bench-intake' })
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const body = {
      user_id,
      lab_test_id,
      patient_details: { ...PATIENT, phone_number: '+15550100199', email: 'testa@example.com' },
      patient_address: { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
    }
    ids.push((await api('POST', '/v3/order', body)).order.id)
  }
  return { ids, lab_test_id }
}

/** The time in ms of each intake, and how many results a report has. */
export async function measureResultIntake(
  connection: Connection,
  team: string,
  api: Api,
  { markers, count }: { markers: number; count: number },
): Promise<{ times_ms: number[]; results: number }> {
  const { ids, lab_test_id } = await orders(api, markers, count)
  const options = { connection, connections_max: 2, checkRows: false }
  const cells = new Cells(options, new Map([[CELL, options]]))
  try {
    const db = cells.db(CELL)
    // As the commands of results have it.
    const vaultKeys = [generateVaultKey()]
    const settings = { support_email: '', webhook_schedule_s: [0], lab_listen: [] }
    db.hooks = contentsWith({ settings, vault: new Vault(() => vaultKeys), publicUrl: () => '' }).hooks
    const tenant = (await loadTenant(cells, CELL, team))!
    const expected = expectations(await db.tx(tenant, (tx) => expectedResults(tx, lab_test_id)))
    const results = expected.map(({ definition: _definition, required: _required, ...item }) => ({
      ...item,
      type: 'numeric' as const,
      result: '5',
      unit: null,
      reference_range: '1-10',
      flag: '',
      notes: null,
    }))
    const times_ms: number[] = []
    for (const id of ids) {
      const sample_id = `BENCH-${id}`
      await db.tx(tenant, (tx) =>
        updateOrder(tx, id, (lockedOrder) => {
          lockedOrder.order.sample_id = sample_id
          lockedOrder.transitionTo('requisition_created')
        }),
      )
      const report = {
        status: 'final' as const,
        amended: false,
        specimen_number: sample_id,
        collected_at: null,
        received_at: null,
        reported_at: '2030-01-04T10:00:00Z',
        performing_laboratory: null,
        results,
        missing: [],
      }
      const delivery = {
        lab_slug: 'quest',
        link: null,
        message_id: sample_id,
        sample_id,
        numbers: [],
        account_number: null,
        patient: PATIENT,
        report,
      }
      const started = performance.now()
      const { status } = await db.tx(tenant, (tx) => receiveForTeam(tx, delivery))
      times_ms.push(performance.now() - started)
      if (status !== 'matched') throw new Error(`matching ended with status ${status}`)
    }
    return { times_ms, results: results.length }
  } finally {
    await cells.close()
  }
}
