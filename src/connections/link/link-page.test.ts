// The link page as a patient sees it on a phone, in a browser: pick a source, read what is shared, agree or refuse at the provider, return.
// Source: users-wearables.md 2.1, 2.2.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { eventuallyHolds } from '../../../test/support/eventually.ts'
import { skipWithoutBrowser, visit, type Page } from '../../../test/support/browser.ts'
import { assertSound } from '../../../test/support/axe.ts'
import { linesInDatabase } from '../../../test/support/access-lines.ts'
import { OAuthPeer, PEER_CLIENT } from '../../../test/support/oauth-peer.ts'
import { asOwner, assembled, createTestTeam, settings, type TestTeam } from '../../../test/support/server.ts'

const peer = await new OAuthPeer().start()
let base = ''
const { app } = assembled({
  settings: { ...settings, provider_urls: [`strava=${peer.url}`, `withings=${peer.url}`] },
  publicUrl: () => base,
})
after(() => app.close())
base = await app.listen({ port: 0, host: '127.0.0.1' })

/** The page of a clinic: whatever the peer answers there. */
const CLINIC = `${peer.url}/clinic?case=7`

async function given(body: Record<string, unknown> = {}, providers = ['strava', 'withings']) {
  const team = await createTestTeam()
  for (const provider of providers)
    await team.manage.post('/team_custom_credentials/sandbox/us', { team_id: team.team, provider, ...PEER_CLIENT })
  const user_id = await team.user()
  return { team, user_id, ...(await linkOf(team, user_id, { redirect_url: CLINIC, ...body })) }
}

/** The token, and the address of the page on the server that reaches the peer. */
async function linkOf(team: TestTeam, user_id: string, body: Record<string, unknown>) {
  const { link_token, link_web_url } = (await team.api.post('/v2/link/token', { user_id, ...body })).body
  const { pathname, search } = new URL(link_web_url as string)
  return { link_token: link_token as string, address: base + pathname + search }
}

const connected = async (team: TestTeam, user_id: string): Promise<string[]> =>
  (await team.api.get(`/v2/user/providers/${user_id}`)).body.providers.map(({ slug }: { slug: string }) => slug)

const expireSessions = ({ team }: TestTeam) =>
  asOwner('update sandbox_us.link_session set expires_at = now() where team_id = $1', [team])

async function get(address: string, headers: Record<string, string> = {}) {
  const response = await fetch(address.startsWith('/') ? base + address : address, { redirect: 'manual', headers })
  return {
    status: response.status,
    text: await response.text(),
    headers: response.headers,
    location: response.headers.get('location'),
  }
}

describe('the link page', () => {
  test('loads nothing, may be framed by nobody, and sends no referrer', async () => {
    const { address } = await given()
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

  test('shows the sources that the token names, of those that the team has set up', async () => {
    const sources = ({ text }: { text: string }) => [...text.matchAll(/<strong>([^<]+)/g)].map(([, name]) => name)
    const withoutDemos = (page: { text: string }) => sources(page).filter((name) => !name!.endsWith('(demo)'))
    assert.deepEqual(withoutDemos(await get((await given()).address)), ['Strava', 'Withings'])
    const named = await given({ filter_on_providers: ['withings', 'oura'] })
    assert.deepEqual(sources(await get(named.address)), ['Withings', 'Oura (demo)'])
    const none = await get((await given({ filter_on_providers: ['garmin'] }, [])).address)
    assert.match(none.text, /has not set up any device or app/)
  })

  test('shows demo sources in a sandbox, unless the user has a source that is no demo', async () => {
    const demos = ({ text }: { text: string }) => [...text.matchAll(/<strong>([^<]+) \(demo\)/g)].map(([, name]) => name)
    const { team, user_id, address, link_token } = await given({}, [])
    assert.deepEqual(demos(await get(address)), ['Apple HealthKit', 'Fitbit', 'FreeStyle Libre', 'Oura'])
    await team.api.post('/v2/link/provider/manual/health_connect', { user_id })
    assert.deepEqual(demos(await get(address)), [])
    const start = await get(`/link/start?token=${link_token}&provider=oura&demo=true`)
    assert.equal(start.status, 400)
    assert.match(start.text, /Oura \(demo\) could not be reached/)
    const state = await fetch(`${base}/v2/link/state`, { headers: { 'x-vital-link-token': link_token } })
    assert.equal(((await state.json()) as { error_type: string }).error_type, 'provider_api_error')
    assert.deepEqual(await connected(team, user_id), ['health_connect'])
  })

  test('shows the demo of the provider of the token, if the team has not set it up', async () => {
    const { address, link_token } = await given({ provider: 'oura' }, [])
    const { status, location } = await get(address)
    assert.equal(status, 303)
    assert.match((await get(location!)).text, /Connect Oura \(demo\)/)
    for (const provider of ['fitbit', 'strava', '', '__proto__'])
      assert.equal((await get(`/link/start?token=${link_token}&provider=${provider}&demo=true`)).status, 400, provider)
  })

  test('connects a demo source, which leaves its line with the change, and no other one', async () => {
    const { team, user_id, link_token } = await given({}, [])
    const { status, headers } = await get(`/link/start?token=${link_token}&provider=oura&demo=true`)
    assert.equal(status, 303)
    assert.deepEqual(await connected(team, user_id), ['oura'])
    const [line, ...more] = await linesInDatabase(team, headers.get('x-request-id')!)
    assert.deepEqual([line?.operation, line?.users, line?.outcome, more.length], ['link_start_page', [user_id], 303, 0])
  })

  test('has no demo sources in production', async () => {
    const team = await createTestTeam('production-us')
    const { address, link_token } = await linkOf(team, await team.user(), { redirect_url: CLINIC })
    assert.match((await get(address)).text, /has not set up any device or app/)
    for (const path of ['/link/consent', '/link/start'])
      assert.equal((await get(`${path}?token=${link_token}&provider=oura&demo=true`)).status, 400)
  })

  test('goes straight to the provider of the token', async () => {
    const { address } = await given({ provider: 'strava' })
    const { status, location } = await get(address)
    assert.equal(status, 303)
    assert(location!.startsWith(`${peer.url}/oauth/authorize?`))
    assert.match((await get((await given({ provider: 'garmin' })).address)).text, /Garmin could not be reached/)
  })

  test('tells why a token cannot be used, or returns with the reason if the token says so', async () => {
    for (const redirects of [false, true]) {
      const { team, address, link_token } = await given(redirects ? { on_error: 'redirect' } : {})
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

  test('that a text leads to which is no token, or another credential, shows nothing', async () => {
    const { team } = await given()
    for (const token of ['', 'x', 'x'.repeat(8000), '%00', team.key, '%F0%9F', 'a&token=b'])
      for (const path of ['/link', '/link/consent', '/link/start']) {
        const { status, text } = await get(`${path}?token=${token}&provider=strava`)
        assert.equal(status, 401, token.slice(0, 20))
        assert.match(text, /not valid/)
      }
    const { link_token } = await given()
    for (const provider of ['', 'nobody', '__proto__', '%3Cb%3E', 'garmin'])
      for (const path of ['/link/consent', '/link/start'])
        assert.equal((await get(`${path}?token=${link_token}&provider=${provider}`)).status, 400, `${path} ${provider}`)
  })

  test('names its team at the top, in the color of the team', async () => {
    const { team, address } = await given()
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
    const { link_token } = await given()
    const before = peer.asked.length
    const start = `/link/start?token=${link_token}&provider=strava`
    assert.equal((await get(start, { 'sec-purpose': 'prefetch' })).status, 503)
    assert.deepEqual([(await get(start)).status, peer.asked.length], [303, before])
  })
})

describe('on a phone, 390 pixels wide, a patient', { skip: skipWithoutBrowser }, () => {
  const phone = () => visit('phone')
  const at = (path: string) => (address: URL) => address.pathname === path
  const returned = ({ href }: URL) => href.startsWith(CLINIC)
  const said = (page: Page) => new URL(page.url()).search

  test('picks a source, reads what is shared, agrees and returns', async () => {
    const { team, user_id, address } = await given()
    const { page, complaints } = await phone()
    await page.goto(address)
    await assertSound(page, 'link sources')
    await page.click('a[href*="strava"]')
    await page.waitForURL(at('/link/consent'))
    await assertSound(page, 'link consent')
    const text = await page.innerText('body')
    for (const words of ['Connect Strava', 'Test team can see this data', 'Workouts', 'Your password stays with Strava'])
      assert(text.includes(words), words)
    await page.click('a[href*="/link/start"]')
    await page.waitForSelector('#agree')
    await page.click('#agree')
    await page.waitForURL(returned)
    assert.equal(said(page), '?case=7&state=success')
    assert.deepEqual(await connected(team, user_id), ['strava'])
    assert.deepEqual(complaints, [])
    await page.goto(address)
    assert.match(await page.innerText('body'), /already connected with this link/)
    assert.equal(await page.innerText('h1'), 'Already connected')
    await assertSound(page, 'link consumed')
  })

  test('picks a demo source, agrees and returns, and its data follows', async () => {
    const { team, user_id, address } = await given({}, [])
    const { page, complaints } = await phone()
    await page.goto(address)
    await assertSound(page, 'link demo-sources')
    await page.click('a[href*="fitbit"]')
    await page.waitForURL(at('/link/consent'))
    await assertSound(page, 'link demo-consent')
    const text = await page.innerText('body')
    for (const words of ['Connect Fitbit (demo)', 'data of a fictional person', 'Heart rate']) assert(text.includes(words), words)
    await page.click('a[href*="/link/start"]')
    await page.waitForURL(returned)
    assert.equal(said(page), '?case=7&state=success')
    assert.deepEqual(complaints, [])
    assert.deepEqual(await connected(team, user_id), ['fitbit'])
    const { body } = await team.api.post('/v1/sandbox/clock/advance', { seconds: 1 })
    assert.equal(body.complete, true)
    const to = new Date().toISOString().slice(0, 10)
    const from = new Date(Date.parse(to) - 20 * 86_400_000).toISOString().slice(0, 10)
    const { activity } = (await team.api.get(`/v2/summary/activity/${user_id}?start_date=${from}&end_date=${to}`)).body
    assert(activity.length >= 15, `${activity.length} days`)
    await page.goto(address)
    assert.match(await page.innerText('body'), /already connected with this link/)
  })

  test('refuses, and returns with that', async () => {
    const { team, user_id, address } = await given()
    const { page } = await phone()
    await page.goto(address)
    await page.click('a[href*="strava"]')
    await page.click('a[href*="/link/start"]')
    await page.click('#refuse')
    await page.waitForURL(returned)
    assert.match(said(page), /^\?case=7&state=error&error_type=user_cancelled&error=/)
    assert.deepEqual(await connected(team, user_id), [])
  })

  test('comes back from the provider when the token has expired, and opens the link again', async () => {
    const { team, user_id, address } = await given()
    const { page } = await phone()
    await page.goto(address)
    await page.click('a[href*="strava"]')
    await page.click('a[href*="/link/start"]')
    await page.waitForSelector('#agree')
    await expireSessions(team)
    await page.click('#agree')
    await page.waitForURL(returned)
    assert.match(said(page), /error_type=token_expired/)
    await page.goto(address)
    assert.match(await page.innerText('body'), /was open for too long/)
    await assertSound(page, 'link expired')
    await page.click('.button')
    await page.waitForURL(returned)
    assert.deepEqual(await connected(team, user_id), [])
  })

  test('closes the page, and returns or reads that the window can be closed', async () => {
    const { page } = await phone()
    const close = page.getByRole('link', { name: 'Close', exact: true })
    await page.goto((await given()).address)
    await close.click()
    await page.waitForURL(at('/link/closed'))
    await assertSound(page, 'link closed')
    assert.match(await page.innerText('body'), /You can close this window now/)
    await page.goto((await given({ on_close: 'redirect' })).address)
    await close.click()
    await page.waitForURL(returned)
    assert.match(said(page), /error_type=user_cancelled/)
  })

  test('is shown the name of the team as text, whatever it is, and a page at the end if there is no address to return to', async () => {
    const { team, user_id } = await given()
    const company_name = `<img src=x onerror=alert(1)> & "Sons" ${'Gesundheitszentrum'.repeat(4)}`
    const brand = { logo_url: 'https://clinic.example/logo.png', brand_information: { company_name } }
    assert.equal((await team.manage.patch(`/team/${team.team}`, { sandbox: brand })).status, 200)
    const { address } = await linkOf(team, user_id, {})
    const { page } = await phone()
    await page.goto(address)
    await page.waitForFunction(`document.body?.innerText.includes('onerror=alert(1)')`)
    assert.equal(await page.evaluate('document.images.length'), 0)
    await assertSound(page, 'link long-name')
    await page.click('a[href*="withings"]')
    await page.click('a[href*="/link/start"]')
    await page.click('#refuse')
    await page.waitForFunction(`document.body?.innerText.includes('You did not agree')`)
    await assertSound(page, 'link refused')
    await page.goto(address)
    await page.click('a[href*="strava"]')
    await page.click('a[href*="/link/start"]')
    await page.click('#agree')
    await page.waitForFunction(`document.body?.innerText.includes('Strava is connected')`)
    await assertSound(page, 'link connected')
  })
})
