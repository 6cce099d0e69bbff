// Tags of Oura whose user has written something as notes. Tags without a word of the user are Oura's own names, and no notes.
import { typeWithDetails } from '../../../wearables/resources/sample-details.ts'
import { instantOfText, localTime, wordsOf, type Values } from '../reading.ts'
import { instantIn, offsetAt, type SampleBatches } from '../vendor-records.ts'
import { offsetOf } from './oura-records.ts'

/** Maximum length of all notes of one instant. */
const NOTE_MAX = 4000

interface Note {
  end_ms: number
  offset_s: number | null
  words: string[]
}

/** An instant, or a local time in the user's zone. */
function readTime(value: unknown, zone: string | null): { at_ms: number; offset_s: number | null } | null {
  const at_ms = instantOfText(value)
  if (at_ms !== null) return { at_ms, offset_s: offsetOf(value) }
  const local_ms = localTime(value)
  if (local_ms === null) return null
  const there_ms = instantIn(zone, local_ms)
  return { at_ms: there_ms, offset_s: offsetAt(zone, there_ms) }
}

/** The notes of one pull. What was written for one instant is one note: a user may add several tags at once. */
export class Notes {
  readonly #notes = new Map<number, Note>()

  add(tag: Values, zone: string | null): void {
    const words = [wordsOf(tag.custom_name), wordsOf(tag.comment)].filter((line) => line !== '').join(': ')
    const start = readTime(tag.start_time, zone)
    if (words === '' || start === null) return
    const end_ms = readTime(tag.end_time, zone)?.at_ms ?? start.at_ms
    const note = this.#notes.get(start.at_ms) ?? { end_ms, offset_s: start.offset_s, words: [] }
    note.end_ms = Math.max(note.end_ms, end_ms)
    note.words.push(words)
    this.#notes.set(start.at_ms, note)
  }

  addTo(batches: SampleBatches): void {
    for (const [at_ms, { end_ms, offset_s, words }] of this.#notes) {
      const content = words.toSorted().join('; ').slice(0, NOTE_MAX).toWellFormed()
      // Oura's kinds of tags are not described, so that what a note refers to is not known.
      const type = typeWithDetails('note', null, { content, tags: ['unspecified'] })
      batches.add('note', { at_ms, end_ms, value: 0, offset_s, type, source_type: 'app' })
    }
  }
}
