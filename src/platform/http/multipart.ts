// Forms of type `multipart/form-data`, read from a body in memory in one pass. Parts are views of the body, and few: a client that sends
// hundreds of thousands of them would otherwise keep the process from everybody else. Source: RFC 7578, RFC 2046.
import { decodeUtf8 } from '../runtime/utf8.ts'
import { invalidField } from './errors.ts'

const PARTS_MAX = 32
/** Maximum bytes of the header of one part. */
const HEADER_BYTES_MAX = 8192
/** RFC 2046. */
const BOUNDARY = /^multipart\/form-data\b[^]*?;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/iu
const DISPOSITION = /(?:^|\r\n)content-disposition:[ \t]*form-data([^\r\n]*)/iu
const PARAMETER = /;\s*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/gu
const TYPE = /(?:^|\r\n)content-type:[ \t]*([^\r\n]*)/iu

export interface FormPart {
  name: string
  /** It was sent as a file. */
  isFile: boolean
  /** The content type that it was sent as; empty if there was none. */
  type: string
  bytes: Buffer
}

/** The parts of a form, in order. Errors: 422 it is not such a form, or has more than 32 parts. */
export function readMultipart(body: Buffer | undefined, content_type = ''): FormPart[] {
  const [, quoted, plain] = BOUNDARY.exec(content_type.slice(0, HEADER_BYTES_MAX)) ?? []
  const boundary = quoted ?? plain
  if (!body?.length || boundary === undefined) throw invalidField(['body'], 'must be a multipart form')
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const parts: FormPart[] = []
  // The first delimiter may stand at the beginning, without a line break before it.
  let at = body.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2))
    ? delimiter.length - 2
    : findEnd(body, delimiter, 0)
  while (body.toString('latin1', at, at + 2) !== '--') {
    if (parts.length === PARTS_MAX) throw invalidField(['body'], `must have at most ${PARTS_MAX} parts`)
    const line = findEnd(body, '\r\n', at, 100)
    const header =
      body.toString('latin1', line, line + 2) === '\r\n' ? line + 2 : findEnd(body, '\r\n\r\n', line, HEADER_BYTES_MAX)
    const next = findEnd(body, delimiter, header - 2)
    parts.push(
      parsePart(decodeUtf8(body.subarray(line, header)), body.subarray(header, Math.max(header, next - delimiter.length))),
    )
    at = next
  }
  return parts
}

/** Where a text that comes within some bytes has ended. */
function findEnd(body: Buffer, text: Buffer | string, start: number, bytes_max = Infinity): number {
  const found = (bytes_max === Infinity ? body : body.subarray(0, start + bytes_max)).indexOf(text, start)
  if (found < 0) throw invalidField(['body'], 'must be a multipart form')
  return found + text.length
}

function parsePart(header: string, bytes: Buffer): FormPart {
  const parameters = new Map<string, string>()
  for (const [, name, quoted, plain] of (DISPOSITION.exec(header)?.[1] ?? '').matchAll(PARAMETER))
    parameters.set(name!.toLowerCase(), quoted ?? plain ?? '')
  const isFile = parameters.has('filename') || parameters.has('filename*')
  return { name: parameters.get('name') ?? '', isFile, type: TYPE.exec(header)?.[1]?.trim() ?? '', bytes }
}
