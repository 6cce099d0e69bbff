// Who sent a message, of what type, under which id: what a transport must know to acknowledge it. Reads the header alone, so that a message whose
// rest cannot be read is still acknowledged to its sender. Source: HL7 version 2.5.1, 2.15.9. Pure.
import { STANDARD_DELIMITERS, type Delimiters } from './escapes.ts'
import { readHl7, type Hl7Segment, type ReadOptions } from './hl7-message.ts'

/** Texts are without escape sequences; `''` if the message lacks them. */
export interface MessageHeader {
  format: 'hl7' | 'json'
  delimiters: Delimiters
  /** The character set that the message declares in MSH-18, as written. */
  declaredCharset: string
  /** MSH-3 and MSH-4, with their components as they were sent. */
  sendingApplication: string
  sendingFacility: string
  receivingApplication: string
  receivingFacility: string
  sentAt: string
  /** `ORU` of `ORU^R01^ORU_R01`. */
  messageCode: string
  triggerEvent: string
  controlId: string
  /** `P` production, `T` training, `D` debugging. */
  processingId: string
  version: string
  /** MSH-15 and MSH-16: when the sender wants an answer. Both empty: original mode. */
  acceptAcknowledgment: string
  applicationAcknowledgment: string
  /** Whether the bytes are a batch: the fields are of its first header, and the type is of its first message. */
  isBatch: boolean
  /** What an answer repeats, as the sender wrote it. */
  echo: HeaderEcho
}

/** Fields with their delimiters and escape sequences. */
interface HeaderEcho {
  sendingApplication: string
  sendingFacility: string
  receivingApplication: string
  receivingFacility: string
  controlId: string
  processingId: string
  version: string
  charset: string
}

const HEADER_BYTES_MAX = 20_000

/**
 * The header of a message or a batch in HL7. Errors: UnreadableMessage the bytes do not begin with a header, or its characters or delimiters are not
 * valid.
 */
export function readHl7Header(bytes: Uint8Array, options: ReadOptions = {}): MessageHeader {
  const first = readHeaderAt(bytes, 0, options)
  if (first.id === 'MSH') return toHeader(first)
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf('MSH')
  const { echo, ...header } = toHeader(first)
  if (start < 0) return { ...header, echo, isBatch: true }
  // Batch headers have neither type nor version.
  const message = toHeader(readHeaderAt(bytes, start, options))
  const { messageCode, triggerEvent, processingId, version, declaredCharset } = message
  const {
    echo: { processingId: id, version: number, charset },
  } = message
  return {
    ...header,
    messageCode,
    triggerEvent,
    processingId,
    version,
    declaredCharset,
    isBatch: true,
    echo: { ...echo, processingId: id, version: number, charset },
  }
}

/** The header segment at a position. What follows need not be readable, and may be of another character set in part. */
function readHeaderAt(bytes: Uint8Array, start: number, options: ReadOptions): HeaderSegment {
  const { segments, delimiters } = readHl7(firstLine(bytes.subarray(start, start + HEADER_BYTES_MAX)), options)
  return { segment: segments[0]!, id: segments[0]!.id, delimiters }
}

interface HeaderSegment {
  segment: Hl7Segment
  id: string
  delimiters: Delimiters
}

/** The bytes up to the first end of a line after the header has begun; all of them in forms of Unicode with zeros. */
function firstLine(bytes: Uint8Array): Uint8Array {
  if (bytes.includes(0)) return bytes
  const start = bytes.findIndex((byte) => byte > 0x20)
  const end = bytes.findIndex((byte, i) => i > start && (byte === 0x0d || byte === 0x0a))
  return end < 0 ? bytes : bytes.subarray(0, end)
}

function toHeader({ segment, id, delimiters }: HeaderSegment): MessageHeader {
  const isMessage = id === 'MSH'
  return {
    format: 'hl7',
    delimiters,
    declaredCharset: isMessage ? segment.get(18) : '',
    sendingApplication: segment.text(3),
    sendingFacility: segment.text(4),
    receivingApplication: segment.text(5),
    receivingFacility: segment.text(6),
    sentAt: segment.get(7),
    // Of batches: FHS-11 and BHS-11.
    controlId: segment.text(isMessage ? 10 : 11),
    messageCode: isMessage ? segment.get(9) : '',
    triggerEvent: isMessage ? segment.get(9, 2) : '',
    processingId: isMessage ? segment.get(11) : '',
    version: isMessage ? segment.get(12) : '',
    acceptAcknowledgment: isMessage ? segment.get(15) : '',
    applicationAcknowledgment: isMessage ? segment.get(16) : '',
    isBatch: false,
    echo: {
      sendingApplication: segment.raw(3),
      sendingFacility: segment.raw(4),
      receivingApplication: segment.raw(5),
      receivingFacility: segment.raw(6),
      controlId: segment.raw(isMessage ? 10 : 11),
      processingId: isMessage ? segment.raw(11) : '',
      version: isMessage ? segment.raw(12) : '',
      charset: isMessage ? segment.raw(18) : '',
    },
  }
}

/** A header for the answer to bytes whose header cannot be read. */
export function unknownHeader(): MessageHeader {
  const names = {
    sendingApplication: '',
    sendingFacility: '',
    receivingApplication: '',
    receivingFacility: '',
    controlId: '',
    processingId: '',
    version: '',
  }
  return {
    ...names,
    format: 'hl7',
    delimiters: STANDARD_DELIMITERS,
    declaredCharset: '',
    sentAt: '',
    messageCode: '',
    triggerEvent: '',
    acceptAcknowledgment: '',
    applicationAcknowledgment: '',
    isBatch: false,
    echo: { ...names, charset: '' },
  }
}
