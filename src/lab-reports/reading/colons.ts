// Colons between names and results in pictures, where they stand below each other.
import { areInLine, centerX, centerY, heightOf, type Word } from '../pages/page.ts'

/** So many colons near to a line show where its own stands; more than a page of a report has are no labels. */
const [COLONS_MIN, COLONS_MAX] = [3, 200]
/** Multiple of the height of letters: colons are displaced by less, and results are no further behind their colon. */
const [DISPLACED_MAX, RESULT_GAP_MAX] = [0.6, 4]
/** Signs and letters that a colon is taken for. */
const MISREAD_COLON = /^[8B3gSi!|;.·*]$/u

interface Colon {
  word: Word
  /** The left edge of the result behind it. */
  result: number
}

/** Words with a colon where other lines nearby have one: instead of a letter that was read for it, or in front of a result without one. */
export function withColons(words: readonly Word[]): Word[] {
  const signs = words.filter(({ text }) => text === ':')
  if (signs.length > COLONS_MAX) return [...words]
  const colons = signs.flatMap((word): Colon[] => {
    const next = wordBehind(word, words)
    return next ? [{ word, result: next.box.left }] : []
  })
  if (colons.length < COLONS_MIN) return [...words]
  return words.flatMap((word) => {
    const near = colons
      .toSorted((a, b) => verticalDistance(a.word, word) - verticalDistance(b.word, word))
      .slice(0, COLONS_MIN)
      .filter(({ word: colon }) => !areInLine(colon.box, word.box))
    if (near.length < COLONS_MIN) return [word]
    const limit = heightOf(word.box) * DISPLACED_MAX
    const isMisread =
      MISREAD_COLON.test(word.text) &&
      near.every(({ word: colon }) => Math.abs(centerX(colon.box) - centerX(word.box)) < limit) &&
      wordBehind(word, words) !== undefined
    if (isMisread) return [{ ...word, text: ':' }]
    const isResult = near.every(({ result }) => Math.abs(result - word.box.left) < limit)
    if (!isResult || !isFirstBehindName(word, near[0]!, words)) return [word]
    const { left, right } = near[0]!.word.box
    return [{ ...word, text: ':', box: { ...word.box, left, right } }, word]
  })
}

const verticalDistance = (a: Word, b: Word): number => Math.abs(centerY(a.box) - centerY(b.box))

/** The word next to a colon. */
const wordBehind = ({ box }: Word, words: readonly Word[]): Word | undefined =>
  words.find(
    (word) =>
      areInLine(word.box, box) && word.box.left >= box.right && word.box.left - box.right < heightOf(word.box) * RESULT_GAP_MAX,
  )

/** Whether nothing stands where the colon of a line should be, and a name in front of it. */
function isFirstBehindName(word: Word, { word: { box: colon } }: Colon, words: readonly Word[]): boolean {
  const before = words.filter(({ box }) => areInLine(box, word.box) && box.left < word.box.left)
  return before.some(({ text }) => /\p{L}{2}/u.test(text)) && before.every(({ box }) => box.right <= colon.left)
}
