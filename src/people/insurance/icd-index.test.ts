import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { buildIcdIndex, searchIndex } from './icd-index.ts'
import { isSecondary, toStoredCode, toDisplayCode } from './icd-codes.ts'

const index = buildIcdIndex(
  [
    'E109\tType 1 diabetes mellitus without complications\t0',
    'E119\tType 2 diabetes mellitus without complications\t0',
    'E1165\tType 2 diabetes mellitus with hyperglycemia\t0',
    'E785\tHyperlipidemia, unspecified\t0',
    'G63\tPolyneuropathy in diseases classified elsewhere\t1',
    'M352\tBehcet’s disease İ\t0',
    'Z131\tEncounter for screening for diabetes mellitus\t0',
  ]
    .sort()
    .join('\n'),
)
const searchCodes = (query: string) => searchIndex(index, query).map(({ diagnosis_code }) => diagnosis_code)

describe('the search for diagnoses', () => {
  test('finds by a prefix of a code, with or without its dot, in order', () => {
    assert.deepEqual(searchCodes('E11'), ['E11.65', 'E11.9'])
    assert.deepEqual(searchCodes('e11.'), ['E11.65', 'E11.9'])
    assert.deepEqual(searchCodes('E11.9'), ['E11.9'])
    assert.deepEqual(searchCodes('e119'), ['E11.9'])
    assert.deepEqual(searchCodes('Z'), ['Z13.1'])
  })

  test('finds by words in any order, also within words', () => {
    assert.deepEqual(searchCodes('hyperglycemia type'), ['E11.65'])
    assert.deepEqual(searchCodes('LIPID'), ['E78.5'])
    assert.deepEqual(searchCodes('e11 hyper'), ['E11.65'])
    assert.deepEqual(searchCodes('without 1 mellitus')[0], 'E10.9')
  })

  test('ranks whole words first, then prefixes of words, then shorter texts', () => {
    assert.deepEqual(searchCodes('type 1 diabetes')[0], 'E10.9')
    assert.deepEqual(searchCodes('diabetes'), ['E11.65', 'Z13.1', 'E10.9', 'E11.9'])
  })

  test('finds the first and the last diagnosis, and returns whether they are secondary', () => {
    assert.deepEqual(searchCodes('E10.9'), ['E10.9'])
    assert.deepEqual(searchCodes('Encounter'), ['Z13.1'])
    const [one] = searchIndex(index, 'neuropathy')
    assert.deepEqual(one, {
      diagnosis_code: 'G63',
      description: 'Polyneuropathy in diseases classified elsewhere',
      is_secondary: true,
    })
  })

  test('finds nothing for an empty query, spaces, a single letter within words, or without codes', () => {
    for (const query of ['xyzzy', '  ', 'i', '.', 'E11.9 lipid']) assert.deepEqual(searchCodes(query), [])
    assert.deepEqual(searchIndex(buildIcdIndex(''), 'E11'), [])
  })
})

test('codes are stored without their dot and shown with it', () => {
  const texts = { 'e11.9': 'E119', E119: 'E119', ' Z3A.08 ': 'Z3A08', I10: 'I10', 'T78.40XA': 'T7840XA' }
  for (const [text, code] of Object.entries(texts)) assert.equal(toStoredCode(text), code)
  for (const text of ['', 'E1', 'E.119', 'E11.', '1E1', 'E11.9.1', 'E11 9', 'T78.40XAA', 'Ｅ11'])
    assert.equal(toStoredCode(text), undefined, text)
  assert.deepEqual(['I10', 'E119', 'T7840XA'].map(toDisplayCode), ['I10', 'E11.9', 'T78.40XA'])
})

test('a diagnosis caused by another disease is secondary', () => {
  assert.equal(isSecondary('Myositis in diseases classified elsewhere'), true)
  assert.equal(isSecondary('Eosinophilia in other diseases classified elsewhere'), true)
  assert.equal(isSecondary('Fever presenting with conditions classified elsewhere'), false)
  assert.equal(isSecondary('Type 2 diabetes mellitus'), false)
})
