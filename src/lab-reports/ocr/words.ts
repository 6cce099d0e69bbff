// From the letters of a line and its ink to words: the recognizer leaves out many spaces, the ink shows them.
import type { Letter } from './letters.ts'
import { thresholdOf, type Picture } from './picture.ts'

/** A word of a line; places are columns of the picture of the line. */
export interface LineWord {
  text: string
  left: number
  right: number
  /** Of its weakest letter. */
  confidence: number
  /** Of its clearest letter. */
  clearest: number
}

/** Columns without ink between letters, as a share of the height of the picture: there is a space if the recognizer says so too. */
const SPACE_SEEN = 0.06
/** … even if it does not, in a proportional font. */
const SPACE_ALONE = 0.14
/** Between a decimal point or comma and a digit. */
const SPACE_IN_NUMBER = 0.4
/** Of the gap between most letters of the line: those of letters of equal width are wide. */
const SPACE_TO_GAP = 2.2
/** Rows that are dark over more of the line are ruled lines. */
const RULE_SHARE = 0.75
/** Above and below, where other lines can reach into the picture. */
const EDGE_SHARE = 0.08
/** Columns that are dark over more of the height are ruled lines: letters have two thirds of it. */
const RULE_SHARE_DOWN = 0.9

/** Whether each column of a line has ink. */
export function inkOf({ width, height, pixels }: Picture): boolean[] {
  const threshold = thresholdOf(pixels)
  const dark = Uint8Array.from(pixels, (pixel) => Number(pixel < threshold))
  // Light letters on a dark ground.
  const isInverse = dark.reduce((sum, value) => sum + value, 0) > dark.length / 2
  const rows: number[] = []
  for (let y = Math.round(height * EDGE_SHARE); y < height * (1 - EDGE_SHARE); y++) {
    let count = 0
    for (let x = 0; x < width; x++) count += dark[y * width + x]! ^ Number(isInverse)
    if (count < width * RULE_SHARE) rows.push(y)
  }
  return Array.from({ length: width }, (_, x) => {
    let count = 0
    for (const y of rows) count += dark[y * width + x]! ^ Number(isInverse)
    return count > 1 && count < rows.length * RULE_SHARE_DOWN
  })
}

/** The words of a line. `ink` has an entry for each column of its picture, whose height is `height`. */
export function wordsOfLine(letters: readonly Letter[], ink: readonly boolean[], height: number): LineWord[] {
  const placed = placedLetters(letters, ink)
  const usual = placed.map(({ gap }) => gap.to - gap.from).toSorted((one, other) => one - other)[placed.length >> 1] ?? 0
  const alone = Math.max(height * SPACE_ALONE, usual * SPACE_TO_GAP)
  const words: LineWord[] = []
  for (const { letter, column, gap, isSpaced } of placed) {
    const last = words.at(-1)
    const width = gap.to - gap.from
    // A decimal point has room of its own.
    const isWithinNumber = /\d/u.test(letter.text) && /\d[.,]$/u.test(last?.text ?? '')
    if (
      !last ||
      width > (isWithinNumber ? height * SPACE_IN_NUMBER : alone) ||
      (isSpaced && !isWithinNumber && width > height * SPACE_SEEN)
    ) {
      if (last) last.right = gap.from
      words.push({ text: letter.text, left: gap.to, right: column, confidence: letter.confidence, clearest: letter.confidence })
    } else {
      last.text += letter.text
      last.right = column
      last.confidence = Math.min(last.confidence, letter.confidence)
      last.clearest = Math.max(last.clearest, letter.confidence)
    }
  }
  const last = words.at(-1)
  if (last) last.right = Math.max(last.right, ink.lastIndexOf(true) + 1)
  return words
}

/** A letter with its column, and the widest gap in the ink before it. */
interface PlacedLetter {
  letter: Letter
  column: number
  gap: { from: number; to: number }
  /** The recognizer says that there is a space before it. */
  isSpaced: boolean
}

function placedLetters(letters: readonly Letter[], ink: readonly boolean[]): PlacedLetter[] {
  const placed: PlacedLetter[] = []
  let isSpaced = false
  for (const letter of letters) {
    if (letter.text === ' ') {
      isSpaced = true
      continue
    }
    const column = Math.min(ink.length - 1, Math.round(letter.at * ink.length))
    const start = Math.max(0, ink.indexOf(true))
    const previous = placed.at(-1)
    const gap = previous ? widestGap(ink, previous.column, column) : { from: start, to: Math.min(start, column) }
    placed.push({ letter, column, gap, isSpaced })
    isSpaced = false
  }
  return placed
}

/** Of a letter's middle that lies before its ink, the gap reaches to the ink. */
function widestGap(ink: readonly boolean[], from: number, to: number): { from: number; to: number } {
  let widest = { from, to: from }
  let start = from
  for (let x = from; x < ink.length && (x <= to || !ink[x - 1]); x++)
    if (ink[x]) {
      if (x - start > widest.to - widest.from) widest = { from: start, to: x }
      start = x + 1
    }
  return widest
}
