// Delimiters of a message, and the escape sequences that stand for them and for line breaks. Source: HL7 version 2.5.1, 2.5.4, 2.7. Pure.
import { decodeText } from './charsets.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'

/** `''`: the message has no such delimiter. */
export interface Delimiters {
  field: string
  component: string
  repetition: string
  escape: string
  subcomponent: string
  /** Marks text that was cut, from version 2.7 on. */
  truncation: string
}

export const STANDARD_DELIMITERS: Delimiters = {
  field: '|',
  component: '^',
  repetition: '~',
  escape: '\\',
  subcomponent: '&',
  truncation: '',
}

/** The delimiters that a header segment (MSH, FHS, BHS) declares. Errors: UnreadableMessage delimiters that are letters or the same. */
export function readDelimiters(segment: string): Delimiters {
  const field = segment.charAt(3)
  const end = segment.indexOf(field, 4)
  const characters = segment.slice(4, end < 0 ? segment.length : end)
  const all = [field, ...characters]
  const isValid = all.length <= 6 && new Set(all).size === all.length && all.every((character) => DELIMITER.test(character))
  if (!isValid) throw new UnreadableMessage('The delimiters of the message are not valid')
  const [component = '', repetition = '', escape = '', subcomponent = '', truncation = ''] = characters
  return { field, component, repetition, escape, subcomponent, truncation }
}

/** Punctuation of ASCII. */
const DELIMITER = /^[!-/:-@[-`{-~]$/u

/** A character in a regular expression. */
const quote = (character: string): string =>
  character === '' ? '' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

const patterns = new Map<string, RegExp>()

/** The sequences that mean something. Any other stays as it is, because its text would be lost. */
function sequencesOf(escape: string): RegExp {
  let pattern = patterns.get(escape)
  if (!pattern) {
    const e = quote(escape)
    pattern = new RegExp(
      `${e}(?:([FSTREPHN])|X((?:[0-9A-Fa-f]{2}){1,200})|\\.(br|sp|in|ti|sk|ce|fi|nf)([+-]?\\d{0,3}))${e}`,
      'gu',
    )
    // Few delimiters exist, but senders choose them.
    if (patterns.size < 100) patterns.set(escape, pattern)
  }
  return pattern
}

/**
 * A text without its escape sequences. Formatting commands become line breaks and spaces; highlighting goes. A sequence without a meaning, and a
 * hexadecimal one that is not of the character set, stay as they are.
 */
export function unescapeText(text: string, delimiters: Delimiters, charset: string): string {
  const { escape } = delimiters
  if (escape === '' || !text.includes(escape)) return text
  const replaceSequence = (sequence: string, letter?: string, hex?: string, command?: string, count = ''): string => {
    if (letter) return readCharacter(letter, delimiters) ?? sequence
    if (command) return readFormat(command, count)
    try {
      return decodeText(Buffer.from(hex!, 'hex'), charset)
    } catch {
      return sequence
    }
  }
  return text.replace(sequencesOf(escape), replaceSequence)
}

function readCharacter(
  letter: string,
  { field, component, repetition, escape, subcomponent, truncation }: Delimiters,
): string | undefined {
  const characters: Record<string, string | undefined> = {
    F: field,
    S: component,
    T: subcomponent,
    R: repetition,
    E: escape,
    P: truncation || undefined,
    // Highlighting begins and ends.
    H: '',
    N: '',
  }
  return characters[letter]
}

/** Most line breaks or spaces of one command. */
const REPETITIONS_MAX = 100

function readFormat(command: string, count: string): string {
  const times = Math.min(Math.max(Number(count || '1'), 1), REPETITIONS_MAX)
  if (command === 'br' || command === 'ce') return '\n'
  if (command === 'sp') return '\n'.repeat(times)
  return command === 'sk' ? ' '.repeat(times) : ''
}

/** A text that is safe in any field: delimiters and controls are escaped, line breaks become `\.br\`. */
export function escapeText(text: string, { field, component, repetition, escape, subcomponent, truncation }: Delimiters): string {
  const letters: Record<string, string> = {
    [escape]: 'E',
    [field]: 'F',
    [component]: 'S',
    [repetition]: 'R',
    [subcomponent]: 'T',
  }
  if (truncation) letters[truncation] = 'P'
  if (!needsEscapes(text, letters)) return text
  let result = ''
  for (const character of text.replaceAll(/\r\n?/gu, '\n')) {
    const code = character.charCodeAt(0)
    if (letters[character]) result += escape + letters[character] + escape
    else if (character === '\n') result += `${escape}.br${escape}`
    else if (code < 0x20 || code === 0x7f) result += `${escape}X${code.toString(16).toUpperCase().padStart(2, '0')}${escape}`
    else result += character
  }
  return result
}

/** Most texts need none, and documents are long. */
function needsEscapes(text: string, letters: Record<string, string>): boolean {
  return /\p{Cc}/u.test(text) || Object.keys(letters).some((character) => character !== '' && text.includes(character))
}
