// Lab accounts of sandboxes, created over HTTP so that a test suite can set up accounts.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { orderBody, createOrder } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { usStates } from '../../people/person/countries.ts'

const PATH = '/lab_account/sandbox/us'
const PHYSICIAN_MISSING = 'Orders under this lab account must include the ordering physician'
const terms = { lab: 'quest', provider_account_id: 'FICTIONAL-1' }

const put = ({ manage }: TestTeam, id: string, changes: Record<string, unknown> = {}) =>
  manage.put(`${PATH}/${id}`, { ...terms, ...changes })

async function upsertAccount(team: TestTeam, changes: Record<string, unknown> = {}, id: string = randomUUID()) {
  const { status, body } = await put(team, id, changes)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.lab_account.id, id)
  return body.lab_account
}

/** Tries to order the team's walk-in test, at Quest, without a physician: returns the account, or the error. */
async function orderWithAccount(team: TestTeam): Promise<string> {
  const body = await orderBody(team, { lab_test_id: await team.test('walk_in_test') })
  const { status, body: reply } = await team.api.post('/v3/order', body)
  return status === 200 ? reply.order.lab_account_id : reply.detail
}

describe('lab accounts of a sandbox', () => {
  test('a sandbox account is created with defaults and is used by the next order', async () => {
    const team = await createTestTeam()
    const before = await createOrder(team, { lab_test_id: await team.test('walk_in_test') })
    const account = await upsertAccount(team, { team_id_allowlist: [team.team] })
    assert.notEqual(before.lab_account_id, account.id)
    assert.deepEqual(account, {
      id: account.id,
      lab: 'quest',
      org_id: team.org_id,
      status: 'active',
      delegated_flow: 'not_delegated',
      provider_account_id: 'FICTIONAL-1',
      account_name: null,
      default_clinical_notes: null,
      business_units: null,
      allowed_billing: { client_bill: usStates },
      team_id_allowlist: [team.team],
    })
    assert.deepEqual((await team.manage.get(PATH)).body.data, [account])
    assert.equal(await orderWithAccount(team), account.id)
  })

  test('a sandbox account can delegate ordering and undo it', async () => {
    const team = await createTestTeam()
    const { id } = await upsertAccount(team, { team_id_allowlist: [team.team] })
    for (const delegated_flow of ['order_delegated', 'fully_delegated', 'result_delegated']) {
      const { team_id_allowlist } = await upsertAccount(team, { delegated_flow }, id)
      assert.deepEqual(team_id_allowlist, [team.team])
      assert.equal(await orderWithAccount(team), delegated_flow === 'result_delegated' ? id : PHYSICIAN_MISSING)
    }
  })

  test('replacing a sandbox account resets omitted fields, except its teams', async () => {
    const team = await createTestTeam()
    const more = {
      status: 'pending',
      account_name: 'Fictional Clinic',
      default_clinical_notes: 'Fasting only',
      business_units: ['NEL'],
      allowed_billing: { client_bill: ['AZ'], patient_bill: ['AZ', 'CA'] },
      team_id_allowlist: [team.team],
    }
    const account = await upsertAccount(team, more)
    assert.deepEqual({ ...account, ...more }, account)
    const plain = await upsertAccount(team, { team_id_allowlist: [team.team] })
    assert.deepEqual(await upsertAccount(team, {}, account.id), { ...plain, id: account.id })
    assert.deepEqual((await upsertAccount(team, { team_id_allowlist: [] }, account.id)).team_id_allowlist, [])
  })

  test('concurrent requests create a sandbox account once', async () => {
    const team = await createTestTeam()
    const id = randomUUID()
    const replies = await Promise.all(Array.from({ length: 5 }, () => put(team, id)))
    assert.ok(replies.some(({ status }) => status === 200))
    for (const { status, body } of replies)
      assert.ok(status === 200 || body.detail === 'This lab account is being created by another request', JSON.stringify(body))
    assert.equal((await team.manage.get(PATH)).body.data.length, 1)
  })

  test('an invalid or forbidden sandbox account is rejected and not created', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const theirs = await upsertAccount(other)
    const bad: [Record<string, unknown>, number][] = [
      [{ lab: 'nowhere' }, 404],
      [{ team_id_allowlist: [other.team] }, 400],
      [{ delegated_flow: 'both' }, 422],
      [{ allowed_billing: { client_bill: ['ZZ'] } }, 422],
      [{ allowed_billing: { barter: ['AZ'] } }, 422],
      [{ provider_account_id: '' }, 422],
    ]
    for (const [changes, status] of bad)
      assert.equal((await put(team, randomUUID(), changes)).status, status, JSON.stringify(changes))
    const { status, body } = await put(team, theirs.id)
    assert.deepEqual([status, body], [404, { detail: 'Lab account not found' }])
    const production = await team.manage.put(`/lab_account/production/us/${randomUUID()}`, terms)
    const detail = 'Lab accounts of production are created by the operator'
    assert.deepEqual([production.status, production.body], [403, { detail }])
    assert.deepEqual((await team.manage.get(PATH)).body.data, [])
    const { id } = await upsertAccount(team)
    const moved = await put(team, id, { lab: 'labcorp' })
    assert.deepEqual([moved.status, moved.body], [400, { detail: 'The laboratory of a lab account cannot be changed' }])
  })
})
