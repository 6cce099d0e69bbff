// OpenID issuers for tests: one that signs whatever a test wants, and a real one (oidc-provider) that signs everybody in without asking.
import { createHash, createSign, generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import Provider from 'oidc-provider'

export const CLIENT = { client_id: 'drawbridge', client_secret: 'a fictional secret of the client' }

/** Listens on a free port until the tests of the file have ended. */
async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface SigningKey {
  kid: string
  privateKey: KeyObject
  publicKey: KeyObject
}
const newKey = (): SigningKey => ({ kid: randomUUID(), ...generateKeyPairSync('rsa', { modulusLength: 2048 }) })

async function readBody(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return new URLSearchParams(Buffer.concat(chunks).toString())
}

/** What the issuer says in the next token; the rest is right. */
export interface Forgery {
  claims?: Record<string, unknown>
  /** Signs with a key that it does not publish. */
  hasOtherKey?: boolean
}

/** An issuer whose tokens a test determines. It has one person, and checks the code verifier. */
export async function forgingIssuer() {
  let key = newKey()
  let forgery: Forgery = {}
  /** Code → what the browser was sent with. */
  const codes = new Map<string, URLSearchParams>()
  const subject = randomUUID()
  const answers: Record<string, (request: IncomingMessage) => unknown> = {
    '/.well-known/openid-configuration': () => ({
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/jwks`,
      end_session_endpoint: `${url}/end`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
    }),
    '/jwks': () => ({ keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: key.kid, alg: 'RS256', use: 'sig' }] }),
    '/token': async (request) => {
      const body = await readBody(request)
      const sent = codes.get(body.get('code') ?? '')
      codes.delete(body.get('code') ?? '')
      const challenge = createHash('sha256')
        .update(body.get('code_verifier') ?? '')
        .digest('base64url')
      if (!sent || challenge !== sent.get('code_challenge')) return { error: 'invalid_grant' }
      const now_s = Math.floor(Date.now() / 1000)
      const claims = {
        iss: url,
        sub: subject,
        aud: CLIENT.client_id,
        iat: now_s,
        exp: now_s + 60,
        nonce: sent.get('nonce'),
        email: `testa-${subject}@example.com`,
        email_verified: true,
        name: 'Testa Fictional',
        ...forgery.claims,
      }
      const id_token = sign(forgery.hasOtherKey ? { ...newKey(), kid: key.kid } : key, claims)
      return { access_token: 'fictional', token_type: 'Bearer', expires_in: 60, id_token }
    },
  }
  const url = await listen((request, response) => {
    const path = request.url!.split('?')[0]!
    void Promise.resolve(answers[path]?.(request)).then((answer) => {
      const status = answer === undefined ? 404 : (answer as { error?: string }).error ? 400 : 200
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? {}))
    })
  })
  return {
    url,
    subject,
    email: `testa-${subject}@example.com`,
    /** The person signs in: the parameters with which the browser comes back. */
    signIn(location: string): URLSearchParams {
      const sent = new URL(location).searchParams
      const code = randomUUID()
      codes.set(code, sent)
      return new URLSearchParams({ code, state: sent.get('state')!, iss: url })
    },
    forge: (next: Forgery) => void (forgery = next),
    rotateKey: () => void (key = newKey()),
  }
}

function sign({ kid, privateKey }: SigningKey, claims: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${encode({ alg: 'RS256', typ: 'JWT', kid })}.${encode(claims)}`
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`
}

/** oidc-provider, with one person whom it signs in without a page. @param redirectUri where it sends browsers back to */
export async function realIssuer(redirectUri: string, person: { email: string }) {
  let handle: RequestListener = () => {}
  const url = await listen((request, response) => handle(request, response))
  const provider = new Provider(url, {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri], response_types: ['code'], grant_types: ['authorization_code'] }],
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, email: person.email, email_verified: true, name: 'Testa Fictional' }),
    }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    cookies: { keys: ['fictional'] },
  })
  const callback = provider.callback()
  handle = (request, response) => {
    if (!request.url!.startsWith('/interaction/')) return void callback(request, response)
    void (async () => {
      const { params } = await provider.interactionDetails(request, response)
      const grant = new provider.Grant({ accountId: 'testa', clientId: String(params.client_id) })
      grant.addOIDCScope('openid email profile')
      const grantId = await grant.save()
      await provider.interactionFinished(request, response, { login: { accountId: 'testa' }, consent: { grantId } })
    })()
  }
  return { url }
}

/** Follows the redirects of an issuer with its cookies, until it sends the browser elsewhere. @returns that address */
export async function followIssuer(location: string, issuer: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let next = new URL(location)
  for (let i = 0; i < 10 && next.origin === issuer; i++) {
    const response = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    for (const text of response.headers.getSetCookie()) {
      const [name = '', value = ''] = text.split(';')[0]!.split('=')
      cookies.set(name, value)
    }
    const to = response.headers.get('location')
    if (to === null) throw new Error(`the issuer answered HTTP ${response.status}: ${await response.text()}`)
    next = new URL(to, next)
  }
  return next
}
