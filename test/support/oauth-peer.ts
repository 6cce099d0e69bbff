// A provider that speaks OAuth 2 with PKCE (RFC 6749, 7636): a page on which a user agrees or refuses, and a token endpoint that checks client,
// code, redirect address and verifier. It names account and
// scopes as Strava does, with the token and in the address of the return; and the account as Google does, when it is asked.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

export const PEER_CLIENT = { client_id: 'fictional-client', client_secret: 'fictional-client-secret' }

interface Consent {
  redirect_uri: string
  code_challenge: string | null
}

export class OAuthPeer {
  url = ''
  /** The account of the person who agrees. */
  account = 134815
  /** What is granted of what is asked; undefined: all. */
  grantedScopes: string[] | undefined
  /** The next request to the token endpoint is answered with 503. */
  isDown = false
  /** Fields of the answer with tokens that replace those of the peer. */
  answer: Record<string, unknown> = {}
  /** Forms that reached the token endpoint. */
  readonly exchanges: URLSearchParams[] = []
  /** Addresses to which browsers were sent. */
  readonly authorizations: URL[] = []
  /** Requests to end a grant. */
  revokedCount = 0
  readonly #codes = new Map<string, Consent>()

  async start(): Promise<this> {
    const server = createServer((request, response) => void this.#answer(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    after(() => {
      server.close()
      server.closeAllConnections()
    })
    return this
  }

  /** What a user does who is sent here: the address to which the browser is sent back. */
  async decide(oauth_url: string, choice: 'agree' | 'refuse' = 'agree'): Promise<string> {
    const page = await (await fetch(oauth_url)).text()
    const href = new RegExp(`id="${choice}" href="([^"]+)"`).exec(page)![1]!.replaceAll('&amp;', '&')
    return (await fetch(new URL(href, oauth_url), { redirect: 'manual' })).headers.get('location')!
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = new URL(request.url!, this.url)
    const html = (text: string) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(text)
    if (/\/(authorize2?|auth)$/.test(url.pathname)) return void html(this.#page(url))
    if (url.pathname === '/decide') return void response.writeHead(302, { location: this.#decided(url.searchParams) }).end()
    if (url.pathname.endsWith('/token')) return this.#token(request, Buffer.concat(chunks).toString('utf8'), response)
    const identity = url.pathname.endsWith('/identity') ? { healthUserId: String(this.account) } : {}
    if (/\/(deauthorize|revoke)$/.test(url.pathname)) this.revokedCount += 1
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(identity))
  }

  #page(url: URL): string {
    this.authorizations.push(url)
    const { searchParams: query } = url
    const href = (choice: string) => {
      const form = new URLSearchParams(query)
      form.set('choice', choice)
      return `/decide?${String(form).replaceAll('&', '&amp;')}`
    }
    return `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>Fictional provider</title></head><body>
<h1>Fictional provider</h1><p><a id="agree" href="${href('agree')}">Agree</a></p><p><a id="refuse" href="${href('refuse')}">Refuse</a></p></body></html>`
  }

  #decided(query: URLSearchParams): string {
    const redirect_uri = query.get('redirect_uri')!
    const to = new URL(redirect_uri)
    const isSound = query.get('client_id') === PEER_CLIENT.client_id && query.get('response_type') === 'code'
    to.searchParams.set('state', query.get('state')!)
    if (query.get('choice') === 'refuse' || !isSound) {
      to.searchParams.set('error', isSound ? 'access_denied' : 'unauthorized_client')
      return to.href
    }
    const code = randomBytes(16).toString('hex')
    this.#codes.set(code, { redirect_uri, code_challenge: query.get('code_challenge') })
    to.searchParams.set('code', code)
    to.searchParams.set('scope', this.grantedScopes?.join() ?? query.get('scope') ?? '')
    return to.href
  }

  #token(request: IncomingMessage, body: string, response: ServerResponse): void {
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (this.isDown) return void json(503, {})
    const form = new URLSearchParams(body)
    this.exchanges.push(form)
    const [, basic = ''] = /^Basic (\S+)$/.exec(request.headers.authorization ?? '') ?? []
    const [id = form.get('client_id'), secret = form.get('client_secret')] = basic
      ? Buffer.from(basic, 'base64').toString().split(':')
      : []
    if (id !== PEER_CLIENT.client_id || secret !== PEER_CLIENT.client_secret) return void json(401, { error: 'invalid_client' })
    const code = form.get('code') ?? ''
    const consent = this.#codes.get(code)
    this.#codes.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isSound =
      consent !== undefined &&
      form.get('grant_type') === 'authorization_code' &&
      (form.get('redirect_uri') ?? consent.redirect_uri) === consent.redirect_uri &&
      (consent.code_challenge === null || consent.code_challenge === challenge)
    const errors = [{ resource: 'AuthorizationCode', field: 'code', code: 'invalid' }]
    if (!isSound) return void json(400, { error: 'invalid_grant', errors })
    json(200, {
      token_type: 'Bearer',
      access_token: `fictional-access-${randomBytes(8).toString('hex')}`,
      refresh_token: `fictional-refresh-${randomBytes(8).toString('hex')}`,
      expires_in: 21_600,
      athlete: { id: this.account },
      ...this.answer,
    })
  }
}
