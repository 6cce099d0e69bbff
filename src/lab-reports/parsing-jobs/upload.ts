// The form with which a report is uploaded, and what can be said of its files without reading them.
import { createHash } from 'node:crypto'
import { badRequest, payloadTooLarge, unprocessable } from '../../platform/http/errors.ts'
import { readMultipart, type FormPart } from '../../platform/http/multipart.ts'
import type { ReportFile } from '../reading/read-report.ts'

/** Source: lab-testing.md 25.1. */
const FILES_MAX = 8
export const COMBINED_BYTES_MAX = 30 * 1024 * 1024
/** Maximum bytes of a text field. */
const FIELD_BYTES_MAX = 1000
/** Maximum bytes of the form around the files. */
const FORM_BYTES_MAX = 64 * 1024
export const BODY_BYTES_MAX = COMBINED_BYTES_MAX + FORM_BYTES_MAX

export interface Upload {
  files: ReportFile[]
  user_id: string
  needs_human_review: boolean
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu
const SIGNATURES: [ReportFile['type'], number[]][] = [
  ['application/pdf', [0x25, 0x50, 0x44, 0x46]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
]
/** Clients that do not know the type of a file send this, or nothing. */
const ANY_TYPE = new Set(['', 'application/octet-stream', 'binary/octet-stream'])
/** A PDF may begin with other bytes. */
const PDF_HEADER_WITHIN = 1024

/**
 * Reads the form `multipart/form-data` with `file` (once or several times), `user_id` and `needs_human_review`. Changes nothing.
 * Errors: 422 it is not such a form, a part is missing or not valid; 413 a file of more than `file_bytes_max` bytes, or 30 MiB together; 400 a
 * file that is empty, is not a PDF, JPEG or PNG, or is not of the type that it is sent as; more than 8 files, or several with a PDF among them.
 */
export function readUpload(
  bytes: Buffer | undefined,
  content_type: string | undefined,
  { file_bytes_max }: { file_bytes_max: number },
): Upload {
  const parts = readMultipart(bytes, content_type)
  const text = (name: string): string | undefined =>
    parts
      .find((part) => part.name === name && !part.isFile)
      ?.bytes.subarray(0, FIELD_BYTES_MAX)
      .toString('utf8')
  const user_id = text('user_id')
  const review = text('needs_human_review') ?? 'false'
  const sent = parts.filter(({ name }) => name === 'file')
  const faults = []
  if (!sent.length || sent.some(({ isFile }) => !isFile)) faults.push(fault('file', 'Field required'))
  if (user_id === undefined) faults.push(fault('user_id', 'Field required'))
  else if (!UUID.test(user_id)) faults.push(fault('user_id', 'Input should be a valid UUID'))
  if (!/^(?:true|false|1|0)$/iu.test(review)) faults.push(fault('needs_human_review', 'Input should be a valid boolean'))
  if (faults.length) throw unprocessable(faults)
  if (sent.length > FILES_MAX) throw badRequest(`At most ${FILES_MAX} files can be uploaded`)
  const total = sent.reduce((sum, file) => sum + file.bytes.length, 0)
  if (total > COMBINED_BYTES_MAX || sent.some((file) => file.bytes.length > file_bytes_max))
    throw payloadTooLarge('The file is too large')
  const files = sent.map(fileOf)
  if (files.length > 1 && files.some((file) => file.type === 'application/pdf'))
    throw badRequest('Several files must all be images; a PDF is uploaded alone')
  return { files, user_id: user_id!.toLowerCase(), needs_human_review: /^(?:true|1)$/iu.test(review) }
}

/** What distinguishes an upload from others: a client sends the same upload again with another boundary between its parts. */
export const contentOf = ({ files, user_id, needs_human_review }: Upload) => ({
  user_id,
  needs_human_review,
  files: files.map(({ type, bytes }) => [type, createHash('sha256').update(bytes).digest('base64url')]),
})

const fault = (field: string, msg: string) => ({ loc: ['body', field], msg, type: 'value_error' })

function fileOf({ bytes, type: sent_as }: FormPart): ReportFile {
  if (bytes.length === 0) throw badRequest('The file is empty')
  const type = fileType(bytes)
  if (!type) throw badRequest('The file must be a PDF, a JPEG or a PNG')
  const declared = sent_as.toLowerCase().replace(/;.*$/u, '').trim()
  if (!ANY_TYPE.has(declared) && declared.replace('image/jpg', 'image/jpeg') !== type)
    throw badRequest('The file is not of the type that it was sent as')
  // A copy: the rest of the body need not stay in memory, nor be copied into the thread that opens the file.
  return { bytes: new Uint8Array(bytes), type }
}

/** What a file is by its first bytes; undefined for what is not a PDF, JPEG or PNG. */
export function fileType(bytes: Uint8Array): ReportFile['type'] | undefined {
  const known = SIGNATURES.find(([, signature]) => signature.every((byte, index) => bytes[index] === byte))
  if (known) return known[0]
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PDF_HEADER_WITHIN)).toString('latin1')
  return head.includes('%PDF-') ? 'application/pdf' : undefined
}
