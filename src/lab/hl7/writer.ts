// Writes messages of HL7 version 2. Every text is escaped, so that no text of an order can become a field or a segment. Pure.
import { escapeText, STANDARD_DELIMITERS, type Delimiters } from './escapes.ts'

/** A text, or its subcomponents. */
type Hl7Component = string | undefined | readonly (string | undefined)[]
/** A text, or components. */
type Hl7Value = string | undefined | readonly Hl7Component[]
/** A value, or several of one field. */
type Hl7Field = Hl7Value | { repetitions: readonly Hl7Value[] }
/** The id and the fields from the first on; of a header from the third on, because the writer adds the delimiters. */
export type Hl7Fields = readonly [id: string, ...fields: Hl7Field[]]

/** The text of segments, each ended by CR. Empty fields and components at the end are left out. */
export const writeSegments = (segments: readonly Hl7Fields[], delimiters: Delimiters = STANDARD_DELIMITERS): string =>
  segments.map((segment) => `${writeSegment(segment, delimiters)}\r`).join('')

function writeSegment([id, ...fields]: Hl7Fields, delimiters: Delimiters): string {
  const { field, component, repetition, escape, subcomponent, truncation } = delimiters
  const isHeader = id === 'MSH' || id === 'FHS' || id === 'BHS'
  const start = isHeader ? `${id}${field}${component}${repetition}${escape}${subcomponent}${truncation}` : id
  const texts = fields.map((value) => writeField(value, delimiters))
  return joinTrimmed([start, ...texts], field)
}

function writeField(value: Hl7Field, delimiters: Delimiters): string {
  const values = typeof value === 'object' && 'repetitions' in value ? value.repetitions : [value]
  // An empty repetition counts, so none is left out.
  return values.map((item) => writeValue(item, delimiters)).join(delimiters.repetition)
}

function writeValue(value: Hl7Value, delimiters: Delimiters): string {
  if (value === undefined || typeof value === 'string') return writeText(value, delimiters)
  return joinTrimmed(
    value.map((part) =>
      part === undefined || typeof part === 'string'
        ? writeText(part, delimiters)
        : joinTrimmed(
            part.map((text) => writeText(text, delimiters)),
            delimiters.subcomponent,
          ),
    ),
    delimiters.component,
  )
}

function writeText(text: string | undefined, delimiters: Delimiters): string {
  if (!text) return ''
  const { escape } = delimiters
  // Two quotation marks alone mean that there is no value.
  return text === '""' ? `${escape}X22${escape}"` : escapeText(text, delimiters)
}

function joinTrimmed(parts: string[], separator: string): string {
  const last = parts.findLastIndex((part) => part !== '')
  return parts.slice(0, last + 1).join(separator)
}
