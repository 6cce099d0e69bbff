// Texts of any characters, for tests that fast-check makes up.
import fc from 'fast-check'

const FIRST_SURROGATE = 0xd800
const SURROGATES = 0x800
const CODE_POINTS = 0x110000

const codePoint = fc.nat({ max: CODE_POINTS - SURROGATES - 1 }).map(
  (n) => String.fromCodePoint(n < FIRST_SURROGATE ? n : n + SURROGATES),
  (text) => {
    const n = typeof text === 'string' ? (text.codePointAt(0) ?? -1) : -1
    const isOne = n >= 0 && text === String.fromCodePoint(n) && !(n >= FIRST_SURROGATE && n < FIRST_SURROGATE + SURROGATES)
    if (!isOne) throw new Error('not one code point')
    return n < FIRST_SURROGATE ? n : n - SURROGATES
  },
)

/**
 * A text of any code points but halves of surrogate pairs, among them those that fast-check deems dangerous. The same as `unit: 'binary'`,
 * which makes a map of a million characters first: a second and a half of a processor.
 */
export const anyText = (constraints: { maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit: codePoint })
