// The pages that a patient sees while a source is connected: text and links. They load nothing, and only the last one has a script, which
// closes the window.
import { createHash } from 'node:crypto'
import type { PageResponse } from '../../platform/http/browser-pages.ts'
import type { LinkError } from './schema.ts'

const STYLE = `*{box-sizing:border-box}
body{margin:0;font:1.0625rem/1.5 system-ui,sans-serif;color:#1d2b36;background:#f3f6f8}
main{max-width:30rem;min-height:100vh;margin:0 auto;padding:2rem 1.25rem 3rem;background:#fff;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}
p{margin:0 0 1rem}
ul{margin:0 0 1.5rem;padding:0}
.sources{list-style:none}
.sources li{margin:0 0 .75rem}
.source{display:block;padding:.875rem 1rem;border:1px solid #71828e;border-radius:.5rem;color:inherit;text-decoration:none}
.source strong{display:block}
.source span{color:#465763;font-size:.9375rem}
.data{padding-left:1.25rem}
.button{display:block;margin:0 0 .75rem;padding:.875rem 1rem;border:1px solid #0b5cad;border-radius:.5rem;background:#0b5cad;color:#fff;font-weight:600;text-align:center;text-decoration:none}
.quiet{background:#fff;color:#0b5cad}
.note{color:#465763;font-size:.9375rem}
a:focus-visible{outline:3px solid #d97a00;outline-offset:2px}
a.source:hover{background:#eef4fa}`
const CLOSE = 'window.close()'
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(CLOSE)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

function page(status: number, title: string, content: string, script = ''): PageResponse {
  return {
    status,
    headers: { 'content-security-policy': POLICY },
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${content}
</main>
${script && `<script>${script}</script>\n`}</body>
</html>
`,
  }
}

const button = (href: string, text: string, quiet = false): string =>
  `<a class="button${quiet ? ' quiet' : ''}" href="${escaped(href)}">${escaped(text)}</a>`

/** A source in the list. */
export interface ShownSource {
  name: string
  description: string
  href: string
}

/** The list of sources. @param team the name of the team */
export function sourcesPage(team: string, sources: readonly ShownSource[], close: string): PageResponse {
  if (sources.length === 0)
    return page(
      200,
      'Nothing to connect yet',
      `<p>${escaped(team)} has not set up any device or app that you could connect here. Please ask ${escaped(team)}.</p>\n${button(close, 'Close', true)}`,
    )
  const items = sources.map(
    ({ name, description, href }) =>
      `<li><a class="source" href="${escaped(href)}"><strong>${escaped(name)}</strong> <span>${escaped(description)}</span></a></li>`,
  )
  return page(
    200,
    'Connect your health data',
    `<p>${escaped(team)} would like to see data from a device or an app that you use. Where is your data?</p>
<ul class="sources">
${items.join('\n')}
</ul>
${button(close, 'Close', true)}`,
  )
}

export interface ShownConsent {
  team: string
  source: string
  /** What is shared, in words. */
  data: readonly string[]
  start: string
  /** Back to the list; undefined if there is none. */
  back: string | undefined
  close: string
}

/** What is shared, before the user goes to the provider. */
export const consentPage = ({ team, source, data, start, back, close }: ShownConsent): PageResponse =>
  page(
    200,
    `Connect ${source}`,
    `<p>If you go on, ${escaped(team)} can see this data from your ${escaped(source)} account, also what was recorded earlier and what will be recorded from now on:</p>
<ul class="data">
${data.map((one) => `<li>${escaped(one)}</li>`).join('\n')}
</ul>
<p>On the next page, ${escaped(source)} asks you to sign in and to agree. Your password stays with ${escaped(source)}.</p>
${button(start, `Continue to ${source}`)}
${back === undefined ? '' : button(back, 'Choose another source', true)}
${button(close, 'Close', true)}
<p class="note">You can end this connection at any time: ask ${escaped(team)}, or remove the access in your ${escaped(source)} account.</p>`,
  )

/** What a demo provider makes up, before the user is connected to it. */
export const demoConsentPage = ({ team, source, data, start, back, close }: ShownConsent): PageResponse =>
  page(
    200,
    `Connect ${source}`,
    `<p>This is a demo: you need no account, and all data is made up. If you go on, ${escaped(team)} gets this data of a fictional person, from 30 days before today and from now on:</p>
<ul class="data">
${data.map((one) => `<li>${escaped(one)}</li>`).join('\n')}
</ul>
${button(start, `Connect ${source}`)}
${back === undefined ? '' : button(back, 'Choose another source', true)}
${button(close, 'Close', true)}
<p class="note">The user of this link is deleted seven days after the first demo connection.</p>`,
  )

/** The source is connected, and there is no address to return to. */
export const connectedPage = (source: string): PageResponse =>
  page(200, `${source} is connected`, '<p>That is all. You can close this window now.</p>')

/** The user has pressed "Close". */
export const closedPage = (): PageResponse => page(200, 'Nothing was changed', '<p>You can close this window now.</p>', CLOSE)

const sentences: Record<LinkError, (source: string) => string> = {
  invalid_token: () => 'This link is not valid, or not valid any more.',
  token_expired: () => 'This link was open for too long and has expired.',
  token_not_validated: () => 'This link was not started correctly.',
  token_consumed: () => 'A source is already connected with this link.',
  provider_credential_error: (source) => `${source} did not accept the connection.`,
  provider_password_expired: (source) => `${source} asks you to choose a new password first.`,
  provider_api_error: (source) => `${source} could not be reached, or did not answer as it should. Please try again later.`,
  unsupported_region: (source) => `${source} is not available in your region.`,
  duplicate_connection: (source) => `This ${source} account is already connected for another person.`,
  required_scopes_not_granted: (source) =>
    `Some of the data that is needed was not allowed in ${source}. Please allow everything on the list.`,
  incorrect_mfa_code: () => 'The code was not correct.',
  user_cancelled: () => 'You did not agree.',
}

/**
 * Why nothing was connected, and what to do.
 * @param back the address to return to, if there is one
 */
export function failedPage(status: number, error: LinkError, source: string, back?: string): PageResponse {
  const isConnected = error === 'token_consumed'
  const advice = isConnected
    ? 'You can close this window now.'
    : 'Please go back to the app or the website that sent you here, and start again.'
  const next = back === undefined ? `<p>${advice}</p>` : button(back, 'Go back')
  return page(
    status,
    isConnected ? 'Already connected' : 'Nothing was connected',
    `<p>${escaped(sentences[error](source))}</p>\n${next}`,
  )
}

/** Too many invalid links from the address, or an overloaded server. */
export const tryLaterPage = (status: number, headers: Record<string, string>): PageResponse => {
  const shown = page(status, 'Please try again later', '<p>There are too many requests at the moment. Please wait a minute.</p>')
  return { ...shown, headers: { ...shown.headers, ...headers } }
}

/** Sends the browser elsewhere. */
export const redirect = (status: 303 | 307, location: string): PageResponse => ({ status, headers: { location }, html: '' })
