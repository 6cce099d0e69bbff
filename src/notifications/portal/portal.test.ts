// The portal as patients see it. Source: users-wearables.md 1.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertSound } from '../../../test/support/axe.ts'
import { skipWithoutBrowser, visit, type Page } from '../../../test/support/browser.ts'
import { address, advanceClock, advanceTo, createOrder, patient, tenantOf } from '../../../test/support/orders.ts'
import { linesInDatabase } from '../../../test/support/access-lines.ts'
import { access, asOwner, createTestTeam, url, type TestTeam } from '../../../test/support/server.ts'
import type { CollectionMethod } from '../../lab/catalog/enums.ts'
import { teamNow } from '../../platform/db/database.ts'
import { lifecycles } from '../../lab/orders/lifecycle.ts'
import { stateWords, type LowLevelStatus } from './order-words.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'

async function createOrderWithPortal(method = 'walk_in_test', order: Record<string, unknown> = {}) {
  const team = await createTestTeam()
  const placed = await createOrder(team, { lab_test_id: await team.test(method), ...order })
  return { team, order: placed, user_id: placed.user_id }
}

const createPortalLink = async ({ api }: TestTeam, user_id: string, body: Record<string, unknown>) => {
  const { status, body: answer } = await api.post(`/v2/user/${user_id}/create_portal_url`, body)
  assert.equal(status, 200, JSON.stringify(answer))
  return answer as { url: string; expires_in: number }
}

const local = (address: string): string => {
  const { pathname, search } = new URL(address, url)
  return url + pathname + search
}

async function ask(target: string, form?: Record<string, string>) {
  const response = await fetch(local(target), {
    redirect: 'manual',
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  })
  return {
    status: response.status,
    text: await response.text(),
    headers: response.headers,
    location: response.headers.get('location') ?? '',
  }
}

/** The address of the portal behind a launch link. */
const launchPortal = async (team: TestTeam, user_id: string, order_id?: string): Promise<string> => {
  const { location } = await ask((await createPortalLink(team, user_id, { context: 'launch', order_id })).url)
  assert.match(location, /^\/portal\?token=/)
  return location
}

const messageKinds = async ({ api }: TestTeam, order_id: string): Promise<string[]> =>
  (await api.get(`/v3/order/${order_id}/messages`)).body.data.map(
    ({ kind, channel }: Record<string, string>) => `${kind} ${channel}`,
  )

test('the portal shows the day of the order and the time of an appointment where the patient is', async () => {
  const team = await createTestTeam()
  // Sunday evening in Phoenix, Monday in UTC.
  const now = teamNow(await tenantOf(team)).getTime()
  const [day_ms, week_ms] = [86_400_000, 7 * 86_400_000]
  const monday = Math.ceil((now - 4 * day_ms) / week_ms) * week_ms + 4 * day_ms
  await advanceClock(team, Math.round((monday + 3 * 3_600_000 - now) / 1000))
  const order = await createOrder(team, { lab_test_id: await team.test('walk_in_test') })
  assert.equal(new Date(order.created_at).getUTCDay(), 1)
  const { text } = await ask(await launchPortal(team, order.user_id))
  const [, shown] = /Ordered on ([^.]+)\./.exec(text) ?? []
  assert.match(shown!, /^Sunday, /)
})

describe('a portal URL', () => {
  test('needs a user with demographics, and an order of this user', async () => {
    const { team, order, user_id } = await createOrderWithPortal()
    const path = (id: string) => `/v2/user/${id}/create_portal_url`
    const fresh = await team.user()
    const refused = await team.api.post(path(fresh), { context: 'launch' })
    assert.equal(refused.status, 422)
    assert.match(refused.body.detail[0].msg, /no demographics/)
    assert.equal((await team.api.post(path(UNKNOWN), { context: 'launch' })).status, 404)
    assert.equal((await team.api.post(path(user_id), { context: 'launch', order_id: UNKNOWN })).status, 404)
    assert.equal((await team.api.post(path(user_id), { context: 'somewhere' })).status, 422)
    await team.api.patch(`/v2/user/${fresh}/info`, { ...patient, address: { ...address, zip: '85004' } })
    const others = await team.api.post(path(fresh), { context: 'launch', order_id: order.id })
    assert.deepEqual([others.status, others.body.detail], [404, 'Order not found'])
    const another = await createTestTeam()
    assert.equal((await another.api.post(path(user_id), { context: 'launch' })).status, 404)
  })

  test('of a launch is valid for ten minutes, and one for messages is short and valid for two weeks', async () => {
    const { team, user_id } = await createOrderWithPortal()
    const launch = await createPortalLink(team, user_id, { context: 'launch' })
    const short = await createPortalLink(team, user_id, { context: 'communications' })
    assert.deepEqual([launch.expires_in, short.expires_in], [600, 1_209_600])
    assert.match(new URL(short.url).pathname, /^\/p\/\d[\w-]{43}$/)
    for (const { url: text } of [launch, short]) assert(!text.includes(user_id))
  })
})

describe('the portal', () => {
  test('shows the orders of the user with their state, and only one if the link names it', async () => {
    const { team, order, user_id } = await createOrderWithPortal()
    await advanceTo(team, order.id, 'requisition_created')
    const kit = await createOrder(team, { user_id, lab_test_id: await team.test('testkit') })
    const other = await createOrder(team, { lab_test_id: await team.test('on_site_collection') })
    const all = await ask(await launchPortal(team, user_id))
    assert.equal(all.status, 200)
    for (const words of ['Ready for your visit', 'Your order has been placed', kit.lab_test.name])
      assert(all.text.includes(words), words)
    assert(!all.text.includes(other.id))
    assert.equal(all.text.split('class="card"').length, 3)
    const one = await ask(await launchPortal(team, user_id, kit.id))
    assert.equal(one.text.split('class="card"').length, 2)
    const [, more] = /href="([^"]+)">All your orders/.exec(one.text)!
    assert.equal((await ask(more!.replaceAll('&#38;', '&'))).text.split('class="card"').length, 3)
  })

  test('gives the requisition while it is needed', async () => {
    const { team, order, user_id } = await createOrderWithPortal()
    assert(!(await ask(await launchPortal(team, user_id))).text.includes('requisition (PDF)'))
    await advanceTo(team, order.id, 'requisition_created')
    const { text } = await ask(await launchPortal(team, user_id))
    const [, href] = /href="([^"]+)">Open your requisition/.exec(text)!
    const pdf = await ask(href!)
    assert.deepEqual([pdf.status, pdf.headers.get('content-type')], [200, 'application/pdf'])
    await advanceTo(team, order.id, 'completed')
    const done = await ask(await launchPortal(team, user_id))
    assert(!done.text.includes('requisition (PDF)'))
    assert(done.text.includes('Results are ready'))
  })

  test("leads to the team's booking page while an at-home appointment can be booked", async () => {
    const { team, order, user_id } = await createOrderWithPortal('at_home_phlebotomy')
    const appointment_booking_url = 'https://clinic.example/visits/{order_id}?from=portal&x=1'
    assert.equal((await team.manage.patch(`/team/${team.team}`, { sandbox: { appointment_booking_url } })).status, 200)
    const link = `https://clinic.example/visits/${order.id}?from=portal&#38;x=1`
    assert(!(await ask(await launchPortal(team, user_id))).text.includes('Book your visit'))
    await advanceTo(team, order.id, 'requisition_created')
    assert((await ask(await launchPortal(team, user_id))).text.includes(`href="${link}">Book your visit`))
  })

  test('loads nothing, cannot be framed, sends forms nowhere else, and leaves lines in the access log', async () => {
    const { team, user_id } = await createOrderWithPortal()
    const { headers, text } = await ask(await launchPortal(team, user_id))
    const policy = headers.get('content-security-policy')!.split('; ')
    for (const part of ["default-src 'none'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'"])
      assert(policy.includes(part), part)
    assert.deepEqual([headers.get('referrer-policy'), headers.get('cache-control')], ['no-referrer', 'no-store'])
    assert.deepEqual([...text.matchAll(/<(script|img|iframe|object|form)\b/g)], [])
    const short = await ask((await createPortalLink(team, user_id, { context: 'communications' })).url)
    assert(short.headers.get('content-security-policy')!.split('; ').includes("form-action 'self'"))
    await access.flush()
    const { data } = (await team.manage.get(`/team/${team.team}/sandbox/access_log?user_id=${user_id}`)).body
    const names = data.map(({ operation }: Record<string, string>) => operation)
    for (const page of ['portal_launch_page', 'portal_page', 'portal_link_page'])
      assert(names.includes(page), `${page}: ${names}`)
  })

  test('says that a link has expired or is not valid, and shows nothing', async () => {
    const { team, user_id } = await createOrderWithPortal()
    const { url: launch } = await createPortalLink(team, user_id, { context: 'launch' })
    const { url: short } = await createPortalLink(team, user_id, { context: 'communications' })
    const visit = new URL(await launchPortal(team, user_id), url).searchParams.get('token')!
    const token = new URL(launch).searchParams.get('token')!
    for (const path of [
      '/portal',
      '/portal?token=',
      '/portal?token=%00',
      `/portal?token=${team.key}`,
      `/portal?token=${token}`,
      `/portal/launch?token=${visit}`,
      `/portal?token=${visit.slice(0, -2)}`,
      `/portal/messages?token=${'x'.repeat(5000)}`,
      '/p/x',
      `/p/${'0'.repeat(44)}`,
      `${new URL(short).pathname.slice(0, -1)}%00`,
    ]) {
      const { status, text } = await ask(path)
      assert.equal(status, 401, path)
      assert.match(text, /This link is not valid/)
    }
    await asOwner('update sandbox_us.portal_link set expires_at = now() where team_id = $1', [team.team])
    for (const form of [undefined, { birth_date: patient.dob }]) {
      const { status, text } = await ask(short, form)
      assert.equal(status, 401)
      assert.match(text, /This link has expired/)
    }
    assert.equal((await team.api.delete(`/v2/user/${user_id}`)).status, 200)
    assert.equal((await ask(`/portal?token=${visit}`)).text.includes('class="card"'), false)
    assert.match((await ask(short)).text, /This link is not valid/)
  })
})

test('a change of messages leaves its line with the change, and no other one', async () => {
  const { team, user_id } = await createOrderWithPortal()
  const { url: short } = await createPortalLink(team, user_id, { context: 'communications' })
  const portal = (await launchPortal(team, user_id)).replace('/portal', '/portal/messages')
  for (const [address, operation] of [
    [`${short}/messages`, 'portal_link_messages_change'],
    [portal, 'portal_messages_change'],
  ] as const) {
    const { status, headers } = await ask(address, { sms: 'off' })
    assert.equal(status, 303)
    const id = headers.get('x-request-id')!
    const [line, ...more] = await linesInDatabase(team, id)
    assert.deepEqual([line?.operation, line?.users, line?.outcome, more.length], [operation, [user_id], 303, 0])
    await access.flush()
    assert.equal((await linesInDatabase(team, id)).length, 1)
  }
})

describe('a portal link of a message', () => {
  test('shows orders only for the birth date, and no orders after five wrong birth dates', async () => {
    const { team, order, user_id } = await createOrderWithPortal()
    const { url: short } = await createPortalLink(team, user_id, { context: 'communications', order_id: order.id })
    const opened = await ask(short)
    assert.equal(opened.status, 200)
    for (const secret of [order.lab_test.name, patient.last_name, patient.email, patient.phone_number, patient.dob])
      assert(!opened.text.includes(secret), secret)
    const right = await ask(short, { birth_date: patient.dob })
    assert.equal(right.status, 303)
    assert((await ask(right.location)).text.includes(order.lab_test.name))
    for (const birth_date of ['1900-01-01', '', patient.dob.slice(0, 4)]) {
      const { status, text } = await ask(short, { birth_date })
      assert.deepEqual([status, text.includes('Please try again')], [403, true])
    }
    assert.equal((await ask(short, { birth_date: patient.dob })).status, 303)
    const guesses = Array.from({ length: 8 }, (_one, i) => ask(short, { birth_date: `1900-01-0${i + 1}` }))
    assert((await Promise.all(guesses)).every(({ status }) => status === 403))
    const locked = await ask(short, { birth_date: patient.dob })
    assert.deepEqual([locked.status, locked.text.includes('wrong too often')], [403, true])
    assert.equal(
      (await ask((await createPortalLink(team, user_id, { context: 'communications' })).url, { birth_date: patient.dob })).status,
      303,
    )
  })

  test('of a user ends with the 51st', async () => {
    const { team, user_id } = await createOrderWithPortal()
    const links = []
    for (let i = 0; i < 51; i++) links.push((await createPortalLink(team, user_id, { context: 'communications' })).url)
    assert.equal((await ask(links[0]!)).status, 401)
    assert.equal((await ask(links[1]!)).status, 200)
  })

  test('turns messages off for all orders, also later ones, and on again', async () => {
    const { team, order, user_id } = await createOrderWithPortal()
    const { url: short } = await createPortalLink(team, user_id, { context: 'communications' })
    assert.match((await ask(short)).text, /On, to the number that ends in 99/)
    for (const form of [{ sms: 'off' }, { email: 'off' }])
      assert.equal((await ask(`${short}/messages`, form as Record<string, string>)).location, new URL(short).pathname)
    assert.equal((await ask(short)).text.split('>Off<').length, 3)
    const known = await messageKinds(team, order.id)
    await advanceTo(team, order.id, 'requisition_created')
    assert.deepEqual(await messageKinds(team, order.id), known)
    const later = await createOrder(team, { user_id, lab_test_id: await team.test('walk_in_test') })
    assert.deepEqual(await messageKinds(team, later.id), [])
    const setting = `/v3/order/${later.id}/communication_settings`
    assert.equal((await team.api.get(setting)).body.sms_enabled, false)
    assert.equal((await team.api.patch(setting, { sms_enabled: true })).body.sms_enabled, false)
    await ask(`${short}/messages`, { sms: 'on', email: 'on', fax: 'off' })
    assert.equal((await team.api.get(setting)).body.sms_enabled, true)
    await advanceTo(team, later.id, 'requisition_created')
    assert.deepEqual(await messageKinds(team, later.id), ['requisition_created sms', 'requisition_created email'])
  })

  test('that turns emails off has text messages sent in their place, where a message goes to one channel', async () => {
    const { team, order, user_id } = await createOrderWithPortal('at_home_phlebotomy')
    const portal = await launchPortal(team, user_id)
    await ask(portal.replace('/portal', '/portal/messages'), { email: 'off' })
    await advanceTo(team, order.id, 'requisition_created', 'appointment_pending')
    const kinds = await messageKinds(team, order.id)
    assert(kinds.includes('appointment_pending sms'), String(kinds))
    assert(!kinds.some((kind) => kind.endsWith('email')), String(kinds))
  })
})

test('every status of every lifecycle has words', () => {
  for (const { method, steps } of Object.values(lifecycles))
    for (const status of Object.keys(steps)) {
      const { title, sentence } = stateWords(method as CollectionMethod, status as LowLevelStatus)
      assert(title.length > 3 && sentence.endsWith('.'), status)
    }
})

describe('on a phone, 390 pixels wide, a patient', { skip: skipWithoutBrowser }, () => {
  const text = (page: Page) => page.innerText('body')

  test('opens a link of a message, gives the birth date, reads the orders and turns text messages off', async () => {
    const { team, order, user_id } = await createOrderWithPortal()
    await advanceTo(team, order.id, 'requisition_created')
    await createOrder(team, { user_id, lab_test_id: await team.test('testkit') })
    const company_name = `<img src=x onerror=alert(1)> & "Sons" ${'Gesundheitszentrum'.repeat(3)}`
    const brand_information = { company_name, support_email: 'help@clinic.example' }
    const branded = await team.manage.patch(`/team/${team.team}`, {
      sandbox: { brand_information, logo_url: 'https://clinic.example/logo.png' },
    })
    assert.equal(branded.status, 200, JSON.stringify(branded.body))
    const { page, complaints } = await visit('phone')
    await page.goto(local((await createPortalLink(team, user_id, { context: 'communications' })).url))
    await page.waitForFunction(`document.body?.innerText.includes('onerror=alert(1)')`)
    assert.equal(await page.evaluate('document.images.length'), 0)
    await assertSound(page, 'portal link')
    const answer = (date: string) => page.fill('#birth_date', date)
    const send = page.getByRole('button', { name: 'See your orders' })
    await answer('1900-01-01')
    await send.click()
    await page.waitForFunction(`document.body?.innerText.includes('Please try again')`)
    await assertSound(page, 'portal wrong-date')
    await answer(patient.dob)
    await send.click()
    await page.waitForURL(({ pathname }) => pathname === '/portal')
    await assertSound(page, 'portal orders')
    assert.match(await text(page), /Ready for your visit/)
    await page.click('a[href*="/portal/messages"]')
    await page.waitForURL(({ pathname }) => pathname === '/portal/messages')
    await assertSound(page, 'portal messages')
    await page.click('button[name=sms]')
    await page.waitForFunction(`document.querySelector('button[name=sms]')?.value === 'on'`)
    assert.match(await text(page), /Turn text messages on/)
    await assertSound(page, 'portal messages-off')
    await page.goto(`${url}/portal?token=x`)
    await assertSound(page, 'portal invalid')
    assert.deepEqual(
      complaints.filter((complaint) => !/40[13]/.test(complaint)),
      [],
    )
  })
})
