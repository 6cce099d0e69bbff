// The pages that a patient sees while a source is connected: text and links. Only the last one has a script, which closes the window.
import type { PageResponse } from '../../platform/http/browser-pages.ts'
import { escaped, linkButton, phonePage } from '../../platform/http/phone-page.ts'
import type { LinkError } from './schema.ts'

const CLOSE = 'window.close()'

/** A source in the list. */
export interface ShownSource {
  name: string
  description: string
  href: string
}

/** The list of sources. @param team the name of the team */
export function sourcesPage(team: string, sources: readonly ShownSource[], close: string): PageResponse {
  if (sources.length === 0)
    return phonePage(
      200,
      'Nothing to connect yet',
      `<p>${escaped(team)} has not set up any device or app that you could connect here. Please ask ${escaped(team)}.</p>\n${linkButton(close, 'Close', true)}`,
    )
  const items = sources.map(
    ({ name, description, href }) =>
      `<li><a class="source" href="${escaped(href)}"><strong>${escaped(name)}</strong> <span>${escaped(description)}</span></a></li>`,
  )
  return phonePage(
    200,
    'Connect your health data',
    `<p>${escaped(team)} would like to see data from a device or an app that you use. Where is your data?</p>
<ul class="sources">
${items.join('\n')}
</ul>
${linkButton(close, 'Close', true)}`,
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
  phonePage(
    200,
    `Connect ${source}`,
    `<p>If you go on, ${escaped(team)} can see this data from your ${escaped(source)} account, also what was recorded earlier and what will be recorded from now on:</p>
<ul class="data">
${data.map((one) => `<li>${escaped(one)}</li>`).join('\n')}
</ul>
<p>On the next page, ${escaped(source)} asks you to sign in and to agree. Your password stays with ${escaped(source)}.</p>
${linkButton(start, `Continue to ${source}`)}
${back === undefined ? '' : linkButton(back, 'Choose another source', true)}
${linkButton(close, 'Close', true)}
<p class="note">You can end this connection at any time: ask ${escaped(team)}, or remove the access in your ${escaped(source)} account.</p>`,
  )

/** What a demo provider makes up, before the user is connected to it. */
export const demoConsentPage = ({ team, source, data, start, back, close }: ShownConsent): PageResponse =>
  phonePage(
    200,
    `Connect ${source}`,
    `<p>This is a demo: you need no account, and all data is made up. If you go on, ${escaped(team)} gets this data of a fictional person, from 30 days before today and from now on:</p>
<ul class="data">
${data.map((one) => `<li>${escaped(one)}</li>`).join('\n')}
</ul>
${linkButton(start, `Connect ${source}`)}
${back === undefined ? '' : linkButton(back, 'Choose another source', true)}
${linkButton(close, 'Close', true)}
<p class="note">The user of this link is deleted seven days after the first demo connection.</p>`,
  )

/** The source is connected, and there is no address to return to. */
export const connectedPage = (source: string): PageResponse =>
  phonePage(200, `${source} is connected`, '<p>That is all. You can close this window now.</p>')

/** The user has pressed "Close". */
export const closedPage = (): PageResponse =>
  phonePage(200, 'Nothing was changed', '<p>You can close this window now.</p>', { script: CLOSE })

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
  const next = back === undefined ? `<p>${advice}</p>` : linkButton(back, 'Go back')
  return phonePage(
    status,
    isConnected ? 'Already connected' : 'Nothing was connected',
    `<p>${escaped(sentences[error](source))}</p>\n${next}`,
  )
}
