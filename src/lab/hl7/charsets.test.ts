// Character sets of table 0211: strict in both directions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { charsetName, decodeText, detectUnicode, encodeText } from './charsets.ts'

const bytes = (hex: string) => Buffer.from(hex, 'hex')

/** Each set of the table with text in it. */
const samples: [charset: string, hex: string, text: string][] = [
  ['ASCII', '4d75', 'Mu'],
  ['ISO IR6', '4d75', 'Mu'],
  ['8859/1', '4dfc6c', 'Mül'],
  ['8859/2', 'a3b1', 'Łą'],
  ['8859/3', 'a6fe', 'Ĥŝ'],
  ['8859/4', 'a1ff', 'Ą˙'],
  ['8859/5', 'bbe6', 'Лц'],
  ['8859/6', 'c7e4', 'ال'],
  ['8859/7', 'c1e1', 'Αα'],
  ['8859/8', 'e0fa', 'את'],
  ['8859/9', 'ddfe', 'İş'],
  ['8859/15', 'a4bd', '€œ'],
  ['ISO IR14', 'd4cfc0de', 'ﾔﾏﾀﾞ'],
  ['ISO IR87', '1b2442457c1b2842', '糖'],
  ['ISO IR159', '61', 'a'],
  ['JIS X 0202', '1b24423b3345441b2842', '山田'],
  ['JAS2020', '1b24423b3345441b2842', '山田'],
  ['GB 18030-2000', 'c0eec3f7', '李明'],
  ['KS X 1001', 'b1e8', '김'],
  ['BIG-5', 'a7f5', '李'],
  ['UNICODE', 'c5816163', 'Łac'],
  ['UNICODE UTF-8', 'efbbbfc58161', 'Ła'],
  ['UNICODE UTF-16', 'fffe4101', 'Ł'],
  ['UNICODE UTF-16', 'feff0141', 'Ł'],
  ['UNICODE UTF-32', 'fffe000041010000', 'Ł'],
]

test('every set of the table has its characters', () => {
  for (const [charset, hex, text] of samples) assert.equal(decodeText(bytes(hex), charset), text, charset)
})

test('bytes that are not of the set are an error that names it', () => {
  for (const [charset, hex] of [
    ['ASCII', 'fc'],
    ['UNICODE UTF-8', '4dfc6c'],
    ['UNICODE UTF-8', 'c3'],
    ['8859/1', '93'],
    ['8859/3', 'a5'],
    ['8859/7', 'ff'],
    ['JIS X 0202', '1b2442ff'],
    ['GB 18030-2000', 'ff'],
    ['KS X 1001', 'ff'],
    ['BIG-5', 'ff'],
    ['UNICODE UTF-16', 'fffe00d8'],
    ['UNICODE UTF-32', 'fffe000000d80000'],
    ['WINDOWS-1252', '81'],
  ] as const)
    assert.throws(() => decodeText(bytes(hex), charset), {
      name: 'UndecodableMessage',
      message: `The message is not text of the character set ${charset}`,
    })
})

test('a set without a decoder is an error, and an unknown name is not repeated', () => {
  assert.throws(() => decodeText(bytes('41'), 'CNS 11643-1992'), { message: 'The character set CNS 11643-1992 is not supported' })
  assert.throws(() => decodeText(bytes('41'), 'Doe^John'), {
    message: 'The character set that the message names is not supported',
  })
})

test('names in other spellings are those of the table', () => {
  const names = ['UTF-8', 'utf8', 'UNICODE UTF-8', 'ISO-8859-1', 'ISO8859/1', '8859-15', 'windows-1252', 'cp1252', 'us-ascii']
  assert.deepEqual(names.map(charsetName), [
    'UNICODE UTF-8',
    'UNICODE UTF-8',
    'UNICODE UTF-8',
    '8859/1',
    '8859/1',
    '8859/15',
    'WINDOWS-1252',
    'WINDOWS-1252',
    'ASCII',
  ])
  assert.equal(charsetName('LATIN'), undefined)
})

test('text is written in each single-byte set, and a character that the set lacks is an error', () => {
  for (const [charset, hex, text] of samples)
    if (charset.startsWith('8859')) assert.equal(encodeText(text, charset).toString('hex'), hex, charset)
  assert.equal(encodeText('Łą', 'UNICODE UTF-8').toString(), 'Łą')
  assert.equal(encodeText('“', 'WINDOWS-1252').toString('hex'), '93')
  assert.throws(() => encodeText('Ł', '8859/1'), { message: 'The character set 8859/1 lacks a character of the message' })
  assert.throws(() => encodeText('ü', 'ASCII'), { message: 'The character set ASCII lacks a character of the message' })
  assert.throws(() => encodeText('\ud800', 'UNICODE UTF-8'), { name: 'UnreadableMessage' })
})

test('forms of Unicode are recognized by their first bytes', () => {
  assert.deepEqual(
    ['efbbbf4d', 'fffe4d00', 'feff004d', '4d005300', '004d0053', 'fffe00004d000000', '4d5348'].map((hex) =>
      detectUnicode(bytes(hex)),
    ),
    ['UNICODE UTF-8', 'UNICODE UTF-16', 'UNICODE UTF-16', 'UNICODE UTF-16', 'UNICODE UTF-16', 'UNICODE UTF-32', undefined],
  )
})
