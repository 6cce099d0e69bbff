// Words out of the letters of a line, and of its ink.
import type { Letter } from './letters.ts'
import { type Picture, thresholdOf } from './picture.ts'

/** A word of a line; places are columns of the picture of the line. */
export interface LineWord {
  text: string
  left: number
  right: number
  /** Confidence of its weakest letter. */
  confidence: number
  /** Confidence of its clearest letter. */
  clearest: number
}

/** Columns without ink between letters, as a share of the height of the picture: there is a space if the recognizer says so too. */
const SPACE_SEEN = 0.06
/** … even if it does not, in a proportional font. */
const SPACE_ALONE = 0.14
/** … between a 1 and another digit: the ink of a 1 is narrower than its place. */
const SPACE_BESIDE_ONE = 0.21
/** Where no space is written: in numbers, before a comma or a closing bracket, after an opening one. A wider gap parts columns. */
const SPACE_UNWRITTEN = 0.45
const TIGHT: [before: RegExp, behind: RegExp][] = [
  [/./u, /[,;:.)\]/]/u],
  [/[([/]$/u, /./u],
  [/\d[.,]$/u, /\d/u],
]
/** Where nearly everybody writes one: behind the comma of a name, and, if it is wider, before brackets and percent signs behind a name. */
const SPACED: [share: number, before: RegExp, behind: RegExp][] = [
  [0.06, /\p{L}[)\]]?,$/u, /[\p{L}\d]/u],
  [0.1, /\p{L}{3}$/u, /[(%]/u],
]
/** `BUN / Creatinine`, `A : G`: spaces on both sides of a sign between letters; where there are none, gaps have a fourth of it. */
const SPACE_AROUND = 0.19
/** `Amylase, Serum`: a gap before a comma that touches the next letter is the space behind it, whose place was misread. */
const COMMA_MISPLACED = 0.15
/** Multiple of the gap between most letters of the line; letters of equal width have wide gaps. */
const SPACE_TO_GAP = 2.2
/** Rows that are dark over more of the line are ruled lines. */
const RULE_SHARE = 0.75
/** Above and below, where other lines can reach into the picture. */
const EDGE_SHARE = 0.08
/** Columns that are dark over more of the height are ruled lines: letters have two thirds of it. */
const RULE_SHARE_DOWN = 0.9

/** Position, among the pixels of a line from dark to light, of one of the paper. */
const PAPER_SHARE = 0.8
/** Shares of the contrast of a line: what is less dark is noise, what is darker has the threshold of the line. */
const [GRAY_MIN, GRAY_MAX] = [0.2, 0.7]
/** Shares of the height of a line: a shorter stretch is a thin letter; a stroke of each letter is as near to all of its columns. */
const [GRAY_LENGTH, STROKE_DISTANCE] = [0.8, 0.2]
/** Pixels of a column that may be darker than its ink, as specks are. */
const SPECK_PIXELS = 2

/** Whether each column of a line has ink, be it that of gray letters next to black ones. */
export function inkOf({ width, height, pixels }: Picture): boolean[] {
  const threshold = thresholdOf(pixels)
  let below = 0
  for (const pixel of pixels) if (pixel < threshold) below++
  // Light letters on a dark ground.
  const isInverse = below > pixels.length / 2
  const rows = rowsOfText({ width, height, pixels }, (pixel) => pixel < threshold !== isInverse)
  const thresholds = isInverse ? undefined : thresholdsOfColumns(rows, pixels, threshold)
  return Array.from({ length: width }, (_, x) => {
    const limit = thresholds?.[x] ?? threshold
    const count = rows.reduce((sum, row) => sum + Number(row[x]! < limit !== isInverse), 0)
    return count > 1 && count < rows.length * RULE_SHARE_DOWN
  })
}

/** The rows of a line between its edges that are not ruled lines. */
function rowsOfText({ width, height, pixels }: Picture, isInk: (pixel: number) => boolean): Uint8Array[] {
  const rows: Uint8Array[] = []
  for (let y = Math.round(height * EDGE_SHARE); y < height * (1 - EDGE_SHARE); y++) {
    const row = pixels.subarray(y * width, (y + 1) * width)
    let count = 0
    for (const pixel of row) if (isInk(pixel)) count++
    if (count < width * RULE_SHARE) rows.push(row)
  }
  return rows
}

/** The threshold of each column: where all that is near is gray, the shade between that and the paper. */
function thresholdsOfColumns(rows: readonly Uint8Array[], pixels: Uint8Array, threshold: number): number[] {
  const paper = pixels.toSorted()[Math.trunc(pixels.length * PAPER_SHARE)]!
  const width = rows[0]?.length ?? 0
  const darkest = Array.from(
    { length: width },
    (_, x) => Uint8Array.from(rows, (row) => row[x]!).toSorted()[Math.min(SPECK_PIXELS, rows.length - 1)]!,
  )
  const contrast = paper - darkest.toSorted((a, b) => a - b)[0]!
  const distance = Math.round(rows.length * STROKE_DISTANCE)
  const nearest = darkest.map((_, x) => paper - Math.min(...darkest.slice(Math.max(0, x - distance), x + distance + 1)))
  const thresholds = Array.from({ length: width }, () => threshold)
  for (let x = 0, start = 0; x <= width; x++) {
    if (x < width && nearest[x]! > contrast * GRAY_MIN && nearest[x]! < contrast * GRAY_MAX) continue
    if (x - start > rows.length * GRAY_LENGTH)
      for (let column = start; column < x; column++) thresholds[column] = paper - nearest[column]! / 2
    start = x + 1
  }
  return thresholds
}

/** The words of a line. `ink` has an entry for each column of its picture, whose height is `height`. */
export function wordsOfLine(letters: readonly Letter[], ink: readonly boolean[], height: number): LineWord[] {
  const placed = placedLetters(letters, ink)
  const usual = placed.map(({ gap }) => gap.right - gap.left).toSorted((a, b) => a - b)[placed.length >> 1] ?? 0
  // Where most gaps of a short line are wide, as next to a dash, they do not show how close letters stand.
  const alone = Math.min(Math.max(height * SPACE_ALONE, usual * SPACE_TO_GAP), height * SPACE_UNWRITTEN)
  const words: LineWord[] = []
  for (const [index, { letter, column, gap, isSpaced }] of placed.entries()) {
    const last = words.at(-1)
    const width = gap.right - gap.left
    const isTight = TIGHT.some(([before, behind]) => before.test(last?.text ?? '') && behind.test(letter.text))
    const isBesideOne =
      /\d$/u.test(last?.text ?? '') && /\d/u.test(letter.text) && (letter.text === '1' || last!.text.endsWith('1'))
    const least = isTight ? height * SPACE_UNWRITTEN : isBesideOne ? Math.max(alone, height * SPACE_BESIDE_ONE) : alone
    const isWritten = SPACED.some(
      ([share, before, behind]) => width > height * share && before.test(last?.text ?? '') && behind.test(letter.text),
    )
    const seen = isBesideOne ? height * SPACE_ALONE : height * SPACE_SEEN
    const isAround = hasSpacesAround(placed, index, height) || hasSpacesAround(placed, index - 1, height)
    if (
      !last ||
      width > least ||
      isWritten ||
      isAround ||
      isBehindComma(placed, index, height) ||
      (isSpaced && !isTight && width > seen)
    ) {
      if (last) last.right = gap.left
      words.push({
        text: letter.text,
        left: gap.right,
        right: column,
        confidence: letter.confidence,
        clearest: letter.confidence,
      })
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

const widthOf = ({ gap }: PlacedLetter): number => gap.right - gap.left

const isLetterAt = (letters: readonly PlacedLetter[], index: number): boolean => /\p{L}/u.test(letters[index]?.letter.text ?? '')

function hasSpacesAround(letters: readonly PlacedLetter[], index: number, height: number): boolean {
  const [sign, behind] = [letters[index], letters[index + 1]]
  if (!sign || !behind || !/[/:]/u.test(sign.letter.text) || !isLetterAt(letters, index - 1) || !isLetterAt(letters, index + 1))
    return false
  return Math.min(widthOf(sign), widthOf(behind)) > height * SPACE_AROUND
}

function isBehindComma(letters: readonly PlacedLetter[], index: number, height: number): boolean {
  const comma = letters[index - 1]
  if (comma?.letter.text !== ',' || !isLetterAt(letters, index - 2) || !/[\p{L}\d]/u.test(letters[index]!.letter.text))
    return false
  return widthOf(comma) > height * COMMA_MISPLACED && widthOf(letters[index]!) < height * SPACE_SEEN
}

/** A letter with its column, and the widest gap in the ink before it. */
interface PlacedLetter {
  letter: Letter
  column: number
  gap: { left: number; right: number }
  /** The recognizer says that there is a space before it. */
  isSpaced: boolean
}

function placedLetters(letters: readonly Letter[], ink: readonly boolean[]): PlacedLetter[] {
  const placed: PlacedLetter[] = []
  let isSpaced = false
  let previous = -1
  for (const letter of letters) {
    if (letter.text === ' ') {
      isSpaced = true
      continue
    }
    const column = Math.min(ink.length - 1, Math.round(letter.position * ink.length))
    const dark = darkColumn(ink, column, previous)
    placed.push({ letter, column, gap: widestGap(ink, Math.max(0, previous), dark), isSpaced })
    previous = dark
    isSpaced = false
  }
  return placed
}

/** The recognizer often sees a letter next to its ink: that is before it, if it is not the ink of the previous letter, else behind it. */
function darkColumn(ink: readonly boolean[], column: number, previous: number): number {
  if (ink[column]) return column
  const before = ink.lastIndexOf(true, column)
  if (before > previous && ink.slice(Math.max(0, previous), before).includes(false)) return before
  const behind = ink.indexOf(true, column)
  return behind < 0 ? column : behind
}

function widestGap(ink: readonly boolean[], left: number, right: number): { left: number; right: number } {
  let widest = { left, right: left }
  let start = left
  for (let x = left; x <= right; x++)
    if (ink[x]) {
      if (x - start > widest.right - widest.left) widest = { left: start, right: x }
      start = x + 1
    }
  return widest
}
