// The characters of messages. A message names its character set in MSH-18 by table 0211; text that is not of this set is an error, because a
// replaced character in a name or a value would be wrong without being seen. Source: HL7 version 2.5.1, table 0211 and 2.15.9.18. Pure.
import { isAscii, isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'
import { UndecodableMessage, UnreadableMessage } from '../links/unreadable-message.ts'

interface Charset {
  /** @returns undefined if the bytes are not text of this set */
  decode(bytes: Buffer): string | undefined
  /** @returns undefined if the text has characters that the set lacks */
  encode(text: string): Buffer | undefined
}

/** A set of iconv-lite, which marks what it cannot decode. */
const fromIconv = (encoding: string): Charset => ({
  decode: (bytes) => {
    // ASCII is quick, and the whole of most messages.
    if (isAscii(bytes)) return bytes.toString('latin1')
    const text = iconv.decode(bytes, encoding, { stripBOM: false })
    // Bytes that mean nothing in the set, and controls that nobody writes: these are quotation marks and dashes of Windows.
    return /[\ufffd\u0080-\u0084\u0086-\u009f]/u.test(text) ? undefined : text
  },
  encode: (text) => encodeExactly(text, encoding),
})

/** A set of the platform, which decodes strictly and leaves a byte order mark out. Its Big5 and EUC-KR are not strict. */
const platform = (encoding: string, encodingName?: string): Charset => ({
  decode: (bytes) => {
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(bytes)
    } catch {
      return undefined
    }
  },
  encode: (text) => (encodingName === undefined ? encodeAscii(text) : encodeExactly(text, encodingName)),
})

const ascii: Charset = {
  decode: (bytes) => (isAscii(bytes) ? bytes.toString('latin1') : undefined),
  encode: encodeAscii,
}

const utf8: Charset = {
  decode: (bytes) => (isUtf8(bytes) ? bytes.toString('utf8').replace(/^\uFEFF/u, '') : undefined),
  encode: (text) => (text.isWellFormed() ? Buffer.from(text, 'utf8') : undefined),
}

const utf16: Charset = {
  decode: (bytes) => platform(isLittleEndian(bytes) ? 'utf-16le' : 'utf-16be').decode(bytes),
  encode: (text) => encodeExactly(text, 'utf-16be'),
}

const utf32: Charset = {
  decode: (bytes) => {
    const text = iconv.decode(bytes, 'utf-32')
    return text.includes('\ufffd') || !text.isWellFormed() || bytes.length % 4 ? undefined : text
  },
  encode: (text) => encodeExactly(text, 'utf-32be'),
}

/** Katakana of JIS X 0201 in single bytes. */
const katakana: Charset = {
  decode: (bytes) => {
    const isSingle = bytes.every((byte) => byte < 0x80 || (byte >= 0xa1 && byte <= 0xdf))
    return isSingle ? platform('shift_jis').decode(bytes) : platform('iso-2022-jp').decode(bytes)
  },
  encode: encodeAscii,
}

const japanese = platform('iso-2022-jp')

/** Table 0211. No decoder here knows CNS 11643. */
const TABLE: Record<string, Charset | undefined> = {
  ASCII: ascii,
  '8859/1': fromIconv('iso-8859-1'),
  '8859/2': fromIconv('iso-8859-2'),
  '8859/3': fromIconv('iso-8859-3'),
  '8859/4': fromIconv('iso-8859-4'),
  '8859/5': fromIconv('iso-8859-5'),
  '8859/6': fromIconv('iso-8859-6'),
  '8859/7': fromIconv('iso-8859-7'),
  '8859/8': fromIconv('iso-8859-8'),
  '8859/9': fromIconv('iso-8859-9'),
  '8859/15': fromIconv('iso-8859-15'),
  'ISO IR6': ascii,
  'ISO IR14': katakana,
  'ISO IR87': japanese,
  'ISO IR159': japanese,
  'JIS X 0202': japanese,
  JAS2020: japanese,
  'GB 18030-2000': platform('gb18030', 'gb18030'),
  'KS X 1001': fromIconv('cp949'),
  'CNS 11643-1992': undefined,
  'BIG-5': fromIconv('big5'),
  // Without a form. A message whose header is ASCII can only be UTF-8.
  UNICODE: utf8,
  'UNICODE UTF-8': utf8,
  'UNICODE UTF-16': utf16,
  'UNICODE UTF-32': utf32,
}

/** Names outside of the table that senders and profiles use, and that have one meaning. */
const OTHER_NAMES: Record<string, string> = {
  UTF8: 'UNICODE UTF-8',
  UNICODEUTF8: 'UNICODE UTF-8',
  UTF16: 'UNICODE UTF-16',
  UTF32: 'UNICODE UTF-32',
  USASCII: 'ASCII',
  ISO2022JP: 'JIS X 0202',
  GB18030: 'GB 18030-2000',
  BIG5: 'BIG-5',
  WINDOWS1250: 'WINDOWS-1250',
  WINDOWS1252: 'WINDOWS-1252',
  CP1250: 'WINDOWS-1250',
  CP1252: 'WINDOWS-1252',
}

const OTHERS: Record<string, Charset> = { 'WINDOWS-1250': fromIconv('windows-1250'), 'WINDOWS-1252': fromIconv('windows-1252') }

const compact = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z0-9]/gu, '')
const tableNames = new Map(Object.keys(TABLE).map((name) => [compact(name), name]))

/** The name of a character set in table 0211, or `WINDOWS-1252`; undefined if there is no such set. */
export function charsetName(text: string): string | undefined {
  const name = compact(text).replace(/^ISO(?=8859)/u, '')
  return tableNames.get(name) ?? OTHER_NAMES[name]
}

/**
 * The text of bytes, strictly. A byte order mark is not part of it.
 * Errors: UnreadableMessage naming the set, if it is unknown or the bytes are not of it.
 */
export function decodeText(bytes: Uint8Array, charset: string): string {
  const { name, decoder } = findCharset(charset)
  const text = decoder.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  if (text === undefined) throw new UndecodableMessage(`The message is not text of the character set ${name}`)
  return text
}

/** The bytes of a text. Errors: UnreadableMessage naming the set, if it is unknown or lacks a character of the text. */
export function encodeText(text: string, charset: string): Buffer {
  const { name, decoder } = findCharset(charset)
  const bytes = decoder.encode(text)
  if (bytes === undefined) throw new UnreadableMessage(`The character set ${name} lacks a character of the message`)
  return bytes
}

function findCharset(text: string): { name: string; decoder: Charset } {
  const name = charsetName(text)
  const decoder = name === undefined ? undefined : (TABLE[name] ?? OTHERS[name])
  if (!decoder) throw new UndecodableMessage(`The character set ${name ?? 'that the message names'} is not supported`)
  return { name: name!, decoder }
}

/**
 * The form of Unicode that the first bytes show by a byte order mark, or by zeros between the letters `MSH`; undefined for bytes that begin as
 * ASCII.
 */
export function detectUnicode(bytes: Uint8Array): string | undefined {
  const [a, b, c, d] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'UNICODE UTF-8'
  const isUtf32 = (a === 0 && b === 0) || (a === 0xff && b === 0xfe && c === 0 && d === 0) || (a !== 0 && b === 0 && c === 0)
  if (isUtf32) return 'UNICODE UTF-32'
  return (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff) || a === 0 || b === 0 ? 'UNICODE UTF-16' : undefined
}

const isLittleEndian = ([a, b]: Uint8Array): boolean => (a === 0xff && b === 0xfe) || (a !== 0 && b === 0)

function encodeAscii(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'utf8')
  return isAscii(bytes) ? bytes : undefined
}

/** iconv-lite writes `?` for characters that a set lacks. */
function encodeExactly(text: string, encoding: string): Buffer | undefined {
  const bytes = iconv.encode(text, encoding)
  return iconv.decode(bytes, encoding, { stripBOM: false }) === text ? bytes : undefined
}
