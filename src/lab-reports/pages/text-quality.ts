// Whether the text that a page carries can be what the page shows.
import type { PageText } from './page.ts'

/** Fewer letters and digits are the header of a scan's software, not a report. */
const LETTERS_MIN = 40
/** Good files have 0.7 and more. Source: measured over reports of many laboratories. */
const READABLE_SHARE_MIN = 0.5
/** Share of vowels in words of three letters and more. Wrong encodings leave sequences of consonants. */
const VOWEL_SHARE_MIN = 0.4

/** Share of known words among those of four letters and more, if a page has enough: fonts whose letters stand for others leave none. */
const KNOWN_SHARE_MIN = 0.07
const KNOWN_WORDS_MIN = 30
/**
 * Shares among the letters of these words in languages with Latin letters; letters that stand for others seldom have as many vowels, and
 * neither units nor some letters with marks among many without.
 */
const VOWEL_LETTERS_MIN = 0.33
const UNITS_MIN = 3
const [MARKED_MIN, MARKED_MAX] = [0.02, 0.4]
/** Numbers of glyphs in place of letters, as some programs write them. */
const GLYPH_NUMBERS = /\(cid:\d{1,5}\)/gu
const GLYPH_NUMBERS_MIN = 10

/** The same sign many times: `.......`, `______`. */
const LEADER = /([._·…\-=*~])\1{2,}/gu

/** `none`: the page has to be read by its picture; `garbage`: likewise, since its letters are wrong. */
export type TextQuality = 'good' | 'none' | 'garbage'

export interface Vocabulary {
  /** Whether reports print a word, in lower case, of four letters and more. */
  isKnown: (word: string) => boolean
  isUnit: (text: string) => boolean
}

export function textQuality({ words }: PageText, { isKnown, isUnit }: Vocabulary): TextQuality {
  // Dots that lead to the next column are drawn, not written.
  const text = words.map((word) => word.text.replaceAll(LEADER, '$1')).join('')
  const readable = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
  const signs = [...text].length
  // Wrong encodings can leave fewer letters than a page without text has.
  if (signs >= LETTERS_MIN && readable / signs < READABLE_SHARE_MIN) return 'garbage'
  if (readable < LETTERS_MIN) return 'none'
  // Letters of areas that no font assigns, and replacements for a letter that could not be decoded.
  if ((text.match(/[\p{Co}\p{Cn}\uFFFD\p{Cc}]/gu)?.length ?? 0) / readable > 0.05) return 'garbage'
  if ((text.match(GLYPH_NUMBERS)?.length ?? 0) >= GLYPH_NUMBERS_MIN) return 'garbage'
  const long = words.map((word) => word.text.replaceAll(/[^\p{L}\p{M}]/gu, '')).filter((letters) => [...letters].length > 2)
  const latin = long.filter((letters) => /^[\p{Script=Latin}\p{M}]+$/u.test(letters))
  if (latin.length < 10) return 'good'
  const spoken = latin.filter((letters) => VOWEL.test(withoutMarks(letters))).length
  if (spoken / latin.length < VOWEL_SHARE_MIN) return 'garbage'
  const parts = words.flatMap((word) => wordsIn(word.text))
  const known = parts.filter(isKnown).length
  if (parts.length < KNOWN_WORDS_MIN || known / parts.length >= KNOWN_SHARE_MIN) return 'good'
  const units = words.filter(({ text }) => /^\p{L}+\/\p{L}+$/u.test(text) && isUnit(text)).length
  return isLanguage(parts.join(''), units) ? 'good' : 'garbage'
}

/** The words of a text of four letters and more, in lower case. */
export const wordsIn = (text: string): string[] =>
  text
    .normalize('NFC')
    .toLowerCase()
    .match(/\p{Script=Latin}{4,}/gu) ?? []

const VOWEL = /[aeiouyıæøə]/iu
const withoutMarks = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '')

/** Whether letters are those of words of a language that is not known. */
function isLanguage(letters: string, units: number): boolean {
  const count = [...letters].length
  const vowels = [...withoutMarks(letters)].filter((letter) => VOWEL.test(letter)).length / count
  const marked = (letters.match(/[^a-z]/gu)?.length ?? 0) / count
  return vowels >= VOWEL_LETTERS_MIN && (units >= UNITS_MIN ? marked <= MARKED_MAX : marked >= MARKED_MIN && marked <= MARKED_MAX)
}
