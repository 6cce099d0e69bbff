import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'

const info = {
  first_name: 'Testa',
  last_name: 'Fictional',
  email: 'testa@example.com',
  phone_number: '+15550100199',
  gender: 'female',
  dob: '1990-01-31',
  address: { first_line: '1 Example Street', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
}

test('rows of users have who they are, page by page, and are searched by either id', async () => {
  const [team, other] = [await createTestTeam(), await createTestTeam()]
  const ids = [await team.user('clinic 1'), await team.user('clinic 2'), await team.user('clinic 3')]
  assert.equal((await team.api.patch(`/v2/user/${ids[1]}/info`, info)).status, 200)
  const list = async (query = '', owner = team) => (await owner.api.get(`/console/v1/users${query}`)).body
  const placesOf = ({ data }: { data: { user_id: string }[] }) => data.map(({ user_id }) => ids.indexOf(user_id))
  const all = await list()
  assert.deepEqual([placesOf(all).toSorted(), all.total, all.next_cursor], [[0, 1, 2], 3, null])
  const { created_on, ...row } = all.data.find(({ user_id }: { user_id: string }) => user_id === ids[1])
  assert(!Number.isNaN(Date.parse(created_on)))
  assert.deepEqual(row, {
    user_id: ids[1],
    client_user_id: 'clinic 2',
    first_name: 'Testa',
    last_name: 'Fictional',
    dob: '1990-01-31',
    gender: 'female',
    connected_source_count: 0,
  })
  const first = await list('?limit=2')
  assert.deepEqual([...first.data, ...(await list(`?limit=2&next_cursor=${first.next_cursor}`)).data], all.data)
  assert.deepEqual(placesOf(await list('?search_input=linic%202')), [1])
  assert.deepEqual(placesOf(await list(`?search_input=${ids[2]}`)), [2])
  assert.deepEqual(await list(`?search_input=${ids[2]}`, other), { data: [], total: null, next_cursor: null })
  await team.api.delete(`/v2/user/${ids[0]}`)
  assert.equal((await list()).total, 2)
})
