// Observations (OBX) of an ordered test: results, and what only looks like one by the profile. Source: HL7 version 2.5.1, 7.4.2. Pure.
import type { Observation } from '../links/link-message.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { isDocument, readDocumentPieces, type DocumentPiece } from './embedded-documents.ts'
import { limit, readId, readName, readText } from './field-limits.ts'
import type { Hl7Segment } from './hl7-message.ts'
import { readObservationValue } from './observation-values.ts'
import type { NotedSegment } from './message-groups.ts'
import type { SiteFinder } from './performing-sites.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'

export interface ReadObservations {
  observations: Observation[]
  documents: DocumentPiece[]
  /** Texts that are comments on the report. */
  comments: string[]
}

interface ObservationContext {
  profile: LinkProfile
  sites: SiteFinder
}

/** Reads the observations of a test. Those with the same code and sub-id are lines of one, if none of them repeats another. */
export function readObservations(segments: readonly NotedSegment[], context: ObservationContext): ReadObservations {
  const { results } = context.profile
  const observations: Observation[] = []
  const documents: DocumentPiece[] = []
  const comments: string[] = []
  for (const { segment, notes } of segments) {
    const identity = readIdentity(segment, results)
    if (isLeftOut(segment, results)) continue
    if (isDocument(segment, context.profile)) {
      const pieces = WITHOUT_VALUE.has(segment.get(11)) ? [] : readDocumentPieces(segment, identity)
      // A call cannot have as many arguments as a field can have repetitions.
      for (const piece of pieces) documents.push(piece)
    } else if (results.comment_codes.includes(identity.code)) comments.push(...readComment(segment, notes))
    else observations.push({ ...identity, ...readResult(segment, notes, context) })
  }
  return { observations: joinLines(observations), documents: results.documents === 'none' ? [] : documents, comments }
}

/** Deleted, not performed, withdrawn. */
const WITHOUT_VALUE = new Set(['D', 'X', 'W'])

type ResultOptions = LinkProfile['results']

/** Answers to questions of the order, and texts that print the whole report. */
const isLeftOut = (segment: Hl7Segment, { answer_codes, rendering_codes }: ResultOptions): boolean =>
  [...answer_codes, ...rendering_codes].includes(segment.get(3).trim()) || segment.get(29) === 'QST'

const LOINC = /^\d{1,7}-\d$/u
const LOINC_SYSTEMS = new Set(['LN', 'LOINC'])

/** Codes of the laboratory and of LOINC, of which each may be first. Errors: UnreadableMessage neither code nor name. */
export function readIdentity(segment: Hl7Segment, { loinc_without_system }: ResultOptions) {
  const components = segment.components(3)
  const [, text = '', , , alternateText = ''] = components
  const [code = '', , system = '', alternate = '', , alternateSystem = ''] = components.map((component) => component.trim())
  const isLoinc = LOINC_SYSTEMS.has(system) || (loinc_without_system && LOINC.test(code))
  const isAlternateLoinc = LOINC_SYSTEMS.has(alternateSystem)
  const loinc = isLoinc ? code : isAlternateLoinc ? alternate : ''
  const own =
    isLoinc && alternate
      ? { code: alternate, text: alternateText || text }
      : { code: code || alternate, text: text || alternateText }
  if (own.code === '' && own.text === '') throw new UnreadableMessage(`OBX-3 of line ${segment.number} is empty`)
  return {
    code: readId(own.code || own.text, segment, 3),
    name: readName(own.text || own.code, segment, 3),
    ...(LOINC.test(loinc) && { loinc }),
  }
}

const FLAG_LENGTH_MAX = 100

function readResult(
  segment: Hl7Segment,
  notes: readonly Hl7Segment[],
  { sites }: ObservationContext,
): Omit<Observation, 'code' | 'name'> {
  const { value, ...kind } = readObservationValue(segment)
  const flag = segment
    .repetitions(8)
    .map(([code = '']) => code)
    .join('~')
  const site = sites(segment)
  const fields = {
    sub_id: readId(segment.text(4), segment, 4),
    value: readText(value ?? '', segment, 5),
    unit: limit(segment.get(6) || segment.get(6, 2), 200, segment, 6),
    reference_range: limit(segment.texts(7).join('\n'), 10_000, segment, 7),
    flag: limit(flag, FLAG_LENGTH_MAX, segment, 8),
    status: readStatus(segment, 11),
    notes: joinNotes(notes),
  }
  return { ...withoutEmpty(fields), ...kind, ...(site && { performing_laboratory: site }) }
}

/** A status of one letter. Errors: UnreadableMessage any other text. */
export function readStatus(segment: Hl7Segment, field: number): string {
  const status = segment.get(field).trim()
  if (status !== '' && !/^[A-Z]$/u.test(status))
    throw new UnreadableMessage(`${segment.id}-${field} of line ${segment.number} is not supported`)
  return status
}

/** The record without empty texts. */
export function withoutEmpty<T extends Record<string, string>>(fields: T): Partial<T> {
  const result: Partial<T> = {}
  for (const name in fields) if (fields[name] !== '') result[name] = fields[name]
  return result
}

/** Comments as one text, each line as it was sent. */
export function joinNotes(notes: readonly Hl7Segment[]): string {
  const lines = notes.map((note) => note.texts(3).join('\n'))
  const text = lines.join('\n').trimEnd()
  return notes[0] ? readText(text, notes[0], 3) : text
}

function readComment(segment: Hl7Segment, notes: readonly Hl7Segment[]): string[] {
  const { value = '' } = readObservationValue(segment)
  return [value, joinNotes(notes)].filter(Boolean)
}

/** An observation as text, for those of a specimen. */
export const describeObservation = ({ name, value = '', unit = '', notes = '' }: Observation): string =>
  [`${name}: ${value} ${unit}`.trimEnd(), notes].filter(Boolean).join('\n')

/** Several segments for one result are its lines, such as those of a culture. Otherwise only the last would be seen. */
function joinLines(observations: Observation[]): Observation[] {
  const groups = Map.groupBy(observations, ({ code, sub_id, status }) => JSON.stringify([code, sub_id, status]))
  return [...groups.values()].map((items) => (items.every((item) => isSame(item, items[0]!)) ? items[0]! : joinItems(items)))
}

const FIELDS = ['value', 'unit', 'reference_range', 'flag', 'notes'] as const

const isSame = (a: Observation, b: Observation): boolean => FIELDS.every((field) => a[field] === b[field])

function joinItems(items: readonly Observation[]): Observation {
  const all = (field: (typeof FIELDS)[number]) => items.map((item) => item[field] ?? '')
  const different = (field: (typeof FIELDS)[number], separator: string) =>
    [...new Set(all(field))].filter(Boolean).join(separator)
  return {
    ...items[0]!,
    ...withoutEmpty({
      value: all('value').join('\n').trimEnd(),
      unit: different('unit', '\n'),
      reference_range: different('reference_range', '\n'),
      flag: different('flag', '~'),
      notes: different('notes', '\n'),
    }),
  }
}
