// Words of a line that stand together in one cell: narrower gaps than those between lines of text and columns.
import { boxAround, centerX, heightOf, type Box, type Word } from '../pages/page.ts'
import type { Line } from './lines.ts'

/** Words with nothing but spaces between them. */
export interface Run {
  words: Word[]
  box: Box
}

/** Of the height of letters: a space is wider than a usual one by this factor at most, and no narrower or wider than these. */
const [SPACE_FACTOR, SPACE_MIN, SPACE_MAX] = [1.35, 0.34, 0.8]
/** Of the height of letters: wider gaps are none between words. */
const WORD_GAP_MAX = 0.6
/** A usual space, where a page does not show one. */
const SPACE_DEFAULT = 0.28

export const runOf = (words: Word[]): Run => ({ words, box: boxAround(words.map(({ box }) => box)) })

export const textOf = ({ words }: { words: readonly Word[] }): string => words.map(({ text }) => text).join(' ')

/** Of the height of letters. */
export interface Spaces {
  /** The gap between most words of a page. */
  usual: number
  /** The widest one that is surely between words of one cell. */
  widest: number
}

export function spacesOf(lines: readonly Line[]): Spaces {
  const gaps = lines.flatMap(({ cells }) =>
    cells.flatMap(({ words }) =>
      words.slice(1).flatMap((word, index) => {
        const gap = (word.box.left - words[index]!.box.right) / heightOf(word.box)
        return gap > 0.1 && gap < WORD_GAP_MAX ? [gap] : []
      }),
    ),
  )
  const usual = gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? SPACE_DEFAULT
  return { usual, widest: Math.min(SPACE_MAX, Math.max(SPACE_MIN, usual * SPACE_FACTOR)) }
}

/** The runs of a line; places at which columns are parted by what is drawn part them too. */
export function runsOf(line: Line, { widest }: Spaces, separators: readonly number[] = []): Run[] {
  const runs: Word[][] = []
  const words = line.cells.flatMap((cell) => cell.words).toSorted((a, b) => a.box.left - b.box.left)
  for (const word of words) {
    const last = runs.at(-1)?.at(-1)
    const height = last ? Math.min(heightOf(last.box), heightOf(word.box)) : 0
    const space = last && isOpenRange(last, word) ? DASH_GAP : widest
    if (last && word.box.left - last.box.right < height * space && !separators.some((x) => isBetween(x, last, word)))
      runs.at(-1)!.push(word)
    else runs.push([word])
  }
  return separateRuns(runs.map(runOf), separators)
}

/** Boxes of words in a picture reach over each other; two runs of a line stand beside each other. */
function separateRuns(runs: Run[], separators: readonly number[]): Run[] {
  for (const [index, run] of runs.entries()) {
    const next = runs[index + 1]
    if (!next || run.box.right <= next.box.left || run.box.left >= next.box.left) continue
    const [last, first] = [run.words.at(-1)!, next.words[0]!]
    const edge = separators.find((x) => isBetween(x, last, first)) ?? (run.box.right + next.box.left) / 2
    run.box.right = edge
    next.box.left = Math.max(edge, next.box.left)
  }
  return runs
}

/** Of the height of letters: in a picture the space behind the dash of a range is no wider, and the edges of a word are no further from its ink. */
const [DASH_GAP, PICTURE_EDGE] = [1.2, 0.9]

const isSeen = ({ font }: Word): boolean => font === undefined

/** `135 -` and `145` in a picture */
const isOpenRange = (a: Word, b: Word): boolean =>
  isSeen(a) && /^[-–—]$|\d[-–—]$/u.test(a.text) && /^\d/u.test(b.text)

/** Whether what is drawn at a place is between two words; those of a picture may reach over it. */
function isBetween(x: number, a: Word, b: Word): boolean {
  const [left, right] = [a.box.right, b.box.left]
  if (!isSeen(a)) return x > left - 1 && x < right + 1
  const reach = heightOf(a.box) * PICTURE_EDGE
  return (
    x > centerX(a.box) && x < centerX(b.box) && x > Math.min(left, right) - reach && x < Math.max(left, right) + reach
  )
}

/** A run parted at the gaps between its words for which `isGap` is true. */
export function splitAtGaps({ words }: Run, isGap: (from: number, to: number) => boolean): Run[] {
  const runs: Word[][] = [[]]
  for (const [index, word] of words.entries()) {
    const last = words[index - 1]
    if (last && isGap(last.box.right, word.box.left)) runs.push([])
    runs.at(-1)!.push(word)
  }
  return runs.map(runOf)
}
