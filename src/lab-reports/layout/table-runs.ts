// Words of a line that stand together in one cell: narrower gaps than those between lines of text and columns.
import { boxAround, heightOf, type Box, type Word } from '../pages/page.ts'
import type { Line } from './lines.ts'

/** Words with nothing but spaces between them. */
export interface Run {
  words: Word[]
  box: Box
}

/** Of the height of letters: a space is wider than a usual one by this factor at most, and no narrower or wider than these. */
const [SPACE_FACTOR, SPACE_MIN, SPACE_MAX] = [1.35, 0.34, 0.8]
/** Of the height of letters: wider gaps are none between words. */
const WORD_GAP = 0.6
/** A usual space, where a page does not show one. */
const SPACE = 0.28

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
        return gap > 0.1 && gap < WORD_GAP ? [gap] : []
      }),
    ),
  )
  const usual = gaps.toSorted((one, other) => one - other)[gaps.length >> 1] ?? SPACE
  return { usual, widest: Math.min(SPACE_MAX, Math.max(SPACE_MIN, usual * SPACE_FACTOR)) }
}

/** The runs of a line; places at which columns are parted by what is drawn part them too. */
export function runsOf(line: Line, { widest }: Spaces, separators: readonly number[] = []): Run[] {
  const runs: Word[][] = []
  const words = line.cells.flatMap((cell) => cell.words).toSorted((one, other) => one.box.left - other.box.left)
  const isParted = (left: number, right: number) => separators.some((at) => at > left - 1 && at < right + 1)
  for (const word of words) {
    const last = runs.at(-1)?.at(-1)
    const height = last ? Math.min(heightOf(last.box), heightOf(word.box)) : 0
    if (last && word.box.left - last.box.right < height * widest && !isParted(last.box.right, word.box.left))
      runs.at(-1)!.push(word)
    else runs.push([word])
  }
  return runs.map(runOf)
}

/** A run parted at the gaps between its words for which `isGap` is true. */
export function partedAt({ words }: Run, isGap: (from: number, to: number) => boolean): Run[] {
  const runs: Word[][] = [[]]
  for (const [index, word] of words.entries()) {
    const last = words[index - 1]
    if (last && isGap(last.box.right, word.box.left)) runs.push([])
    runs.at(-1)!.push(word)
  }
  return runs.map(runOf)
}
