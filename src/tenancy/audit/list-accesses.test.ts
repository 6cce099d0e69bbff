// The operation that reads the access log of a patient.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { actorOf, leaveCommand } from '../../platform/access-log/access-line.ts'
import { appendLines } from '../../platform/access-log/access-log.ts'
import { recordCheck } from './log-check.ts'
import { access, guards, cells, client, createTestTeam, type TestTeam, type Reply } from '../../../test/support/server.ts'

async function list(team: TestTeam, user: string, query = '', api = team.manage): Promise<Reply> {
  await access.flush()
  return api.get(`/team/${team.team}/sandbox/access_log?user_id=${user}${query}`)
}

const operations = ({ body }: Reply): string[] => body.data.map((line: { operation: string }) => line.operation)

describe('the access log of a user', () => {
  test('is listed newest first, with key, address and outcome; reading the list adds a line', async () => {
    const team = await createTestTeam()
    const [user, other] = [await team.user(), await team.user()]
    const { headers } = await team.api.get(`/v2/user/${user}`)
    await team.api.get(`/v2/user/${other}`)
    await team.api.patch(`/v2/user/${user}`, {})
    await team.api.get('/v2/user')
    const { status, body } = await list(team, user)
    assert.equal(status, 200)
    assert.deepEqual(operations({ body } as Reply), ['get_teams_users', 'patch_user', 'get_user', 'create_user'])
    const { rows } = await cells.control.pool.query('select id from api_key where team_id = $1', [team.team])
    const { line, created_at, ...seen } = body.data[2]
    assert.deepEqual([Number.isInteger(line), Math.abs(Date.parse(created_at) - Date.now()) < 60_000], [true, true])
    assert.deepEqual(seen, {
      request_id: headers.get('x-request-id'),
      key_id: rows[0].id,
      member_id: null,
      operation: 'get_user',
      objects: [],
      address: '127.0.0.1',
      outcome: 200,
    })
    assert.equal(body.data[1].outcome, 400)
    assert.deepEqual(operations(await list(team, user)).slice(0, 2), ['list_user_access', 'get_teams_users'])
  })

  test('has pages without gaps', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    for (let i = 0; i < 6; i++) await team.api.get(`/v2/user/${user}`)
    const whole = operations(await list(team, user)).length
    const lines = new Set<number>()
    let cursor = ''
    for (let page = 0; page < 10; page++) {
      const { body } = await list(team, user, `&limit=3${cursor && `&next_cursor=${cursor}`}`)
      for (const { line, operation } of body.data) if (operation !== 'list_user_access') lines.add(line)
      if (body.next_cursor === null) break
      cursor = body.next_cursor
    }
    assert.deepEqual([whole, lines.size], [7, 7])
    const { status, body } = await list(team, randomUUID(), `&next_cursor=${cursor}`)
    assert.deepEqual([status, body.detail], [400, 'The cursor does not belong to this list'])
  })

  test('is shown to the organization of the team, with the lines of the team and of the operator', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const user = await team.user()
    assert.equal((await other.api.get(`/v2/user/${user}`)).status, 404)
    await team.db.plainTx(async (tx) =>
      leaveCommand(tx, { actor: actorOf('Testa'), operation: 'mail show' }, { team: team.team, users: [user] }),
    )
    await appendLines(team.db)
    assert.deepEqual(operations(await list(team, user)), ['mail show', 'create_user'])
    assert.deepEqual(operations(await list(other, user)), ['get_user'])
    const bound = async (org: TestTeam, boundRole: string) =>
      client(
        (await org.manage.post('/management_key', { label: 'x', team_id: boundRole })).body.key,
        'x-management-key',
        `/v1/org/${team.org_id}`,
      )
    assert.equal((await list(team, user, '', await bound(team, team.team))).status, 200)
    assert.equal((await list(team, user, '', await bound(other, other.team))).status, 403)
  })

  test('stays after the user has been erased', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    await team.api.delete(`/v2/user/${user}`)
    await team.api.post('/v1/sandbox/clock/advance', { seconds: 8 * 86_400 })
    guards.teams.invalidate(team.team)
    await team.settle()
    assert.equal((await team.db.pool.query('select 1 from "user" where id = $1', [user])).rowCount, 0)
    assert.deepEqual(operations(await list(team, user)), ['delete_user', 'create_user'])
  })
})

test('the last check of the access log says when it was and what it found', async () => {
  const team = await createTestTeam()
  const lastCheck = async () => {
    const { status, body } = await team.manage.get('/access_log_check/sandbox/us')
    assert.equal(status, 200, JSON.stringify(body))
    return body.last_check
  }
  const head = { seq: 12, hash: 'fictional' }
  for (const fault of ['line 7 of 2026-01-31 is missing', undefined]) {
    await recordCheck(team.db.queries, { lines: 10, oldestDay: null, head, fault })
    const { checked_at, ...check } = await lastCheck()
    assert(Math.abs(Date.parse(checked_at) - Date.now()) < 60_000)
    assert.deepEqual(check, { lines: 10, last_line: 12, is_intact: fault === undefined, fault: fault ?? null })
  }
})
