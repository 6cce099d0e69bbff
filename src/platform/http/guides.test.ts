// The guides as pages: every link and anchor leads somewhere on this server, and nothing of the text is lost or run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findGuides, guidePage, guideText } from './guides.ts'

const guides = findGuides()
const pages = new Map<string, string>()
for (const guide of guides) pages.set(`/lab/guides/${guide.name}`, await guidePage(guide, guides, '/lab'))
const pageOf = (name: string) => pages.get(`/lab/guides/${name}`)!

test('every link of a guide leads to a page of this server and to an anchor that it has, or to another site', () => {
  const others = new Set([
    '/lab/',
    '/lab/docs',
    '/lab/pages.css',
    'data:,',
    ...guides.map(({ name }) => `/lab/guides/${name}.md`),
  ])
  let anchors = 0
  for (const [own, page] of pages)
    for (const [, href] of page.matchAll(/ href="([^"]*)"/g)) {
      if (others.has(href!) || href!.startsWith('https://')) continue
      const [path, anchor] = href!.split('#')
      const target = pages.get(path || own)
      assert(target !== undefined, `${own}: ${href}`)
      if (anchor === undefined) continue
      assert(target.includes(` id="${anchor}"`), `${own}: ${href}`)
      anchors += 1
    }
  assert(anchors > 50)
})

test('anchors of a page differ, and every page has one title', () => {
  for (const [own, page] of pages) {
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length, own)
    assert.equal(page.match(/<h1 /g)?.length, 1, own)
    assert.match(page, /<title>[^<>`]+ · Drawbridge<\/title>/, own)
  }
})

test('unknown files are plain text, comments are left out, and nothing is loaded', () => {
  assert.match(
    guideText(guides.find(({ name }) => name === 'operating/install')!),
    /\]\(\.\.\/\.\.\/deploy\/drawbridge@\.service\)/,
  )
  assert.match(guideText(guides.find(({ name }) => name === 'operating/install')!), /<!-- not run/)
  for (const [own, page] of pages) assert(!/<(img|script|style|iframe)\b|<!--|deploy\/[^"<]*" *>| on\w+="/.test(page), own)
})

test('all code of a guide is on its page, escaped, and can be scrolled with the keyboard', () => {
  const text = guideText(guides.find(({ name }) => name === 'RECEIVING_WEBHOOKS')!)
  const blocks = [...text.matchAll(/^```[^\n]*\n([^]*?)\n```$/gm)].map(([, code]) => code!)
  const shown = [...pageOf('RECEIVING_WEBHOOKS').matchAll(/<pre tabindex="0"><code>([^]*?)<\/code><\/pre>/g)].map(([, code]) =>
    code!.replaceAll(/&#(\d+);/g, (_, sign: string) => String.fromCharCode(Number(sign))),
  )
  assert(blocks.length > 5)
  assert.deepEqual(shown, blocks)
})
