// The last step before a message is written: its texts in the letters, the lengths and the character set of the profile. Pure.
import { encodeText } from '../hl7/charsets.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { transliterate } from './order-fields.ts'
import type { SegmentBuilder } from './segment-builder.ts'
import { Unsendable } from './unsendable.ts'

/**
 * Prepares all texts of a message, in place. Errors: Unsendable a text that is too long and not of a field that the profile cuts, or with a
 * character that the character set lacks. The faults name fields.
 */
export function prepareTexts(segments: readonly SegmentBuilder[], { text: options }: LinkProfile): void {
  const faults = new Set<string>()
  const prepare = (text: string, place: { field: string; component: string }): string => {
    const written = options.transliterates ? transliterate(text) : text
    const charset = options.transliterates ? 'ASCII' : options.sent_charset
    if (!canEncode(written, charset)) {
      faults.add(`${place.component}: has a character that ${charset} lacks (text.sent_charset)`)
      return ''
    }
    const limit = options.length_limits[place.component] ?? options.length_limits[place.field]
    if (limit === undefined) return written
    const characters = Array.from(written)
    if (characters.length <= limit) return written
    if (options.cut_fields.includes(place.component) || options.cut_fields.includes(place.field))
      return characters.slice(0, limit).join('')
    faults.add(`${place.component}: has more than ${limit} characters (text.length_limits)`)
    return ''
  }
  for (const { id, fields } of segments)
    for (const [f, repetitions] of fields.entries())
      for (const components of repetitions)
        for (const [c, subcomponents] of components.entries()) {
          const place = { field: `${id}-${f + 1}`, component: `${id}-${f + 1}.${c + 1}` }
          for (const [s, text] of subcomponents.entries()) if (text !== '') subcomponents[s] = prepare(text, place)
        }
  if (faults.size > 0) throw new Unsendable([...faults])
}

function canEncode(text: string, charset: string): boolean {
  // eslint-disable-next-line no-control-regex -- ASCII has these.
  if (charset === 'ASCII') return /^[\u0000-\u007f]*$/u.test(text)
  if (!text.isWellFormed()) return false
  try {
    encodeText(text, charset)
    return true
  } catch {
    return false
  }
}
