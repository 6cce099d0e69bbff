// Where each letter of a page of a PDF stands, by the widths of its font: pdf.js tells only where whole pieces of text begin and end.
import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { type Matrix, multiply } from './painted.ts'

export interface Glyph {
  text: string
  left: number
  right: number
}

/** More letters of a page are not placed one by one; a dense one has 10,000. */
const GLYPHS_MAX = 40_000
/** A form within a form, and what is saved, no deeper than this. */
const DEPTH_MAX = 200
/** Points: letters of one baseline differ no more. */
const SAME_BASELINE = 1
/** Points by which letters may stand aside of the piece that they belong to. */
const ASIDE = 0.6

interface TextState {
  matrix: Matrix
  size: number
  letterSpacing: number
  wordSpacing: number
  stretch: number
  lineSpacing: number
}

const NEW_STATE: Omit<TextState, 'matrix'> = { size: 0, letterSpacing: 0, wordSpacing: 0, stretch: 1, lineSpacing: 0 }
const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0]

/** The letters that run from left to right, by their baseline. */
export class Glyphs {
  readonly #lines = new Map<number, Glyph[]>()
  #count = 0

  add(y: number, glyph: Glyph): void {
    if (++this.#count > GLYPHS_MAX) return
    const key = Math.round(y)
    const line = this.#lines.get(key)
    if (line) line.push(glyph)
    else this.#lines.set(key, [glyph])
  }

  get isFull(): boolean {
    return this.#count > GLYPHS_MAX
  }

  /** The letters of a piece of text, in its order; undefined if the drawn letters are not the named ones. */
  glyphsBetween(text: string, { left, right, baseline }: { left: number; right: number; baseline: number }): Glyph[] | undefined {
    const key = Math.round(baseline)
    const near = [key - SAME_BASELINE, key, key + SAME_BASELINE]
      .flatMap((item) => this.#lines.get(item) ?? [])
      .filter((glyph) => glyph.left >= left - ASIDE && glyph.right <= right + ASIDE)
      .toSorted((a, b) => a.left - b.left)
    return comparableText(near.map((glyph) => glyph.text).join('')) === comparableText(text) ? near : undefined
  }
}

const comparableText = (text: string): string => text.normalize('NFKC').replaceAll(/\s/gu, '')

/** @param view from the page to the boxes */
export function readGlyphs(operations: readonly number[], parameters: readonly unknown[], view: Matrix): Glyphs {
  const glyphs = new Glyphs()
  const reader = new TextReader(glyphs, view)
  for (const [index, operation] of operations.entries()) {
    if (glyphs.isFull) break
    reader.readOperation(operation, parameters[index])
  }
  return glyphs
}

class TextReader {
  readonly #glyphs: Glyphs
  #state: TextState
  readonly #saved: TextState[] = []
  #line: Matrix = IDENTITY
  #at: Matrix = IDENTITY

  constructor(glyphs: Glyphs, view: Matrix) {
    this.#glyphs = glyphs
    this.#state = { ...NEW_STATE, matrix: view }
  }

  readOperation(operation: number, parameters: unknown): void {
    const list = (Array.isArray(parameters) ? parameters : []) as unknown[]
    const number = (index: number): number => (typeof list[index] === 'number' ? list[index] : 0)
    const state = this.#state
    if (operation === OPS.showText) this.#show(list[0])
    else if (operation === OPS.moveText) this.#move(number(0), number(1))
    else if (operation === OPS.setTextMatrix) this.#begin(multiply(IDENTITY, list.length === 1 ? list[0] : list))
    else if (operation === OPS.beginText) this.#begin(IDENTITY)
    else if (operation === OPS.setFont) state.size = number(1)
    else if (operation === OPS.setCharSpacing) state.letterSpacing = number(0)
    else if (operation === OPS.setWordSpacing) state.wordSpacing = number(0)
    else if (operation === OPS.setHScale) state.stretch = number(0) / 100
    else if (operation === OPS.setLeading) state.lineSpacing = -number(0)
    else if (operation === OPS.nextLine) this.#move(0, state.lineSpacing)
    else if (operation === OPS.setLeadingMoveText) {
      state.lineSpacing = number(1)
      this.#move(number(0), number(1))
    } else this.#graphics(operation, parameters)
  }

  #graphics(operation: number, parameters: unknown): void {
    if (operation === OPS.save || operation === OPS.paintFormXObjectBegin) {
      if (this.#saved.length < DEPTH_MAX) this.#saved.push({ ...this.#state })
      if (operation === OPS.paintFormXObjectBegin) this.#transform((parameters as unknown[])[0])
    } else if (operation === OPS.restore || operation === OPS.paintFormXObjectEnd) this.#state = this.#saved.pop() ?? this.#state
    else if (operation === OPS.transform) this.#transform(parameters)
  }

  #transform(matrix: unknown): void {
    this.#state.matrix = multiply(this.#state.matrix, matrix)
  }

  #begin(matrix: Matrix): void {
    this.#line = matrix
    this.#at = matrix
  }

  #move(x: number, y: number): void {
    this.#begin(multiply(this.#line, [1, 0, 0, 1, x, y]))
  }

  #show(parameter: unknown): void {
    const { size, letterSpacing, wordSpacing, stretch, matrix } = this.#state
    if (!Array.isArray(parameter) || !Number.isFinite(size)) return
    const [a, b, c, d, e, f] = this.#at
    let x = 0
    for (const one of parameter as unknown[]) {
      if (typeof one === 'number') x -= (one * size * stretch) / 1000
      else if (one !== null && typeof one === 'object') {
        const { unicode = '', width = 0, isSpace = false } = one as { unicode?: string; width?: number; isSpace?: boolean }
        const wide = ((width * size) / 1000) * stretch
        const box = multiply(matrix, [a, b, c, d, e + a * x, f + b * x])
        const [left, y] = [box[4], box[5]]
        if (unicode.trim() && box[0] > 0 && Math.abs(box[1]) < box[0] * 0.2)
          this.#glyphs.add(y, { text: unicode, left, right: left + box[0] * wide })
        x += wide + (letterSpacing + (isSpace ? wordSpacing : 0)) * stretch
      }
    }
    this.#at = [a, b, c, d, e + a * x, f + b * x]
  }
}
