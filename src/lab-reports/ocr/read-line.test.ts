import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { createCanvas, GlobalFonts } from '@napi-rs/canvas'
import { type Engine, engine } from './engine.ts'
import { decodeLetters, type Letter } from './letters.ts'
import { pictureOf } from './picture.ts'
import { readLine } from './read-line.ts'
import { cutLine, type TextBox } from './text-boxes.ts'
import { placeWords } from './read-picture.ts'

GlobalFonts.registerFromPath(
  createRequire(import.meta.url).resolve('@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf'),
  'Arimo',
)

const textOf = (letters: readonly Letter[]): string => letters.map(({ text }) => text).join('')

/** A line of letters that are `size` pixels high and narrower than those of their font by a share. */
function drawLine(text: string, size: number, narrow: number) {
  const canvas = createCanvas(400, 60)
  const context = canvas.getContext('2d')
  context.fillStyle = 'white'
  context.fillRect(0, 0, 400, 60)
  context.fillStyle = 'black'
  context.font = `${size}px Arimo`
  context.scale(narrow, 1)
  context.fillText(text, 10 / narrow, 30)
  const width = context.measureText(text).width * narrow
  const box: TextBox = {
    x: 10 + width / 2,
    y: 30 - size * 0.35,
    length: width + size * 0.5,
    thickness: size * 1.6,
    angle: 0,
  }
  return { page: pictureOf(canvas), box }
}

test('letters narrower than an output of the recognizer are read in a second, stretched reading', async () => {
  const ocr = await engine(undefined)
  const cases: [text: string, size: number, narrow: number][] = [
    ['Bilirubin, Indirect', 11, 0.75],
    ['Basophils, Absolute', 11, 0.65],
    ['Alpha-fetoprotein, tumor', 11, 0.75],
    ['Lipoprotein (a)', 10, 0.65],
    ['Neutrophils', 14, 0.75],
  ]
  for (const [text, size, narrow] of cases) {
    const { page, box } = drawLine(text, size, narrow)
    const single = textOf(decodeLetters(await ocr.recognize(cutLine(page, box).picture), ocr.alphabet))
    assert.notEqual(single.replaceAll(' ', ''), text.replaceAll(' ', ''), `${text} is read at once`)
    const words = placeWords(await readLine(ocr, page, box))
    assert.equal(words.map((word) => word.text).join(' '), text)
    const [first, last] = [words[0]!, words.at(-1)!]
    assert.ok(Math.abs(first.left - 10) < 3 && Math.abs(last.right - (box.x * 2 - 10)) < 4, `${text} stands where it is drawn`)
  }
})

test('a line of clear letters is read once, and so is one that would be too long', async () => {
  const ocr = await engine(undefined)
  const readings = async ({ page, box }: ReturnType<typeof drawLine>) => {
    let count = 0
    const recognize: Engine['recognize'] = (line) => {
      count++
      return ocr.recognize(line)
    }
    const { letters } = await readLine({ ...ocr, recognize }, page, box)
    return [textOf(letters).replaceAll(' ', ''), count]
  }
  assert.deepEqual(await readings(drawLine('Creatinine 1.02', 26, 1)), ['Creatinine1.02', 1])
  const { page, box } = drawLine('Basophils, Absolute', 11, 0.65)
  assert.equal((await readings({ page, box }))[1], 2)
  assert.equal((await readings({ page, box: { ...box, length: box.thickness * 60 } }))[1], 1)
})
