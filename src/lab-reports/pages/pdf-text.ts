// The text of a page of a PDF, as words with their places.
import type { PDFPageProxy, TextItem } from 'pdfjs-dist/types/src/display/api.js'
import { type Glyph, type Glyphs, readGlyphs } from './glyphs.ts'
import { type Box, type Drawings, heightOf, type PageText, type Word } from './page.ts'
import { type Matrix, readPaintedParts, type Painted } from './painted.ts'

/** Words of a page that are read; a page of a report has a few hundred, a dense one 1,500. */
const WORDS_MAX = 5_000
/** Letters of a piece of text that are read: a line has a few hundred. */
const PIECE_LETTERS_MAX = 2_000

/** Fractions of the height of the letters: a smaller gap is none, so that letters drawn one by one are a word. */
const GAP_WITHIN_WORD = 0.13
/** Baselines that differ less are one line. */
const SAME_BASELINE = 0.25

/** A piece of text that the PDF draws at once: a word, a part of one, or a line. */
interface Piece {
  text: string
  box: Box
  font: string
}

/** What pdf.js does to show a page. */
export interface Operations {
  fnArray: readonly number[]
  argsArray: readonly unknown[]
}

const NOTHING: Operations = { fnArray: [], argsArray: [] }

/** The operations of a page; none of one that cannot be drawn, whose text may be read all the same. */
export const operationsOf = (page: PDFPageProxy): Promise<Operations> => page.getOperatorList().catch(() => NOTHING)

/** What a page paints in addition to its text, as it is drawn. */
export const readPaintedPartsOfPage = (page: PDFPageProxy, { fnArray, argsArray }: Operations): Painted =>
  readPaintedParts(fnArray, argsArray, page.getViewport({ scale: 1 }).transform as unknown as Matrix)

/**
 * The words of a page, in the order in which a reader meets them. A page is read in the direction of most of its letters, so that one
 * that was drawn sideways is upright; text in other directions is left out.
 */
export async function pageText(page: PDFPageProxy, knownOperations?: Operations): Promise<PageText> {
  const { fnArray, argsArray } = knownOperations ?? (await operationsOf(page))
  const viewport = page.getViewport({ scale: 1 })
  const content = await page.getTextContent({ disableNormalization: false })
  const items = content.items.filter((item): item is TextItem => 'str' in item && item.str.trim() !== '')
  const upright = { width: viewport.width, height: viewport.height }
  const turn = findTurn(items, viewport.transform, upright)
  const view = turn ? multiply(turn.matrix, viewport.transform) : viewport.transform
  const glyphs = readGlyphs(fnArray, argsArray, view as unknown as Matrix)
  const { lines, areas } = readPaintedParts(fnArray, argsArray, view as unknown as Matrix)
  const pieces: Piece[] = []
  for (const item of items) {
    const box = boxOnPage(item, view)
    if (box) pieces.push(...split({ text: printable(item.str.slice(0, PIECE_LETTERS_MAX)), box, font: item.fontName }, glyphs))
    if (pieces.length >= WORDS_MAX) break
  }
  const drawings: Drawings = { lines, areas }
  const read = { number: page.pageNumber, source: 'text' as const, words: joinPieces(withPowers(pieces)), drawings }
  if (!turn) return { ...read, ...upright }
  return { ...read, width: turn.width, height: turn.height, drawnPage: { ...upright, place: turn.place } }
}

/** Fonts without a letter for a sign may leave control characters in its place. */
const printable = (text: string): string => text.replaceAll(/(?!\s)\p{Cc}/gu, '')

interface Turn {
  /** From the page as it is drawn to the page as it is read, with the size of the latter. */
  matrix: number[]
  width: number
  height: number
  /** Back from a box of the page as it is read. */
  place: (box: Box) => Box
}

/** How a page has to be turned so that most of its letters run from left to right; undefined: not at all. */
function findTurn(
  items: readonly TextItem[],
  view: number[],
  { width, height }: { width: number; height: number },
): Turn | undefined {
  const letters = { right: 0, down: 0, left: 0, up: 0 }
  for (const { str, transform } of items) {
    const [a, b] = multiply(view, transform as number[])
    if (Math.abs(b!) <= Math.abs(a!) * 0.2) letters[a! > 0 ? 'right' : 'left'] += str.length
    else if (Math.abs(a!) <= Math.abs(b!) * 0.2) letters[b! > 0 ? 'down' : 'up'] += str.length
  }
  const most = Math.max(letters.down, letters.left, letters.up)
  if (most <= letters.right) return undefined
  if (letters.left === most)
    return {
      matrix: [-1, 0, 0, -1, width, height],
      width,
      height,
      place: ({ left, top, right, bottom }) => ({
        left: width - right,
        right: width - left,
        top: height - bottom,
        bottom: height - top,
      }),
    }
  const sideways = { width: height, height: width }
  if (letters.down === most)
    return {
      matrix: [0, -1, 1, 0, 0, width],
      ...sideways,
      place: ({ left, top, right, bottom }) => ({ left: width - bottom, right: width - top, top: left, bottom: right }),
    }
  return {
    matrix: [0, 1, -1, 0, height, 0],
    ...sideways,
    place: ({ left, top, right, bottom }) => ({ left: top, right: bottom, top: height - right, bottom: height - left }),
  }
}

/** Where a piece stands on the page as it is shown; undefined if its letters do not run from left to right there. */
function boxOnPage(item: TextItem, view: number[]): Box | undefined {
  const [a, b, c, d, e, f] = multiply(view, item.transform as number[])
  const height = Math.hypot(c!, d!)
  if (Math.abs(b!) > Math.abs(a!) * 0.2 || a! <= 0 || height < 1) return undefined
  // Letters reach about four fifths of the font's size above the baseline and a fifth below it.
  return { left: e!, right: e! + item.width, top: f! - height * 0.8, bottom: f! + height * 0.2 }
}

const multiply = ([a, b, c, d, e, f]: number[], [g, h, i, j, k, l]: number[]): number[] => [
  a! * g! + c! * h!,
  b! * g! + d! * h!,
  a! * i! + c! * j!,
  b! * i! + d! * j!,
  a! * k! + c! * l! + e!,
  b! * k! + d! * l! + f!,
]

/** Cuts a piece at its spaces. Where the places of its letters are not known, the width of each is one of its kind. */
function split({ text, box, font }: Piece, glyphs: Glyphs): Piece[] {
  const baseline = box.bottom - heightOf(box) * 0.2
  const placed = /\s/u.test(text) ? glyphs.glyphsBetween(text, { left: box.left, right: box.right, baseline }) : undefined
  return (placed && splitByGlyphs({ text, box, font }, placed)) ?? splitByKind({ text, box, font })
}

/** The words of a piece by its letters; undefined if these do not end where words do, as a ligature next to a space. */
function splitByGlyphs({ text, box, font }: Piece, glyphs: readonly Glyph[]): Piece[] | undefined {
  const words: Piece[] = []
  let index = 0
  for (const word of text.trim().split(/\s+/u)) {
    const length = word.normalize('NFKC').length
    const first = glyphs[index]
    let letters = 0
    while (letters < length && index < glyphs.length)
      letters += glyphs[index++]!.text.normalize('NFKC').replaceAll(/\s/gu, '').length
    const last = glyphs[index - 1]
    if (!first || !last || letters !== length) return undefined
    words.push({ text: word, font, box: { ...box, left: first.left, right: last.right } })
  }
  return words
}

function splitByKind({ text, box, font }: Piece): Piece[] {
  const widths = [...text].map(letterWidth)
  const total = widths.reduce((sum, width) => sum + width, 0)
  const unit = (box.right - box.left) / (total || 1)
  const words: Piece[] = []
  let left = box.left
  let word = ''
  let start = left
  const end = () => {
    if (word) words.push({ text: word, font, box: { ...box, left: start, right: left } })
    word = ''
  }
  for (const [index, letter] of [...text].entries()) {
    if (/\s/u.test(letter)) end()
    else {
      if (!word) start = left
      word += letter
    }
    left += widths[index]! * unit
  }
  end()
  return words
}

/** Approximate widths of Helvetica, in thousandths of the size. */
function letterWidth(letter: string): number {
  if (/[iljtf.,:;'|!()[\]\s/-]/u.test(letter)) return 290
  if (/[mwMW%@]/u.test(letter)) return 850
  if (/[A-Z&]/u.test(letter)) return 690
  return 550
}

/**
 * Shares of the height of the previous letters: a smaller sign is raised if it ends so far above them and begins so close. Browsers print
 * raised signs at 0.83.
 */
const [RAISED_HEIGHT, RAISED_BY, RAISED_GAP] = [0.87, 0.15, 0.4]

/** Raised digits belong to what stands before them: `10` and a raised `9` are `10^9`, `m` and a raised `2` are `m^2`; others are marks of notes. */
function withPowers(pieces: readonly Piece[]): Piece[] {
  const raised = pieces.filter(({ text }) => /^[\d,*]{1,5}$/u.test(text))
  const left = new Set(pieces)
  for (const sign of raised) {
    const base = pieces.find(({ text, box }) => {
      const height = heightOf(box)
      const gap = sign.box.left - box.right
      return (
        heightOf(sign.box) < height * RAISED_HEIGHT &&
        /[\p{L}\d)]$/u.test(text) &&
        gap < height * RAISED_GAP &&
        gap > -height * RAISED_GAP &&
        sign.box.bottom < box.bottom - height * RAISED_BY &&
        sign.box.bottom > box.top
      )
    })
    if (!base) continue
    left.delete(sign)
    if (!/10$|(?:^|[/.\d])[cm]?m$/u.test(base.text)) continue
    base.text += `^${sign.text}`
    base.box.right = sign.box.right
  }
  return [...left]
}

/** Pieces that follow each other without a gap are one word. */
function joinPieces(pieces: readonly Piece[]): Word[] {
  const words: Word[] = []
  for (const line of linesOf(pieces))
    for (const piece of line) {
      const last = words.at(-1)
      const height = heightOf(piece.box)
      const gap = last ? piece.box.left - last.box.right : Infinity
      if (last && line[0] !== piece && gap < height * GAP_WITHIN_WORD && gap > -height * 0.5) {
        // Bold is drawn by some as the same letters twice.
        if (last.text === piece.text && Math.abs(last.box.left - piece.box.left) < height * 0.2) continue
        last.text += piece.text
        last.box = { ...last.box, right: Math.max(last.box.right, piece.box.right) }
      } else words.push({ text: piece.text, box: piece.box, confidence: 1, font: piece.font })
    }
  return words
}

function linesOf(pieces: readonly Piece[]): Piece[][] {
  const lines: Piece[][] = []
  for (const piece of pieces.toSorted((a, b) => a.box.bottom - b.box.bottom)) {
    const line = lines.at(-1)
    if (line && Math.abs(line[0]!.box.bottom - piece.box.bottom) < heightOf(piece.box) * SAME_BASELINE) line.push(piece)
    else lines.push([piece])
  }
  for (const line of lines) line.sort((a, b) => a.box.left - b.box.left)
  return lines
}
