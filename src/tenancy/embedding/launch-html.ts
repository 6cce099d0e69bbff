// The pages of launch URLs: small pages of text, without scripts and without external content.
import type { PageResponse } from '../../platform/http/browser-pages.ts'
import { escapeHtml, phonePage } from '../../platform/http/phone-page.ts'
import type { DashboardSession } from './dashboard-sessions.ts'

/** The reason why there is nothing to show, in a sentence. */
export const errorPage = (status: number, title: string, sentence: string, origins: readonly string[] = []): PageResponse =>
  phonePage(status, title, `<p>${escapeHtml(sentence)}</p>`, { frames: origins })

const UNTIL = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

/** The member and the feature of a session, and the notice that there is no more content. */
export function sessionPage(session: DashboardSession, origins: readonly string[]): PageResponse {
  const facts: [string, string][] = [
    ['Organization', session.org_name],
    ['Team', session.team_name],
    ['Environment', session.environment],
    ['Feature', session.feature.replaceAll('_', ' ')],
    ['Open until', `${UNTIL.format(new Date(session.expires_at))} UTC`],
  ]
  const list = facts.map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`).join('\n')
  const content = `<p>This server has no console, so there is nothing to do here yet.</p>\n<dl class="facts">\n${list}\n</dl>`
  return phonePage(200, `Signed in as ${session.member_name}`, content, { frames: origins })
}

/** Redirects the browser. */
export const redirect = (status: 303 | 307, location: string, headers: Record<string, string> = {}): PageResponse => ({
  status,
  headers: { ...headers, location },
  html: '',
})
