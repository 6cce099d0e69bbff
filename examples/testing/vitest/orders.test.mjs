// Runs with `npx vitest run`. The server is that of setup.mjs, which every file of tests shares.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Drawbridge } from '@drawbridge-server/testing'

let team
beforeEach(async () => {
  const drawbridge = await Drawbridge.connect()
  team = await drawbridge.createTeam()
})
afterEach(() => team.delete())

test('the erasure of a user can be undone for seven days of the team', async () => {
  const { user_id } = await team.post('/v2/user', { client_user_id: 'patient-1' })
  await team.call('DELETE', `/v2/user/${user_id}`)
  await team.advance('6 days')
  await team.post('/v2/user/undo_delete?client_user_id=patient-1')
  expect((await team.get(`/v2/user/${user_id}`)).client_user_id).toBe('patient-1')

  await team.call('DELETE', `/v2/user/${user_id}`)
  await team.advance('8 days')
  const response = await team.fetch('/v2/user/undo_delete?client_user_id=patient-1', { method: 'POST' })
  expect(response.status).toBe(404)
})
