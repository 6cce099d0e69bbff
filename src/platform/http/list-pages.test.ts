// Forged cursors: they are not signed, so every invalid value must be rejected before a statement uses it.
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { endpoint } from '../../../test/support/webhook-receiver.ts'

/** A cursor in the server's format, of a list whose name is public in the sources. */
const forgeCursor = (list: string, ...position: unknown[]): string => {
  const tag = createHash('sha256').update(list).digest('base64url').slice(0, 8)
  return Buffer.from(JSON.stringify([tag, ...position])).toString('base64url')
}

const INSTANT = '2026-01-01T00:00:00+00:00'
const NO_UUIDS = ['', 'x', `${randomUUID()}x`, `{${randomUUID()}}`, "' or true --", '\u0001', 'é'.repeat(200)]
const NO_INSTANTS = [
  '',
  'x',
  'now',
  'infinity',
  'epoch',
  '2026-01-01',
  '2026/01/01 00:00',
  '2026-01-01T00:00:00,5Z',
  '2026-02-30T00:00:00+00:00',
  '0000-01-01T00:00:00+00:00',
  '294277-01-01T00:00:00+00:00',
]

const sandboxPath = (team: TestTeam) => `/team/${team.team}/sandbox`

describe('a forged cursor is rejected, and changes nothing', () => {
  test('of events', async () => {
    const team = await createTestTeam()
    const list = `events ${team.team}  `
    assert.equal((await team.api.get(`/v1/events?next_cursor=${forgeCursor(list, randomUUID())}`)).status, 200)
    for (const id of NO_UUIDS)
      assert.equal((await team.api.get(`/v1/events?next_cursor=${forgeCursor(list, id)}`)).status, 400, JSON.stringify(id))
  })

  test('of endpoints', async () => {
    const team = await createTestTeam()
    const hook = await endpoint(team, { url: 'http://127.0.0.1:9/hook' })
    const list = `webhooks ${team.team}`
    const status = async (...position: unknown[]) =>
      (await team.manage.get(`${sandboxPath(team)}/webhook?next_cursor=${forgeCursor(list, ...position)}`)).status
    assert.equal(await status(INSTANT, hook.id), 200)
    for (const at of NO_INSTANTS) assert.equal(await status(at, hook.id), 400, JSON.stringify(at))
    for (const id of NO_UUIDS) assert.equal(await status(INSTANT, id), 400, JSON.stringify(id))
  })

  test('of messages and attempts', async () => {
    const team = await createTestTeam()
    const hook = await endpoint(team, { url: 'http://127.0.0.1:9/hook' })
    const { body } = await team.manage.post(`${hook.path}/test`, { event_type: 'labtest.order.created' })
    const lists = {
      [`${hook.path}/message`]: `messages of ${hook.id}  `,
      [`${hook.path}/message/${body.id}/attempt`]: `attempts ${hook.id} ${body.id}`,
    }
    for (const [path, list] of Object.entries(lists)) {
      assert.equal((await team.manage.get(`${path}?next_cursor=${forgeCursor(list, randomUUID())}`)).status, 200, path)
      for (const id of NO_UUIDS)
        assert.equal(
          (await team.manage.get(`${path}?next_cursor=${forgeCursor(list, id)}`)).status,
          400,
          `${path} ${JSON.stringify(id)}`,
        )
    }
  })

  test('of lists in the order newest first', async () => {
    const team = await createTestTeam()
    const list = `management keys ${team.org_id}  `
    const status = async (...position: unknown[]) =>
      (await team.manage.get(`/management_key?next_cursor=${forgeCursor(list, ...position)}`)).status
    assert.equal(await status(INSTANT, randomUUID()), 200)
    for (const at of NO_INSTANTS) assert.equal(await status(at, randomUUID()), 400, JSON.stringify(at))
    for (const id of NO_UUIDS) assert.equal(await status(INSTANT, id), 400, JSON.stringify(id))
  })

  test('without a list, with too many parts, or nested', async () => {
    const team = await createTestTeam()
    const list = `events ${team.team}  `
    const texts = [
      forgeCursor(list),
      forgeCursor(list, randomUUID(), randomUUID()),
      forgeCursor(list, 7),
      forgeCursor(list, null),
      forgeCursor(list, [randomUUID()]),
      forgeCursor(list, { id: randomUUID() }),
      Buffer.from('{"length":2}').toString('base64url'),
      Buffer.from('['.repeat(400)).toString('base64url'),
    ]
    for (const text of texts) assert.equal((await team.api.get(`/v1/events?next_cursor=${text}`)).status, 400, text)
  })
})
