// Links that accept an invite, for people whom no mail reaches.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createMember, signedIn } from '../../../test/support/console-sessions.ts'
import { cells, client, createTestTeam, url, type TestTeam } from '../../../test/support/server.ts'

const accept = (token: string) => client(undefined).post('/v1/invite/accept', { token, name: 'Testa Fictional' })
const tokenOf = (link: string): string => new URLSearchParams(new URL(link).hash.slice(1)).get('token')!

async function pendingInvite(org: TestTeam) {
  const email = `testa-${randomUUID()}@example.com`
  assert.equal((await org.manage.post('/invite', { email, role: 'no_role' })).status, 200)
  const [invite] = (await org.manage.get(`/invite?search_query=${email}`)).body.invites
  const createLink = () => org.manage.post(`/invite/${invite.id}/link`)
  return { email, invite, createLink }
}

test('a link accepts the invite once, and the links and mails before it do not', async () => {
  const org = await createTestTeam()
  const { email, createLink } = await pendingInvite(org)
  const { rows } = await cells.control.pool.query<{ body: string }>('select body from mail where recipient = $1', [email])
  const mailed = /inv_[\w-]+/.exec(rows[0]!.body)![0]
  const [first, second] = [await createLink(), await createLink()]
  assert.equal(second.status, 200)
  assert.equal(second.body.email, email)
  assert(second.body.url.startsWith(`${url}/console/invite#token=inv_`), second.body.url)
  for (const token of [mailed, tokenOf(first.body.url)]) assert.equal((await accept(token)).status, 404)
  assert.equal((await accept(tokenOf(second.body.url))).body.email, email)
  assert.equal((await accept(tokenOf(second.body.url))).status, 404)
  assert.equal((await createLink()).status, 404)
})

test('a link is in its response alone, and a repeated idempotency key does not show it again', async () => {
  const org = await createTestTeam()
  const { invite } = await pendingInvite(org)
  const headers = { 'x-idempotency-key': randomUUID() }
  const first = await org.manage.post(`/invite/${invite.id}/link`, undefined, headers)
  const again = await org.manage.post(`/invite/${invite.id}/link`, undefined, headers)
  assert.deepEqual([first.status, again.status], [200, 409])
  const token = tokenOf(first.body.url)
  for (const path of ['/invite', '/audit']) assert(!JSON.stringify((await org.manage.get(path)).body).includes(token.slice(4)))
})

test('a link is created in the own organization alone, by its administrators', async () => {
  const [org, other] = [await createTestTeam(), await createTestTeam()]
  const { invite } = await pendingInvite(org)
  assert.equal((await other.manage.post(`/invite/${invite.id}/link`)).status, 404)
  const page = await signedIn(org, await createMember(org, 'administrator'))
  assert.equal((await page.post(`/v1/org/${org.org_id}/invite/${invite.id}/link`)).status, 403)
})

test('an invite names the member who sent it', async () => {
  const org = await createTestTeam()
  const member = await createMember(org)
  const page = await signedIn(org, member)
  const email = `testa-${randomUUID()}@example.com`
  assert.equal((await page.post(`/v1/org/${org.org_id}/invite`, { email, role: 'no_role' })).status, 200)
  const [invite] = (await org.manage.get(`/invite?search_query=${email}`)).body.invites
  assert.deepEqual(invite.creator, {
    type: 'org_member',
    id: member.id,
    name: 'Testa Fictional',
    email: member.email,
    avatar: '',
  })
})
