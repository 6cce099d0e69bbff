// What a line of a page says. The recognizer has an output for every eight columns of a line, so that letters narrower than that get lost: where it
// is not sure, it reads the line once more, stretched.
import type { Engine } from './engine.ts'
import { decodeLetters, type Letter, textLikelihood } from './letters.ts'
import type { Picture } from './picture.ts'
import { ASPECT_MAX, cutLine, type Line, type TextBox } from './text-boxes.ts'

/** A line, and its letters at shares of the width of its picture. */
export interface LineReading {
  letters: Letter[]
  line: Line
}

/** Likelihood of its letters from which a line is not read again: four of five lines, or half of what is written. */
const CERTAIN = Math.log(0.7)
/** The second reading sees the line this much wider. */
const STRETCH = 1.4
/** The recognizer was trained with longer lines: a shorter one has gray to its right. */
const LINE_WIDTH_MIN = 96

/** Reads the line in a box of a page: once, or twice, and then the likelier reading counts. Errors: those of the engine. */
export async function readLine(ocr: Engine, page: Picture, box: TextBox): Promise<LineReading> {
  const first = await readOnce(ocr, cutLine(page, box))
  // Of a longer line the end would be cut off.
  if (first.likelihood > CERTAIN || box.length * STRETCH > box.thickness * ASPECT_MAX) return first
  const second = await readOnce(ocr, cutLine(page, box, STRETCH))
  return second.likelihood > first.likelihood ? { ...second, letters: withSpaces(second.letters, first.letters) } : first
}

interface Reading extends LineReading {
  /** How likely its letters are by the outputs that they are from, as a logarithm. */
  likelihood: number
}

async function readOnce({ recognize, alphabet }: Engine, line: Line): Promise<Reading> {
  const wide = widenPicture(line.picture, LINE_WIDTH_MIN)
  const shares = await recognize(wide)
  const letters = decodeLetters(shares, alphabet)
    .map((letter) => ({ ...letter, position: (letter.position * wide.width) / line.picture.width }))
    .filter(({ position }) => position <= 1)
  const text = letters.flatMap((letter) => (letter.text === ' ' ? [] : [letter.text]))
  return { letters, line, likelihood: textLikelihood(text, shares, alphabet) }
}

/** Letters with the spaces of the first reading as well: the second one sees fewer of them. */
const withSpaces = (letters: readonly Letter[], first: readonly Letter[]): Letter[] =>
  [...letters, ...first.filter(({ text }) => text === ' ')].toSorted((a, b) => a.position - b.position)

/** With gray to the right up to a width. */
function widenPicture({ width, height, pixels }: Picture, target: number): Picture {
  if (width >= target) return { width, height, pixels }
  const wide = new Uint8Array(target * height).fill(128)
  for (let y = 0; y < height; y++) wide.set(pixels.subarray(y * width, (y + 1) * width), y * target)
  return { width: target, height, pixels: wide }
}
