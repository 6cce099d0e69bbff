// Links over HTTP, as administrators of an organization manage them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { labAccount, platformAccount } from '../../../test/support/lab-accounts.ts'
import { createTestTeam, vault, type TestTeam } from '../../../test/support/server.ts'
import { createAnotherTeam, createBoundKey } from '../../../test/support/teams.ts'
import { saveLink } from './account-links.ts'

const PATH = '/lab_link/sandbox/us'
const file = { preset: 'us-23', text: { time_zone: 'America/New_York' }, results: { reports: 'incremental' } }
const sftp = { host: 'sftp.lab.example', user: 'clinic', host_key: 'SHA256:fictional', results: '/out' }
const secretFile = { ...file, transport: { results: 'sftp', sftp: { ...sftp, password: 'invented-password' } } }

const accountOf = (team: TestTeam): Promise<string> =>
  labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID()}` })

describe('a link over the Management API', () => {
  test('is created off, shown as the differences from its preset, listed, and changed', async () => {
    const team = await createTestTeam()
    const account = await accountOf(team)
    assert.equal((await team.manage.get(`${PATH}/${account}`)).status, 404)
    const { status, body } = await team.manage.put(`${PATH}/${account}`, file)
    assert.equal(status, 200, JSON.stringify(body))
    const { lab_link: link } = body
    assert.deepEqual([link.lab, link.mode, link.state, link.preset, link.secrets], ['quest', 'off', 'ok', 'us-23', []])
    assert.deepEqual(link.differences, [
      { option: 'text.time_zone', standard: null, value: 'America/New_York' },
      { option: 'results.reports', standard: null, value: 'incremental' },
    ])
    assert.deepEqual((await team.manage.get(PATH)).body, { data: [link] })
    const changed = await team.manage.put(`${PATH}/${account}`, { ...file, order_content: { message: 'OML' } })
    assert.deepEqual(changed.body.lab_link.differences[1], { option: 'order_content.message', standard: 'ORM', value: 'OML' })
  })

  test('is exported as the file that it was created from, without its secrets, and imported again', async () => {
    const team = await createTestTeam()
    const account = await accountOf(team)
    await team.db.plainTx((tx) => saveLink(tx, account, secretFile, vault))
    const exported = (await team.manage.get(`${PATH}/${account}/profile`)).body
    const { password: _secret, ...openSftp } = secretFile.transport.sftp
    assert.deepEqual(exported, { ...file, transport: { results: 'sftp', sftp: { ...openSftp, password: '********' } } })
    const { status, body } = await team.manage.put(`${PATH}/${account}`, exported)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body.lab_link.secrets, ['transport.sftp.password'])
    assert(!JSON.stringify(body).includes('invented-password'))
  })

  test('keeps the transport that the operator has set', async () => {
    const team = await createTestTeam()
    const account = await accountOf(team)
    const refused = await team.manage.put(`${PATH}/${account}`, secretFile)
    assert.deepEqual(
      [refused.status, refused.body.detail],
      [400, 'The transport of a link is set by the operator with: bin/drawbridge links set'],
    )
    await team.db.plainTx((tx) => saveLink(tx, account, secretFile, vault))
    const moved = { results: 'sftp', sftp: { ...sftp, password: '********', host: 'other.example' } }
    assert.equal((await team.manage.put(`${PATH}/${account}`, { ...file, transport: moved })).status, 400)
    const { body } = await team.manage.put(`${PATH}/${account}`, { ...file, text: { time_zone: 'UTC' } })
    assert.deepEqual(
      body.lab_link.differences.map(({ option }: { option: string }) => option),
      [
        'transport.results',
        'transport.sftp.host',
        'transport.sftp.user',
        'transport.sftp.host_key',
        'transport.sftp.results',
        'text.time_zone',
        'results.reports',
      ],
    )
  })

  test('with a faulty profile is rejected with every fault, and nothing changes', async () => {
    const team = await createTestTeam()
    const account = await accountOf(team)
    const faulty = { text: { time_zone: 'Moon/Base', color: 'red' }, results: {}, order_content: { message: 'FAX' } }
    const { status, body } = await team.manage.put(`${PATH}/${account}`, faulty)
    assert.equal(status, 422)
    assert.deepEqual(
      body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')),
      ['body.text.decimal_mark', 'body.text.time_zone', 'body.text.color', 'body.order_content.message', 'body.results.reports'],
    )
    assert.equal((await team.manage.get(`${PATH}/${account}`)).status, 404)
  })

  test('changes its mode, for one team first, with an entry in the audit log', async () => {
    const team = await createTestTeam()
    const account = await accountOf(team)
    const other = await createAnotherTeam(team)
    const setMode = (body: unknown) => team.manage.put(`${PATH}/${account}/mode`, body)
    assert.equal((await setMode({ mode: 'test' })).status, 404)
    await team.manage.put(`${PATH}/${account}`, file)
    assert.equal((await setMode({ mode: 'live_for_team' })).status, 400)
    assert.equal((await setMode({ mode: 'live_for_team', team_id: other })).status, 400)
    const { body } = await setMode({ mode: 'live_for_team', team_id: team.team })
    assert.deepEqual([body.lab_link.mode, body.lab_link.live_team_id], ['live_for_team', team.team])
    const audit = (await team.manage.get('/audit/sandbox/us?operation=set_lab_link_mode')).body.data
    assert.equal(audit.length, 1)
  })

  test('belongs to the account of the own organization: no key reaches that of another, of the platform, or as the key of a team', async () => {
    const [team, stranger] = [await createTestTeam(), await createTestTeam()]
    const account = await accountOf(team)
    await team.manage.put(`${PATH}/${account}`, file)
    for (const id of [account, await platformAccount(team, 'quest'), randomUUID()]) {
      const keys = id === account ? [stranger] : [team, stranger]
      for (const { manage } of keys) {
        assert.equal((await manage.get(`${PATH}/${id}`)).status, 404)
        assert.equal((await manage.get(`${PATH}/${id}/profile`)).status, 404)
        assert.equal((await manage.put(`${PATH}/${id}`, file)).status, 404)
        assert.equal((await manage.put(`${PATH}/${id}/mode`, { mode: 'live' })).status, 404)
      }
    }
    assert.deepEqual((await stranger.manage.get(PATH)).body, { data: [] })
    assert.equal((await (await createBoundKey(team, team.team)).get(PATH)).status, 403)
  })
})
