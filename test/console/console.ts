// The console in a real browser, against a server of its own with demo data: signed in, and with what every page must hold.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import type { TeamRole } from '../../src/tenancy/roles/roles.ts'
import { axeViolations } from '../support/axe.ts'
import { keepScreenshot, skipWithoutBrowser, visit, type Page } from '../support/browser.ts'
import { caller, demoIn, folder, serving, stopAll, type Caller, type Demo, type Server } from '../support/program.ts'

/** For tests: `test('…', inBrowser, async () => …)`. */
export const inBrowser = { skip: skipWithoutBrowser }

export const SCREENS = { phone: { width: 390, height: 844 }, computer: { width: 1440, height: 900 } } as const
/** Before a member has signed in, the session is read and is not there. */
const EXPECTED_COMPLAINTS = [/the server responded with a status of 401/]

/** The server of this file, which all its tests share. */
let started: Promise<Server> | undefined
after(stopAll)

export const startServer = (): Promise<Server> => (started ??= serving(folder('console'), {}))

export interface ConsoleVisit {
  page: Page
  server: Server
  demo: Demo
  /** Requests of the team's sandbox in the United States with its key, for what a test needs beside the page. */
  api: Caller
  /** Complaints of the browser since the visit began. */
  complaints: string[]
  /** Opens a page of the demo team's sandbox, for example `orders`. */
  open: (path: string) => Promise<void>
}

/** A browser without cookies at the console. */
export async function visitConsole(screen: 'phone' | 'computer' = 'computer'): Promise<ConsoleVisit> {
  const server = await startServer()
  const demo = demoIn(server.dataDir)
  const { page, complaints } = await visit(screen)
  await page.setViewportSize(SCREENS[screen])
  const open = async (path: string): Promise<void> => {
    await page.goto(`${server.url}/console/${demo.teams.us}/sandbox-us${path && `/${path}`}`)
  }
  return { page, server, demo, complaints, open, api: caller(server.url, demo.api_keys['sandbox-us']) }
}

/** As `visitConsole`, signed in as the administrator of the demo organization, with no page yet. */
export async function signInToConsole(screen: 'phone' | 'computer' = 'computer'): Promise<ConsoleVisit> {
  const visited = await visitConsole(screen)
  const { server, page } = visited
  const headers = { 'x-drawbridge-console': '1', origin: server.url }
  const response = await fetch(`${server.url}/console/api/sign-in/demo`, { method: 'POST', headers })
  assert.equal(response.status, 200)
  await page.context().addCookies([{ ...sessionCookie(response.headers), url: server.url }])
  return visited
}

/** As `signInToConsole`, at a page of the sandbox. */
export async function openConsole(path = '', screen: 'phone' | 'computer' = 'computer'): Promise<ConsoleVisit> {
  const visited = await signInToConsole(screen)
  await visited.open(path)
  await visited.page.getByRole('button', { name: /Account of/ }).waitFor()
  return visited
}

function sessionCookie(headers: Headers): { name: string; value: string } {
  const [name, value] = headers.getSetCookie()[0]!.split(';')[0]!.split('=')
  return { name: name!, value: value! }
}

/** As `openConsole`, as a new member with a role in the demo team. */
export async function openConsoleAs(role: TeamRole, path = ''): Promise<ConsoleVisit> {
  const visited = await visitConsole()
  const { server, demo, page } = visited
  await page.context().addCookies([{ ...(await signInNewMember(server, demo, role)), url: server.url }])
  await visited.open(path)
  await page.getByRole('button', { name: /Account of/ }).waitFor()
  return visited
}

/** Invites a person who becomes a member at once. @returns the cookie of the session */
async function signInNewMember({ url }: Server, demo: Demo, role: TeamRole): Promise<{ name: string; value: string }> {
  const post = async <Body>(path: string, body: unknown, headers: Record<string, string>) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
    const response = await fetch(url + path, init)
    assert.equal(response.status, 200, path)
    return { headers: response.headers, body: (await response.json()) as Body }
  }
  const manager = { 'x-management-key': demo.management_key }
  const org = `/v1/org/${demo.org_id}`
  const email = `testa-${role}-${randomUUID()}@example.com`
  await post(`${org}/invite`, { email, role: 'team_admin', team_role_bindings: [{ team_id: demo.teams.us, role }] }, manager)
  const list = await fetch(`${url}${org}/invite?search_query=${email}`, { headers: manager })
  const { invites } = (await list.json()) as { invites: { id: string }[] }
  const link = await post<{ url: string }>(`${org}/invite/${invites[0]!.id}/link`, {}, manager)
  const token = new URL(link.body.url).hash.replace('#token=', '')
  const person = { token, name: 'Testa Fictional', password: 'nine fictional gardens' }
  const answer = await post('/console/api/one-time-links/use', person, { 'x-drawbridge-console': '1', origin: url })
  return sessionCookie(answer.headers)
}

interface View {
  screen: string
  size: (typeof SCREENS)[keyof typeof SCREENS]
  colorScheme: 'light' | 'dark'
}
let chosenViews = 0

/** Light at each width, and dark at one of them in turn: the colors are those of the other width. */
export function chooseViews(): View[] {
  const dark = chosenViews++ % 2 ? 'phone' : 'computer'
  return Object.entries(SCREENS).flatMap(([screen, size]) =>
    (screen === dark ? (['light', 'dark'] as const) : (['light'] as const)).map((colorScheme) => ({ screen, size, colorScheme })),
  )
}

/**
 * The page holds what every page must, at 390 and 1440 pixels, in light colors and, at one of the widths in turn, in dark ones: it fits its
 * screen, axe finds nothing serious, and the browser has complained of nothing. Keeps a screenshot of each.
 */
export async function assertGoodPage(
  { page, complaints }: Pick<ConsoleVisit, 'page' | 'complaints'>,
  name: string,
): Promise<void> {
  for (const { screen, size, colorScheme } of chooseViews()) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
    await keepScreenshot(page, `console ${name} ${screen} ${colorScheme}`)
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert(width <= size.width, `${name} is ${width} pixels wide on a ${screen}`)
    assert.deepEqual(await axeViolations(page, colorScheme === 'dark'), [], `${name} on a ${screen}, ${colorScheme}`)
  }
  assertNoComplaints(complaints)
}

export const assertNoComplaints = (complaints: string[]): void =>
  assert.deepEqual(
    complaints.filter((complaint) => !EXPECTED_COMPLAINTS.some((expected) => expected.test(complaint))),
    [],
  )
