// Which pages are read by their pictures. Without the networks of the text recognition, a page that needs them is an error.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import PDFDocument from 'pdfkit'
import type { Canvas } from '@napi-rs/canvas'
import { createCanvas } from '@napi-rs/canvas'
import { openSync as openFont } from 'fontkit'
import { fileURLToPath } from 'node:url'
import { pictureOfRows } from '../../../test/support/scanned-reports.ts'
import { reportPage, type DrawnText } from '../../../test/support/uploaded-reports.ts'
import { OcrUnavailable } from '../ocr/engine.ts'
import { findFailure, readPages, understand } from './read-report.ts'

type Draw = (document: PDFKit.PDFDocument) => void

const pdfOf = (...draws: Draw[]): Promise<Uint8Array> => pdfOfHeight(792, ...draws)

function pdfOfHeight(height: number, ...draws: Draw[]): Promise<Uint8Array> {
  const document = new PDFDocument({ size: [612, height], margin: 0 })
  const parts: Buffer[] = []
  document.on('data', (part: Buffer) => parts.push(part))
  for (const draw of draws) draw(document)
  document.end()
  return new Promise((resolve) => document.on('end', () => resolve(new Uint8Array(Buffer.concat(parts)))))
}
const texts =
  (...texts: DrawnText[]): Draw =>
  (document) => {
    for (const { x, y, text, size = 9 } of texts) document.fontSize(size).text(text, x, y, { lineBreak: false })
  }
const picture =
  (canvas: Canvas, x: number, y: number, width: number, height: number): Draw =>
  (document) =>
    void document.image(canvas.toBuffer('image/png'), x, y, { width, height })
const gray = (width: number, height: number): Canvas => {
  const canvas = createCanvas(width, height)
  canvas.getContext('2d').fillStyle = '#ddd'
  canvas.getContext('2d').fillRect(0, 0, width, height)
  return canvas
}
const FAX_LINE = texts({ x: 40, y: 10, text: 'FAX 2024-03-15 08:15 Fictional Clinic Page 1 of 1' })
/** More letters than a stamp has. */
const LETTER = texts(
  ...Array.from({ length: 6 }, (_, line) => ({
    x: 40,
    y: 20 + line * 12,
    text: 'Fictional Diagnostic Laboratories report to the clinic',
  })),
)
const FULL = texts(...reportPage(...Array.from({ length: 40 }, (_, row) => [`Glucose ${row}`, '105', 'H', 'mg/dL', '70-99'])))

const NAMES = [
  'Glucose',
  'Sodium',
  'Potassium',
  'Chloride',
  'Calcium',
  'Creatinine',
  'Bilirubin',
  'Albumin',
  'Ferritin',
  'Cortisol',
]

const isReadByPicture = async (...draws: Draw[]): Promise<boolean> => {
  const file = { bytes: await pdfOf(...draws), type: 'application/pdf' as const }
  try {
    await readPages([file], { models: '/nonexistent' })
    return false
  } catch (error) {
    assert(error instanceof OcrUnavailable, String(error))
    return true
  }
}

/** Letters as the outlines of a font, as programs for drawing write them. */
const outlines: Draw = (document) => {
  const font = openFont(fileURLToPath(import.meta.resolve('@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf')))
  if (!('layout' in font)) throw new Error('not a font')
  for (let line = 0; line < 12; line++) {
    document
      .save()
      .translate(40, 60 + line * 14)
      .scale(9 / font.unitsPerEm, -9 / font.unitsPerEm)
    for (const { path, advanceWidth } of font.layout('Glucose 105 mg/dL 70-99 Fictional').glyphs) {
      document.path(path.toSVG()).fill()
      document.translate(advanceWidth, 0)
    }
    document.restore()
  }
}

describe('a page is read by its picture', () => {
  test('if it has no text, or the line of a fax machine on a scan', async () => {
    assert(await isReadByPicture(picture(gray(600, 700), 0, 0, 612, 792)))
    assert(await isReadByPicture(picture(gray(600, 700), 0, 0, 612, 792), FAX_LINE))
  })

  test('if the scan is in strips that are all small', async () => {
    const strips = Array.from({ length: 12 }, (_, strip) => picture(gray(600, 60), 0, strip * 66, 612, 66))
    assert(await isReadByPicture(...strips, FAX_LINE))
  })

  test('if its letters are drawn as outlines', async () => {
    assert(await isReadByPicture(outlines, FAX_LINE))
  })

  test('if the letters of its text have wrong codes', async () => {
    const shifted = (text: string) => text.replaceAll(/[a-y]/giu, (letter) => String.fromCodePoint(letter.codePointAt(0)! + 1))
    const page = reportPage(...NAMES.map((name) => [`${name} in serum`, '105', 'H', 'mg/dL', '70-99']))
    assert(!(await isReadByPicture(texts(...page))))
    assert(await isReadByPicture(texts(...page.map((text) => ({ ...text, text: shifted(text.text) })))))
  })

  test('if a letter of text stands above the picture of a report', async () => {
    assert(await isReadByPicture(LETTER, picture(gray(600, 600), 0, 100, 612, 600)))
  })
})

describe('a page is read by its text', () => {
  test('if it has a logo, a picture below its text, or the text of a scanner on the scan', async () => {
    assert(!(await isReadByPicture(LETTER, picture(gray(60, 60), 500, 10, 60, 60))))
    assert(!(await isReadByPicture(LETTER, picture(gray(600, 200), 0, 500, 612, 200))))
    assert(!(await isReadByPicture(picture(gray(600, 700), 0, 0, 612, 792), LETTER)))
    assert(!(await isReadByPicture(picture(gray(600, 700), 0, 0, 612, 792), FULL)))
  })

  test('if it is in another language that is written in Latin letters', async () => {
    const names = 'Glukose,Cholesterin,Triglyzeride,Harnstoff,Kreatinin,Natrium,Kalium,Eisen,Ferritin,Leukozyten'.split(',')
    const head = ['Untersuchung', 'Ergebnis', 'Einheit', 'Referenzbereich', 'Patientin', 'Geburtsdatum', 'Befund', 'Blutbild']
    const page = reportPage(head, ...names.map((name) => [`${name} im Serum`, 'Befund', 'mg/dl', 'Normalbereich']))
    assert(!(await isReadByPicture(texts(...page.slice(6)))))
  })

  test('if it says little and draws little', async () => {
    assert(!(await isReadByPicture(FAX_LINE, (document) => void document.rect(40, 40, 500, 600).stroke())))
  })
})

test('of a page with a table in a picture below a letter, the letter is read by its text and the table by its picture', async () => {
  const table = await pictureOfRows(['Glucose', '105', 'H', 'mg/dL', '70-99'])
  // 1224 × 64 pixels; as high as is large.
  const canvas = createCanvas(1224, 200)
  const context = canvas.getContext('2d')
  context.fillStyle = 'white'
  context.fillRect(0, 0, 1224, 200)
  context.drawImage(table, 0, 40)
  const head = texts(
    { x: 40, y: 20, text: 'Specimen ID: ZZ-987654' },
    ...Array.from({ length: 4 }, (_, line) => ({
      x: 40,
      y: 40 + line * 12,
      text: 'To the clinic that has ordered the tests below, with best regards',
    })),
  )
  const bytes = await pdfOfHeight(220, head, picture(canvas, 0, 110, 612, 100))
  const pages = await readPages([{ bytes, type: 'application/pdf' }])
  const [page] = pages
  assert.equal(page!.source, 'ocr')
  const own = page!.words.filter(({ box }) => box.top < 100)
  assert(own.length > 45 && own.every(({ confidence }) => confidence === 1))
  // The ink of the picture is counted where the page shows it.
  assert(page!.ink!.length >= 5 && page!.ink!.every(({ top, bottom }) => top > 138 && bottom < 160))
  const { results } = understand(pages)
  assert.equal(findFailure(pages, results), null)
  assert.deepEqual(
    results.map(({ test_name, value, units, min_reference_range, max_reference_range }) => [
      test_name,
      value,
      units,
      min_reference_range,
      max_reference_range,
    ]),
    [['Glucose', '105', 'mg/dL', 70, 99]],
  )
  // The picture begins 110 points down, and its row 34 points below that.
  const { top } = results[0]!.place.value
  assert(top > 138 && top < 150, String(top))
})
