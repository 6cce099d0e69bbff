import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestTeam, settings } from '../../../test/support/server.ts'
import { readSignInSettings } from './sign-in-settings.ts'

const openId = {
  issuer: 'https://login.example.com',
  client_id: 'drawbridge',
  client_secret: 'fictional-secret',
  label: 'Fictional login',
  allowed_domains: ['clinic.example.com'],
  role_claim: 'groups',
  roles: new Map([['nurses', 'staff']]),
}
const server = {
  demo: false,
  sendsMail: true,
  limits: { idle_s: 3600, total_s: 43_200 },
  publicUrl: () => 'https://lab.example.com',
}

test('the settings of an issuer are shown without the secret of the client', () => {
  const shown = readSignInSettings({ ...server, openId })
  assert.deepEqual(shown.oidc, {
    issuer: 'https://login.example.com',
    client_id: 'drawbridge',
    has_client_secret: true,
    label: 'Fictional login',
    redirect_uri: 'https://lab.example.com/console/api/sign-in/oidc/callback',
    allowed_domains: ['clinic.example.com'],
    role_claim: 'groups',
    roles: [{ value: 'nurses', role: 'staff' }],
  })
  assert.doesNotMatch(JSON.stringify(shown), /fictional-secret/)
  assert.equal(readSignInSettings({ ...server, openId: { ...openId, client_secret: undefined } }).oidc?.has_client_secret, false)
})

test('a server says how its members sign in, and whether it sends mail', async () => {
  const org = await createTestTeam()
  const { status, body } = await org.manage.get('/sign_in')
  assert.equal(status, 200)
  assert.deepEqual(body, {
    demo: settings.demo,
    password_length_min: 12,
    session_idle_s: settings.session_idle_minutes * 60,
    session_s: settings.session_hours * 3600,
    sends_mail: settings.smtp !== undefined,
    oidc: null,
  })
})
