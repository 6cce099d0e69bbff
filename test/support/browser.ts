// A real browser: Debian's Chromium without a window, by Playwright. Of each page that a test shows there is a picture afterwards.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { root } from './program.ts'

export type { Browser, Page }

const PROGRAM = '/usr/bin/chromium'
/** For each wait. */
const WAIT_MS_MAX = 60_000
/** Pictures of the last run, for people. */
const PICTURES = join(root, 'test-output', 'screenshots')

/** Why tests in a browser are left out; false: they are not. With CI_BROWSER=required they fail instead. */
export const skipWithoutBrowser: string | false =
  existsSync(PROGRAM) || process.env.CI_BROWSER === 'required' ? false : "Debian's package chromium is not installed"

/** Starts a browser that asks nobody but the servers of its pages. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: PROGRAM,
    args: ['--no-sandbox', '--disable-quic', '--disable-dev-shm-usage'],
    timeout: WAIT_MS_MAX,
  })

export interface Visit {
  page: Page
  /** What the browser complains of: violations of policies, failed requests, errors that nobody caught, warnings of scripts. */
  complaints: string[]
}

/** A page of a new person, with no cookies, who has the screen of a phone or of a computer. */
export async function visit(browser: Browser, screen: 'phone' | 'computer' = 'computer'): Promise<Visit> {
  const context = await browser.newContext(
    screen === 'phone'
      ? { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }
      : { viewport: { width: 1280, height: 1000 } },
  )
  context.setDefaultTimeout(WAIT_MS_MAX)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (/^(error|warning|assert)$/.test(message.type())) complaints.push(message.text())
  })
  // What a policy forbids without an error of a script.
  const devtools = await context.newCDPSession(page)
  devtools.on('Audits.issueAdded', ({ issue }) => {
    if (issue.code === 'ContentSecurityPolicyIssue') complaints.push(JSON.stringify(issue))
  })
  await devtools.send('Audits.enable')
  return { page, complaints }
}

/** Keeps a picture of what is to be seen of a page, as `test-output/screenshots/NAME.png`; `/` and spaces of the name become `-`. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: join(PICTURES, `${name.replaceAll(/[^\w-]+/g, '-').replace(/^-/, '')}.png`) })
}
