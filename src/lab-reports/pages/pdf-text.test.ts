// The text of pages that are drawn in other directions than they are read in, and raised signs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import PDFDocument from 'pdfkit'
import { withDocument } from './pdf.ts'
import { pageText } from './pdf-text.ts'

const LINES = ['Glucose 105 mg/dL', 'Sodium 140 mmol/L']

/** A page whose text is turned clockwise, at a place that is known; a word beside it is not turned. */
function turnedPdf(degrees: number, rotation?: { Rotate: number }): Promise<Buffer> {
  const document = new PDFDocument({ size: [600, 800], margin: 0 })
  const parts: Buffer[] = []
  document.on('data', (part: Buffer) => parts.push(part))
  document.fontSize(10).text('Stamp', 10, 780, { lineBreak: false })
  document.rotate(degrees, { origin: [300, 400] })
  for (const [index, text] of LINES.entries()) document.text(text, 300, 400 + index * 20, { lineBreak: false })
  if (rotation) Object.assign(document.page.dictionary.data, rotation)
  document.end()
  return new Promise((resolve) => document.on('end', () => resolve(Buffer.concat(parts))))
}
const read = (bytes: Buffer) => withDocument(bytes, async (document) => pageText(await document.getPage(1)))
const textOf = (words: readonly { text: string }[]) => words.map(({ text }) => text).join(' ')

for (const degrees of [90, 180, 270])
  test(`text that is drawn turned by ${degrees} degrees is read upright, and its places are the places on the page`, async () => {
    const page = await read(await turnedPdf(degrees))
    assert.equal(textOf(page.words), LINES.join(' '))
    assert.deepEqual([page.width, page.height], degrees === 180 ? [600, 800] : [800, 600])
    assert.deepEqual([page.drawnPage!.width, page.drawnPage!.height], [600, 800])
    const { left, right, top, bottom } = page.drawnPage!.place(page.words[0]!.box)
    const [x, y] = [(left + right) / 2, (top + bottom) / 2]
    // The first word begins at the center of the page, 35 points long and 10 high, and goes from there in its direction.
    const expected = { 90: [294, 418], 180: [282, 394], 270: [306, 382] }[degrees]!
    assert(Math.abs(x - expected[0]!) < 4 && Math.abs(y - expected[1]!) < 4, `${x} ${y}`)
    assert(left < right && top < bottom)
  })

test('a page that its viewer rotates is read as shown, and an upright page is not rotated', async () => {
  const shown = await read(await turnedPdf(270, { Rotate: 90 }))
  assert.equal(textOf(shown.words), LINES.join(' '))
  assert.deepEqual([shown.width, shown.height, shown.drawnPage], [800, 600, undefined])
  const upright = await read(await turnedPdf(0))
  assert.equal(textOf(upright.words), `${LINES.join(' ')} Stamp`)
  assert.equal(upright.drawnPage, undefined)
})

test('a raised digit is a power, at the size of raised signs of a browser', async () => {
  const document = new PDFDocument({ size: [600, 800], margin: 0 })
  const parts: Buffer[] = []
  document.on('data', (part: Buffer) => parts.push(part))
  const place = 50 + document.fontSize(9).widthOfString('x10')
  document.text('x10', 50, 100, { lineBreak: false })
  document.fontSize(9 / 1.2).text('9', place, 97, { lineBreak: false })
  const end = place + document.widthOfString('9')
  document.fontSize(9).text('/L', end, 100, { lineBreak: false })
  document.end()
  const bytes = await new Promise<Buffer>((resolve) => document.on('end', () => resolve(Buffer.concat(parts))))
  assert.equal(textOf((await read(bytes)).words), 'x10^9/L')
})
