// Words of pictures that text recognition has cut in two or run together, by the words that reports print.
import { heightOf, type Word } from '../pages/page.ts'

export interface KnownWords {
  /** Whether reports print this word of four letters and more, in lower case. */
  isLong: (word: string) => boolean
  isShort: (word: string) => boolean
}

/** Of the height of the letters: a space that is hardly one. */
const GAP_MAX = 0.7
const LETTER_GAP_MAX = 0.32
/** Shorter words are not put together or cut. */
const [JOINED_LETTERS_MIN, PART_LETTERS_MIN, SHORT_END] = [6, 4, 3]
/** With the rest they are one word. */
const PREFIX =
  /^(?:amino|anti|auto|dehydro|deoxy|hydro|hydroxy|hyper|hypo|inter|macro|meta|methyl|micro|multi|para|phospho|pseudo|semi|thio|trans)$/u

/** The words of a page with the spaces that the report prints. Words of a line follow each other. */
export function repairGaps(words: readonly Word[], knownWords: KnownWords): Word[] {
  const joined: Word[] = []
  for (const word of words) {
    const last = joined.at(-1)
    if (last && isNextTo(last, word) && isMisplaced(last, word, knownWords)) joined.splice(-1, 1, ...withSpaceMoved(last, word))
    else if (last && isNextTo(last, word) && isOneWord(joined.at(-2), last, word, knownWords))
      joined[joined.length - 1] = {
        text: last.text + word.text,
        box: { ...last.box, right: word.box.right },
        confidence: Math.min(last.confidence, word.confidence),
      }
    else joined.push(word)
  }
  return joined.flatMap((word) => splitWord(word, knownWords))
}

/** `Epithelia lCells`: whether the first letter of a word is the last one of the word before it. */
function isMisplaced(a: Word, b: Word, { isLong, isShort }: KnownWords): boolean {
  const [start, first, rest] = [a.text.toLowerCase(), b.text[0]!.toLowerCase(), plainOf(b.text).slice(1)]
  const isKnown = (text: string) => isLong(text) || isShort(text)
  return (
    /^\p{L}{3,}$/u.test(start) && /^\p{Ll}\p{L}{2,}/u.test(b.text) && !isLong(start) && isLong(start + first) && isKnown(rest)
  )
}

function withSpaceMoved(a: Word, b: Word): Word[] {
  const letter = (b.box.right - b.box.left) / b.text.length
  return [
    { ...a, text: a.text + b.text[0]! },
    { ...b, text: b.text.slice(1), box: { ...b.box, left: b.box.left + letter } },
  ]
}

const gapOf = (a: Word, b: Word): number => (b.box.left - a.box.right) / heightOf(a.box)

const isNextTo = (a: Word, b: Word): boolean =>
  Math.abs(a.box.top - b.box.top) < heightOf(a.box) / 2 && gapOf(a, b) >= 0 && gapOf(a, b) < GAP_MAX

const plainOf = (text: string): string => text.toLowerCase().replace(/[,.;:]$/u, '')

function isOneWord(previous: Word | undefined, a: Word, b: Word, { isLong, isShort }: KnownWords): boolean {
  const [start, end] = [a.text.toLowerCase(), plainOf(b.text)]
  // `Vitamin B 12`, `Hemoglobin A 1c`
  if (/^[A-Z]$/u.test(a.text) && /^\d/u.test(end))
    return (
      /^\d{1,2}[a-z]?$/u.test(end) &&
      gapOf(a, b) < LETTER_GAP_MAX &&
      isShort(start + end) &&
      previous !== undefined &&
      isNextTo(previous, a) &&
      isLong(plainOf(previous.text))
    )
  const isKnown = (text: string) => isLong(text) || isShort(text)
  // `Antithrombin I I I`, `H IGH`
  if (gapOf(a, b) < LETTER_GAP_MAX && /^I{1,2}$/u.test(a.text) && /^I$/u.test(b.text)) return true
  if (gapOf(a, b) < LETTER_GAP_MAX && /^\p{L}$/u.test(start))
    return end.length >= PART_LETTERS_MIN - 1 && isLong(start + end) && !isKnown(end)
  return (
    /^\p{L}{2,}$/u.test(start) &&
    /^\p{L}+$/u.test(end) &&
    start.length + end.length >= JOINED_LETTERS_MIN &&
    isLong(start + end) &&
    !(isKnown(start) && isKnown(end))
  )
}

/** `Lipidprofile`, `VitaminD` and `Aniongap` as two words, `HepCVirus` as three, if that can be meant in one way alone. */
function splitWord(word: Word, { isLong, isShort }: KnownWords): Word[] {
  const [, first = ''] = /^(\p{L}\p{Ll}{3,})\p{Lu}[\p{L}\d]{0,2}[,.;:]?$/u.exec(word.text) ?? []
  if (first && isLong(first.toLowerCase()) && !isLong(word.text.toLowerCase())) return cutAt(word, first.length)
  // `19N`: a result and the flag of normal ones. No unit is written so.
  const [, result = ''] = /^([<>≤≥]?\d{1,4}(?:[.,]\d{1,3})?)N$/u.exec(word.text) ?? []
  if (result) return cutAt(word, result.length)
  // `Hepatitis BSurface`, `A : GRatio`
  const [, behindLetter = ''] = /^\p{Lu}(\p{Lu}\p{Ll}{4,})$/u.exec(word.text) ?? []
  if (behindLetter && isLong(behindLetter.toLowerCase()) && !isLong(word.text.toLowerCase())) return cutAt(word, 1)
  const [, start = '', last = ''] = /^(\p{Lu}\p{Ll}+)\p{Lu}(\p{Lu}\p{Ll}{3,})$/u.exec(word.text) ?? []
  if (start && isLong(last.toLowerCase()) && (isLong(start.toLowerCase()) || isShort(start.toLowerCase())))
    return cutAt(word, start.length).flatMap((part, index) => (index ? cutAt(part, 1) : [part]))
  const [, letters = '', end = ''] = /^(\p{L}+)([,.;:]?)$/u.exec(word.text) ?? []
  const lower = letters.toLowerCase()
  if (letters.length < 2 * PART_LETTERS_MIN || isLong(lower)) return [word]
  const isEnd = (text: string) => isLong(text) || (end === '' && text.length === SHORT_END && isShort(text))
  const places: number[] = []
  for (let index = PART_LETTERS_MIN; index <= letters.length - SHORT_END; index++)
    if (isLong(lower.slice(0, index)) && isEnd(lower.slice(index)) && !PREFIX.test(lower.slice(0, index))) places.push(index)
  if (places.length !== 1) return [word]
  return cutAt(word, places[0]!)
}

function cutAt(word: Word, index: number): Word[] {
  const x = word.box.left + ((word.box.right - word.box.left) * index) / word.text.length
  return [
    { ...word, text: word.text.slice(0, index), box: { ...word.box, right: x } },
    { ...word, text: word.text.slice(index), box: { ...word.box, left: x } },
  ]
}
