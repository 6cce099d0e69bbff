// Answers to messages, in the version, the delimiters and the character set of the sender. Source: HL7 version 2.5.1, 2.9.2, 2.13. Pure.
import { charsetName, encodeText } from './charsets.ts'
import { escapeText, type Delimiters } from './escapes.ts'
import type { MessageHeader } from './message-header.ts'

/**
 * Table 0008. `AA`, `AE`, `AR`: accepted, error, rejected, in original mode or by the application. `CA`, `CE`, `CR`: the same for the commit alone,
 * in enhanced mode.
 */
export type AcknowledgmentCode = 'AA' | 'AE' | 'AR' | 'CA' | 'CE' | 'CR'

interface Acknowledgment {
  code: AcknowledgmentCode
  /** Why the message is not accepted, without patient data. */
  text?: string
  /** The id of the answer itself. */
  controlId: string
  /** As HL7 writes times: `20300102081500+0100`. */
  sentAt: string
}

/** The bytes of an answer to the message with a header; to a batch as a whole. */
export function acknowledge(header: MessageHeader, acknowledgment: Acknowledgment): Buffer {
  const text = writeAnswer(header, acknowledgment)
    .map((segment) => `${segment}\r`)
    .join('')
  const charset = charsetName(header.declaredCharset)
  try {
    if (charset !== undefined) return encodeText(text, charset)
  } catch {
    // The set cannot be written. Only the names of sender and receiver are not ASCII.
  }
  return Buffer.from(text, 'utf8')
}

function writeAnswer(header: MessageHeader, { code, text = '', controlId, sentAt }: Acknowledgment): string[] {
  const { echo } = header
  const delimiters = completeDelimiters(header.delimiters)
  const { field, component, repetition, escape, subcomponent, truncation } = delimiters
  const version = header.version || '2.5.1'
  const reason = code.endsWith('A') ? '' : text
  const write = (plain: string, length: number) => escapeText(plain.slice(0, length), delimiters)
  const msh = [
    'MSH',
    component + repetition + escape + subcomponent + truncation,
    echo.receivingApplication,
    echo.receivingFacility,
    echo.sendingApplication,
    echo.sendingFacility,
    sentAt,
    '',
    messageType(header, version).join(component),
    write(controlId, 199),
    echo.processingId || 'P',
    echo.version || version,
    ...(echo.charset ? ['', '', '', '', '', echo.charset] : []),
  ]
  const msa = ['MSA', code, echo.controlId, ...(reason ? [write(reason, 80)] : [])]
  const err = ['ERR', '', '', APPLICATION_ERROR.join(component), 'E', '', '', '', write(reason, 250)]
  return [msh, msa, ...(reason && !isBefore(version, 2.5) ? [err] : [])].map((fields) => fields.join(field))
}

/** Of table 0357. */
const APPLICATION_ERROR = ['207', 'Application internal error', 'HL70357']

/** Versions before 2.3.1 have no event in the type of an answer, those from 2.5 on a structure. */
function messageType({ triggerEvent }: MessageHeader, version: string): string[] {
  if (isBefore(version, 2.3) || version === '2.3' || !/^[A-Z]\d{2}$/u.test(triggerEvent)) return ['ACK']
  return isBefore(version, 2.5) ? ['ACK', triggerEvent] : ['ACK', triggerEvent, 'ACK']
}

function isBefore(version: string, limit: number): boolean {
  const number = Number(/^\d\.\d/u.exec(version)?.[0] ?? Number.NaN)
  return number < limit
}

/** A sender that declares fewer delimiters than five gets unused ones, because our text needs them. */
function completeDelimiters(delimiters: Delimiters): Delimiters {
  const used = new Set(Object.values(delimiters))
  const unused = [...'^~\\&#@!%*+'].filter((character) => !used.has(character))
  return {
    ...delimiters,
    component: delimiters.component || unused.shift()!,
    repetition: delimiters.repetition || unused.shift()!,
    escape: delimiters.escape || unused.shift()!,
    subcomponent: delimiters.subcomponent || unused.shift()!,
  }
}
