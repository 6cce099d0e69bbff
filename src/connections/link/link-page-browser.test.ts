// The link page as a patient sees it on a phone, in a browser: pick a source, read what is shared, agree or refuse at the provider, return.
// Source: users-wearables.md 2.1, 2.2.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { skipWithoutBrowser, visit, type Page } from '../../../test/support/browser.ts'
import { assertSound } from '../../../test/support/axe.ts'
import { CLINIC, connected, expireSessions, given, linkOf } from '../../../test/support/link-pages.ts'

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
    await page.click('form button')
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
    await page.click('form button')
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
    await page.click('form button')
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
    await page.click('form button')
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
    await page.click('form button')
    await page.click('#refuse')
    await page.waitForFunction(`document.body?.innerText.includes('You did not agree')`)
    await assertSound(page, 'link refused')
    await page.goto(address)
    await page.click('a[href*="strava"]')
    await page.click('form button')
    await page.click('#agree')
    await page.waitForFunction(`document.body?.innerText.includes('Strava is connected')`)
    await assertSound(page, 'link connected')
  })
})
