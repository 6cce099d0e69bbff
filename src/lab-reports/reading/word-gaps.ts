// Spaces that the text recognition has lost, added or misplaced.
import { isUnit } from '../../lab-values/units.ts'
import { heightOf, type Word } from '../pages/page.ts'
import { plainOf } from './repeated-labels.ts'

export interface KnownWords {
  /** Whether reports print this word of four letters and more, in lower case. */
  isLong: (word: string) => boolean
  isShort: (word: string) => boolean
}

/** Multiple of the height of the letters up to which a gap is hardly a space. */
const GAP_MAX = 0.7
const LETTER_GAP_MAX = 0.32
/** The same where letters are as wide as each other. */
export const WIDE_GAP_MAX = 1.2
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

/** `Epithelia lCells`, `Norma l35`: whether the first letter of a word is the last one of the word before it. */
function isMisplaced(a: Word, b: Word, { isLong, isShort }: KnownWords): boolean {
  const [start, first, rest] = [a.text.toLowerCase(), b.text[0]!.toLowerCase(), plainOf(b.text).slice(1)]
  const isKnown = (text: string) =>
    isLong(text) || isShort(text) || /^(?:up|to|above|below|[<>≤≥]?\d[\d.,-]*|\(\p{L}+\),?)$/u.test(text)
  return (
    /^\p{L}{3,}$/u.test(start) &&
    /^\p{Ll}(?:\p{L}{2}|[\d<>≤≥(])/u.test(b.text) &&
    !isLong(start) &&
    isLong(start + first) &&
    isKnown(rest)
  )
}

function withSpaceMoved(a: Word, b: Word): Word[] {
  const letter = (b.box.right - b.box.left) / b.text.length
  return [
    { ...a, text: a.text + b.text[0]! },
    { ...b, text: b.text.slice(1), box: { ...b.box, left: b.box.left + letter } },
  ]
}

export const gapBetween = (a: Word, b: Word): number => (b.box.left - a.box.right) / heightOf(a.box)

export const isNextTo = (a: Word, b: Word): boolean =>
  Math.abs(a.box.top - b.box.top) < heightOf(a.box) / 2 && gapBetween(a, b) >= 0 && gapBetween(a, b) < GAP_MAX

function isOneWord(previous: Word | undefined, a: Word, b: Word, { isLong, isShort }: KnownWords): boolean {
  const [start, end] = [a.text.toLowerCase(), plainOf(b.text)]
  // `Vitamin B 12`, `Hemoglobin A 1c`
  if (/^[A-Z]$/u.test(a.text) && /^\d/u.test(end))
    return (
      /^\d{1,2}[a-z]?$/u.test(end) &&
      gapBetween(a, b) < LETTER_GAP_MAX &&
      isShort(start + end) &&
      previous !== undefined &&
      isNextTo(previous, a) &&
      isLong(plainOf(previous.text))
    )
  const isKnown = (text: string) => isLong(text) || isShort(text)
  // `HEMOGLOBIN A1 C`
  if (/^a1$/u.test(start) && end === 'c') return gapBetween(a, b) < LETTER_GAP_MAX
  // `Coronavirus HKU 1`, `LDL -CHOLESTEROL`
  if (gapBetween(a, b) < LETTER_GAP_MAX && /^[A-Z]{3,}$/u.test(a.text) && (/^\d$/u.test(b.text) || /^-\p{L}{4,}$/u.test(b.text)))
    return isKnown(start + end) || b.text.startsWith('-')
  // `Antithrombin I I I`, `H IGH`
  if (gapBetween(a, b) < LETTER_GAP_MAX && /^I{1,2}$/u.test(a.text) && /^I$/u.test(b.text)) return true
  if (gapBetween(a, b) < LETTER_GAP_MAX && /^\p{L}$/u.test(start))
    return end.length >= PART_LETTERS_MIN - 1 && isLong(start + end) && !isKnown(end)
  return (
    /^\p{L}{2,}$/u.test(start) &&
    /^\p{L}+$/u.test(end) &&
    start.length + end.length >= JOINED_LETTERS_MIN &&
    isLong(start + end) &&
    // `NEUTROPHIL S`
    !(isKnown(start) && isKnown(end) && !(end === 's' && gapBetween(a, b) < LETTER_GAP_MAX))
  )
}

/** `Lipidprofile`, `VitaminD` and `Aniongap` as two words, `HepCVirus` as three, if that can be meant in one way alone. */
function splitWord(word: Word, { isLong, isShort }: KnownWords): Word[] {
  const [, first = ''] = /^(\p{L}\p{Ll}{3,})\p{Lu}[\p{L}\d]{0,2}[,.;:]?$/u.exec(word.text) ?? []
  if (first && isLong(first.toLowerCase()) && !isLong(word.text.toLowerCase())) return cutAt(word, first.length)
  // `19N`, `107H`: a result and its flag. No unit is written so.
  const [, result = ''] = /^([<>≤≥]?\d{1,4}(?:[.,]\d{1,3})?)(?:N|H{1,2}|L{1,2})$/u.exec(word.text) ?? []
  if (result) return cutAt(word, result.length)
  // `7.8+`, `125++`: so are pluses, which behind a single digit are the result.
  const [, marked = ''] = /^(\d+[.,]\d+|\d{2,})\+{1,3}$/u.exec(word.text) ?? []
  if (marked) return cutAt(word, marked.length)
  // `mmol/L(normal`
  const bracket = word.text.indexOf('(')
  if (bracket > 2 && isUnit(word.text.slice(0, bracket)) && word.text.lastIndexOf('/', bracket) > 0) return cutAt(word, bracket)
  // `33*%`, `*%`: a flag and a unit.
  const [, starred = ''] = /^(\d*[.,]?\d*\*)(?:%|\p{L}+\/\p{L}+)$/u.exec(word.text) ?? []
  if (starred) return cutAt(word, starred.length)
  // `Nil/hpf`
  const [, seen = ''] = /^(\p{L}{3,})\/[hl]pf$/iu.exec(word.text) ?? []
  if (seen && (isLong(seen.toLowerCase()) || isShort(seen.toLowerCase()))) return cutAt(word, seen.length)
  // `4 -6/hpf`: counts of cells in a field are never negative.
  if (/^[-–]\d+\/[hl]pf$/iu.test(word.text)) return cutAt(word, 1)
  // `12.5fL`
  const [, number = '', unit = ''] = /^(\d+[.,]\d+)(\p{L}.*)$/u.exec(word.text) ?? []
  if (number && isUnit(unit)) return cutAt(word, number.length)
  // `FastingBloodSugar`, `ANATiter`
  const parts = /^\p{L}{7,}$/u.test(word.text) && !isLong(word.text.toLowerCase()) ? word.text.match(WORDS_BY_CAPITALS)! : []
  const isKnown = (part: string) => part.length > 1 && (isLong(part.toLowerCase()) || isShort(part.toLowerCase()))
  if (parts.length > 1 && parts.every(isKnown)) {
    const [first, rest] = cutAt(word, parts[0]!.length)
    return [first!, ...splitWord(rest!, { isLong, isShort })]
  }
  // `Hepatitis BSurface`, `A : GRatio`
  const [, behindLetter = ''] = /^\p{Lu}(\p{Lu}\p{Ll}{4,})$/u.exec(word.text) ?? []
  if (behindLetter && isLong(behindLetter.toLowerCase()) && !isLong(word.text.toLowerCase())) return cutAt(word, 1)
  const [, start = '', last = ''] = /^(\p{Lu}\p{Ll}+)\p{Lu}(\p{Lu}\p{Ll}{3,})$/u.exec(word.text) ?? []
  if (start && isLong(last.toLowerCase()) && (isLong(start.toLowerCase()) || isShort(start.toLowerCase())))
    return cutAt(word, start.length).flatMap((part, index) => (index ? cutAt(part, 1) : [part]))
  // `BUN/CreatinineRatio`
  const slash = word.text.lastIndexOf('/') + 1
  if (slash > 0 && !isLong(word.text.slice(slash).toLowerCase()) && /^\p{L}{8,}$/u.test(word.text.slice(slash))) {
    const [first, second] = splitWord({ ...word, text: word.text.slice(slash) }, { isLong, isShort })
    return second ? cutAt(word, slash + first!.text.length) : [word]
  }
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

const WORDS_BY_CAPITALS = /Ig[ADEGM](?!\p{Ll})|\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+/gu

export function cutAt(word: Word, index: number): Word[] {
  const x = word.box.left + ((word.box.right - word.box.left) * index) / word.text.length
  return [
    { ...word, text: word.text.slice(0, index), box: { ...word.box, right: x } },
    { ...word, text: word.text.slice(index), box: { ...word.box, left: x } },
  ]
}
