// The link page over HTTP: what it shows of a token, and that only its form changes something. Source: users-wearables.md 2.1, 2.2.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventuallyHolds } from '../../../test/support/eventually.ts'
import { linesInDatabase } from '../../../test/support/access-lines.ts'
import {
  base,
  CLINIC,
  connectedProviders,
  cookieOf,
  expireSessions,
  get,
  createTeamWithLink,
  createLink,
  peer,
  press,
  send,
  unescapeHtml,
} from '../../../test/support/link-pages.ts'
import { asOwner, createTestTeam } from '../../../test/support/server.ts'

describe('the link page', () => {
  test('loads nothing, cannot be framed, and sends no referrer', async () => {
    const { address } = await createTeamWithLink()
    const { status, headers, text } = await get(address)
    assert.equal(status, 200)
    const policy = headers.get('content-security-policy')!
    for (const part of ["default-src 'none'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'"])
      assert(policy.split('; ').includes(part), part)
    assert(!/unsafe|https?:/.test(policy))
    assert.deepEqual([headers.get('referrer-policy'), headers.get('cache-control')], ['no-referrer', 'no-store'])
    assert.deepEqual([...text.matchAll(/<(script|img|iframe|object|form)\b/g)], [])
    assert(![...text.matchAll(/(?:href|src)="([^"]*)"/g)].some(([, to]) => to !== 'data:,' && !to!.startsWith('/link')))
  })

  test('shows the sources that the token names and the team has set up', async () => {
    const sources = ({ text }: { text: string }) => [...text.matchAll(/<strong>([^<]+)/g)].map(([, name]) => name)
    const withoutDemos = (page: { text: string }) => sources(page).filter((name) => !name!.endsWith('(demo)'))
    assert.deepEqual(withoutDemos(await get((await createTeamWithLink()).address)), ['Strava', 'Withings'])
    const named = await createTeamWithLink({ filter_on_providers: ['withings', 'oura'] })
    assert.deepEqual(sources(await get(named.address)), ['Withings', 'Oura (demo)'])
    const none = await get((await createTeamWithLink({ filter_on_providers: ['garmin'] }, [])).address)
    assert.match(none.text, /has not set up any device or app/)
  })

  test('shows demo sources in a sandbox, unless the user has a source that is not a demo', async () => {
    const demos = ({ text }: { text: string }) => [...text.matchAll(/<strong>([^<]+) \(demo\)/g)].map(([, name]) => name)
    const { team, user_id, address, link_token } = await createTeamWithLink({}, [])
    assert.deepEqual(demos(await get(address)), ['Apple HealthKit', 'Fitbit', 'FreeStyle Libre', 'Oura'])
    await team.api.post('/v2/link/provider/manual/health_connect', { user_id })
    assert.deepEqual(demos(await get(address)), [])
    const start = await press(`/link/consent?token=${link_token}&provider=oura&demo=true`)
    assert.equal(start.status, 400)
    assert.match(start.text, /Oura \(demo\) could not be reached/)
    const state = await fetch(`${base}/v2/link/state`, { headers: { 'x-vital-link-token': link_token } })
    assert.equal(((await state.json()) as { error_type: string }).error_type, 'provider_api_error')
    assert.deepEqual(await connectedProviders(team, user_id), ['health_connect'])
  })

  test('shows the demo of the provider of the token, if the team has not set it up', async () => {
    const { address, link_token } = await createTeamWithLink({ provider: 'oura' }, [])
    const { status, location } = await get(address)
    assert.equal(status, 303)
    assert.match((await get(location!)).text, /Connect Oura \(demo\)/)
    assert.equal((await get(`/link/consent?token=${link_token}&provider=fitbit&demo=true`)).status, 400)
    for (const provider of ['strava', '', '__proto__'])
      for (const query of ['', '&demo=true'])
        assert.equal((await get(`/link/start?token=${link_token}&provider=${provider}${query}`)).status, 400)
  })

  test('connects a demo source, which leaves its line with the change, and no other one', async () => {
    const { team, user_id, link_token } = await createTeamWithLink({}, [])
    const { status, headers, to } = await press(`/link/consent?token=${link_token}&provider=oura&demo=true`)
    assert.deepEqual([status, to], [200, `${CLINIC}&state=success`])
    assert.deepEqual(await connectedProviders(team, user_id), ['oura'])
    const [line, ...more] = await linesInDatabase(team, headers.get('x-request-id')!)
    assert.deepEqual([line?.operation, line?.users, line?.outcome, more.length], ['link_start_page', [user_id], 200, 0])
  })

  test('has no demo sources in production', async () => {
    const team = await createTestTeam('production-us')
    const { address, link_token } = await createLink(team, await team.user(), { redirect_url: CLINIC })
    assert.match((await get(address)).text, /has not set up any device or app/)
    for (const path of ['/link/consent', '/link/start'])
      assert.equal((await get(`${path}?token=${link_token}&provider=oura&demo=true`)).status, 400)
    assert.equal((await send(`/link/start?token=${link_token}&provider=oura&demo=true`, { consent: 'x' })).status, 400)
  })

  test('goes directly to the list of data that the provider of the token shares, and from there to the provider', async () => {
    const { address } = await createTeamWithLink({ provider: 'strava' })
    const { status, location } = await get(address)
    assert.equal(status, 303)
    assert.match((await get(location!)).text, /Continue to Strava/)
    const { to } = await press(address)
    assert(to!.startsWith(`${peer.url}/oauth/authorize?`), to)
    assert.match((await get((await createTeamWithLink({ provider: 'garmin' })).address)).text, /Garmin could not be reached/)
  })

  test('tells why a token cannot be used, or returns with the reason if the token says so', async () => {
    for (const redirects of [false, true]) {
      const { team, address, link_token } = await createTeamWithLink(redirects ? { on_error: 'redirect' } : {})
      await expireSessions(team)
      const expired = await get(address)
      const back = `${CLINIC}&state=error&error_type=token_expired&error=The+link+token+has+expired`
      if (redirects) assert.deepEqual([expired.status, expired.location], [303, back])
      else {
        assert.equal(expired.status, 401)
        assert.match(expired.text, /was open for too long/)
        assert(expired.text.includes(back.replaceAll('&', '&#38;')))
      }
      assert.equal((await get(`/link/start?token=${link_token}&provider=strava`)).status, redirects ? 303 : 401)
    }
  })

  test('shows nothing for an invalid token or another credential', async () => {
    const { team } = await createTeamWithLink()
    for (const token of ['', 'x', 'x'.repeat(8000), '%00', team.key, '%F0%9F', 'a&token=b'])
      for (const path of ['/link', '/link/consent', '/link/start']) {
        const { status, text } = await get(`${path}?token=${token}&provider=strava`)
        assert.equal(status, 401, token.slice(0, 20))
        assert.match(text, /not valid/)
      }
    const { link_token } = await createTeamWithLink()
    for (const provider of ['', 'nobody', '__proto__', '%3Cb%3E', 'garmin'])
      for (const path of ['/link/consent', '/link/start'])
        assert.equal((await get(`${path}?token=${link_token}&provider=${provider}`)).status, 400, `${path} ${provider}`)
  })

  test('names its team at the top, in the color of the team', async () => {
    const { team, address } = await createTeamWithLink()
    const brand_information = { company_name: 'Fictional <clinic>', brand_color: '#7a1f3d' }
    const brand = { logo_url: 'https://clinic.example/logo.png', brand_information }
    const { status, body } = await team.manage.patch(`/team/${team.team}`, { sandbox: brand })
    assert.equal(status, 200, JSON.stringify(body))
    await eventuallyHolds(async () => {
      const { text } = await get(address)
      assert.match(text, /<p class="team">.*<span>Fictional &#60;clinic&#62;<\/span><\/p>/)
      assert.match(text, /:root\{--fill:#7a1f3d\}/)
    })
  })

  test('is opened by no prefetch', async () => {
    const { link_token } = await createTeamWithLink()
    const before = peer.authorizations.length
    const start = `/link/start?token=${link_token}&provider=strava`
    assert.equal((await get(start, { 'sec-purpose': 'prefetch' })).status, 503)
    assert.deepEqual([(await get(start)).status, peer.authorizations.length], [200, before])
  })

  test('changes nothing for programs that open links, or send forms without the token of the page', async () => {
    const { team, user_id, address, link_token } = await createTeamWithLink({ filter_on_providers: ['strava', 'fitbit'] }, [
      'strava',
    ])
    const rows = async () =>
      (await asOwner('select * from sandbox_us.link_session where team_id = $1 order by id', [team.team])).rows as unknown[]
    const { consent: ofStrava } = await press(`/link/consent?token=${link_token}&provider=strava`)
    const before = await rows()
    const bound = await createLink(team, user_id, { provider: 'strava' })
    const { headers: seenBefore } = await get(`/link/consent?token=${link_token}&provider=strava`)
    const [, fresh] = await rows()
    // Every address that a page shows, and those that it leads to, as a scanner finds them.
    const seen = new Set<string>()
    const waiting = [address, bound.address, `/link/start?token=${link_token}&provider=strava`]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next) || (!next.startsWith('/') && !next.startsWith(base))) continue
      seen.add(next)
      const { text, location } = await get(next)
      waiting.push(...[...text.matchAll(/(?:href|action|url)="?=?([^"]*)"/g)].map(([, to]) => unescapeHtml(to!)))
      if (location !== null) waiting.push(location)
    }
    assert(seen.size >= 7, [...seen].join())
    const start = `/link/start?token=${link_token}&provider=fitbit&demo=true`
    for (const consent of ['', 'x', ofStrava, link_token]) {
      assert.match((await send(start, { consent }, cookieOf(seenBefore))).text, /Connect Fitbit \(demo\)/)
      assert.match((await send(start, { consent })).text, /Please allow cookies/)
    }
    assert.deepEqual(await rows(), [...before, fresh])
    assert.deepEqual(await connectedProviders(team, user_id), [])
    assert.equal((await press(start)).status, 200)
    assert.deepEqual(await connectedProviders(team, user_id), ['fitbit'])
  })
})
