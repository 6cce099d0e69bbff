// The text of link codes: how it is generated, and how it is read as a person types it. Pure functions, but for the random bits.
// Source: users-wearables.md 2.1, 16.4; https://www.crockford.com/base32.html.
import { randomBytes, randomInt } from 'node:crypto'
import { cellNames, type CellName } from '../../settings/cells.ts'

/** A code begins with its cell, in which clients look for the region and the environment. */
const prefixes: Record<string, string> = {
  'sandbox-us': 'skus',
  'sandbox-eu': 'skeu',
  'production-us': 'pkus',
  'production-eu': 'pkeu',
}
const PREFIX_LENGTH = 4
/** The public description of `code` has eight digits of base 16 behind the cell, and leaves open what follows. */
const FIRST_BYTES = 4
const FIRST_LENGTH = PREFIX_LENGTH + 2 * FIRST_BYTES
/** Without `i`, `l`, `o` and `u`: they look like others, or make words. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'
const GROUP_LENGTH = 4
const FORM = /^[0-9a-f]{8}[0-9a-hjkmnp-tv-z]{8}$/
const SEPARATORS = /[\s\p{Pd}_.,:/]+/gu
const LOOK_ALIKES: Record<string, string> = { o: '0', i: '1', l: '1' }
/** A code with all separators that people put in. */
export const CODE_TEXT_MAX = 100

/** A code that was read. */
export interface LinkCodeText {
  cell: CellName
  /** The code without separators: what is hashed. */
  text: string
  /** The first half, by which wrong guesses of the other half are counted. */
  first: string
}

/** A new code with 72 random bits: `skus3f9a0c1d-7k2m-9qxw`. */
export function generateCode(cell: CellName): string {
  const group = () => Array.from({ length: GROUP_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  return `${prefixes[cell]}${randomBytes(FIRST_BYTES).toString('hex')}-${group()}-${group()}`
}

/** A code as a person types it: in upper or lower case, with any separators or none, `O` for 0, `I` and `L` for 1. Undefined: it is not a code. */
export function readCode(enteredCode: string): LinkCodeText | undefined {
  if (enteredCode.length > CODE_TEXT_MAX) return undefined
  const plain = enteredCode.toLowerCase().replace(SEPARATORS, '')
  const cell = cellNames.find((name) => plain.startsWith(prefixes[name]!))
  const rest = plain.slice(PREFIX_LENGTH).replace(/[oil]/g, (letter) => LOOK_ALIKES[letter]!)
  if (!cell || !FORM.test(rest)) return undefined
  const text = prefixes[cell] + rest
  return { cell, text, first: text.slice(0, FIRST_LENGTH) }
}
