import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLog } from '../../platform/telemetry/log.ts'
import { assembleProcess, createTestTeam } from '../../../test/support/server.ts'

const hidden = ['swordfish', 'tunafish', 'marlin', 'barracuda']
const details = {
  fitbit: { workout_verify_token: hidden[1], sleep_verify_token: hidden[2], body_verify_token: hidden[3] },
}

test('a secret of credentials appears in no response, log line, table row or audit entry', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-log-'))
  const path = join(folder, 'log')
  const log = createLog('trace', { path })
  const { app } = assembleProcess({ log })
  const org = await createTestTeam()
  const ask = async (method: 'GET' | 'POST' | 'DELETE', query = '', payload?: object) => {
    const url = `/v1/org/${org.org_id}/team_custom_credentials/sandbox/us${query}`
    const reply = await app.inject({ method, url, headers: { 'x-management-key': org.orgKey }, ...(payload && { payload }) })
    return `${reply.statusCode} ${reply.body}`
  }
  const whole = { team_id: org.team, provider: 'fitbit', client_secret: hidden[0], details }
  const answers = [
    await ask('POST', '', whole),
    await ask('GET'),
    await ask('POST', '', { ...whole, team_id: 'nonsense' }),
    await ask('POST', '', { ...whole, provider: 'oura' }),
    await ask('POST', '', {
      ...whole,
      client_secret: [hidden[0]],
      details: { fitbit: { ...details.fitbit, foods_verify_token: 7 } },
    }),
    await ask('POST', '', { ...whole, team_id: '01890000-0000-7000-8000-000000000001' }),
  ]
  assert.deepEqual(
    answers.map((answer) => answer.slice(0, 3)),
    ['200', '200', '422', '422', '422', '404'],
  )
  // A value in the database that this process cannot decrypt is a server error, and its report contains no secret either.
  await org.db.pool.query('update custom_credential set details = client_secret where team_id = $1', [org.team])
  answers.push(await ask('GET'), await ask('POST', '', whole))
  assert.deepEqual(
    answers.slice(-2).map((answer) => answer.slice(0, 3)),
    ['500', '500'],
  )
  await app.close()
  await new Promise<void>((resolve) => log.flush(() => resolve()))
  const logged = readFileSync(path, 'utf8')
  rmSync(folder, { recursive: true })
  assert.equal(logged.split('"operation":"upsert_team_custom_credentials"').length - 1 >= 5, true)
  const { rows } = await org.db.pool.query<{ row: string }>(`
    select c::text as row from custom_credential c union all select a::text from audit_log a`)
  const everything = [...answers, logged, ...rows.map(({ row }) => row)].join('\n')
  for (const word of hidden) assert(!everything.includes(word), word)
})
