// Words to lines, and lines to cells: runs of words that belong together.
import { boxAround, centerY, heightOf, overlapX, type Box, type PageText, type Word } from '../pages/page.ts'

/** Words next to each other without a gap that would part columns. */
export interface Cell {
  text: string
  box: Box
  words: Word[]
  /** Of a cell of a table: how far its column reaches. */
  band?: Band
}

/** From left to right, in points. */
export interface Band {
  left: number
  right: number
}

export interface Line {
  page: number
  box: Box
  cells: Cell[]
  /** It says who, when and what was examined, and holds no results. */
  isParticulars?: boolean
}

/** Of the height of the letters: a wider gap parts two cells. A space is about a third, and stretched lines have two. */
export const CELL_GAP = 0.85
/** In pictures of a font of equal widths a space is as wide as a letter and more by what their ink leaves free; two spaces part cells. */
const CELL_GAP_IN_LETTERS = 1.75
/** How far the width of a letter differs from word to word, in the median, in a font of equal widths; others have 0.05 and more. */
const LETTER_WIDTH_SPREAD = 0.04
/** Shorter words, and fewer of them, do not show it. */
const [WIDTH_LETTERS_MIN, WIDTH_WORDS_MIN] = [4, 12]
/** Of the smaller height: words that overlap less from top to bottom are in different lines. */
const LINE_OVERLAP = 0.5

/** What is drawn between texts, also with signs: `|-----|`. */
const SEPARATOR = /^(?:[|¦│·•]|[-–—|_=─]{4,})$/u

/** The lines of a page from top to bottom, their cells from left to right, without regard to tables. */
export function baselinesOf(page: PageText): Line[] {
  const letter = letterWidth(page)
  return wordLines(page)
    .map((words) => cellsOf(words, letter))
    .filter((cells) => cells.length > 0)
    .map((cells) => lineOf(page.number, cells))
    .toSorted((a, b) => centerY(a.box) - centerY(b.box))
}

function wordLines(page: PageText): Word[][] {
  const lines: { words: Word[]; top: number; bottom: number }[] = []
  for (const word of page.words.toSorted((a, b) => centerY(a.box) - centerY(b.box))) {
    const line = lines.findLast(({ top, bottom, words }) => {
      const overlap = Math.min(bottom, word.box.bottom) - Math.max(top, word.box.top)
      const smaller = Math.min(bottom - top, heightOf(word.box))
      // A large value beside a name and a unit is in their line, what stands above a word is not.
      return overlap > smaller * LINE_OVERLAP && words.every((other) => overlapX(other.box, word.box) < heightOf(word.box) * 0.5)
    })
    if (line) {
      line.words.push(word)
      // The middle of its first words decides, so that a slanted line does not take the next one along.
      if (line.words.length < 4) {
        line.top = Math.min(line.top, word.box.top)
        line.bottom = Math.max(line.bottom, word.box.bottom)
      }
    } else lines.push({ words: [word], top: word.box.top, bottom: word.box.bottom })
  }
  return lines.map(({ words }) => words)
}

export const lineOf = (page: number, cells: Cell[]): Line => ({ page, cells, box: boxAround(cells.map((cell) => cell.box)) })

export const cellOf = (words: Word[]): Cell => ({
  text: words.map((word) => word.text).join(' '),
  box: boxAround(words.map((word) => word.box)),
  words,
})

/** The width of each letter of a picture of a page in a font of equal widths; undefined for other pages. */
function letterWidth({ source, words }: PageText): number | undefined {
  const long = words.filter(({ text }) => text.length >= WIDTH_LETTERS_MIN)
  if (source !== 'ocr' || long.length < WIDTH_WORDS_MIN) return undefined
  // The ink of a word ends before its last letter does.
  const widths = long.map(({ text, box }) => (box.right - box.left) / (text.length - 0.2))
  const usual = median(widths)
  return median(widths.map((width) => Math.abs(width - usual))) < usual * LETTER_WIDTH_SPREAD ? usual : undefined
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

function cellsOf(words: readonly Word[], letter: number | undefined): Cell[] {
  const cells: Word[][] = []
  for (const word of words.toSorted((a, b) => a.box.left - b.box.left)) {
    if (SEPARATOR.test(word.text)) {
      cells.push([])
      continue
    }
    const last = cells.at(-1)?.at(-1)
    const height = last ? Math.min(heightOf(last.box), heightOf(word.box)) : 0
    if (last && word.box.left - last.box.right < Math.max(height * CELL_GAP, (letter ?? 0) * CELL_GAP_IN_LETTERS))
      cells.at(-1)!.push(word)
    else if (cells.at(-1)?.length === 0) cells.at(-1)!.push(word)
    else cells.push([word])
  }
  return cells.filter((cell) => cell.length > 0).map(cellOf)
}
