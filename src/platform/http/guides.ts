// The guides as pages: `docs/` of this release, made HTML at the first request for each.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MarkedExtension, Tokens } from 'marked'
import { escapeHtml } from './phone-page.ts'

const DOCS = fileURLToPath(new URL('../../../docs', import.meta.url))
/** Folders of `docs/` that are served, each with what its addresses have before the name. */
const FOLDERS = { guides: '', '.': '', operating: 'operating/', wearables: 'wearables/' }
/** A page with fewer sections needs no list of them. */
const LISTED_SECTIONS_MIN = 4

export interface Guide {
  /** Below `/guides/`, without `.md`. */
  name: string
  /** The file, below `docs/`. */
  file: string
}

/** The guides that come along. An installation may have left them out. */
export const findGuides = (): Guide[] =>
  Object.entries(FOLDERS).flatMap(([folder, prefix]) =>
    existsSync(join(DOCS, folder))
      ? readdirSync(join(DOCS, folder))
          .filter((file) => file.endsWith('.md'))
          .map((file) => ({ name: prefix + file.slice(0, -'.md'.length), file: posix.join(folder, file) }))
      : [],
  )

export const guideText = ({ file }: Guide): string => readFileSync(join(DOCS, file), 'utf8')

/**
 * A guide as a page in the style of the landing page.
 * @param guides all that are served: links to them lead to their pages
 */
export async function guidePage(guide: Guide, guides: readonly Guide[], base: string): Promise<string> {
  const { Marked } = await import('marked')
  const sections: Section[] = []
  const addressOf = createAddressFinder(guide, guides, base)
  const content = await new Marked(inOurStyle(addressOf, sections)).parse(guideText(guide))
  const title = sections.find(({ depth }) => depth === 1)?.html ?? escapeHtml(guide.name)
  const parts = sections.filter(({ depth }) => depth === 2)
  const list = parts.map(({ id, html }) => `<li><a href="#${id}">${html}</a></li>`).join('\n')
  const contents =
    parts.length < LISTED_SECTIONS_MIN ? '' : `<nav class="contents" aria-label="On this page">\n<ul>\n${list}\n</ul>\n</nav>\n`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title.replaceAll(/<[^>]*>/g, '')} · Drawbridge</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/pages.css">
</head>
<body>
<main class="guide">
<p class="top"><a href="${base}/">Drawbridge</a> <a href="${base}/docs">API reference</a> <a href="${base}/guides/${guide.name}.md">Markdown</a></p>
${content.replace(/(?<=<\/h1>\n)/, () => contents)}</main>
</body>
</html>
`
}

interface Section {
  depth: number
  id: string
  html: string
}

/** Where a link of the guide leads; undefined where this server has nothing at its address. */
const createAddressFinder = (guide: Guide, guides: readonly Guide[], base: string) => {
  const served = new Map(guides.map(({ name, file }) => [file, `${base}/guides/${name}`]))
  return (href: string): string | undefined => {
    if (/^(https?:\/\/|#)/.test(href)) return href
    const [path, fragment] = href.split('#')
    const address = served.get(posix.join(posix.dirname(guide.file), path!))
    return address && (fragment === undefined ? address : `${address}#${fragment}`)
  }
}

/** The anchors of headings are those of GitHub, which links within the guides use. */
function inOurStyle(addressOf: (href: string) => string | undefined, sections: Section[]): MarkedExtension {
  const uses = new Map<string, number>()
  const idOf = (text: string): string => {
    const words = text.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    const id = words.trim().replaceAll(/\s/g, '-')
    const before = uses.get(id) ?? 0
    uses.set(id, before + 1)
    return before ? `${id}-${before}` : id
  }
  return {
    renderer: {
      heading({ tokens, depth, text }) {
        const html = this.parser.parseInline(tokens)
        const id = idOf(text)
        sections.push({ depth, id, html: html.replaceAll(/<\/?a\b[^>]*>/g, '') })
        return `<h${depth} id="${id}">${html}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const address = addressOf(href)
        const html = this.parser.parseInline(tokens)
        return address === undefined ? html : `<a href="${escapeHtml(address)}">${html}</a>`
      },
      image: () => '',
      // Comments are notes to those who write; the guides have no other HTML.
      html: ({ text }) => (text.trimStart().startsWith('<!--') ? '' : escapeHtml(text)),
      code: ({ text }) => codeBlock(text),
      table({ header, rows }) {
        const cells = (row: Tokens.TableCell[], tagName: 'td' | 'th') =>
          row.map(({ tokens, align }) => {
            const html = this.parser.parseInline(tokens)
            // A screen reader would announce a heading without text.
            const tag = html ? tagName : 'td'
            return `<${tag}${align === 'right' ? ' class="right"' : ''}>${html}</${tag}>`
          })
        return table(
          cells(header, 'th'),
          rows.map((row) => cells(row, 'td')),
        )
      },
    },
  }
}

const codeBlock = (text: string): string => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`

const table = (header: string[], rows: string[][]): string => {
  const line = (cells: string[]) => `<tr>${cells.join('')}</tr>`
  return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>
<thead>${line(header)}</thead>
<tbody>
${rows.map(line).join('\n')}
</tbody></table></div>
`
}
