// Members who have signed in to the console, and requests as its pages send them.
import { randomUUID } from 'node:crypto'
import { startSession } from '../../src/tenancy/sign-in/sessions.ts'
import { hashPassword, savePassword } from '../../src/tenancy/sign-in/passwords.ts'
import { ensureDemoMember } from '../../src/tenancy/sign-in/demo-member.ts'
import { SoftwarePasskey } from './software-passkey.ts'
import { addMember } from '../../src/tenancy/members/members.ts'
import type { TeamRole } from '../../src/tenancy/roles/roles.ts'
import { cells, client, settings, url, type TestTeam } from './server.ts'

export const CONSOLE_HEADERS = { 'x-drawbridge-console': '1', origin: url }
const limits = { idle_s: settings.session_idle_minutes * 60, total_s: settings.session_hours * 3600 }

/** The password of every member of tests. */
export const PASSWORD = 'seven fictional tulips'
let passwordHash: Promise<string> | undefined

export interface TestMember {
  id: string
  email: string
}

/** A member of the team's organization: of the whole organization, or with a role in the team. */
export async function createMember(team: TestTeam, role: TeamRole | 'org_admin' | 'no_role' = 'org_admin'): Promise<TestMember> {
  const email = `testa-${randomUUID()}@example.com`
  const isOfTeam = role !== 'org_admin' && role !== 'no_role'
  const member = await cells.control.plainTx((tx) =>
    addMember(tx, {
      org_id: team.org_id,
      name: 'Testa Fictional',
      email,
      role: isOfTeam ? 'team_admin' : role,
      team_ids: isOfTeam ? [team.team] : [],
      team_roles: isOfTeam ? { [team.team]: role } : {},
    }),
  )
  const hash = await (passwordHash ??= hashPassword(PASSWORD))
  await cells.control.plainTx((tx) => savePassword(tx, member.id, hash))
  return { id: member.id, email }
}

/** The token of a new session of a member. */
export const sessionToken = (team: TestTeam, { id }: TestMember): Promise<string> =>
  cells.control.plainTx((tx) =>
    startSession(
      tx,
      { member_id: id, org_id: team.org_id, method: 'demo', address: '127.0.0.1', user_agent: 'Fictional browser' },
      limits,
    ),
  )

/** The headers of requests of a page with a session. */
export const sessionHeaders = (token: string): Record<string, string> => ({
  ...CONSOLE_HEADERS,
  cookie: `drawbridge_session=${token}`,
})

/** Requests of a member who has signed in, about the team. */
export async function signedIn(team: TestTeam, member: TestMember) {
  const token = await sessionToken(team, member)
  const headers: Record<string, string> = {
    ...sessionHeaders(token),
    'x-drawbridge-team': team.team,
    'x-drawbridge-cell': team.cell,
  }
  const { call } = client(undefined)
  return {
    token,
    headers,
    call: (method: string, path: string, body?: unknown, extraHeaders: Record<string, string> = {}) =>
      call(method, path, body, { ...headers, ...extraHeaders }),
    get: (path: string) => call('GET', path, undefined, headers),
    post: (path: string, body?: unknown) => call('POST', path, body, headers),
    delete: (path: string) => call('DELETE', path, undefined, headers),
  }
}

const sessions = new WeakMap<TestTeam, Promise<{ member: TestMember; token: string }>>()
const newSession = async (team: TestTeam) => {
  const member = await createMember(team)
  return { member, token: await sessionToken(team, member) }
}

const sessionOf = (team: TestTeam): Promise<{ member: TestMember; token: string }> => {
  const first = sessions.get(team) ?? newSession(team)
  sessions.set(team, first)
  return first
}

/** The id of a further session of the member of `consoleHeaders`. */
export async function furtherSession(team: TestTeam): Promise<string> {
  const token = await sessionToken(team, (await sessionOf(team)).member)
  return (await client(undefined).get('/console/api/session', sessionHeaders(token))).body.session_id
}

/** The body with which a member of the team's organization signs in. */
export const passwordSignIn = async (team: TestTeam): Promise<{ email: string; password: string }> => ({
  email: (await createMember(team)).email,
  password: PASSWORD,
})

/** The member as whom a demo server signs in; of this team's organization, if there is none. */
export const createDemoMember = (team: TestTeam): Promise<void> =>
  cells.control.plainTx((tx) => ensureDemoMember(tx, team.org_id))

/**
 * The headers of a request of the console for a team: changes have a session of their own, since they may end it, and a member of their own if
 * they end all of them or change a credential.
 */
export async function consoleHeaders(team: TestTeam | undefined, method: string, path: string): Promise<Record<string, string>> {
  if (!team) return CONSOLE_HEADERS
  if (method === 'PUT' || (method === 'DELETE' && /\/sessions\/?(\?|$)/.test(path)))
    return sessionHeaders((await newSession(team)).token)
  const { member, token } = await sessionOf(team)
  return sessionHeaders(method === 'GET' ? token : await sessionToken(team, member))
}

interface ConsoleRequest {
  body: unknown
  headers: Record<string, string>
}

/** Starts a ceremony of WebAuthn: its options, and the cookie of the browser with which it ends. */
async function startCeremony(path: string, cookie: string) {
  const reply = await client(undefined).post(`/console/api/${path}`, {}, { ...CONSOLE_HEADERS, ...(cookie && { cookie }) })
  const attempt = reply.headers.getSetCookie()[0]!.split(';')[0]!
  return { options: reply.body, cookie: cookie ? `${cookie}; ${attempt}` : attempt }
}

/** The request that adds a passkey to a member who has signed in. */
async function passkeyRequest(token: string, passkey = new SoftwarePasskey()): Promise<ConsoleRequest> {
  const { options, cookie } = await startCeremony('passkeys/options', `drawbridge_session=${token}`)
  return { body: { name: 'Laptop', response: passkey.register(options, url) }, headers: { cookie } }
}
const addPasskey = async ({ body, headers }: ConsoleRequest): Promise<string> =>
  (await client(undefined).post('/console/api/passkeys', body, { ...CONSOLE_HEADERS, ...headers })).body.id

/** The request that adds a passkey to a new member of the team's organization. */
export const newPasskeyRequest = async (team: TestTeam): Promise<ConsoleRequest> => passkeyRequest((await newSession(team)).token)

/** The request with which such a member signs in by a passkey. */
export async function passkeySignInRequest(team: TestTeam): Promise<ConsoleRequest> {
  const passkey = new SoftwarePasskey()
  await addPasskey(await passkeyRequest((await newSession(team)).token, passkey))
  const { options, cookie } = await startCeremony('sign-in/passkey/options', '')
  return { body: { response: passkey.signIn(options, url) }, headers: { cookie } }
}

/** The id of a passkey of the member of `consoleHeaders`. */
export const passkeyOf = async (team: TestTeam): Promise<string> =>
  addPasskey(await passkeyRequest((await sessionOf(team)).token))
