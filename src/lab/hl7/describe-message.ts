// A message as a person reads it: segments and fields with their names. It shows every message, also one that no reader understands. Pure.
import { splitBatch } from './batch.ts'
import { readHl7, type Hl7Segment, type ReadOptions } from './hl7-message.ts'
import { segmentNames } from './segment-names.ts'

/** Longer values are documents. */
const VALUE_LENGTH_MAX = 4000
const TEXT_LENGTH_MAX = 1_000_000
const CUT = '\n… the rest is not shown'

/**
 * The text of a message or a batch in HL7. Bytes that are not of the character set, and controls, are shown as `<FC>`, because another character would
 * be wrong without being seen. Long values are cut, which the text says.
 */
export function describeMessage(bytes: Uint8Array, options: ReadOptions = {}): string {
  const { messages, notes } = partsOf(bytes)
  let text = notes.map((note) => `${note}\n\n`).join('')
  for (const [i, message] of messages.entries()) {
    text += (i > 0 ? '\n\n' : '') + describeOne(message, options)
    if (text.length > TEXT_LENGTH_MAX) return text.slice(0, TEXT_LENGTH_MAX) + CUT
  }
  return text
}

function partsOf(bytes: Uint8Array): { messages: Uint8Array[]; notes: string[] } {
  try {
    const { messages, isBatch, faults } = splitBatch(bytes)
    return isBatch ? { messages, notes: [`Batch of ${messages.length} messages`, ...faults] } : { messages: [bytes], notes: [] }
  } catch {
    return { messages: [bytes], notes: [] }
  }
}

function describeOne(bytes: Uint8Array, options: ReadOptions): string {
  try {
    return readHl7(bytes, options).segments.map(describeSegment).join('\n')
  } catch (error) {
    const text = Buffer.from(bytes.subarray(0, TEXT_LENGTH_MAX)).toString('latin1').replaceAll(/\r\n?/gu, '\n')
    return `${(error as Error).message}.\n${showControls(text, NOT_ASCII)}`
  }
}

function describeSegment(segment: Hl7Segment): string {
  const known = segmentNames[segment.id]
  const lines = [known ? `${segment.id}  ${known.name}` : segment.id]
  for (let field = 1; field <= segment.fieldCount; field++) {
    const raw = segment.raw(field)
    if (raw === '') continue
    const label = [`${segment.id}-${field}`, known?.fields[field - 1]].filter(Boolean).join(' ')
    lines.push(`  ${label}: ${describeValue(raw, segment.text(field))}`)
  }
  return lines.join('\n')
}

/** The text without escape sequences, further lines below the first; `""`, which says that there is no value, as it is. */
function describeValue(raw: string, text: string): string {
  if (text === '') return raw
  const end = text.length > VALUE_LENGTH_MAX ? ` … ${text.length} characters` : ''
  const start = showControls(text.slice(0, VALUE_LENGTH_MAX), CONTROLS)
  return start.replaceAll(/\r\n?|\n/gu, '\n    ') + end
}

const CONTROLS = /[^\P{Cc}\r\n]/gu
const NOT_ASCII = /[^\n -~]/gu

const showControls = (text: string, pattern: RegExp): string =>
  text.replaceAll(pattern, (character) => `<${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}>`)
