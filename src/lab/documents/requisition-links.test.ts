import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Order } from '../orders/schema.ts'
import { orderWithRequisition } from '../../../test/support/orders.ts'
import { createTestTeam, url } from '../../../test/support/server.ts'
import { BIRTH_YEAR } from '../../../test/support/people.ts'

describe('requisition links', () => {
  test('a requisition link returns the document without a key and names no patient', async () => {
    const team = await createTestTeam()
    const order = await orderWithRequisition(team, 'walk_in_test')
    const link = order.requisition_form_url!
    assert(link.startsWith(`${url}/documents/requisition?token=`))
    assert.doesNotMatch(link, new RegExp(String.raw`Testa|Fictional|${BIRTH_YEAR}|DBK`))
    const answer = await fetch(link)
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')],
      [200, 'application/pdf', 'no-store'],
    )
    assert.equal(answer.headers.get('content-disposition'), `inline; filename="${order.sample_id}.pdf"`)
    assert.equal(
      Buffer.from(await answer.arrayBuffer())
        .subarray(0, 5)
        .toString(),
      '%PDF-',
    )
  })

  test('the event of the requisition contains the requisition link', async () => {
    const team = await createTestTeam()
    const order = await orderWithRequisition(team, 'walk_in_test')
    const { data } = (await team.api.get(`/v1/events?object_id=${order.id}`)).body
    const urls = data.map((event: { body: { data: Order } }) => event.body.data.requisition_form_url)
    assert.deepEqual(urls.toSorted(), [order.requisition_form_url, null].toSorted())
  })

  test('a requisition link is rejected if it was altered, has another purpose, or names a deleted order', async () => {
    const team = await createTestTeam()
    const order = await orderWithRequisition(team, 'walk_in_test')
    const link = order.requisition_form_url!
    const access = (await team.manage.post(`/team/${team.team}/create_access_token`, { env: 'sandbox' })).body.access_token
    assert.match(access, /^at_/)
    for (const wrong of [
      link.slice(0, -4),
      link.replace('token=at_', 'token=at_A'),
      `${url}/documents/requisition`,
      `${url}/documents/requisition?token=${access}`,
      `${url}/documents/requisition?token=a&token=b`,
    ]) {
      const answer = await fetch(wrong)
      assert.deepEqual([answer.status, (await answer.text()).startsWith('This link is invalid')], [404, true])
    }
    await team.db.pool.query('delete from lab_order where id = $1', [order.id])
    assert.equal((await fetch(link)).status, 404)
  })
})
