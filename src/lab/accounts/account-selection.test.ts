// Selecting the lab account of an order: every rule and its effect.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { AccountChange } from './accounts.ts'
import { updateAccount } from './accounts.ts'
import { sql } from '../../platform/db/sql.ts'
import { allStates, kitLab, labAccount, platformAccount } from '../../../test/support/lab-accounts.ts'
import { address, kit, orderBody, patient, createOrder, registration } from '../../../test/support/orders.ts'
import { createTestTeam, guard, settings, type TestTeam } from '../../../test/support/server.ts'

const attempt = async (team: TestTeam, changes: Record<string, unknown> = {}) => {
  const { status, body } = await team.api.post('/v3/order', await orderBody(team, changes))
  return status === 200 ? [200, body.order.lab_account_id] : [status, body.detail]
}
const change = (team: TestTeam, id: string, changes: AccountChange) => team.db.plainTx((tx) => updateAccount(tx, id, changes))
const physician = { first_name: 'Phyllis', last_name: 'Fictional', npi: '1234567890' }

/** The error for accounts of which none is active, with the command that activates one. */
const noneActive = (id: string, cell = 'sandbox-us'): string =>
  `The team has no active lab account for this lab. The operator activates one with: bin/drawbridge lab-account update ${id} --cell ${cell} --status active`

describe('orders without lab_account_id', () => {
  test('an order uses the platform account if the team has no account at the lab', async () => {
    const team = await createTestTeam()
    const platform = await platformAccount(team, await kitLab(team))
    await labAccount(team, { lab: 'mtl' })
    assert.deepEqual(await attempt(team), [200, platform])
    const { id, lab_account_id } = await kit(team)
    assert.equal(lab_account_id, platform)
    assert.equal((await team.api.get(`/v3/order/${id}`)).body.lab_account_id, platform)
  })

  test('an order uses the only active account linked to the team, immediately after linking', async () => {
    const team = await createTestTeam()
    await createOrder(team)
    const own = await labAccount(team)
    const pending = await labAccount(team, { status: 'pending' })
    assert.deepEqual(await attempt(team), [200, own])
    await team.manage.patch(`/lab_account/sandbox/us/${own}`, { team_id_allowlist: [] })
    assert.deepEqual(await attempt(team), [400, noneActive(pending)])
  })

  test('an order without lab_account_id is rejected if several accounts match', async () => {
    const team = await createTestTeam()
    const first = await labAccount(team)
    await labAccount(team)
    assert.deepEqual(await attempt(team), [400, 'Several lab accounts match this order; specify lab_account_id'])
    assert.deepEqual(await attempt(team, { lab_account_id: first }), [200, first])
  })

  for (const status of ['pending', 'suspended', 'ready_to_launch'] as const)
    test(`an order does not fall back to the platform account if the team's own account is ${status}`, async () => {
      const team = await createTestTeam()
      const own = await labAccount(team, { status })
      assert.deepEqual(await attempt(team), [400, noneActive(own)])
      await change(team, own, { status: 'active' })
      assert.deepEqual(await attempt(team), [200, own])
    })

  test('an order is rejected if the platform has no active account either', async () => {
    const team = await createTestTeam('production-eu')
    const id = await platformAccount(team, await kitLab(team))
    await change(team, id, { status: 'suspended' })
    const refused = await attempt(team)
    await change(team, id, { status: 'active' })
    assert.deepEqual(refused, [400, noneActive(id, 'production-eu')])
    assert.deepEqual(await team.events(), [])
  })
})

describe('orders with lab_account_id', () => {
  test('an order or kit uses the named account, given at the top level or in the order set, including a platform account', async () => {
    const team = await createTestTeam()
    const [first, second] = [await labAccount(team), await labAccount(team)]
    const lab_test_id = await team.test()
    const platform = await platformAccount(team, await kitLab(team))
    assert.deepEqual(await attempt(team, { lab_account_id: first }), [200, first])
    assert.deepEqual(await attempt(team, { order_set: { lab_test_ids: [lab_test_id], lab_account_id: second } }), [200, second])
    assert.equal((await kit(team, { lab_account_id: second })).lab_account_id, second)
    assert.deepEqual(await attempt(team, { lab_account_id: platform }), [200, platform])
  })

  test('an order is rejected if the named account is unlinked, inactive, of another organization or of another lab', async () => {
    const team = await createTestTeam()
    const none = 'The lab account does not belong to this team'
    for (const [lab_account_id, detail] of [
      [randomUUID(), none],
      [await labAccount(await createTestTeam()), none],
      [await labAccount(team, { team_ids: [] }), none],
      [await labAccount(team, { lab: 'mtl' }), 'The lab account belongs to a different lab than the order'],
      [await labAccount(team, { status: 'pending' }), 'The lab account is pending'],
      [await labAccount(team, { status: 'suspended' }), 'The lab account is suspended'],
    ] as const)
      assert.deepEqual(await attempt(team, { lab_account_id }), [400, detail])
    assert.deepEqual(await team.events(), [])
  })

  test('an account linked by another process can be used immediately', async () => {
    const team = await createTestTeam()
    const own = await labAccount(team, { team_ids: [] })
    assert.equal((await attempt(team, { lab_account_id: own }))[0], 400)
    // Another process writes this row; this process is not notified.
    await team.db.queries.run(sql`insert into lab_account_team (account_id, team_id) values (${own}, ${team.team})`)
    assert.deepEqual(await attempt(team, { lab_account_id: own }), [200, own])
  })
})

describe('billing types', () => {
  test("the order shows its billing type, if the account offers it in the patient's state", async () => {
    const team = await createTestTeam()
    const own = await labAccount(team, { allowed_billing: { patient_bill: ['CA', 'AZ'], patient_bill_passthrough: ['CA'] } })
    assert.equal((await createOrder(team, { billing_type: 'patient_bill' })).billing_type, 'patient_bill')
    for (const [billing_type, detail] of [
      ['patient_bill_passthrough', 'Billing type patient_bill_passthrough is not offered in the state of the patient'],
      ['client_bill', 'Billing type client_bill requires a lab account that supports it'],
    ])
      assert.deepEqual(await attempt(team, { billing_type }), [400, detail])
    await change(team, own, { allowed_billing: { client_bill: [] } })
    assert.deepEqual(await attempt(team), [400, 'Billing type client_bill requires a lab account that supports it'])
  })

  test('a billing type outside the fifty states requires an account that offers it in all of them', async () => {
    const team = await createTestTeam()
    const own = await labAccount(team)
    const places = [
      { ...address, state: 'DC' },
      { ...address, state: 'ON', country: 'CA' },
    ]
    for (const patient_address of places) assert.deepEqual(await attempt(team, { patient_address }), [200, own])
    await change(team, own, { allowed_billing: { client_bill: allStates.client_bill!.slice(1) } })
    for (const patient_address of places) assert.equal((await attempt(team, { patient_address }))[0], 400)
  })

  test('the billing type of a kit does not depend on the shipping state, because the patient is unknown', async () => {
    const team = await createTestTeam()
    const own = await labAccount(team, { allowed_billing: { client_bill: ['CA'] } })
    assert.equal((await kit(team)).lab_account_id, own)
  })
})

describe('ordering physicians under a delegated account', () => {
  const delegated = async (delegated_flow: AccountChange['delegated_flow']) => {
    const team = await createTestTeam()
    // The laboratories that require the physician have no kits among the standard tests.
    await team.db.queries.run(
      sql`update lab_test set lab_id = (select id from lab where slug = 'quest') where team_id = ${team.team}`,
    )
    await labAccount(team, { lab: 'quest', delegated_flow: delegated_flow! })
    return team
  }
  const detail = 'Orders under this lab account must include the ordering physician'

  for (const flow of ['order_delegated', 'fully_delegated'] as const)
    test(`an order under a ${flow} account must name the physician, at creation or when its kit is registered`, async () => {
      const team = await delegated(flow)
      assert.deepEqual(await attempt(team), [400, detail])
      assert.deepEqual((await createOrder(team, { physician })).physician, physician)
      const { sample_id } = await kit(team)
      const register = (changes = {}) => team.api.post('/v3/order/testkit/register', registration(sample_id, changes))
      const refused = await register()
      assert.deepEqual([refused.status, refused.body], [400, { detail }])
      const { body } = await register({ physician, consents: [] })
      assert.deepEqual([body.order.physician, body.order.patient_details.first_name], [physician, patient.first_name])
    })

  for (const flow of ['not_delegated', 'result_delegated'] as const)
    test(`an order under a ${flow} account may omit the physician`, async () => {
      assert.equal((await attempt(await delegated(flow)))[0], 200)
    })

  test('an order may omit the physician if the installation does not enforce it', async () => {
    const team = await delegated('order_delegated')
    settings.enforce_delegated_physician = false
    guard.invalidate(team.team)
    try {
      assert.equal((await attempt(team))[0], 200)
    } finally {
      settings.enforce_delegated_physician = true
    }
  })

  test('an order at other labs may omit the physician', async () => {
    const team = await createTestTeam()
    await labAccount(team, { delegated_flow: 'fully_delegated' })
    assert.equal((await attempt(team))[0], 200)
  })
})
