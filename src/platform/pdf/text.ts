/**
 * Turns the strings of a laboratory report into lines that the embedded font can print: characters, units, instants, wrapping. It draws
 * nothing and never drops a value silently: a truncated text ends with a notice.
 */
import { zonedParts } from '../runtime/zoned-time.ts'
import { replaceUnprintable } from './characters.ts'

/** The notice at the end of a truncated text, so that readers know that a part is missing. */
export const TRUNCATION_NOTICE = '[text shortened; the electronic result has all of it]'

/**
 * The text in characters that the embedded font has, see `replaceUnprintable`. Line ends stay, other control characters are removed. At most
 * `chars_max` characters.
 */
export function toPrintable(text: string, chars_max: number): string {
  const known = text
    .slice(0, chars_max * 2)
    .normalize('NFC')
    .replace(/\r\n?/g, '\n')
    .replace(/[^\S\n]+/g, ' ')
  const clean = replaceUnprintable(known)
    .replace(/ {2,}/g, ' ')
    .replace(/ *\n */g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  if (clean.length <= chars_max && text.length <= chars_max * 2) return clean
  return chars_max >= 400 ? `${clean.slice(0, chars_max)}… ${TRUNCATION_NOTICE}` : `${clean.slice(0, chars_max - 1)}…`
}

/** A name, value or range: counts as `10^3`, international units without brackets, `µ` for the `u` of a unit. */
export function formatNotation(text: string): string {
  return text
    .replace(/10\*(?=-?\d)/g, '10^')
    .replace(/\[[iI]U\]/g, 'IU')
    .replace(/(?<![A-Za-z])u(?=(?:g|L|mol|IU|U)\/)|(?<=\/)u(?=L\b)/g, 'µ')
}

/** A unit as reports print it: `10*3/uL` as `10^3/µL`, `u[IU]/mL` as `µIU/mL`, `mm[Hg]` as `mmHg`. Source: UCUM. */
export function formatUnit(text: string): string {
  if (text.trim() === '1') return ''
  return formatNotation(text)
    .replace(/[[{]?\b1\.73[_. *]*m\^?2[\]}]?/g, '1.73 m²')
    .replace(/\{#\}/g, '')
    .replace(/(?<=[\w%\]])\{([^}]*)\}/g, ' $1')
    .replace(/[{}]/g, '')
    .replace(/\[(?:deg([FRC]))\]/g, '°$1')
    .replace(/\[(in|ft|lb|oz)_\w+\]/g, '$1')
    .replace(/[[\]]/g, '')
    .replace(/[_']/g, ' ')
    .replace(/\bCel\b/g, '°C')
    .replace(/\b(m|u|µ)?(eq|osm)\b/g, (_, prefix = '', name) => prefix + (name === 'eq' ? 'Eq' : 'Osm'))
    .replace(/(?<![A-Za-z])u(?=(?:g|l|L|mol|M|m|U|IU|V|s|kat|Eq|Osm)(?![A-Za-z]))/g, 'µ')
}

const TIMESTAMP = /^(\d{4})-(0[1-9]|1[0-2])-([0-2]\d|3[01])(?:[T ](\d\d:\d\d)(:\d\d)?(?:\.\d+)?\s?(Z|[+-]\d\d:?\d\d)?)?$/
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** `2030-01-02T09:30:00+00:00` as `Jan 2, 2030 09:30 UTC`, with its original offset; any other form stays as it is. */
export function formatTimestamp(text: string): string {
  const [, year, month, day, time, , zone] = TIMESTAMP.exec(text.trim()) ?? []
  if (year === undefined) return text
  const offset = zone && (/^Z$|^[+-]00:?00$/.test(zone) ? ' UTC' : ` UTC${zone}`)
  return `${months[Number(month) - 1]} ${Number(day)}, ${year}${time ? ` ${time}${offset ?? ''}` : ''}`
}

/** An instant as `Jan 2, 2030 02:30 MST` in a zone; a day alone, and any other form, stay without. */
export function formatInstant(text: string, time_zone: string): string {
  const [, year, , , clock] = TIMESTAMP.exec(text.trim()) ?? []
  if (year === undefined || clock === undefined) return formatTimestamp(text)
  const { date, time, zone } = zonedParts(new Date(parseEpochMs(text)), time_zone)
  return `${formatTimestamp(date)} ${time} ${zone}`
}

/** The instant in milliseconds, UTC if the text has no zone; 0 if it is not in ISO form. */
export function parseEpochMs(text: string): number {
  const [, year, month, day, time = '00:00', seconds = ':00', zone = 'Z'] = TIMESTAMP.exec(text.trim()) ?? []
  const offset = zone.replace(/^([+-]\d\d):?(\d\d)$/, '$1:$2')
  return Date.parse(`${year}-${month}-${day}T${time}${seconds}${offset}`) || 0
}

/** The width of a text is the sum of its characters' widths, so that a line is measured once. */
export type Measure = (text: string) => number

/**
 * Lines no wider than `width`, broken at spaces, inside a longer word after `-`, `/` or `,`, otherwise anywhere. After `lines_max` lines
 * the last one says that the text was truncated.
 */
export function wrap(text: string, width: number, measure: Measure, lines_max: number): string[] {
  const lines: string[] = []
  const blank = measure(' ')
  for (const paragraph of text.split('\n')) {
    let line = ''
    let used = 0
    for (const word of paragraph.split(' ').flatMap((whole) => splitWord(whole, width, measure))) {
      const wide = measure(word.text)
      const gap = line && !word.glued ? blank : 0
      if (line && used + gap + wide > width) {
        lines.push(line)
        line = ''
        used = 0
      }
      line += line && gap ? ` ${word.text}` : word.text
      used += line === word.text ? wide : gap + wide
    }
    lines.push(line)
    if (lines.length > lines_max) break
  }
  if (lines.length <= lines_max) return lines
  const last = lines_max > 8 ? TRUNCATION_NOTICE : `${lines[lines_max - 1]} …`
  return [...lines.slice(0, lines_max - 1), truncate(last, width, measure)]
}

/** The text, or as much of its beginning as fits with an ellipsis. */
export function truncate(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text
  let end = 0
  const chars = [...text]
  for (let room = width - measure('…'); end < chars.length && room >= 0; end++) room -= measure(chars[end]!)
  return `${chars
    .slice(0, Math.max(end - 1, 0))
    .join('')
    .trimEnd()}…`
}

/** A word, in parts if it is wider than the line; `glued` to the part before it. */
function splitWord(word: string, width: number, measure: Measure): { text: string; glued: boolean }[] {
  const parts: string[] = []
  let part = ''
  let used = 0
  for (const char of measure(word) > width ? word : '') {
    const wide = measure(char)
    if (part && used + wide > width) {
      const joint = Math.max(part.lastIndexOf('-'), part.lastIndexOf('/'), part.lastIndexOf(',')) + 1 || part.length
      parts.push(part.slice(0, joint))
      part = part.slice(joint)
      used = measure(part)
    }
    part += char
    used += wide
  }
  return [...parts, part || word].map((text, index) => ({ text, glued: index > 0 }))
}
