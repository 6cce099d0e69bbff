// Limits of the texts that are taken from a message. None is cut, because a cut text would be another one. Pure.
import { ID_LENGTH_MAX, NAME_LENGTH_MAX, TEXT_LENGTH_MAX } from '../links/link-message.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'
import type { Hl7Segment } from './hl7-message.ts'

/** The text without the blanks around it, if it is an id. Errors: UnreadableMessage it has more than 200 characters. */
export const readId = (text: string, segment: Hl7Segment, field: number): string =>
  limit(text.trim(), ID_LENGTH_MAX, segment, field)

/** The text if it is a name. Errors: UnreadableMessage it has more than 1,000 characters. */
export const readName = (text: string, segment: Hl7Segment, field: number): string => limit(text, NAME_LENGTH_MAX, segment, field)

/** The text if it is a value or a comment. Errors: UnreadableMessage it has more than a million characters. */
export const readText = (text: string, segment: Hl7Segment, field: number): string => limit(text, TEXT_LENGTH_MAX, segment, field)

/** Errors: UnreadableMessage a text with more characters. */
export function limit(text: string, length_max: number, segment: Hl7Segment, field: number): string {
  if (text.length <= length_max) return text
  throw new UnreadableMessage(`${segment.id}-${field} of line ${segment.number} has more than ${length_max} characters`)
}
