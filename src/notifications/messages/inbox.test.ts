import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { access, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { createOrder } from '../../../test/support/orders.ts'

/** Messages about an order, as they stand when they were sent, recorded, or failed. */
async function writeMessages(team: TestTeam, order_id: string): Promise<void> {
  await team.db.pool.query(
    `insert into patient_message (order_id, id, team_id, kind, channel, recipient, body, created_at, state)
     select $1, ('01890000-0000-7000-8000-00000000000' || n)::uuid, $2, 'ordered', 'sms', '+15550100199', 'Fictional <b>' || n, now(),
            (array['recorded', 'sent', 'failed'])[n]
     from generate_series(1, 3) n`,
    [order_id, team.team],
  )
}

for (const cell of ['sandbox-us', 'production-us'] as const)
  describe(`the inbox of a team in ${cell}`, () => {
    test('lists messages newest first, by state, user and order, and nothing of another team', async () => {
      const [team, other] = [await createTestTeam(cell), await createTestTeam(cell)]
      const [order, further] = [await createOrder(team), await createOrder(team)]
      await team.db.pool.query('delete from patient_message where team_id = $1', [team.team])
      await writeMessages(team, order.id)
      const list = async (query = '', owner = team) => {
        const { status, body } = await owner.api.get(`/console/v1/messages${query}`)
        assert.equal(status, 200, JSON.stringify(body))
        return body
      }
      const statesOf = async (query = '', owner = team) =>
        (await list(query, owner)).data.map(({ state }: { state: string }) => state)
      const { data } = await list()
      const { created_at, ...newest } = data[0]
      assert(Math.abs(Date.parse(created_at) - Date.now()) < 60_000)
      assert.deepEqual(newest, {
        id: '01890000-0000-7000-8000-000000000003',
        order_id: order.id,
        user_id: order.user_id,
        kind: 'ordered',
        channel: 'sms',
        recipient: '+15550100199',
        subject: null,
        body: cell === 'sandbox-us' ? 'Fictional <b>3' : null,
        state: 'failed',
        error: null,
      })
      assert.deepEqual(await statesOf(), ['failed', 'sent', 'recorded'])
      assert.deepEqual(await statesOf('?state=sent'), ['sent'])
      assert.deepEqual(await statesOf('?channel=email'), [])
      assert.deepEqual(await statesOf(`?user_id=${order.user_id}&order_id=${order.id}`), ['failed', 'sent', 'recorded'])
      assert.deepEqual(await statesOf(`?user_id=${further.user_id}`), order.user_id === further.user_id ? await statesOf() : [])
      assert.deepEqual(await statesOf(`?order_id=${further.id}`), [])
      assert.deepEqual(await statesOf('', other), [])
      const first = await list('?limit=2')
      assert.deepEqual([...first.data, ...(await list(`?limit=2&next_cursor=${first.next_cursor}`)).data], data)
      await access.flush()
      const { body } = await team.manage.get(
        `/team/${team.team}/${cell.split('-')[0]}/access_log?user_id=${order.user_id}&object_id=${order.id}`,
      )
      assert.deepEqual(
        body.data.filter(({ objects }: { objects: string[] }) => !objects.includes(order.id)),
        [],
      )
      await team.api.delete(`/v2/user/${order.user_id}`)
      assert.deepEqual(await statesOf(), [])
    })
  })
