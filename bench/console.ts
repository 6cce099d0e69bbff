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

/** A page of orders of each state in turn, as the browser asks for it and gets it. */
async function measureFilter(browser: Browser, { url, team }: Bench, session: Session): Promise<void> {
  const context = await browser.newContext({ storageState: session })
  const page = await context.newPage()
  await page.goto(`${url}/console/${team}/sandbox-us`)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const times_ms: number[] = []
  for (let filter = 0; filter < FILTERS; filter++)
    times_ms.push(await requestOrders(page, team, filter % 2 ? 'received' : 'completed'))
  await context.close()
  const name = `orders of a state, of ${ORDERS.toLocaleString('en')}`
  report(name, `${median(times_ms).toFixed(0)} ms median`, '', '', 'under 300 ms, in the browser')
}

const requestOrders = (page: Page, team: string, state: string): Promise<number> =>
  page.evaluate(
    async ({ team, state }) => {
      const began_ms = performance.now()
      const response = await fetch(`/console/v1/orders?state=${state}`, {
        headers: { 'x-drawbridge-console': '1', 'x-drawbridge-team': team, 'x-drawbridge-cell': 'sandbox-us' },
      })
      if (!response.ok) throw new Error(`${response.status}`)
      await response.json()
      return performance.now() - began_ms
    },
    { team, state },
  )
