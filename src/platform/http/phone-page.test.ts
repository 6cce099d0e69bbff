// Pages for phones: the name and the color of a team, whatever it has entered.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { phonePage } from './phone-page.ts'

function page(name: string, brand_color: string | null) {
  const { html, headers } = phonePage(200, 'Title', '<p>Text</p>', { team: { name, brand_color } })
  return { html: String(html), policy: headers!['content-security-policy'] }
}
const styleOf = (html: string): string => /<style>([^<]*)<\/style>/.exec(html)![1]!
const colorsOf = (html: string) => [...styleOf(html).matchAll(/\n:root\{--fill:([^}]*)\}/g)].map(([, color]) => color)

test('a page has the color of its team where white text can be read on it, and no other text as a color', () => {
  assert.deepEqual(colorsOf(page('Fictional clinic', '#7a1f3d').html), ['#7a1f3d'])
  for (const other of [
    null,
    '',
    'red',
    '#ffee99',
    '#777777',
    '#7a1f3',
    '#7a1f3d}body{display:none',
    '</style><script>alert(1)</script>',
  ])
    assert.deepEqual(colorsOf(page('Fictional clinic', other).html), [], String(other))
})

test('the policy of a page permits its own style and nothing else', () => {
  for (const color of [null, '#7a1f3d']) {
    const { html, policy } = page('Fictional clinic', color)
    const hash = createHash('sha256').update(styleOf(html)).digest('base64')
    assert(policy!.includes(`style-src 'sha256-${hash}'`))
  }
})

test('the name of a team is shown as text, with its first letter as a sign; without a name the line is absent', () => {
  const { html } = page('<b>éclair & Sons', null)
  assert(
    html.includes(
      '<p class="team"><span class="mark" aria-hidden="true">&#60;</span><span>&#60;b&#62;éclair &#38; Sons</span></p>',
    ),
  )
  assert.match(page('élan', null).html, /aria-hidden="true">É</)
  assert.doesNotMatch(page('', '#7a1f3d').html, /class="team"/)
})
