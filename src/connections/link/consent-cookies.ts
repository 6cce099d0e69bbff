// The cookies that bind a consent to the browser in which it began. One is set by the page before the form, and the token of the form
// belongs to it; the other is set when the browser leaves for a provider, and only with it the browser may return.
import type { Vault } from '../../platform/crypto/vault.ts'
import { generateKey } from '../../platform/crypto/api-keys.ts'
import type { PageRequest } from '../../platform/http/browser-pages.ts'
import { basePath } from '../../tenancy/embedding/launches.ts'
import { LINK_SESSION_S } from './link-sessions.ts'

const BROWSER = 'drawbridge_link'
/** Browsers take such a cookie from this host alone: hosts next to it could set one of another name for the whole domain. */
const HOST_ONLY = '__Host-'
const BROWSER_VALUE = /^[\w-]{43}$/
const PURPOSE = 'link consent browser'
const HEADER_MAX = 16_384

interface ConsentCookieDependencies {
  vault: Vault
  publicUrl: () => string
}

export class ConsentCookies {
  readonly #vault: Vault
  readonly #publicUrl: () => string

  constructor({ vault, publicUrl }: ConsentCookieDependencies) {
    this.#vault = vault
    this.#publicUrl = publicUrl
  }

  /** The random text of a browser that has seen a page with a form; undefined without one. */
  browserOf(request: PageRequest): string | undefined {
    const value = this.#cookie(request, BROWSER)
    return value !== undefined && BROWSER_VALUE.test(value) ? value : undefined
  }

  newBrowser(): string {
    return generateKey('')
  }

  /** The header that gives a browser its text, or keeps it for another hour. */
  ofBrowser(value: string): string {
    return this.#header(BROWSER, value, '/link', LINK_SESSION_S)
  }

  /** The header with which a browser leaves for a provider. */
  ofReturn(session_id: string, state: string): string {
    return this.#header(returnName(session_id), this.#vault.sign(state, PURPOSE), '/v2/link/connect', LINK_SESSION_S)
  }

  /** Whether the browser that returns is the one that left with this `state`. */
  isReturn(request: PageRequest, session_id: string, state: string): boolean {
    const value = this.#cookie(request, returnName(session_id))
    return value !== undefined && this.#vault.verifySignature(state, value, PURPOSE)
  }

  /** The header that removes the cookie of a return. */
  endOfReturn(session_id: string): string {
    return this.#header(returnName(session_id), '', '/v2/link/connect', 0)
  }

  /** Providers send a browser back from their sites, with a navigation: `Lax` allows that, and no form of another site. */
  #header(name: string, value: string, path: string, max_age_s: number): string {
    const attributes = `Max-Age=${max_age_s}; HttpOnly; SameSite=Lax`
    return this.#isSecure()
      ? `${HOST_ONLY}${name}=${value}; Path=/; ${attributes}; Secure`
      : `${name}=${value}; Path=${basePath(this.#publicUrl)}${path}; ${attributes}`
  }

  #cookie(request: PageRequest, name: string): string | undefined {
    return cookie(request, this.#isSecure() ? HOST_ONLY + name : name)
  }

  #isSecure(): boolean {
    return this.#publicUrl().startsWith('https:')
  }
}

/** Each session has its own, so that two links in two tabs do not disturb each other. */
const returnName = (session_id: string): string => `${BROWSER}_${session_id}`

function cookie({ headers }: PageRequest, name: string): string | undefined {
  const text = headers.cookie ?? ''
  if (text.length > HEADER_MAX) return undefined
  for (const pair of text.split(';')) {
    const [found = '', value] = pair.trim().split('=')
    if (found === name) return value
  }
  return undefined
}
