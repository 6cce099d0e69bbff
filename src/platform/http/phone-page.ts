// A page for a person with a phone: text, links and small forms. It loads nothing, and is light or dark as the person has set.
import { createHash } from 'node:crypto'
import type { PageRequest, PageResponse } from './browser-pages.ts'

const STYLE = `:root{color-scheme:light dark;--ink:#1d2b36;--soft:#465763;--line:#d5dde3;--edge:#71828e;--link:#0b5cad;--fill:#0b5cad;--paper:#fff;--around:#f3f6f8;--box:#e4ebf0;--over:#eef4fa;--focus:#d97a00}
@media (prefers-color-scheme:dark){:root{--ink:#e8eef3;--soft:#a9b8c4;--line:#33424e;--edge:#71828e;--link:#7fbcff;--paper:#10171d;--around:#0a0f13;--box:#24323d;--over:#18222b;--focus:#f0a040}}
*{box-sizing:border-box}
body{margin:0;font:1.0625rem/1.5 system-ui,sans-serif;color:var(--ink);background:var(--around)}
main{max-width:30rem;min-height:100vh;margin:0 auto;padding:2rem 1.25rem 3rem;background:var(--paper);overflow-wrap:anywhere}
.team{display:flex;align-items:center;gap:.625rem;margin:0 0 1.5rem;padding:0 0 .875rem;border-bottom:1px solid var(--line);color:var(--soft);font-weight:600}
.mark{flex:none;display:inline-flex;align-items:center;justify-content:center;width:2.25rem;height:2.25rem;border-radius:.5rem;background:var(--box);color:var(--ink);font-weight:700}
.team .mark{background:var(--fill);color:#fff}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}
h2{font-size:1.1875rem;line-height:1.3;margin:0 0 .5rem}
p{margin:0 0 1rem}
ul,ol{margin:0 0 1.5rem;padding:0}
form{margin:0}
.sources{list-style:none}
.sources li{margin:0 0 .75rem}
.source{display:flex;align-items:center;gap:.875rem;padding:.875rem 1rem;border:1px solid var(--edge);border-radius:.5rem;color:inherit;text-decoration:none}
.source>span:nth-child(2){flex:1}
.source strong{display:block;color:var(--ink);font-size:1.0625rem}
.source::after{content:"\\203a" / "";color:var(--soft);font-size:1.5rem;line-height:1}
.source>span:nth-child(2){color:var(--soft);font-size:.9375rem}
.data{padding-left:1.25rem}
.card{margin:0 0 1.25rem;padding:1rem 1rem .25rem;border:1px solid var(--edge);border-radius:.5rem}
.state{font-weight:600;margin:0 0 .25rem}
label{display:block;margin:0 0 .25rem;font-weight:600}
input{display:block;width:100%;margin:0 0 1rem;padding:.75rem 1rem;border:1px solid var(--edge);border-radius:.5rem;background:var(--paper);color:inherit;font:inherit}
.button{display:block;width:100%;margin:0 0 .75rem;padding:.875rem 1rem;border:1px solid var(--fill);border-radius:.5rem;background:var(--fill);color:#fff;font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
.quiet{border-color:var(--link);background:var(--paper);color:var(--link)}
a:not([class]){color:var(--link)}
.facts{display:grid;grid-template-columns:auto 1fr;gap:.375rem 1.25rem;margin:0 0 1.25rem}
dt{color:var(--soft)}
dd{margin:0}
.note{color:var(--soft);font-size:.9375rem}
a:focus-visible,button:focus-visible,input:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
a.source:hover{background:var(--over)}`
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const policy = (style: string, script: string, hasForms: boolean, frames: readonly string[]): string =>
  [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    ...(script ? [`script-src ${hashOf(script)}`] : []),
    'img-src data:',
    "base-uri 'none'",
    `form-action ${hasForms ? "'self'" : "'none'"}`,
    `frame-ancestors ${frames.length ? frames.join(' ') : "'none'"}`,
  ].join('; ')

/** A text as HTML that shows it. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** Who shows the page. */
export interface PageTeam {
  name: string
  /** Color of buttons and of the team's sign, if white text is readable on it; any text. */
  brand_color: string | null
}

/** The part of full light in a color, by which contrasts are counted. Source: WCAG 2.2, relative luminance. */
const luminance = (hex: string): number =>
  [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
    const part = Number.parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16) / 255
    return sum + weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  }, 0)

/** The rules for a team's own color; empty where white text on it, or the color on white, could not be read. Dark pages have it as a fill only. */
function colorRules(color: string | null | undefined): string {
  if (!color || !/^#[0-9a-f]{6}$/i.test(color) || 1.05 / (luminance(color) + 0.05) < 4.5) return ''
  return `\n:root{--fill:${color}}\n@media not (prefers-color-scheme:dark){:root{--link:${color}}}`
}

/** The first letter of a name, as a sign for who has no picture. */
export const mark = (name: string): string =>
  `<span class="mark" aria-hidden="true">${escapeHtml([...name.trim()][0]?.toUpperCase() ?? '')}</span>`

interface PhonePageOptions {
  script?: string
  hasForms?: boolean
  team?: PageTeam | undefined
  frames?: readonly string[]
}

/**
 * A page with its title as the heading.
 * @param title any text
 * @param content HTML
 * @param options.team whose name stands at the top
 * @param options.script the one script that may run
 * @param options.hasForms whether its forms may be sent to this server
 * @param options.frames the origins that may frame it; by default none
 */
export function phonePage(
  status: number,
  title: string,
  content: string,
  { script = '', hasForms = false, team, frames = [] }: PhonePageOptions = {},
): PageResponse {
  const style = STYLE + colorRules(team?.brand_color)
  return {
    status,
    headers: { 'content-security-policy': policy(style, script, hasForms, frames) },
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
${team?.name ? `<p class="team">${mark(team.name)}<span>${escapeHtml(team.name)}</span></p>\n` : ''}<h1>${escapeHtml(title)}</h1>
${content}
</main>
${script && `<script>${script}</script>\n`}</body>
</html>
`,
  }
}

/** A link that looks like a button. */
export const linkButton = (href: string, text: string, isQuiet = false): string =>
  `<a class="button${isQuiet ? ' quiet' : ''}" href="${escapeHtml(href)}">${escapeHtml(text)}</a>`

/** Too many invalid links from the address, or an overloaded server. */
export const tryLaterPage = (status: number, headers: Record<string, string>): PageResponse => {
  const shown = phonePage(
    status,
    'Please try again later',
    '<p>There are too many requests at the moment. Please wait a minute.</p>',
  )
  return { ...shown, headers: { ...shown.headers, ...headers } }
}

/** Sends the browser elsewhere. */
export const redirect = (status: 303 | 307, location: string, headers: Record<string, string> = {}): PageResponse => ({
  status,
  headers: { ...headers, location },
  html: '',
})

/** A text of the query, the last one of its name; undefined if it is absent, empty or no text for the database. */
export function queryText({ query }: Pick<PageRequest, 'query'>, name: string): string | undefined {
  const value = query[name]
  const last = typeof value === 'string' ? value : value?.at(-1)
  return last === '' || last?.includes('\0') ? undefined : last
}
