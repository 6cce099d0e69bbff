// A real browser: Debian's Chromium without a window, by Playwright. Of each page that a test shows there is a picture afterwards.
import { existsSync, mkdirSync } from 'node:fs'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

export type { Page }

const PROGRAM = '/usr/bin/chromium'
/** For each wait. */
const WAIT_MS_MAX = 60_000
/** Pictures of the last run, for people. */
const PICTURES = fileURLToPath(new URL('../../test-output/screenshots/', import.meta.url))

/** Why tests in a browser are left out; false: they are not. With CI_BROWSER=required they fail instead. */
export const skipWithoutBrowser: string | false =
  existsSync(PROGRAM) || process.env.CI_BROWSER === 'required' ? false : "Debian's package chromium is not installed"

/** A phone has more pixels than these: four times as many to draw and to keep, which no test looks at. */
const SCREENS = {
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  computer: { viewport: { width: 1280, height: 1000 } },
} satisfies Record<string, BrowserContextOptions>
type Screen = keyof typeof SCREENS

/** One for all files of a process. It asks nobody but the servers of its pages. */
let running: Promise<Browser> | undefined
after(async () => (await running)?.close())

// Loading Playwright costs a third of a second; of the processes of a run, most have no browser.
const openBrowser = async (): Promise<Browser> =>
  (await import('playwright-core')).chromium.launch({
    executablePath: PROGRAM,
    args: ['--no-sandbox', '--disable-quic', '--disable-dev-shm-usage'],
    timeout: WAIT_MS_MAX,
  })

export interface Visit {
  page: Page
  /** What the browser complains of: violations of policies, failed requests, errors that nobody caught, warnings of scripts. */
  complaints: string[]
}
/** One for each screen, since each further one is a process of the browser. */
const visits = new Map<Screen, Promise<Visit>>()

async function firstVisit(screen: Screen): Promise<Visit> {
  const context = await (await (running ??= openBrowser())).newContext(SCREENS[screen])
  context.setDefaultTimeout(WAIT_MS_MAX)
  const visit: Visit = { page: await context.newPage(), complaints: [] }
  visit.page.on('pageerror', (error) => visit.complaints.push(String(error)))
  visit.page.on('console', (message) => {
    if (/^(error|warning|assert)$/.test(message.type())) visit.complaints.push(message.text())
  })
  // What a policy forbids without an error of a script.
  const devtools = await context.newCDPSession(visit.page)
  devtools.on('Audits.issueAdded', ({ issue }) => {
    if (issue.code === 'ContentSecurityPolicyIssue') visit.complaints.push(JSON.stringify(issue))
  })
  await devtools.send('Audits.enable')
  return visit
}

/** An empty page without cookies, on the screen of a phone or of a computer. The page of the visit before is used again. */
export async function visit(screen: Screen = 'computer'): Promise<Visit> {
  const known = visits.get(screen) ?? firstVisit(screen)
  visits.set(screen, known)
  const visited = await known
  const { page } = visited
  await page.goto('about:blank')
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().clearCookies()
  await page.setViewportSize(SCREENS[screen].viewport)
  await page.emulateMedia({ colorScheme: 'light' })
  const complaints: string[] = []
  visited.complaints = complaints
  return { page, complaints }
}

/** Keeps a picture of what is to be seen of a page, as `test-output/screenshots/NAME.png`; `/` and spaces of the name become `-`. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: `${PICTURES}${name.replaceAll(/[^\w-]+/g, '-').replace(/^-/, '')}.png` })
}
