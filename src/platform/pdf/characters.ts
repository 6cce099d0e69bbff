/**
 * Which characters documents can print: those that the embedded font has in each of its styles, and those that fonts of the operator have
 * (extra-fonts.ts).
 */
import { threadCovers, type CoversCharacter } from './extra-fonts.ts'

/**
 * Latin, Greek and Cyrillic with their marks, digits, and the signs of the embedded font. Left out: control characters, and scripts that
 * are written from right to left, since lines are only laid out from left to right. A test compares the list with the font.
 */
const PRINTABLE =
  '\\n\\x20-\\x7e\\xa0-\\xac\\xae-\\u0377\\u037a-\\u037f\\u0384-\\u038a\\u038c\\u038e-\\u03a1\\u03a3-\\u052f' +
  '\\u1d00-\\u1df5\\u1dfb-\\u1f15\\u1f18-\\u1f1d\\u1f20-\\u1f45\\u1f48-\\u1f4d\\u1f50-\\u1f57\\u1f59\\u1f5b\\u1f5d\\u1f5f-\\u1f7d' +
  '\\u1f80-\\u1fb4\\u1fb6-\\u1fc4\\u1fc6-\\u1fd3\\u1fd6-\\u1fdb\\u1fdd-\\u1fef\\u1ff2-\\u1ff4\\u1ff6-\\u1ffe' +
  '\\u2010-\\u2027\\u2030-\\u205e\\u2070\\u2071\\u2074-\\u208e\\u2090-\\u209c\\u20a0-\\u20be\\u2100-\\u214f\\u2153\\u2154\\u215b-\\u215e' +
  '\\u2184\\u2190-\\u2195\\u2202\\u2206\\u220f\\u2211\\u2212\\u2215\\u2219\\u221a\\u221e\\u221f\\u2229\\u222b\\u2248\\u2260\\u2261' +
  '\\u2264\\u2265\\u25a0\\u25a1\\u25aa-\\u25ac\\u25b2\\u25ba\\u25bc\\u25c4\\u25ca-\\u25cc\\u25cf\\u25e6\\u2640\\u2642' +
  '\\u2c60-\\u2c7f\\ua640-\\ua69f\\ua717-\\ua7ae\\ufb01-\\ufb04'
const printable = new RegExp(`^[${PRINTABLE}]$`, 'u')
const allPrintable = new RegExp(`^[${PRINTABLE}]*$`, 'u')
const unprintable = new RegExp(`[^${PRINTABLE}]`, 'gu')

/** Signs that the font lacks, by another sign of the same meaning. */
const SAME_SIGN: Readonly<Record<string, string>> = {
  '⩾': '≥',
  '≧': '≥',
  '⩽': '≤',
  '≦': '≤',
  '∼': '~',
  '⋅': '·',
  '∗': '*',
  '∘': '°',
}

/** What is printed in place of a character that no document can print. */
export const UNKNOWN_CHARACTER = '\ufffd'

/** Whether the embedded font has the character. */
export const isPrintable = (char: string): boolean => printable.test(char)

/**
 * The text in characters that can be printed: another form of the same character where there is one (`㎍` as `µg`), else `�`, so that
 * readers see that something is missing. Invisible characters are removed.
 */
export const replaceUnprintable = (text: string): string => text.replace(unprintable, substitute)

function substitute(char: string): string {
  const same = SAME_SIGN[char]
  if (same !== undefined) return same
  if (isInvisible(char)) return ''
  if (threadCovers(char)) return char
  const simple = char.normalize('NFKD').replaceAll('μ', 'µ').normalize('NFC')
  return [...simple].every(isPrintable) ? simple : UNKNOWN_CHARACTER
}

/** Control characters, directions and invisible marks; not characters for private use, and no half of a pair. */
const isInvisible = (char: string): boolean => /[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{M}]/u.test(char)

const CLASSES: readonly (readonly [RegExp, string])[] = [
  [/\p{Script=Han}/u, 'Chinese characters'],
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, 'Japanese characters'],
  [/\p{Script=Hangul}/u, 'Korean characters'],
  [/\p{Script=Arabic}/u, 'Arabic characters'],
  [/\p{Script=Hebrew}/u, 'Hebrew characters'],
  [/\p{Script=Thai}/u, 'Thai characters'],
  [/\p{Script=Devanagari}/u, 'Devanagari characters'],
  [/\p{Extended_Pictographic}/u, 'emoji'],
  [/\p{Co}/u, 'characters for private use'],
  [/\p{L}/u, 'letters of a script other than Latin, Greek and Cyrillic'],
]

/**
 * The kinds of characters of a text that documents cannot print, `Chinese characters`; empty if all can be printed. It never contains a part
 * of the text, so that an error can say it.
 * @param covers which other characters the fonts of the operator have
 */
export function unprintableClasses(text: string, covers: CoversCharacter = threadCovers): string[] {
  if (allPrintable.test(text)) return []
  const lost = [...text.normalize('NFC')].filter((char) => !isInvisible(char) && !isPrintable(char) && !covers(char))
  const classes = lost.filter((char) => substitute(char) === UNKNOWN_CHARACTER).map(classOf)
  return [...new Set(classes)]
}

const classOf = (char: string): string => CLASSES.find(([pattern]) => pattern.test(char))?.[1] ?? 'signs'
