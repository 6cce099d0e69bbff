// Forms with files, as clients write them and as a hostile caller does.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Problem } from '../runtime/problem.ts'
import { readMultipart } from './multipart.ts'

const MIB = 1024 * 1024
const TYPE = 'multipart/form-data; boundary=of-a-test'
const read = (text: string, type = TYPE) =>
  readMultipart(Buffer.from(text, 'latin1'), type).map(({ name, isFile, type: sent, bytes }) => [
    name,
    isFile,
    sent,
    bytes.toString('latin1'),
  ])

const readStatus = (body: Buffer | undefined, type = TYPE): number => {
  try {
    readMultipart(body, type)
  } catch (error) {
    if (error instanceof Problem) return error.status
    throw error
  }
  return 200
}

describe('a form', () => {
  test('is read as clients write it, with any contents of its files', async () => {
    const form = new FormData()
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256))
    form.append('user_id', 'ä fictional "user"')
    form.append('file', new Blob([bytes], { type: 'application/pdf' }), 'a "report"; name="user_id".pdf')
    form.append('file', new Blob(['\r\n--of-a-test\r\n']), 'b')
    form.append('empty', '')
    const sent = new Response(form)
    const parts = readMultipart(Buffer.from(await sent.arrayBuffer()), sent.headers.get('content-type')!)
    assert.deepEqual(
      parts.map(({ name, isFile, type }) => [name, isFile, type]),
      [
        ['user_id', false, ''],
        ['file', true, 'application/pdf'],
        ['file', true, 'application/octet-stream'],
        ['empty', false, ''],
      ],
    )
    assert.equal(parts[0]!.bytes.toString('utf8'), 'ä fictional "user"')
    assert(parts[1]!.bytes.equals(bytes))
    assert.equal(parts[2]!.bytes.toString(), '\r\n--of-a-test\r\n')
    assert.equal(parts[3]!.bytes.length, 0)
  })

  test('may have a preamble, an epilogue, names without quotes and parts without a header', () => {
    const body =
      'ignored\r\n--of-a-test  \r\nContent-Disposition: form-data; filename=a.pdf; name=file\r\nContent-Type: image/png\r\n\r\nPNG\r\n--of-a-test\r\n\r\nnameless\r\n--of-a-test--ignored'
    assert.deepEqual(read(body), [
      ['file', true, 'image/png', 'PNG'],
      ['', false, '', 'nameless'],
    ])
  })

  test('is rejected if the body is not a form, or does not end', () => {
    for (const [body, type] of [
      ['', TYPE],
      ['--of-a-test', TYPE],
      ['--of-a-test\r\n', TYPE],
      ['--of-a-test\r\n\r\nx', TYPE],
      ['--of-a-test\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--of-a-tes', TYPE],
      ['--other\r\n\r\nx\r\n--other--', TYPE],
      ['--of-a-test\r\n\r\nx\r\n--of-a-test--', 'multipart/form-data'],
      ['--of-a-test\r\n\r\nx\r\n--of-a-test--', `multipart/form-data; boundary=${'b'.repeat(71)}`],
      ['--of-a-test\r\n\r\nx\r\n--of-a-test--', 'application/json; boundary=of-a-test'],
      [`--of-a-test\r\n${'a: b\r\n'.repeat(2000)}\r\nx\r\n--of-a-test--`, TYPE],
    ] as const)
      assert.equal(readStatus(Buffer.from(body), type), 422, body.slice(0, 60))
    assert.equal(readStatus(undefined), 422)
  })

  test('of many parts, or with a long header, ends at the first thing that is too much', () => {
    const part = '--of-a-test\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nx\r\n'
    const form = (n: number) => Buffer.from(`${part.repeat(n)}--of-a-test--`)
    assert.equal(readMultipart(form(32), TYPE).length, 32)
    for (const [body, fault] of [
      [form(33), 'must have at most 32 parts'],
      [Buffer.from(part.repeat(20_000)), 'must have at most 32 parts'],
      [Buffer.from(`--of-a-test\r\nContent-Disposition: form-data; name="${'\\"'.repeat(MIB)}`), 'must be a multipart form'],
      [Buffer.from(`--of-a-test\r\n${'a: b\r\n'.repeat(MIB / 8)}`), 'must be a multipart form'],
    ] as const)
      assert.throws(
        () => readMultipart(body, TYPE),
        (error) => JSON.stringify((error as Problem).body).includes(fault),
      )
  })
})
