// Whether the text that a page carries can be what the page shows.
import type { PageText } from './page.ts'

/** Fewer letters and digits are the header of a scan's software, not a report. */
const LETTERS_MIN = 40
/** Good files have 0.7 and more. Source: measured over reports of many laboratories. */
const READABLE_SHARE_MIN = 0.5
/** Of words of three letters and more. Wrong encodings leave consonants in rows. */
const VOWEL_SHARE_MIN = 0.4

/** Of words of four letters and more, where a page has enough of them: fonts whose letters stand for others leave none. */
const KNOWN_SHARE_MIN = 0.07
const KNOWN_WORDS_MIN = 30
/** Numbers of glyphs in place of letters, as some programs write them. */
const GLYPH_NUMBERS = /\(cid:\d{1,5}\)/gu
const GLYPH_NUMBERS_MIN = 10

/** The same sign many times: `.......`, `______`. */
const LEADER = /([._·…\-=*~])\1{2,}/gu

/** `none`: the page has to be read by its picture; `garbage`: likewise, since its letters are wrong. */
export type TextQuality = 'good' | 'none' | 'garbage'

/** @param isKnown whether reports print a word, in lower case, of four letters and more */
export function textQuality({ words }: PageText, isKnown: (word: string) => boolean): TextQuality {
  // Dots that lead to the next column are drawn, not written.
  const text = words.map((word) => word.text.replaceAll(LEADER, '$1')).join('')
  const readable = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
  const signs = [...text].length
  // Wrong encodings can leave fewer letters than a page without text has.
  if (signs >= LETTERS_MIN && readable / signs < READABLE_SHARE_MIN) return 'garbage'
  if (readable < LETTERS_MIN) return 'none'
  // Letters of areas that no font assigns, and those that stand for a letter that could not be decoded.
  if ((text.match(/[\p{Co}\p{Cn}\uFFFD\p{Cc}]/gu)?.length ?? 0) / readable > 0.05) return 'garbage'
  if ((text.match(GLYPH_NUMBERS)?.length ?? 0) >= GLYPH_NUMBERS_MIN) return 'garbage'
  const long = words.map((word) => word.text.replaceAll(/[^\p{L}]/gu, '')).filter((letters) => letters.length > 2)
  const latin = long.filter((letters) => /^[\p{Script=Latin}]+$/u.test(letters))
  if (latin.length < 10) return 'good'
  const spoken = latin.filter((letters) => /[aeiouyàáâäãåèéêëìíîïòóôöõùúûü]/iu.test(letters)).length
  if (spoken / latin.length < VOWEL_SHARE_MIN) return 'garbage'
  const parts = words.flatMap((word) => word.text.toLowerCase().match(/\p{Script=Latin}{4,}/gu) ?? [])
  const known = parts.filter(isKnown).length
  return parts.length >= KNOWN_WORDS_MIN && known / parts.length < KNOWN_SHARE_MIN ? 'garbage' : 'good'
}
