// What the stages of reading a report hand to each other about a page.

/** In points (1/72 inch) from the upper left corner of the page as a reader holds it. */
export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

/** Text without spaces, as it stands on the page. */
export interface Word {
  text: string
  box: Box
  /** From 0 to 1; 1 for the text of a PDF. */
  confidence: number
  /** What the file calls its font; bold letters have another one. Not of pictures. */
  font?: string
}

/** What is drawn between and behind texts, in the places of the words. */
export interface Drawings {
  /** Along the edges of the page, and thin. */
  lines: Box[]
  /** Filled rectangles. */
  areas: Box[]
}

export interface PageText {
  /** From 1. */
  number: number
  width: number
  height: number
  source: 'text' | 'ocr'
  words: Word[]
  /** For a page that was read from a picture: where a text is of which no letter was recognized. */
  unread?: Box[]
  /** For a page that was read from a picture: where its ink forms texts, seen without text recognition. */
  ink?: Box[]
  /** Ruled lines of a picture. */
  drawings?: Drawings
  /** The page as it is drawn, if that is not upright and straight; `place` says where a box of a word is there. */
  drawnPage?: { width: number; height: number; place: (box: Box) => Box }
}

/** The smallest box around all of them. */
export function boxAround(boxes: readonly Box[]): Box {
  return {
    left: Math.min(...boxes.map((box) => box.left)),
    top: Math.min(...boxes.map((box) => box.top)),
    right: Math.max(...boxes.map((box) => box.right)),
    bottom: Math.max(...boxes.map((box) => box.bottom)),
  }
}

/** How far two boxes overlap from left to right, in points; negative: the gap between them. */
export const overlapX = (a: Box, b: Box): number => Math.min(a.right, b.right) - Math.max(a.left, b.left)

/** How far two boxes overlap from top to bottom, in points; negative: the gap between them. */
export const overlapY = (a: Box, b: Box): number => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)

export const centerX = (box: Box): number => (box.left + box.right) / 2
export const centerY = (box: Box): number => (box.top + box.bottom) / 2
export const heightOf = (box: Box): number => box.bottom - box.top
export const widthOf = (box: Box): number => box.right - box.left

/** Share of the smaller height: what overlaps less is in another line. */
const SAME_LINE = 0.5

export const areInLine = (a: Box, b: Box): boolean => overlapY(a, b) > Math.min(heightOf(a), heightOf(b)) * SAME_LINE

export const boxesOverlap = (a: Box, b: Box): boolean => areInLine(a, b) && overlapX(a, b) > 0
