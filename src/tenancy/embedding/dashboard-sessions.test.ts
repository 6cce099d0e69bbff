import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  APP,
  embedding,
  assertSecurityHeaders,
  createLaunchBody,
  member,
  session,
  openSession,
  createLaunchUrl,
  getPage,
} from '../../../test/support/launch-browser.ts'
import { CONSOLE_HEADERS } from '../../../test/support/console-sessions.ts'
import { assembleProcess, cells, client, expire, createTestTeam } from '../../../test/support/server.ts'
import { sessionCleanup } from './dashboard-sessions.ts'

describe('a session', () => {
  test('ends with its member, its binding, its team or its modality, and after an hour', async () => {
    const org = await createTestTeam()
    const { configuration } = await embedding(org)
    const own = (await org.manage.post('/team', { name: 'Another', region: 'us' })).body.id
    const begun = async (createSession: Record<string, unknown> = {}) => {
      const someone = await member(org)
      return { id: someone.id, cookie: await openSession(org, createLaunchBody(org, someone, createSession)) }
    }
    const [removed, unbound, teamless, late, embedded] = [
      await begun(),
      await begun(),
      await begun({ team_id: own }),
      await begun(),
      await begun({ modality: 'feature_embed' }),
    ]
    const all = [removed, unbound, teamless, late, embedded]
    for (const { cookie } of all) assert.equal((await session(cookie)).status, 200)
    await org.manage.delete(`/ehr_integration/member/${removed.id}`)
    await org.manage.patch(`/ehr_integration/member/${unbound.id}`, { team_role_bindings: [] })
    await org.manage.delete(`/team/${own}`)
    await cells.control.pool.query(
      `update dashboard_session set expires_at = expires_at - interval '1 hour' where member_id = $1`,
      [late.id],
    )
    await org.manage.put('/ehr_integration/configuration', { ...configuration, modalities: ['link_out'] })
    for (const { cookie } of all) assert.equal((await session(cookie)).status, 401)
  })

  test('is not accessible without its cookie', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const cookie = await openSession(org, createLaunchBody(org, someone))
    const launched = (await createLaunchUrl(org, createLaunchBody(org, someone))).split('token=')[1]!
    const wrong = ['', 'drawbridge_link_out=', 'drawbridge_link_out=ds_x', `drawbridge_link_out=${launched}`, `x${cookie}`]
    for (const value of [...wrong, `${cookie}x`, `drawbridge_link_out=${'x'.repeat(5000)}`, ';;=;', 'drawbridge_link_out'])
      assert.equal((await session(value)).status, 401, value.slice(0, 40))
    assert.equal((await session(`other=1; ${cookie}; more=2`)).status, 200)
  })

  test('in a frame has a cookie for that frame, and a page that registered origins alone may frame', async () => {
    const org = await createTestTeam()
    const origin_configs = [{ origin: APP }, { origin: 'https://other.example.com:8443' }]
    const { member: someone } = await embedding(org, { origin_configs })
    const address = await createLaunchUrl(
      org,
      createLaunchBody(org, someone, { modality: 'feature_embed', feature: 'order_creation' }),
    )
    const page = await getPage(address)
    assert.match(
      page.headers.get('set-cookie')!,
      /^drawbridge_feature_embed=ds_[\w-]+; Path=\/; Max-Age=3600; HttpOnly; SameSite=None; Secure; Partitioned$/,
    )
    const ancestors = `${APP} https://other.example.com:8443`
    assertSecurityHeaders(await session(page.cookie!), ancestors, 'same-origin')
    assertSecurityHeaders(await getPage(address), ancestors)
  })

  test('stays below the address that browsers use, and over https its cookie does too', async (t) => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const token = new URL(await createLaunchUrl(org, createLaunchBody(org, someone))).searchParams.get('token')!
    const { pages, app } = assembleProcess({ publicUrl: () => 'https://example.org/lab' })
    t.after(() => app.close())
    const launching = pages.find(({ path }) => path === '/auth/launch')!
    const { headers } = await launching.answer({
      params: {},
      form: new URLSearchParams(),
      query: { token },
      headers: {},
      address: '192.0.2.1',
      logChange: () => {},
    })
    assert.equal(headers.location, '/lab/auth/session')
    assert.match(headers['set-cookie']!, /; Path=\/lab\/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure$/)
  })

  test('of a frame and one of a link live side by side', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const cookies = [
      await openSession(org, createLaunchBody(org, someone, { feature: 'team_config' })),
      await openSession(org, createLaunchBody(org, someone, { feature: 'order_creation', modality: 'feature_embed' })),
    ].join('; ')
    const featureOf = async (headers: Record<string, string>) => {
      const { text } = await getPage('/auth/session', { cookie: cookies, ...headers })
      const [, id] = /name="drawbridge-launch" content="([\w-]+)"/.exec(text)!
      const asked = { ...CONSOLE_HEADERS, cookie: cookies, 'x-drawbridge-launch': id! }
      return (await client(undefined).get('/console/api/launch', asked)).body.feature
    }
    assert.deepEqual([await featureOf({}), await featureOf({ 'sec-fetch-dest': 'iframe' })], ['team_config', 'order_creation'])
  })

  test('is kept as a hash, and forgotten a day after its end', async () => {
    const org = await createTestTeam()
    const { member: someone } = await embedding(org)
    const cookie = await openSession(org, createLaunchBody(org, someone))
    const rows = async () =>
      (
        await cells.control.pool.query<{ row: string }>('select s::text as row from dashboard_session s where member_id = $1', [
          someone.id,
        ])
      ).rows
    const [kept] = await rows()
    assert(!kept!.row.includes(cookie.split('=ds_')[1]!))
    const pass = (interval: string) =>
      cells.control.pool.query(`update dashboard_session set expires_at = expires_at - $2::interval where member_id = $1`, [
        someone.id,
        interval,
      ])
    await pass('24 hours')
    await expire(cells.control, sessionCleanup)
    assert.equal((await rows()).length, 1)
    await pass('2 hours')
    await expire(cells.control, sessionCleanup)
    assert.equal((await rows()).length, 0)
  })
})
