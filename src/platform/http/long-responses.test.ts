// Responses of megabytes are written a piece at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'
import { emit } from '../queue/outbox.ts'

for (const start of ['', 'x'])
  test(`characters of two code units, the first at an ${start ? 'odd' : 'even'} place, are whole in a long response`, async () => {
    const team = await createTestTeam()
    const text = `${start}${'\u{1F9EA}é'.repeat(1_000_000)}`
    const event = { type: 'labtest.order.created', object_id: team.team, user_id: null, client_user_id: null }
    await team.db.tx(team.tenant, async (tx) => emit(tx, { ...event, data: JSON.stringify({ text }) }))
    const { status, body } = await team.api.get('/v1/events')
    assert.equal(status, 200)
    assert(body.data[0].body.data.text === text)
  })
