// Reviews of results by the operator, for a team.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Order } from '../orders/schema.ts'
import { receiveResult, deliveryFor, acceptedOrder } from '../../../test/support/results.ts'
import { cells, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { command } from '../../../test/support/commands.ts'
import { item, resolve, read, createReview, reviewWithoutPatient } from '../../../test/support/reviews.ts'

const [CREATED, UPDATED] = ['labtest.match_review.created', 'labtest.match_review.updated']

const ops = (team: TestTeam) => `/team/${team.team}/sandbox/unmatched_result`

describe('reviews of the operator', () => {
  const asked = async (team: TestTeam, id: string, action: string, body: unknown = {}) =>
    team.manage.post(`${ops(team)}/${id}/${action}`, body)

  test('the operator decides a review that the team was unsure of, and the team gets an event', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const id = await createReview(team, order, { sample_id: null })
    assert.equal((await asked(team, id, 'reject')).status, 404)
    await resolve(team, id, { action: 'unsure' })
    const list = (await team.manage.get(ops(team))).body
    assert.deepEqual([list.total, list.data[0].id], [1, id])
    const { status, body } = await asked(team, id, 'accept', { order_id: order.id })
    assert.deepEqual([status, (body as Order).status], [200, 'completed'])
    assert.equal((await read(team, id)).resolved_order_id, order.id)
    assert.deepEqual(await team.events(id), [CREATED, UPDATED, UPDATED])
  })

  test('the operator returns a review to the team or rejects it', async () => {
    const team = await createTestTeam()
    const [first, second] = [await reviewWithoutPatient(team), await reviewWithoutPatient(team)]
    for (const id of [first, second]) await resolve(team, id, { action: 'unsure', note: 'Who is this?' })
    const released = await asked(team, first, 'release', { note: 'Ask the patient' })
    assert.deepEqual(
      [released.body.status, released.body.resolution_action, released.body.note, released.body.allowed_actions.length],
      ['pending_customer_review', null, 'Ask the patient', 3],
    )
    assert.equal((await asked(team, second, 'reject')).body.resolution_action, 'reject')
    assert.equal((await resolve(team, first, { action: 'reject' })).status, 200)
  })

  test('reviews of a team without the feature are with the operator, who can release them once the team has the feature', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const turn = async (status: string) => {
      await command(cells, ['team', 'feature', team.team, 'unmatched_results', status])
      guard.invalidate(team.team)
    }
    await turn('off')
    const { raw_result_id: id } = await receiveResult(team, await deliveryFor(team, order, { sample_id: null }))
    assert.equal((await asked(team, id, 'release')).status, 400)
    await turn('on')
    assert.equal((await team.api.get(item(id))).status, 404)
    assert.deepEqual((await team.api.get('/v3/unmatched_result?status=pending_ops_review')).body.total, 0)
    assert.equal((await asked(team, id, 'release')).status, 200)
    assert.deepEqual(await team.events(id), [CREATED])
    assert.equal((await read(team, id)).status, 'pending_customer_review')
  })

  test('the operator cannot find reviews of another organization', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const id = await reviewWithoutPatient(team)
    await resolve(team, id, { action: 'unsure' })
    assert.equal((await other.manage.get(ops(team))).status, 404)
    assert.equal((await other.manage.post(`${ops(other)}/${id}/reject`, {})).status, 404)
  })
})
