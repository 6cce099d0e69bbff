// The link page on a server that reaches a peer in place of two providers.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { OAuthPeer, PEER_CLIENT } from './oauth-peer.ts'
import { asOwner, assembleProcess, createTestTeam, settings, type TestTeam } from './server.ts'

export const peer = await new OAuthPeer().start()
export let base = ''
export const { app } = assembleProcess({
  settings: { ...settings, provider_urls: [`strava=${peer.url}`, `withings=${peer.url}`] },
  publicUrl: () => base,
})
after(() => app.close())
base = await app.listen({ port: 0, host: '127.0.0.1' })

/** The page of a clinic: whatever the peer answers there. */
export const CLINIC = `${peer.url}/clinic?case=7`

export async function createTeamWithLink(body: Record<string, unknown> = {}, providers = ['strava', 'withings']) {
  const team = await createTestTeam()
  for (const provider of providers)
    await team.manage.post('/team_custom_credentials/sandbox/us', { team_id: team.team, provider, ...PEER_CLIENT })
  const user_id = await team.user()
  return { team, user_id, ...(await createLink(team, user_id, { redirect_url: CLINIC, ...body })) }
}

/** The token, and the address of the page on the server that reaches the peer. */
export async function createLink(team: TestTeam, user_id: string, body: Record<string, unknown>) {
  const { link_token, link_web_url } = (await team.api.post('/v2/link/token', { user_id, ...body })).body
  const { pathname, search } = new URL(link_web_url as string)
  return { link_token: link_token as string, address: base + pathname + search }
}

export const connectedProviders = async (team: TestTeam, user_id: string): Promise<string[]> =>
  (await team.api.get(`/v2/user/providers/${user_id}`)).body.providers.map(({ slug }: { slug: string }) => slug)

export const expireSessions = ({ team }: TestTeam) =>
  asOwner('update sandbox_us.link_session set expires_at = now() where team_id = $1', [team])

export async function get(address: string, headers: Record<string, string> = {}) {
  const response = await fetch(address.startsWith('/') ? base + address : address, { redirect: 'manual', headers })
  return {
    status: response.status,
    text: await response.text(),
    headers: response.headers,
    location: response.headers.get('location'),
  }
}

export const unescapeHtml = (text: string): string => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))

export async function send(path: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  const body = new URLSearchParams(form)
  const response = await fetch(base + path, { method: 'POST', redirect: 'manual', headers, body })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

/** The cookie that a response sets, as the browser sends it. */
export const cookieOf = (headers: Headers): Record<string, string> => ({
  cookie: headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; '),
})

/** Opens the page of a source and presses its button. @returns what the form is answered, and where the browser goes */
export async function press(address: string, browser: Record<string, string> = {}) {
  let page = await get(address, browser)
  if (page.location?.includes('/link/consent')) page = await get(page.location, browser)
  const [, action = '', consent = ''] =
    /action="([^"]*)"><input type="hidden" name="consent" value="([^"]*)"/.exec(page.text) ?? []
  assert(action, page.text)
  const answer = await send(unescapeHtml(action), { consent: unescapeHtml(consent) }, cookieOf(page.headers))
  const [, to] = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(answer.text) ?? []
  return {
    ...answer,
    to: to === undefined ? undefined : unescapeHtml(to),
    action: unescapeHtml(action),
    consent: unescapeHtml(consent),
  }
}

export const withToken = (token: string) => ({ 'x-vital-link-token': token })
