// Addresses to which the pages of this server send a browser. Pure functions. Source: RFC 8252 7, RFC 9700 4.11, https://url.spec.whatwg.org.

/** The most characters that common browsers and proxies take. */
export const BROWSER_ADDRESS_MAX = 2083

/**
 * Schemes that name no app of a team: browsers run or show them themselves, or hand them to a program of the system. An app has any other
 * scheme.
 */
const REFUSED = new Set(
  `about afp android-app app-prefs app-settings applescript blob brave callto chrome-extension cid cifs content data dav davs facetime
  facetime-audio feed file filesystem firefox ftp ftps geo git googlechrome googlechromes gopher h323 hcp help intent jar javascript ldap ldaps
  livescript magnet maps market mhtml mid mk mms mmsto mocha moz-extension news nfs nntp prefs rdp res resource rlogin search search-ms sftp
  shell shortcuts sip sips smb sms smsto ssh svn tel telnet tn3270 vbscript view-source vivaldi vnc wss ws wyciwyg mailto`.split(
    /\s+/,
  ),
)
const REFUSED_KIND = /^(?:ms-|microsoft|chrome|edge|opera|moz|safari|itms|x-apple|x-help-script|x-man-page|x-safari|x-web)/

/** Control characters, separators of lines, and backslashes, which some readers take for slashes. */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\\]/u
/** Programs differ about `https:host` and `https:///host`. */
const WEB = /^https?:\/\/[^/?#]/i
const USER_INFORMATION = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*@/i

/**
 * The address of a text, without spaces around it: http or https with a host, or with the scheme of an app. Undefined for another text, one with a user name or
 * password, a backslash or a control character, and one that is too long.
 */
export function browserAddress(input: string): URL | undefined {
  const text = input.trim()
  const url = UNSAFE.test(input) || USER_INFORMATION.test(text) ? null : URL.parse(text)
  if (!url || url.href.length > BROWSER_ADDRESS_MAX || url.username || url.password) return undefined
  if (isWeb(url)) return WEB.test(text) && url.hostname ? url : undefined
  const scheme = url.protocol.slice(0, -1)
  return REFUSED.has(scheme) || REFUSED_KIND.test(scheme) ? undefined : url
}

/** What addresses are compared by: the origin of a website; the scheme of an app, such as `clinic:`. */
export const originOf = (url: URL): string => (isWeb(url) ? url.origin : url.protocol)

const isWeb = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'
