import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { describe, test } from 'node:test'
import {
  CONTINUATION,
  embedding,
  assertSecurityHeaders,
  launchedHeaders,
  createLaunchBody,
  member,
  session,
  openSession,
  createLaunchUrl,
  getPage,
} from '../../../test/support/launch-browser.ts'
import { assertSound } from '../../../test/support/axe.ts'
import { skipWithoutBrowser, visit } from '../../../test/support/browser.ts'
import { cells, client, createTestTeam, settings, url } from '../../../test/support/server.ts'
import { roleBindings } from '../../../test/support/teams.ts'
describe('a launch token', () => {
  test('becomes a session whose page is the console, which reads its member, team and feature', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const page = await getPage(await createLaunchUrl(org, createLaunchBody(org, someone)))
    assert.deepEqual([page.status, page.location, page.text], [303, '/auth/session', ''])
    assertSecurityHeaders(page, "'none'", 'strict-origin-when-cross-origin')
    const cookie = page.headers.get('set-cookie')!
    assert.match(cookie, /^drawbridge_link_out=ds_[\w-]{43}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax$/)
    const shown = await session(page.cookie!)
    assert.equal(shown.status, 200)
    assertSecurityHeaders(shown, "'none'", 'same-origin')
    const headers = await launchedHeaders(page.cookie!)
    assert(shown.text.includes(`<meta name="drawbridge-launch" content="${headers['x-drawbridge-launch']}">`))
    assert(!shown.text.includes('ds_') && !shown.text.includes('Testa'))
    const { status, body } = await client(undefined).get('/console/api/launch', headers)
    assert.equal(status, 200)
    assert.deepEqual(body.member, { id: someone.id, name: 'Testa Fictional', email: 'testa@example.com' })
    assert.deepEqual(body.teams, [{ id: org.team, name: 'Test team', region: 'us', role: 'administrator' }])
    assert.deepEqual(
      [body.org.name, body.cells, body.feature, body.modality],
      ['Test organization', [org.cell], 'team_panels', 'link_out'],
    )
  })

  test('is used once', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const address = await createLaunchUrl(org, createLaunchBody(org, someone))
    assert.equal((await getPage(address)).status, 303)
    const again = await getPage(address)
    assert.deepEqual([again.status, again.cookie], [410, undefined])
    assertSecurityHeaders(again)
  })

  test('is used once by twenty concurrent requests', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const address = await createLaunchUrl(org, createLaunchBody(org, someone))
    const pages = await Promise.all(Array.from({ length: 20 }, () => getPage(address)))
    assert.deepEqual(pages.map(({ status }) => status).sort(), [303, ...Array<number>(19).fill(410)])
  })

  test('is not consumed by prefetch or HEAD requests', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const address = await createLaunchUrl(org, createLaunchBody(org, someone))
    for (const headers of [{ 'sec-purpose': 'prefetch' }, { 'sec-purpose': 'prefetch;prerender' }, { purpose: 'prefetch' }])
      assert.deepEqual([(await getPage(address, headers)).status, (await getPage(address, headers)).cookie], [503, undefined])
    for (const method of ['HEAD', 'POST', 'OPTIONS']) assert.equal((await getPage(address, {}, method)).status, 404)
    assert.equal((await getPage(address)).status, 303)
  })

  test('ends after five minutes', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const afterMinutes = async (minutes: number) => {
      const address = await createLaunchUrl(org, createLaunchBody(org, someone))
      await cells.control.pool.query(
        'update dashboard_session set expires_at = expires_at - make_interval(mins => $2) where member_id = $1 and session_token_hash is null',
        [someone.id, minutes],
      )
      return (await getPage(address)).status
    }
    assert.deepEqual([await afterMinutes(4), await afterMinutes(5)], [303, 410])
  })

  test('that is unknown, too long or malformed gets 404', async () => {
    for (const token of ['', 'dl_unknown', 'x'.repeat(5000), '%00', '%F0%9F', 'a&token=b'])
      assert.equal((await getPage(`/auth/launch?token=${token}`)).status, 404, token)
  })

  test('is rejected when its member, team or modality is no longer valid', async () => {
    const org = await createTestTeam()
    const { member: removed, configuration } = await embedding(org)
    const own = (await org.manage.post('/team', { name: 'Another', region: 'us' })).body.id
    const [bound, later] = [await member(org, { team_role_bindings: roleBindings(org.team, own) }), await member(org)]
    const urls = {
      removed: await createLaunchUrl(org, createLaunchBody(org, removed)),
      unbound: await createLaunchUrl(org, createLaunchBody(org, bound)),
      teamDeleted: await createLaunchUrl(org, createLaunchBody(org, bound, { team_id: own })),
      disabled: await createLaunchUrl(org, createLaunchBody(org, later, { modality: 'feature_embed' })),
    }
    await org.manage.delete(`/ehr_integration/member/${removed.id}`)
    await org.manage.patch(`/ehr_integration/member/${bound.id}`, { team_role_bindings: roleBindings(own) })
    await org.manage.delete(`/team/${own}`)
    await org.manage.put('/ehr_integration/configuration', { ...configuration, modalities: ['link_out'] })
    assert.equal((await getPage(urls.removed)).status, 404)
    assert.equal((await getPage(urls.unbound)).status, 410)
    assert.equal((await getPage(urls.teamDeleted)).status, 410)
    assert.equal((await getPage(urls.disabled)).status, 410)
    await org.manage.put('/ehr_integration/configuration', configuration)
    assert.equal((await getPage(urls.disabled)).status, 303)
  })
})

const featureOf = async (cookie: string): Promise<string> =>
  (await client(undefined).get('/console/api/launch', await launchedHeaders(cookie))).body.feature

describe('a launch without a token', () => {
  const path = (slug: string | undefined, body: Record<string, unknown>) => {
    const given = Object.entries({ slug, ...body }).filter(([, value]) => value !== undefined) as [string, string][]
    return `/auth/launch?${new URLSearchParams(given)}`
  }

  test('continues a matching session', async () => {
    const org = await createTestTeam()
    const { member: someone, slug } = await embedding(org)
    const wanted = createLaunchBody(org, someone)
    const cookie = await openSession(org, wanted)
    const byReference = { ...wanted, member_id: undefined, integration_member_id: someone.integration_member_id }
    for (const body of [wanted, byReference]) {
      const page = await getPage(path(slug, body), { cookie })
      assert.deepEqual([page.status, page.location, page.cookie], [303, '/auth/session', undefined])
    }
  })

  test('a link session can switch features; an embedded session cannot', async () => {
    const org = await createTestTeam()
    const { member: someone, slug } = await embedding(org)
    const user = await org.user()
    const cookie = await openSession(org, createLaunchBody(org, someone))
    const go = (feature: string) => getPage(path(slug, createLaunchBody(org, someone, { feature })), { cookie })
    assert.equal((await go(`order_creation:${user}`)).status, 303)
    assert.equal(await featureOf(cookie), `order_creation:${user}`)
    assert.equal((await go(`order:${user}`)).status, 404)
    assert.equal(await featureOf(cookie), `order_creation:${user}`)
    const embedded = createLaunchBody(org, someone, { modality: 'feature_embed' })
    const framed = await openSession(org, embedded)
    assert.equal((await getPage(path(slug, embedded), { cookie: framed })).status, 303)
    const elsewhere = await getPage(path(slug, { ...embedded, feature: 'team_config' }), { cookie: framed })
    assert.equal(elsewhere.status, 307)
    assert.equal(await featureOf(framed), 'team_panels')
  })

  test('without a matching session is redirected to the organization’s own backend, with the launch', async () => {
    const org = await createTestTeam()
    const { member: someone, slug } = await embedding(org)
    const another = await member(org)
    const whole = (await org.manage.post('/team', { name: 'Whole', region: 'us' })).body.id
    const wanted = createLaunchBody(org, someone)
    const others = [
      '',
      await openSession(org, createLaunchBody(org, another)),
      await openSession(org, createLaunchBody(org, someone, { team_id: whole })),
      await openSession(org, createLaunchBody(org, someone, { team_id: whole, environment: 'production' })),
    ]
    for (const cookie of others) {
      const page = await getPage(path(slug, wanted), { cookie })
      assert.equal(page.status, 307)
      const location = new URL(page.location!)
      assert.equal(location.origin + location.pathname, CONTINUATION.split('?')[0])
      assert.deepEqual(Object.fromEntries(location.searchParams), { tenant: '1', ...wanted })
      assertSecurityHeaders(page)
    }
  })

  test('of another organization does not take the session', async () => {
    const [org, other] = [await createTestTeam(), await createTestTeam()]
    const { member: someone } = await embedding(org)
    const { slug } = await embedding(other)
    const cookie = await openSession(org, createLaunchBody(org, someone))
    assert.equal((await getPage(path(slug, createLaunchBody(org, someone)), { cookie })).status, 307)
  })

  test('is sent to the continuation of the page it comes from, to the only one, or nowhere', async () => {
    const org = await createTestTeam()
    const [one, two, three] = ['https://one.example.com', 'https://two.example.com', 'https://three.example.com']
    const { member: someone, slug } = await embedding(org, {
      origin_configs: [
        { origin: one, session_continuation_url: `${one}/on` },
        { origin: two, session_continuation_url: `${two}/on` },
        { origin: three },
      ],
    })
    const from = async (referer?: string) => {
      const page = await getPage(path(slug, createLaunchBody(org, someone)), referer === undefined ? {} : { referer })
      return page.location === null ? page.status : new URL(page.location).origin
    }
    assert.deepEqual([await from(`${one}/`), await from(`${two}/a/page`)], [one, two])
    for (const referer of [undefined, `${three}/`, 'https://evil.example.com/', 'nonsense'])
      assert.equal(await from(referer), 401)
  })

  test('that is incomplete gets 422, of an unknown organization 404, of a disabled modality 400', async () => {
    const org = await createTestTeam()
    const { member: someone, slug } = await embedding(org, { modalities: ['link_out'] })
    const wanted = createLaunchBody(org, someone)
    const status = async (address: string) => (await getPage(address)).status
    for (const name of ['member_id', 'team_id', 'feature', 'modality', 'environment'])
      assert.equal(await status(path(slug, { ...wanted, [name]: undefined })), 422, name)
    const { text } = await getPage(path(slug, { ...wanted, feature: '<b>', environment: 'moon' }))
    assert(text.includes('feature, environment') && !text.includes('<b>'))
    assert.equal(await status(path(slug, { ...wanted, integration_member_id: 'x' })), 422)
    for (const unknown of ['', 'unknown', '\0', undefined]) assert.equal(await status(path(unknown, wanted)), 404)
    assert.equal(await status(path(slug, { ...wanted, modality: 'feature_embed' })), 400)
  })

  test('needs no slug on the own host of an organization', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const domain = `${randomUUID()}.example.com`
    const { id } = (await org.manage.post('/domain', { domain })).body
    const proved = (target: string | null) =>
      cells.control.pool.query('update org_domain set verified_at = created_at, cname_target = $2 where id = $1', [id, target])
    const status = (host: string) => statusOn(host, path(undefined, createLaunchBody(org, someone)))
    assert.equal(await status(`dashboard.${domain}`), 404)
    await proved(settings.domain_target!)
    assert.equal(await status(`dashboard.${domain}`), 307)
    assert.equal(await status(`DASHBOARD.${domain}.:8443`), 307)
    assert.equal(await status(domain), 404)
    await proved('elsewhere.example.org')
    assert.equal(await status(`dashboard.${domain}`), 404)
  })
})

/** The status of a page that is asked for under another host. */
async function statusOn(host: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    sent.on('error', reject).end()
  })
}

test(
  'the errors of launch URLs fit a phone, and axe and the browser find nothing in them',
  { skip: skipWithoutBrowser },
  async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const { page, complaints } = await visit('phone')
    const spent = await createLaunchUrl(org, createLaunchBody(org, someone))
    await getPage(spent)
    const shown = [
      [`${url}/auth/session`, 'You are not signed in'],
      [`${url}/auth/launch?token=dl_${'x'.repeat(43)}`, 'Unknown link'],
      [spent, 'This link cannot be used'],
    ] as const
    for (const [address, title] of shown) {
      await page.goto(address)
      assert.equal(await page.title(), title)
      await assertSound(page, `launch ${title}`)
    }
    // Of the pages of errors it reports the status.
    const unexpected = complaints.filter((complaint) => !/the server responded with a status of 4(01|04|10)/.test(complaint))
    assert.deepEqual(unexpected, [])
  },
)
