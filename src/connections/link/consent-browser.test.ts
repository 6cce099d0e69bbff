// The consent of the link page is bound to the browser in which it began. Source: RFC 9700 2.1, 4.7; RFC 6265bis 5.8.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  app,
  base,
  connectedProviders,
  cookieOf,
  get,
  createTeamWithLink,
  createLink,
  peer,
  press,
  send,
} from '../../../test/support/link-pages.ts'
import { asOwner, assembleProcess, createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const rows = async ({ team }: TestTeam) =>
  (await asOwner('select * from sandbox_us.link_session where team_id = $1 order by id', [team])).rows as unknown[]
const consentPath = (link_token: string, provider = 'strava') => `/link/consent?token=${link_token}&provider=${provider}`

describe('a consent that begins on the link page', () => {
  test('is completed only by its own browser; opening it elsewhere changes nothing', async () => {
    const { team, user_id, link_token } = await createTeamWithLink()
    const left = await press(consentPath(link_token))
    const back = await peer.decide(left.to!)
    const before = await rows(team)
    const { headers: another } = await press(consentPath((await createTeamWithLink()).link_token))
    const foreign = cookieOf(another).cookie!
    const own = cookieOf(left.headers).cookie!
    const [name, value] = own.split('=') as [string, string]
    const exchanged = peer.exchanges.length
    const hostile = [
      undefined,
      '',
      foreign,
      `${name}=${foreign.split('=')[1]}`,
      `${name}=`,
      name,
      `${name}=${value.slice(0, -1)}`,
      `${name}=${value.split('.')[0]}.`,
      `${name}=x.${value.split('.')[1]}`,
      `${name}2=${value}`,
      `${name.slice(0, -1)}=${value}`,
      `x=${own}`,
      `drawbridge_link=${value}`,
      `${name}=__proto__.constructor`,
      ';'.repeat(4000),
    ]
    for (const cookie of hostile) {
      const { status, text } = await get(back, cookie === undefined ? {} : { cookie })
      assert.equal(status, 400, cookie?.slice(0, 80))
      assert.match(text, /Please start again in this browser/)
    }
    for (const query of [
      `state=${new URL(back).searchParams.get('state')!}`,
      `${new URL(back).searchParams}&error=access_denied`,
    ])
      assert.equal((await get(`/v2/link/connect/strava?${query}`)).status, 400)
    const plain = await get(back, { 'x-vital-sdk-no-redirect': '1' })
    assert.deepEqual([plain.status, JSON.parse(plain.text).detail.error_type], [400, 'INVALID_REQUEST'])
    assert.deepEqual([await rows(team), peer.exchanges.length], [before, exchanged])
    const done = await get(back, { cookie: `theme=dark; ${own}; other=1` })
    assert.equal(done.status, 307)
    assert.match(done.location!, /state=success/)
    assert.match(done.headers.get('set-cookie')!, new RegExp(`^${name}=; .*Max-Age=0`))
    assert.deepEqual(await connectedProviders(team, user_id), ['strava'])
  })

  test('cannot be used in another browser through its address, because its kind is stored', async () => {
    const { team, user_id, link_token } = await createTeamWithLink()
    const back = await peer.decide((await press(consentPath(link_token))).to!)
    assert.match(back, /[?&]state=lb_/)
    assert.equal((await get(back.replace('state=lb_', 'state=ls_'))).status, 401)
    assert.deepEqual(await connectedProviders(team, user_id), [])
  })

  test('is completed when a team forwards the return to another host of the server, which sends the browser on once', async () => {
    const { team, user_id, link_token } = await createTeamWithLink()
    const left = await press(consentPath(link_token))
    const { search } = new URL(await peer.decide(left.to!))
    const at = (query: string) =>
      app.inject({ method: 'GET', url: `/v2/link/connect/strava?${query}`, headers: { host: 'other.clinic.example' } })
    const moved = await at(search.slice(1))
    assert.equal(moved.statusCode, 307)
    const location = moved.headers.location!
    assert(location.startsWith(`${base}/v2/link/connect/strava?`), location)
    assert.equal((await at(new URL(location).search.slice(1))).statusCode, 400)
    peer.account += 1
    assert.match((await get(location, cookieOf(left.headers))).location!, /state=success/)
    assert.deepEqual(await connectedProviders(team, user_id), ['strava'])
  })

  test('sets cookies that scripts cannot read, other sites cannot use, and that end within an hour', async () => {
    const { link_token } = await createTeamWithLink()
    const page = await get(consentPath(link_token))
    const left = await press(consentPath(link_token))
    const attributes = (headers: Headers) => headers.getSetCookie().map((cookie) => cookie.split('; ').slice(1).join('; '))
    assert.deepEqual(attributes(page.headers), ['Path=/link; Max-Age=3600; HttpOnly; SameSite=Lax'])
    assert.deepEqual(attributes(left.headers), ['Path=/v2/link/connect; Max-Age=3600; HttpOnly; SameSite=Lax'])
    const state = new URL(left.to!).searchParams.get('state')!
    assert(!left.headers.get('set-cookie')!.includes(state.slice(-43)))
    const again = await get(consentPath(link_token), cookieOf(page.headers))
    assert.deepEqual(cookieOf(again.headers), cookieOf(page.headers))
    const made = await get(consentPath(link_token), { cookie: 'drawbridge_link=<script>' })
    assert.match(cookieOf(made.headers).cookie!, /^drawbridge_link=[\w-]{43}$/)
  })

  test('has cookies with https that no other host of its domain can set', async (t) => {
    const { app } = assembleProcess({ publicUrl: () => 'https://health.clinic.example/lab' })
    t.after(() => app.close())
    const team = await createTestTeam()
    const { link_token } = await createLink(team, await team.user(), {})
    const path = (page: string) => `/link/${page}?token=${link_token}&provider=fitbit&demo=true`
    const open = async (cookie: string) => {
      const { headers, body } = await app.inject({ method: 'GET', url: path('consent'), headers: { cookie } })
      return { set: String(headers['set-cookie']), consent: /name="consent" value="([^"]*)"/.exec(body)![1]! }
    }
    const own = await open('')
    assert.match(own.set, /^__Host-drawbridge_link=[\w-]{43}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure$/)
    const [cookie, value] = [own.set.split(';')[0]!, own.set.split(/[=;]/)[1]!]
    const injected = `drawbridge_link=${value}`
    assert.notEqual((await open(injected)).set.split(/[=;]/)[1], value)
    const press = async (cookie: string) =>
      (
        await app.inject({
          method: 'POST',
          url: path('start'),
          headers: { cookie: cookie, 'content-type': 'application/x-www-form-urlencoded' },
          payload: new URLSearchParams({ consent: own.consent }).toString(),
        })
      ).body
    assert.match(await press(injected), /Please allow cookies/)
    assert.match(await press(`${injected.slice(0, -1)}x; ${cookie}`), /is connected/)
  })

  test('begins by a press in the browser that saw its page: no cookie, that of another, and the form of another begin nothing', async () => {
    const { team, user_id, link_token } = await createTeamWithLink({}, ['strava'])
    const path = `${consentPath(link_token, 'fitbit')}&demo=true`
    const [mine, theirs] = [await get(path), await get(path)]
    const formOf = ({ text }: { text: string }) => /name="consent" value="([^"]*)"/.exec(text)![1]!
    const start = path.replace('/consent', '/start')
    const before = await rows(team)
    const withoutCookie = await send(start, { consent: formOf(mine) })
    assert.equal(withoutCookie.status, 400)
    assert.match(withoutCookie.text, /Please allow cookies/)
    assert(withoutCookie.text.includes(path.replaceAll('&', '&#38;').replaceAll('=', '=')))
    for (const headers of [
      cookieOf(theirs.headers),
      { cookie: 'drawbridge_link=' },
      { cookie: `drawbridge_link=${'x'.repeat(42)}` },
    ])
      assert.match((await send(start, { consent: formOf(mine) }, headers)).text, /Please allow cookies|Connect Fitbit \(demo\)/)
    assert.deepEqual([await rows(team), await connectedProviders(team, user_id)], [before, []])
    assert.equal((await send(start, { consent: formOf(mine) }, cookieOf(mine.headers))).status, 200)
    assert.deepEqual(await connectedProviders(team, user_id), ['fitbit'])
  })

  test('of two links in two tabs of one browser is completed for each', async () => {
    const one = await createTeamWithLink()
    const other = await createLink(one.team, await one.team.user(), { redirect_url: 'https://clinic.example/other' })
    const first = await press(consentPath(one.link_token))
    const second = await press(consentPath(other.link_token), cookieOf((await get(consentPath(one.link_token))).headers))
    const browser = { cookie: `${cookieOf(first.headers).cookie}; ${cookieOf(second.headers).cookie}` }
    for (const { to } of [second, first]) {
      peer.account += 1
      assert.match((await get(await peer.decide(to!), browser)).location!, /state=success/)
    }
  })

  test('is for the sources of its filter only, also by an address that a person makes', async () => {
    const { team, user_id, link_token } = await createTeamWithLink({ filter_on_providers: ['withings', 'fitbit'] })
    const before = await rows(team)
    for (const more of ['strava', 'oura&demo=true', 'strava&demo=true', 'withings&provider=strava']) {
      assert.equal((await get(consentPath(link_token, more))).status, 400, more)
      assert.equal((await get(consentPath(link_token, more).replace('/consent', '/start'))).status, 400, more)
    }
    // With the form of an allowed source.
    const page = await get(consentPath(link_token, 'withings'))
    const consent = /name="consent" value="([^"]*)"/.exec(page.text)![1]!
    for (const more of ['strava', 'oura&demo=true'])
      assert.equal(
        (await send(`/link/start?token=${link_token}&provider=${more}`, { consent }, cookieOf(page.headers))).status,
        400,
        more,
      )
    assert.deepEqual([await rows(team), await connectedProviders(team, user_id)], [before, []])
    const oauth = await get('/v2/link/provider/oauth/strava', { 'x-vital-link-token': link_token })
    assert.equal(oauth.status, 400)
    const offered = await get('/v2/link/providers', { 'x-vital-link-token': link_token })
    assert.deepEqual(
      (JSON.parse(offered.text) as { slug: string }[]).map(({ slug }) => slug),
      ['withings'],
    )
    assert.match((await press(consentPath(link_token, 'withings'))).to!, /authorize/)
  })
})

describe('a consent that an app or a page of the team begins', () => {
  test('returns in any browser, as the public clients need it', async () => {
    const { team, user_id, link_token } = await createTeamWithLink()
    const { text } = await get('/v2/link/provider/oauth/strava', { 'x-vital-link-token': link_token })
    const { oauth_url } = JSON.parse(text) as { oauth_url: string }
    assert.match(new URL(oauth_url).searchParams.get('state')!, /^ls_/)
    peer.account += 1
    const { status, location } = await get(await peer.decide(oauth_url))
    assert.equal(status, 307)
    assert.match(location!, /state=success/)
    assert.deepEqual(await connectedProviders(team, user_id), ['strava'])
  })
})
