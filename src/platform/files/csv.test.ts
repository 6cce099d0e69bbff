// The CSV reader: valid and invalid texts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvSizeMax, parseCsv } from './csv.ts'

test('rows are read by column name, as text, untrimmed', () => {
  assert.deepEqual(parseCsv('id,name\n1, blood \n2,\n'), [
    { id: '1', name: ' blood ' },
    { id: '2', name: '' },
  ])
})

test('a quoted field keeps commas, doubled quotes and line breaks', () => {
  assert.deepEqual(parseCsv('a,b\n"x,y","say ""hi""\nthere"\n'), [{ a: 'x,y', b: 'say "hi"\nthere' }])
  assert.deepEqual(parseCsv('a,b\n"",""""\n'), [{ a: '', b: '"' }])
})

test('CRLF, a byte order mark and a missing final line end are accepted', () => {
  assert.deepEqual(parseCsv('\uFEFFa,b\r\n1,2\r\n3,4'), [
    { a: '1', b: '2' },
    { a: '3', b: '4' },
  ])
})

test('a header alone gives no rows', () => {
  assert.deepEqual(parseCsv('a,b\n'), [])
})

const refused: [name: string, text: string, message: RegExp][] = [
  ['an empty text', '', /^Error: csv line 1: no header$/],
  ['a column without a name', 'a,\n1,2\n', /csv line 1: column without a name/],
  ['a repeated column', 'a,a\n1,2\n', /csv line 1: column name repeated/],
  ['a row that is too short', 'a,b\n1,2\n3\n', /csv line 3: record inconsistent columns/],
  ['a row that is too long', 'a,b\n1,2,3\n', /csv line 2: record inconsistent columns/],
  ['a trailing comma', 'a,b\n1,2,', /csv line 2: record inconsistent columns/],
  ['an empty line', 'a,b\n\n1,2\n', /csv line 2: record inconsistent columns/],
  ['a quote inside a bare field', 'a,b\n1,2"x"\n', /csv line 2: invalid opening quote/],
  ['text after a closing quote', 'a,b\n"1"x,2\n', /csv line 2: invalid closing quote/],
  ['a quote that is never closed', 'a,b\n1,2\n"3,4\n', /csv line 3: quote not closed/],
  ['a lone carriage return', 'a,b\n1,2\r3,4\n', /csv line 2: .*carriage return/],
  ['a lone carriage return that ends the header', 'a,b\r1,2\r', /csv line 1: .*carriage return/],
  ['a fault after a field of two lines', 'a,b\n"1\n1",2\n3\n', /csv line 4: record inconsistent columns/],
]

for (const [name, text, message] of refused)
  test(`${name} is rejected with its line`, () => assert.throws(() => parseCsv(text), message))

test('a text beyond the limit is rejected without being parsed', () => {
  assert.throws(() => parseCsv('a\n' + 'x'.repeat(csvSizeMax)), /csv longer than 8388608 characters/)
})
