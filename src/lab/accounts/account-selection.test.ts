// Under which lab account an order goes: every rule of the choice, and what comes of it.
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
const change = (team: TestTeam, id: string, to: AccountChange) => team.db.plainTx((tx) => updateAccount(tx, id, to))
const physician = { first_name: 'Phyllis', last_name: 'Fictional', npi: '1234567890' }

describe('an order that names no lab account', () => {
  test('goes under the account of the platform while the team has none at the lab', async () => {
    const team = await createTestTeam()
    const platform = await platformAccount(team, await kitLab(team))
    await labAccount(team, { lab: 'mtl' })
    assert.deepEqual(await attempt(team), [200, platform])
    const { id, lab_account_id } = await kit(team)
    assert.equal(lab_account_id, platform)
    assert.equal((await team.api.get(`/v3/order/${id}`)).body.lab_account_id, platform)
  })

  test('goes under the only active one that is linked to the team, at once', async () => {
    const team = await createTestTeam()
    await createOrder(team)
    const own = await labAccount(team)
    await labAccount(team, { status: 'pending' })
    assert.deepEqual(await attempt(team), [200, own])
    await team.manage.patch(`/lab_account/sandbox/us/${own}`, { team_id_allowlist: [] })
    assert.deepEqual(await attempt(team), [400, 'The team has no active lab account for this lab'])
  })

  test('rejects an ambiguous lab account', async () => {
    const team = await createTestTeam()
    const first = await labAccount(team)
    await labAccount(team)
    assert.deepEqual(await attempt(team), [400, 'Several lab accounts match this order; specify lab_account_id'])
    assert.deepEqual(await attempt(team, { lab_account_id: first }), [200, first])
  })

  for (const status of ['pending', 'suspended', 'ready_to_launch'] as const)
    test(`does not fall back to the platform where the team's own is ${status}`, async () => {
      const team = await createTestTeam()
      const own = await labAccount(team, { status })
      assert.deepEqual(await attempt(team), [400, 'The team has no active lab account for this lab'])
      await change(team, own, { status: 'active' })
      assert.deepEqual(await attempt(team), [200, own])
    })

  test('is refused where the platform has no active account either', async () => {
    const team = await createTestTeam('production-eu')
    const id = await platformAccount(team, await kitLab(team))
    await change(team, id, { status: 'suspended' })
    const refused = await attempt(team)
    await change(team, id, { status: 'active' })
    assert.deepEqual(refused, [400, 'No lab account exists for this lab'])
    assert.deepEqual(await team.events(), [])
  })
})

describe('an order that names a lab account', () => {
  test('goes under it, at the top or in the set of tests, also for a kit, and under one of the platform', async () => {
    const team = await createTestTeam()
    const [first, second] = [await labAccount(team), await labAccount(team)]
    const lab_test_id = await team.test()
    const platform = await platformAccount(team, await kitLab(team))
    assert.deepEqual(await attempt(team, { lab_account_id: first }), [200, first])
    assert.deepEqual(await attempt(team, { order_set: { lab_test_ids: [lab_test_id], lab_account_id: second } }), [200, second])
    assert.equal((await kit(team, { lab_account_id: second })).lab_account_id, second)
    assert.deepEqual(await attempt(team, { lab_account_id: platform }), [200, platform])
  })

  test('is refused where the account is another’s, unlinked, of another lab or not active', async () => {
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

  test('is taken as soon as the account is linked, also by another process', async () => {
    const team = await createTestTeam()
    const own = await labAccount(team, { team_ids: [] })
    assert.equal((await attempt(team, { lab_account_id: own }))[0], 400)
    // As another process would: this one is not told.
    await team.db.queries.run(sql`insert into lab_account_team (account_id, team_id) values (${own}, ${team.team})`)
    assert.deepEqual(await attempt(team, { lab_account_id: own }), [200, own])
  })
})

describe('how an order is billed', () => {
  test('is shown with the order, where the account offers it in the state of the patient', async () => {
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

  test('outside the fifty states needs an account that offers it in all of them', async () => {
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

  test('of a kit does not depend on where it is sent, since its patient is not known', async () => {
    const team = await createTestTeam()
    const own = await labAccount(team, { allowed_billing: { client_bill: ['CA'] } })
    assert.equal((await kit(team)).lab_account_id, own)
  })
})

describe('the physician of an order under a delegated account', () => {
  const delegated = async (delegated_flow: AccountChange['delegated_flow']) => {
    const team = await createTestTeam()
    // The laboratories that insist on it have no kits among the standard tests.
    await team.db.queries.run(
      sql`update lab_test set lab_id = (select id from lab where slug = 'quest') where team_id = ${team.team}`,
    )
    await labAccount(team, { lab: 'quest', delegated_flow: delegated_flow! })
    return team
  }
  const detail = 'Orders under this lab account must include the ordering physician'

  for (const flow of ['order_delegated', 'fully_delegated'] as const)
    test(`must be named where the account is ${flow}, with the order or when its kit is registered`, async () => {
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
    test(`may be left out where the account is ${flow}`, async () => {
      assert.equal((await attempt(await delegated(flow)))[0], 200)
    })

  test('may be left out where the installation does not insist on it yet', async () => {
    const team = await delegated('order_delegated')
    settings.enforce_delegated_physician = false
    guard.invalidate(team.team)
    try {
      assert.equal((await attempt(team))[0], 200)
    } finally {
      settings.enforce_delegated_physician = true
    }
  })

  test('may be left out at other labs', async () => {
    const team = await createTestTeam()
    await labAccount(team, { delegated_flow: 'fully_delegated' })
    assert.equal((await attempt(team))[0], 200)
  })
})
