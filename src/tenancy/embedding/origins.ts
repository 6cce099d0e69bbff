// Origins of pages that may embed a dashboard. They appear in our response headers, so only plain ones are accepted.
import { hostName } from '../../platform/net/host-name.ts'
import { RuleError } from '../../platform/schema/request-validation.ts'
import { isIP } from 'node:net'

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3})$/

function isValidOrigin({ protocol, hostname, username, password }: URL): boolean {
  const secure = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))
  const named = LOOPBACK.test(hostname) || hostName(hostname) === hostname || isIP(hostname) === 4
  return secure && named && !username && !password
}

/** An origin as browsers write it. https, except on loopback; no path, wildcard, credentials or IPv6 address. */
export function originRule(text: string): string | RuleError {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !isValidOrigin(url) || url.pathname !== '/' || /[?#*]/.test(text))
    return new RuleError('must be an https origin without a path, such as https://app.example.com')
  return url.origin
}

/** A URL for browser redirects. https, except on loopback; no credentials, no fragment. */
export function addressRule(text: string): string | RuleError {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !isValidOrigin(url) || text.includes('#'))
    return new RuleError('must be an https URL without credentials or fragment')
  return url.href
}
