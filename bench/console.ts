// The console in a browser: what a first view loads and how long it takes, and a list after a filter.
import { execFileSync } from 'node:child_process'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { fillOrders } from './fill.ts'
import { median, report } from './measure.ts'
import type { Bench } from './program.ts'

const CHROMIUM = '/usr/bin/chromium'
const VIEWS = 10
const FILTERS = 20
const ORDERS = 100_000

/** Measures with the bundle of these sources. Needs Debian's Chromium. */
export async function measureConsole(bench: Bench): Promise<void> {
  execFileSync(process.execPath, ['console/build.ts'])
  const kb = (await firstScriptBytes(bench.url)) / 1000
  report('first JavaScript of the console', `${kb.toFixed(0)} kB`, '', '', 'under 250 kB compressed')
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
  try {
    const session = await signIn(browser, bench.url)
    await measureFirstView(browser, bench.url, session)
    await fillOrders(bench, ORDERS)
    await measureFilter(browser, bench, session)
  } finally {
    await browser.close()
  }
}

/** Bytes of the scripts that the page names, as they are sent to a browser. */
async function firstScriptBytes(url: string): Promise<number> {
  const html = await (await fetch(`${url}/console`)).text()
  const scripts = [...html.matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map(([, path]) => url + path!)
  const sizes = await Promise.all(
    scripts.map(async (script) => {
      const response = await fetch(script, { headers: { 'accept-encoding': 'br' } })
      await response.arrayBuffer()
      return Number(response.headers.get('content-length'))
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

type Session = Awaited<ReturnType<BrowserContext['storageState']>>

async function signIn(browser: Browser, url: string): Promise<Session> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${url}/console`)
  await page.getByRole('button', { name: 'Open the demo' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const session = await context.storageState()
  await context.close()
  return session
}

/** From the address to the totals of the team on the page, with an empty cache. */
async function measureFirstView(browser: Browser, url: string, session: Session): Promise<void> {
  const times_ms: number[] = []
  for (let view = 0; view < VIEWS; view++) {
    const context = await browser.newContext({ storageState: session })
    const page = await context.newPage()
    const began_ms = performance.now()
    await page.goto(`${url}/console`, { waitUntil: 'commit' })
    await page.getByRole('definition').filter({ hasText: /^\d/ }).first().waitFor()
    times_ms.push(performance.now() - began_ms)
    await context.close()
  }
  report('first view of the console, empty cache', `${median(times_ms).toFixed(0)} ms median`, '', '', 'under 1,500 ms')
}

/** From the last key of a filter until its orders stand on the page. Each filter is another one, so that no answer is known already. */
async function measureFilter(browser: Browser, { url, team }: Bench, session: Session): Promise<void> {
  const context = await browser.newContext({ storageState: session })
  const page = await context.newPage()
  await page.goto(`${url}/console/${team}/sandbox-us/orders?state=received`)
  await page.locator('[data-row-link]').first().waitFor()
  const times_ms: number[] = []
  for (let day = 1; day <= FILTERS; day++) times_ms.push(await filterOrders(page, `2020-01-${String(day).padStart(2, '0')}`))
  await context.close()
  const name = `orders of a state since a day, of ${ORDERS.toLocaleString('en')}`
  report(name, `${median(times_ms).toFixed(0)} ms median`, '', '', 'under 300 ms, on the page')
}

async function filterOrders(page: Page, day: string): Promise<number> {
  const filter = page.getByRole('combobox', { name: 'Filter' })
  await filter.fill(`created_from:${day}`)
  const answer = page.waitForResponse((response) => response.url().includes(`start_date=${day}`))
  const began_ms = performance.now()
  await filter.press('Enter')
  await answer
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
  const duration_ms = performance.now() - began_ms
  await page.locator('[data-row-link]').first().waitFor()
  await filter.press('Backspace')
  await page.waitForURL((address) => !address.search.includes('created_from'))
  return duration_ms
}
