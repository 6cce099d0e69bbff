import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Options } from './differences.ts'
import { OptionError, setWrittenOption } from './written-options.ts'

describe('a typed option', () => {
  const read = (path: string, text: string, isFile = false): unknown => {
    const options: Options = {}
    setWrittenOption(options, path, text, isFile)
    return path.split('.').reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], options)
  }

  test('is the text as it stands, and an empty value means that of the preset', () => {
    assert.equal(read('order_number.pattern', '{number}-*'), '{number}-*')
    assert.equal(read('identity.our_facility', 'A "quoted" name'), 'A "quoted" name')
    assert.equal(read('text.delimiters', '"^~\\&'), '"^~\\&')
    assert.equal(read('patient.id_type', ''), undefined)
  })

  test('that is a JSON string means its text, also an empty one', () => {
    assert.equal(read('patient.id_type', '""'), '')
    assert.equal(read('acknowledgment.accept_condition', '""'), '')
    assert.equal(read('patient.id_type', '"PI"'), 'PI')
    assert.equal(read('patient.id_type', '"\\"\\""'), '""')
    assert.throws(() => read('patient.id_type', '"a"b"'), OptionError)
  })

  test('from a file is the text as it stands', () => {
    assert.equal(read('transport.sftp.password', '"fictional"', true), '"fictional"')
  })
})
