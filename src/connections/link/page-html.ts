// The pages that a patient sees while a source is connected: text, links, and a form where a connection begins. Only the last one has a script, which closes the window.
import type { PageResponse } from '../../platform/http/browser-pages.ts'
import { escapeHtml, linkButton, mark, phonePage, type PageTeam } from '../../platform/http/phone-page.ts'
import type { LinkError } from './schema.ts'

const CLOSE = 'window.close()'

/** A source in the list. */
export interface ShownSource {
  name: string
  description: string
  href: string
}

/** The list of sources. */
export function sourcesPage(team: PageTeam, sources: readonly ShownSource[], close: string): PageResponse {
  const name = escapeHtml(team.name)
  if (sources.length === 0)
    return phonePage(
      200,
      'Nothing to connect yet',
      `<p>${name} has not set up any device or app that you could connect here. Please ask ${name}.</p>\n${linkButton(close, 'Close', true)}`,
      { team },
    )
  const items = sources.map(
    ({ name: source, description, href }) =>
      `<li><a class="source" href="${escapeHtml(href)}">${mark(source)}<span><strong>${escapeHtml(source)}</strong> ${escapeHtml(description)}</span></a></li>`,
  )
  return phonePage(
    200,
    'Connect your health data',
    `<p>${name} would like to see data from a device or an app that you use. Where is your data?</p>
<ul class="sources">
${items.join('\n')}
</ul>
${linkButton(close, 'Close', true)}
<p class="note">Nothing is shared yet. You first read what ${name} would see, and can still decide.</p>`,
    { team },
  )
}

export interface ShownConsent {
  team: PageTeam
  source: string
  /** What is shared, in words. */
  data: readonly string[]
  /** Where the form is sent that begins the connection, and its token. */
  start: { action: string; token: string }
  /** Back to the list; undefined if there is none. */
  back: string | undefined
  close: string
}

const startForm = ({ action, token }: ShownConsent['start'], text: string): string =>
  `<form method="post" action="${escapeHtml(action)}"><input type="hidden" name="consent" value="${escapeHtml(token)}"><button class="button">${escapeHtml(text)}</button></form>`

/** What is shared, before the user goes to the provider. */
export const consentPage = ({ team, source, data, start, back, close }: ShownConsent): PageResponse =>
  phonePage(
    200,
    `Connect ${source}`,
    `<p>If you go on, ${escapeHtml(team.name)} can see this data from your ${escapeHtml(source)} account, also what was recorded earlier and what will be recorded from now on:</p>
<ul class="data">
${data.map((name) => `<li>${escapeHtml(name)}</li>`).join('\n')}
</ul>
<p>On the next page, ${escapeHtml(source)} asks you to sign in and to agree. Your password stays with ${escapeHtml(source)}.</p>
${startForm(start, `Continue to ${source}`)}
${back === undefined ? '' : linkButton(back, 'Choose another source', true)}
${linkButton(close, 'Close', true)}
<p class="note">You can end this connection at any time: ask ${escapeHtml(team.name)}, or remove the access in your ${escapeHtml(source)} account.</p>`,
    { team, hasForms: true },
  )

/** What a demo provider makes up, before the user is connected to it. */
export const demoConsentPage = ({ team, source, data, start, back, close }: ShownConsent): PageResponse =>
  phonePage(
    200,
    `Connect ${source}`,
    `<p>This is a demo: you need no account, and all data is made up. If you go on, ${escapeHtml(team.name)} gets this data of a fictional person, from 30 days before today and from now on:</p>
<ul class="data">
${data.map((name) => `<li>${escapeHtml(name)}</li>`).join('\n')}
</ul>
${startForm(start, `Connect ${source}`)}
${back === undefined ? '' : linkButton(back, 'Choose another source', true)}
${linkButton(close, 'Close', true)}
<p class="note">The user of this link is deleted seven days after the first demo connection.</p>`,
    { team, hasForms: true },
  )

/**
 * Sends the browser elsewhere after a form: browsers hold a redirect for a place to which the form was sent, and the policy of the page
 * allows no other than this server.
 */
export function forwardPage(location: string): PageResponse {
  const page = phonePage(200, 'One moment', `<p>If nothing happens, press Continue.</p>\n${linkButton(location, 'Continue')}`)
  const refresh = `<meta http-equiv="refresh" content="0;url=${escapeHtml(location)}">`
  return { ...page, html: String(page.html).replace('<link rel="icon"', `${refresh}\n<link rel="icon"`) }
}

/** The source is connected, and there is no address to return to. */
export const connectedPage = (source: string, team: PageTeam): PageResponse =>
  phonePage(200, `${source} is connected`, '<p>That is all. You can close this window now.</p>', { team })

/** The user has pressed "Close". */
export const closedPage = (): PageResponse =>
  phonePage(200, 'Nothing was changed', '<p>You can close this window now.</p>', { script: CLOSE })

/** The browser sent no cookie with the form. @param back the page with the form */
export const withoutCookiesPage = (back: string, team: PageTeam): PageResponse =>
  phonePage(
    400,
    'Please allow cookies',
    `<p>Nothing was connected. Your browser did not keep the cookie that this page needs to recognize you when you come back. It expires after an hour and is used for nothing else.</p>
<ol class="data">
<li>Open the settings of your browser and allow cookies for this website.</li>
<li>Come back to this page and press the button.</li>
</ol>
${linkButton(back, 'Try again')}
<p class="note">If this page opened inside another app, for example an email app, open the link in your browser instead.</p>`,
    { team },
  )

/** A browser returned from a provider without having left from here: it is another one, or keeps no cookies. */
export const otherBrowserPage = (): PageResponse =>
  phonePage(
    400,
    'Please start again in this browser',
    `<p>Nothing was connected. You began in another browser or app, in a private window, or your browser does not keep cookies.</p>
<ol class="data">
<li>Open the link that you received again, in this browser.</li>
<li>Go through all steps here, without changing to another browser.</li>
<li>If you see this page again, allow cookies for this website in the settings of your browser.</li>
</ol>`,
  )

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
 * @param team undefined: the link leads to an unknown team
 */
export function failedPage(status: number, error: LinkError, source: string, back?: string, team?: PageTeam): PageResponse {
  const isConnected = error === 'token_consumed'
  const advice = isConnected
    ? 'You can close this window now.'
    : 'Please go back to the app or the website that sent you here, and start again.'
  const next = back === undefined ? `<p>${advice}</p>` : linkButton(back, 'Go back')
  return phonePage(
    status,
    isConnected ? 'Already connected' : 'Nothing was connected',
    `<p>${escapeHtml(sentences[error](source))}</p>\n${next}`,
    { team },
  )
}
