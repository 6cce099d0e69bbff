import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCanvas } from '@napi-rs/canvas'
import { inkOfPage } from './ink.ts'
import { pictureOf, type Picture } from './picture.ts'

/** A page with a table of two columns, ruled below each of its rows, on paper of a shade from left to right. */
function page({ rows, shades = ['#fff', '#fff'] }: { rows: number; shades?: [string, string] }): Picture {
  const canvas = createCanvas(1200, 1600)
  const context = canvas.getContext('2d')
  const ground = context.createLinearGradient(0, 0, 1200, 0)
  for (const [index, shade] of shades.entries()) ground.addColorStop(index, shade)
  context.fillStyle = ground
  context.fillRect(0, 0, 1200, 1600)
  context.fillStyle = '#222'
  context.font = '28px sans-serif'
  for (let row = 0; row < rows; row++) {
    context.fillText(`Ferritin ${row}`, 100, 200 + row * 60)
    context.fillText(String(40 + row), 700, 200 + row * 60)
    context.fillRect(80, 220 + row * 60, 900, 2)
  }
  return pictureOf(canvas)
}

test('the ink of a picture shows its texts and ruled lines, also on shaded paper', () => {
  for (const shades of [
    ['#fff', '#fff'],
    ['#eee', '#888'],
  ] as [string, string][]) {
    const { texts, rules } = inkOfPage(page({ rows: 12, shades }))
    assert.equal(rules.length, 12)
    assert(rules.every(({ left, right, top, bottom }) => right - left > 880 && bottom - top < 5))
    assert.equal(texts.filter(({ left }) => left > 650).length, 12)
    // A space parts no text: the number behind a name belongs to it.
    assert.equal(texts.filter(({ left }) => left < 150).length, 12)
  }
})

test('bars that are drawn next to texts are no texts, also with a marker on them', () => {
  for (const marker of [0, 6]) {
    const withBars = page({ rows: 12 })
    for (let row = 0; row < 12; row++)
      for (const left of [850, 930])
        for (let y = 184 - marker; y < 200; y++) {
          const start = (y + row * 60) * 1200 + left
          withBars.pixels.fill(90, y < 184 ? start + 30 : start, y < 184 ? start + 40 : start + 70)
        }
    assert.deepEqual(inkOfPage(withBars).texts, inkOfPage(page({ rows: 12 })).texts)
  }
})

test('a dark band behind light names of columns has no texts, however uneven its shade is', () => {
  const banded = page({ rows: 12 })
  for (let y = 64; y < 160; y++)
    for (let x = 100; x < 1100; x++) banded.pixels[y * 1200 + x] = x % 40 < 6 && y % 32 < 12 ? 30 : 80
  assert.equal(inkOfPage(banded).texts.length, inkOfPage(page({ rows: 12 })).texts.length)
})

test('a page of noise has no texts, and a streak of the scanner is not read as a ruled line', () => {
  let seed = 7
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648
  const noise = { width: 2_400, height: 2_400, pixels: Uint8Array.from({ length: 5_760_000 }, () => (random() < 0.2 ? 0 : 255)) }
  assert.equal(inkOfPage(noise).texts.length, 0)
  const streaked = page({ rows: 4 })
  for (let y = 0; y < streaked.height; y++) streaked.pixels.fill(0, y * 1200 + 500, y * 1200 + 503)
  assert.equal(inkOfPage(streaked).rules.filter(({ top, bottom }) => bottom - top > 100).length, 0)
})

test('a picture of more ruled lines than a page can have shows none', () => {
  const [width, height] = [1600, 2000]
  const pixels = new Uint8Array(width * height).fill(255)
  for (let y = 4; y < height; y += 6) for (let x = 0; x < width - 80; x += 90) pixels.fill(0, y * width + x, y * width + x + 70)
  assert.equal(inkOfPage({ width, height, pixels }).rules.length, 0)
  const first = pixels.slice()
  first.fill(255, 300 * width)
  assert(inkOfPage({ width, height, pixels: first }).rules.length > 100)
})
