// A credential is one kind of text and nothing else: no text by which the program finds something in its own memory is taken for one.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { keysSetDuring } from '../support/map-keys.ts'
import { contents } from '../../src/app/contents.ts'
import { createOrder } from '../support/orders.ts'
import { CONSOLE_HEADERS, createMember, signedIn } from '../support/console-sessions.ts'
import { embedding, launch, createLaunchBody, getPage } from '../support/launch-browser.ts'
import { guards, client, createTestTeam, type TestTeam } from '../support/server.ts'
import { exchange, refresh, signIn } from '../support/phones.ts'
import { send, valid } from './operations/requests.ts'

const { operations } = contents

/** How many texts are tried at once, after which what the program keeps of credentials is renewed: it keeps it for seconds. */
const AT_ONCE = 100

/** A user of the team, who has signed in on a phone. */
let user_id: string

/** Where a caller may put a credential, and the status of what it is answered: below 400 when the text was taken for one. */
const spellings: Record<string, (text: string, org: TestTeam) => Promise<number>> = {
  'x-service-api-key': (text) => readStatus('/v2/user', { 'x-service-api-key': text }),
  'x-vital-api-key': (text) => readStatus('/v2/user', { 'x-vital-api-key': text }),
  'both headers of team keys': (text) => readStatus('/v2/user', { 'x-service-api-key': text, 'x-vital-api-key': text }),
  authorization: (text) => readStatus('/v2/user', { authorization: text }),
  'authorization: Bearer': (text) => readStatus('/v2/user', { authorization: `Bearer ${text}` }),
  'x-management-key': (text, org) => readStatus(`/v1/org/${org.org_id}`, { 'x-management-key': text }),
  'x-service-org-key': (text, org) => readStatus(`/v1/org/${org.org_id}`, { 'x-service-org-key': text }),
  'x-vital-org-key': (text, org) => readStatus(`/v1/org/${org.org_id}`, { 'x-vital-org-key': text }),
  'the cookie of a session opened by a link': (text) => readStatus('/auth/session', { cookie: `drawbridge_link_out=${text}` }),
  'the cookie of an embedded session': (text) => readStatus('/auth/session', { cookie: `drawbridge_feature_embed=${text}` }),
  'the cookie of a member': (text) =>
    readStatus('/console/api/session', { ...CONSOLE_HEADERS, cookie: `drawbridge_session=${text}` }),
  'the cookie of a launched page': (text) =>
    readStatus('/console/api/launch', {
      ...CONSOLE_HEADERS,
      cookie: `drawbridge_feature_embed=${text}`,
      'x-drawbridge-launch': text,
    }),
  'a launch token': (text) => readStatus(`/auth/launch?token=${encodeURIComponent(text)}`),
  'a requisition link': (text) => readStatus(`/documents/requisition?token=${encodeURIComponent(text)}`),
  'the access token of a user': (text) => readStatus(`/v2/user/${user_id}`, { authorization: `Bearer ${text}` }),
  'x-vital-link-token': (text) => readStatus('/v2/link/state', { 'x-vital-link-token': text }),
  'x-service-link-token': (text) => readStatus('/v2/link/state', { 'x-service-link-token': text }),
  'the link token of a page': (text) => readStatus(`/link?token=${encodeURIComponent(text)}`),
  'the link token in a body': async (text) =>
    (await client(undefined).post('/v2/link/start', { link_token: text, provider: 'oura' })).status,
  'a link code': async (text) =>
    (await client(undefined).post(`/v2/link/code/exchange?grant_type=sign_in_token&code=${encodeURIComponent(text)}`)).status,
  'the state of a consent': (text) => readStatus(`/v2/link/connect/oura?code=x&state=${encodeURIComponent(text)}`),
  'the token of a portal launch': (text) => readStatus(`/portal/launch?token=${encodeURIComponent(text)}`),
  'the token of a portal visit': (text) => readStatus(`/portal?token=${encodeURIComponent(text)}`),
  'the code of a portal link': (text) => readStatus(`/p/${encodeURIComponent(text)}`),
  'a sign-in token': async (text) => (await exchange(text)).status,
  'a refresh token': async (text) => (await refresh(text)).status,
  'the token of an invite': async (text) =>
    (await client(undefined).post('/v1/invite/accept', { token: text, name: 'Testa Fictional' })).status,
}

const readStatus = async (path: string, headers?: Record<string, string>): Promise<number> =>
  (await client(undefined).get(path, headers)).status

/** A token that opens the portal of a user, and a code that shows which messages are sent. */
async function portalLinks({ api }: TestTeam, user: string): Promise<{ launch: string; code: string }> {
  const urlOf = async (context: string) =>
    new URL((await api.post(`/v2/user/${user}/create_portal_url`, { context })).body.url as string)
  const launch = (await urlOf('launch')).searchParams.get('token')!
  return { launch, code: (await urlOf('communications')).pathname.slice('/p/'.length) }
}

/** A text that may stand in a header: another does not reach the server. */
const isHeaderText = (text: string): boolean => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text)

/** A team, with a credential of each kind that it, its organization, its user and a phone of the user may have. */
async function teamWithCredentials() {
  const org = await createTestTeam()
  const token = guards.tokens.sign([org.cell, org.team], 600)
  user_id = await org.user()
  const phone = await signIn(org, user_id)
  const { link_token } = (await org.api.post('/v2/link/token', { user_id })).body as { link_token: string }
  const portal = await portalLinks(org, (await createOrder(org)).user_id)
  const member = await signedIn(org, await createMember(org))
  return { org, token, phone, link_token, portal, member }
}

describe('a text that is a key in the memory of the program', async () => {
  const made = await keysSetDuring(teamWithCredentials)
  const { org, token, phone, link_token, portal, member } = made.result
  let texts: string[] = []

  /** Each credential is used where it belongs, so that what the program keeps in memory for it is there. */
  const useCredentials = async () => {
    assert.equal(await spellings['x-service-api-key']!(org.key, org), 200)
    assert.equal(await spellings['authorization: Bearer']!(token, org), 200)
    assert.equal(await spellings['the access token of a user']!(phone.access_token, org), 200)
    assert.equal(await spellings['x-management-key']!(org.orgKey, org), 200)
    assert.equal(await spellings['x-vital-link-token']!(link_token, org), 200)
    assert.equal(await spellings['the link token of a page']!(link_token, org), 200)
    assert.equal(await spellings['the cookie of a member']!(member.token, org), 200)
    assert.equal(await spellings['the token of a portal launch']!(portal.launch, org), 303)
    assert.equal(await spellings['the code of a portal link']!(portal.code, org), 200)
  }
  const own: Record<string, RegExp> = {
    [org.key]: /^(x-service-api-key|x-vital-api-key|both headers of team keys)$/,
    [org.orgKey]: /^x-(management|service-org|vital-org)-key$/,
    [token]: /^(authorization: Bearer|the access token of a user)$/,
    [phone.access_token]: /^the access token of a user$/,
    [phone.refresh_token]: /^a refresh token$/,
    [link_token]: /link.token/,
    [member.token]: /^the cookie of a member$/,
    [portal.launch]: /^the token of a portal launch$/,
    [portal.code]: /^the code of a portal link$/,
  }

  before(async () => {
    const used = await keysSetDuring(async () => {
      await useCredentials()
      const { member: embeddedMember } = await embedding(org)
      const { cookie } = await getPage((await launch(org, createLaunchBody(org, embeddedMember))).body.url as string)
      assert.equal(await readStatus('/auth/session', { cookie: cookie! }), 200)
      const reading = Map.groupBy(
        operations.filter(({ method }) => method === 'GET'),
        ({ module }) => module,
      )
      for (const ofModule of reading.values())
        for (const operation of ofModule.slice(0, 2)) await send(org, operation, await valid(org, operation))
    })
    texts = [...new Set([...made.keys, ...used.keys])]
  })

  test('is found where credentials and data of teams are cached', () => {
    assert(texts.includes(org.key) && texts.includes(org.orgKey), 'the keys of keys')
    assert(
      texts.some((text) => text !== org.team && text.includes(org.team)),
      'the keys of what belongs to the team',
    )
    assert(texts.filter(isHeaderText).length > 100, 'the keys of everything else')
  })

  for (const [place, ask] of Object.entries(spellings))
    test(`is not accepted as a credential in ${place}`, async () => {
      const taken: string[] = []
      const tried = texts.filter((text) => isHeaderText(text) && !own[text]?.test(place))
      for (let i = 0; i < tried.length; i += AT_ONCE) {
        await useCredentials()
        await Promise.all(
          tried.slice(i, i + AT_ONCE).map(async (text) => {
            const status = await ask(text, org)
            assert(status < 500, `${text} HTTP ${status}`)
            if (status < 400) taken.push(text)
          }),
        )
      }
      assert.deepEqual(taken, [])
    })
})
