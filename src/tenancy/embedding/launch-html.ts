// The pages of launch URLs: small pages of text, without scripts and without external content.
import { createHash } from 'node:crypto'
import type { PageResponse } from '../../platform/http/browser-pages.ts'
import type { DashboardSession } from './sessions.ts'

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem;color:#1d2b36}dt{color:#50616e}'
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** A page that only these origins may frame. */
function page(status: number, title: string, content: string, origins: readonly string[]): PageResponse {
  const ancestors = origins.length ? origins.join(' ') : "'none'"
  return {
    status,
    headers: {
      'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}`,
    },
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${content}
</main>
</body>
</html>
`,
  }
}

/** The reason why there is nothing to show, in a sentence. */
export const errorPage = (status: number, title: string, sentence: string, origins: readonly string[] = []): PageResponse =>
  page(status, title, `<p>${escaped(sentence)}</p>`, origins)

/** The member and the feature of a session, and the notice that there is no more content. */
export function sessionPage(session: DashboardSession, origins: readonly string[]): PageResponse {
  const facts: [string, string][] = [
    ['Organization', session.org_name],
    ['Team', session.team_name],
    ['Environment', session.environment],
    ['Feature', session.feature],
    ['Open until', session.expires_at],
  ]
  const list = facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join('\n')
  const content = `<p>No console is installed on this server, so that there is nothing to do here yet.</p>\n<dl>\n${list}\n</dl>`
  return page(200, `Signed in as ${session.member_name}`, content, origins)
}

/** Redirects the browser. */
export const redirect = (status: 303 | 307, location: string, headers: Record<string, string> = {}): PageResponse => ({
  status,
  headers: { ...headers, location },
  html: '',
})
