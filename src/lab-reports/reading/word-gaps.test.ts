// Words that text recognition has cut in two, run together, or read with a dot for a letter.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PageText } from '../pages/page.ts'
import { spelledPage } from './spelling.ts'

/** Words of one line with a space before each, in heights of a letter. */
function read(
  words: readonly [text: string, space: number, confidence?: number][],
  source: PageText['source'] = 'ocr',
): string[] {
  let left = 36
  const placed = words.map(([text, space, confidence = 0.98]) => {
    const box = { left: left + space * 8, right: left + space * 8 + text.length * 4, top: 100, bottom: 108 }
    left = box.right
    return { text, box, confidence }
  })
  return spelledPage({ number: 1, width: 612, height: 792, source, words: placed }).words.map(({ text }) => text)
}

test('a word of reports that is cut in two is put together, unless both parts are words', () => {
  assert.deepEqual(
    read([
      ['Neutrophi', 0],
      ['ls', 0.25],
    ]),
    ['Neutrophils'],
  )
  assert.deepEqual(
    read([
      ['PATI', 0],
      ['ENT:', 0.3],
    ]),
    ['PATIENT:'],
  )
  assert.deepEqual(
    read([
      ['Vitamin', 0],
      ['B', 0.4],
      ['12:', 0.27],
      ['340', 3],
    ]),
    ['Vitamin', 'B12:', '340'],
  )
  assert.deepEqual(
    read([
      ['Hemoglobin', 0],
      ['A', 0.4],
      ['1c', 0.25],
    ]),
    ['Hemoglobin', 'A1c'],
  )
  assert.deepEqual(
    read([
      ['ANTITHROMBIN', 0],
      ['I', 0.5],
      ['I', 0.25],
      ['I', 0.25],
      ['ACT', 0.6],
    ]),
    ['ANTITHROMBIN', 'III', 'ACT'],
  )
  assert.deepEqual(
    read([
      ['H', 0],
      ['IGH', 0.25],
    ]),
    ['HIGH'],
  )
  // `mode` and `rate` are words of rare names.
  assert.deepEqual(read([['Moderate', 0]]), ['Moderate'])
  for (const apart of [
    [
      ['Neutrophi', 0],
      ['ls', 3],
    ],
    [
      ['Total', 0],
      ['protein', 0.3],
    ],
    [
      ['Vitamin', 0],
      ['B', 0.4],
      ['12', 2],
    ],
    [
      ['sec', 0],
      ['H', 0.3],
      ['1', 0.2],
    ],
  ] as [string, number][][])
    assert.deepEqual(
      read(apart),
      apart.map(([text]) => text),
    )
  assert.deepEqual(
    read(
      [
        ['Neutrophi', 0],
        ['ls', 0.25],
      ],
      'text',
    ),
    ['Neutrophi', 'ls'],
  )
})

test('two words of reports that are run together are cut, unless they are one', () => {
  assert.deepEqual(read([['Lipidprofile:', 0]]), ['Lipid', 'profile:'])
  assert.deepEqual(read([['FlagResult', 0]]), ['Flag', 'Result'])
  assert.deepEqual(read([['Aniongap', 0]]), ['Anion', 'gap'])
  assert.deepEqual(read([['VitaminB12,', 0]]), ['Vitamin', 'B12,'])
  assert.deepEqual(read([['HepCVirus', 0]]), ['Hep', 'C', 'Virus'])
  for (const word of ['McSample', 'NTproBNP', 'HbA1c']) assert.deepEqual(read([[word, 0]]), [word])
  for (const word of ['anticoagulation', 'transfusion', 'Cholesterol', 'Fictional']) assert.deepEqual(read([[word, 0]]), [word])
})

test('a space that stands one letter too far to the left is moved', () => {
  const apart = (a: string, b: string) =>
    read([
      [a, 0],
      [b, 0.3],
    ])
  assert.deepEqual(apart('Epithelia', 'lCells'), ['Epithelial', 'Cells'])
  // `lrange` looks like `orange`.
  assert.deepEqual(apart('Norma', 'lrange:'), ['Normal', 'range:'])
  assert.deepEqual(apart('Direct', 'bilirubin'), ['Direct', 'bilirubin'])
  assert.deepEqual(apart('Total', 'protein'), ['Total', 'protein'])
})

test('the first letter of a short word that was lost is the one that makes a word of reports', () => {
  assert.deepEqual(read([['erum', 0, 0.7]]), ['Serum'])
  assert.deepEqual(read([['rine', 0, 0.7]]), ['Urine'])
  for (const word of ['erum', 'mild', 'cell']) assert.deepEqual(read([[word, 0, 0.99]]), [word])
})

test('a dot in a word that was hardly read is a letter where one word alone has one there', () => {
  assert.deepEqual(read([['Ur.a', 0, 0.48]]), ['Urea'])
  assert.deepEqual(read([['Leukocyt.s......', 0, 0.44]]), ['Leukocytes......'])
  for (const word of ['AST.An', 'Bio.Ref.', 'cells/cu.mm']) assert.deepEqual(read([[word, 0, 0.5]]), [word])
  assert.deepEqual(read([['Ur.a', 0, 0.9]]), ['Ur.a'])
})

test('the unit of some languages is not read as a word with a small letter', () => {
  assert.deepEqual(read([['µUl/mL', 0]]), ['µUI/mL'])
})

test('a capital letter before a word, and a flag behind a number, are words of their own', () => {
  const texts = {
    BSurface: ['B', 'Surface'],
    GRatio: ['G', 'Ratio'],
    '19N': ['19', 'N'],
    '4,9N': ['4,9', 'N'],
    '>90N': ['>90', 'N'],
    '107H': ['107', 'H'],
    '0.4L': ['0.4', 'L'],
    '12.1HH': ['12.1', 'HH'],
  }
  for (const [text, meant] of Object.entries(texts)) assert.deepEqual(read([[text, 0]]), meant)
  for (const text of ['HDL', 'IgA', 'McSample', 'N19', '10N/L', 'TSH']) assert.deepEqual(read([[text, 0]]), [text])
  assert.deepEqual(read([['19N', 0]], 'text'), ['19N'])
})

test('names that have lost their spaces are parted at their capitals, and a word of results from the word before it', () => {
  const parted = {
    FastingBloodSugar: 'Fasting Blood Sugar',
    ANATiter: 'ANA Titer',
    RNPAntibodies: 'RNP Antibodies',
    KappaLightChain: 'Kappa Light Chain',
    IgGAntibody: 'IgG Antibody',
    parasitesseen: 'parasites seen',
    QuantiFERON: 'QuantiFERON',
    HemoCue: 'HemoCue',
    LabCorp: 'LabCorp',
    HBsAg: 'HBsAg',
    McFictional: 'McFictional',
  }
  for (const [text, words] of Object.entries(parted)) assert.equal(read([[text, 0]]).join(' '), words, text)
})

test('a count of cells in a field is no negative number', () => {
  assert.deepEqual(
    read([
      ['4', 0],
      ['-6/hpf', 0.5],
    ]),
    ['4', '-', '6/hpf'],
  )
})

test('a number and a word behind a dash that have a gap before them are parts of the name', () => {
  assert.deepEqual(
    read([
      ['Coronavirus', 0],
      ['HKU', 0.4],
      ['1', 0.2],
    ]),
    ['Coronavirus', 'HKU1'],
  )
  assert.deepEqual(
    read([
      ['LDL', 0],
      ['-CHOLESTEROL', 0.3],
    ]),
    ['LDL-CHOLESTEROL'],
  )
  assert.deepEqual(read([['Nil/hpf', 0]]), ['Nil', '/hpf'])
  assert.deepEqual(read([['33*%', 0]]), ['33*', '%'])
})
