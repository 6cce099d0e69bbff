import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withLineEnds } from './folder-writer.ts'

test('segments in files end as the laboratory reads them, and no other byte changes', () => {
  const message = Buffer.from('MSH|^~\\&|Ä\rPID|1\r', 'latin1')
  const written = (line_end: 'CR' | 'CRLF' | 'LF') => Buffer.from(withLineEnds(message, line_end)).toString('latin1')
  assert.equal(written('CR'), message.toString('latin1'))
  assert.equal(written('CRLF'), 'MSH|^~\\&|Ä\r\nPID|1\r\n')
  assert.equal(written('LF'), 'MSH|^~\\&|Ä\nPID|1\n')
})
