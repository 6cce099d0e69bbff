// Messages of HL7 version 2 as segments, fields, repetitions, components and subcomponents of decoded text. It knows no segment but the header
// and checks no values: what fields mean is for readers of a kind of message. Source: HL7 version 2.5.1, chapter 2. Pure.
import { charsetName, decodeText, detectUnicode } from './charsets.ts'
import { readDelimiters, unescapeText, type Delimiters } from './escapes.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'

/** Where in a field a text is. Each counts from 1. */
interface Position {
  repetition?: number
  subcomponent?: number
}

/** What a field contains if the sender says that there is no value. */
const NULL = '""'

export class Hl7Segment {
  readonly id: string
  /** From 1, in the message. */
  readonly number: number
  readonly #fields: string[]
  readonly #message: Hl7Message

  constructor(message: Hl7Message, text: string, number: number) {
    this.#message = message
    const fields = text.split(message.delimiters.field)
    this.id = fields[0]!
    // The first field of a header is the separator itself.
    if (isHeaderId(this.id)) fields.splice(1, 0, message.delimiters.field)
    this.#fields = fields
    this.number = number
  }

  /** Number of fields. */
  get fieldCount(): number {
    return this.#fields.length - 1
  }

  /** A field as it was sent, with its delimiters and escape sequences; `''` if it is absent. */
  raw(field: number): string {
    return this.#fields[field] ?? ''
  }

  /** The whole text of a field, in which delimiters are text. */
  text(field: number): string {
    return this.#message.unescape(this.raw(field))
  }

  /** The repetitions of a field as they were sent; none of an empty field. */
  rawRepetitions(field: number): string[] {
    const text = this.raw(field)
    const { repetition } = this.#message.delimiters
    return text === '' ? [] : repetition && this.#isText(field) ? text.split(repetition) : [text]
  }

  /** The text of a component, without escape sequences; `''` if it is absent or null. A text with subcomponents is one text, if none is named. */
  get(field: number, component = 1, { repetition = 1, subcomponent }: Position = {}): string {
    const { component: separator, subcomponent: inner } = this.#message.delimiters
    let text = repetition === 1 && !this.#isRepeated(field) ? this.raw(field) : (this.rawRepetitions(field)[repetition - 1] ?? '')
    if (!this.#isText(field)) return component === 1 ? text : ''
    if (separator && (component > 1 || text.includes(separator))) text = text.split(separator, component)[component - 1] ?? ''
    else if (component > 1) return ''
    if (subcomponent !== undefined) text = (inner ? text.split(inner, subcomponent) : [text])[subcomponent - 1] ?? ''
    return this.#message.unescape(text)
  }

  /** The whole text of each repetition, in which delimiters are text: of values without components. */
  texts(field: number): string[] {
    return this.rawRepetitions(field).map((text) => this.#message.unescape(text))
  }

  /** The components of the first repetition, each as one text. */
  components(field: number): string[] {
    return this.#split(this.rawRepetitions(field)[0] ?? '')
  }

  /** The components of each repetition. */
  repetitions(field: number): string[][] {
    return this.rawRepetitions(field).map((text) => this.#split(text))
  }

  #split(text: string): string[] {
    const { component, escape } = this.#message.delimiters
    const parts = component ? text.split(component) : [text]
    const isPlain = !text.includes(NULL) && (escape === '' || !text.includes(escape))
    return isPlain ? parts : parts.map((part) => this.#message.unescape(part))
  }

  #isRepeated(field: number): boolean {
    const { repetition } = this.#message.delimiters
    return repetition !== '' && this.raw(field).includes(repetition)
  }

  /** The first two fields of a header are the delimiters. */
  #isText(field: number): boolean {
    return field > 2 || !isHeaderId(this.id)
  }
}

const PATH = /^([A-Z][A-Z0-9]{2})(?:\[(\d+)\])?-(\d+)(?:\[(\d+)\])?(?:\.(\d+)(?:\.(\d+))?)?$/u

export class Hl7Message {
  readonly delimiters: Delimiters
  /** The character set that the text had, by table 0211. */
  readonly charset: string
  readonly segments: readonly Hl7Segment[]

  /** Errors: UnreadableMessage a text without a header, or with a line that is no segment. */
  constructor(text: string, charset: string) {
    this.charset = charset
    const lines = splitSegments(text)
    if (!lines[0] || !isHeaderId(lines[0].slice(0, 3))) throw new UnreadableMessage('The message does not begin with a header')
    this.delimiters = readDelimiters(lines[0])
    this.segments = lines.map((line, i) => {
      if (!isSegment(line, this.delimiters.field)) throw new UnreadableMessage(`Line ${i + 1} is not a segment`)
      return new Hl7Segment(this, line, i + 1)
    })
  }

  /** The header segment. */
  get header(): Hl7Segment {
    return this.segments[0]!
  }

  /** The first segment with an id. */
  find(id: string): Hl7Segment | undefined {
    return this.segments.find((segment) => segment.id === id)
  }

  /**
   * The text at `PID-5.1`, or `OBX[2]-3[1].2.1` for the second such segment, first repetition, second component, first subcomponent; `''` if it
   * is absent or null.
   */
  get(path: string): string {
    const [, id, segment = '1', field, repetition = '1', component = '1', subcomponent] = PATH.exec(path) ?? []
    if (id === undefined) throw new Error(`${path} is not a path`)
    const segments = this.segments.filter((item) => item.id === id)
    return (
      segments[Number(segment) - 1]?.get(Number(field), Number(component), {
        repetition: Number(repetition),
        ...(subcomponent !== undefined && { subcomponent: Number(subcomponent) }),
      }) ?? ''
    )
  }

  unescape(text: string): string {
    return text === NULL ? '' : unescapeText(text, this.delimiters, this.charset)
  }
}

const isHeaderId = (id: string): boolean => id === 'MSH' || id === 'FHS' || id === 'BHS'

const isSegment = (line: string, field: string): boolean =>
  SEGMENT_ID.test(line.slice(0, 3)) && (line.length === 3 || line[3] === field)
const SEGMENT_ID = /^[A-Z][A-Z0-9]{2}$/u

/**
 * The lines of a text. Segments end with CR, or with LF if there is no CR. In a text with CR a line feed is text, unless it begins or ends a
 * segment.
 */
function splitSegments(text: string): string[] {
  const start = text.trimStart()
  if (!start.includes('\r')) return start.split('\n').filter(hasText)
  const field = start.charAt(3)
  const lines = start.split('\r').flatMap((line) => (line.includes('\n') ? splitAtSegments(line, field) : [line]))
  return lines.filter(hasText)
}

/** A line in which segments may begin after line feeds. */
function splitAtSegments(line: string, field: string): string[] {
  const parts: string[] = []
  let start = 0
  for (let end = line.indexOf('\n'); end >= 0; end = line.indexOf('\n', end + 1)) {
    if (!isSegment(line.slice(end + 1, end + 5), field)) continue
    parts.push(line.slice(start, end))
    start = end + 1
  }
  return [...parts, line.slice(start)].map(trimLineFeeds)
}

function trimLineFeeds(text: string): string {
  let [start, end] = [0, text.length]
  while (text[start] === '\n') start++
  while (end > start && text[end - 1] === '\n') end--
  return text.slice(start, end)
}

/** Lines of blanks, of NUL or of the end mark of old file systems are no segments. */
const NOT_BLANK = new RegExp(String.raw`[^\s\0\x1a]`, 'u')
const hasText = (line: string): boolean => line.search(NOT_BLANK) >= 0

export interface ReadOptions {
  /** The character set of messages that name none in MSH-18; absent: they must be ASCII. */
  charset?: string
  /** The set of `charset` is that of all messages, whatever they name. */
  ignoresDeclaredCharset?: boolean
}

/**
 * Reads one message. Errors: UnreadableMessage text that is not of its character set, no header, invalid delimiters, a line that is not a
 * segment.
 */
export function readHl7(bytes: Uint8Array, options: ReadOptions = {}): Hl7Message {
  const charset = findCharset(bytes, options)
  return new Hl7Message(decodeText(bytes, charset), charset)
}

/** The character set of a message: of its first bytes, of MSH-18, or of the options. */
function findCharset(bytes: Uint8Array, { charset = 'ASCII', ignoresDeclaredCharset = false }: ReadOptions): string {
  const unicode = detectUnicode(bytes)
  if (unicode !== undefined) return unicode
  const declared = ignoresDeclaredCharset ? [] : declaredCharsets(bytes)
  // Other sets than the first are reached by escape sequences of ISO 2022, which the decoder for Japanese knows.
  const names = declared.filter((name) => name !== '')
  const name = names.find((text) => /JIS|JAS|IR ?87|IR ?159|2022/iu.test(text)) ?? names[0] ?? charset
  return charsetName(name) ?? name
}

const HEADER_BYTES_MAX = 10_000

/** The repetitions of MSH-18, read from the header alone. */
function declaredCharsets(bytes: Uint8Array): string[] {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, HEADER_BYTES_MAX)).toString('latin1')
  const header = /(?:^|[\r\n])[ \t\v]*(MSH[^\r\n]*)/u.exec(start)?.[1]
  if (header === undefined) return []
  const fields = header.split(header.charAt(3))
  return (fields[17] ?? '').split(header.charAt(5) || '~').map((name) => name.trim())
}
