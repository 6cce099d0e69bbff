// Names, units, values and ranges of pictures of which letters, digits, signs or spaces may be misread.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPicture, HEADER, kindsOf, read, row, rows } from '../../../test/support/pictures-of-rows.ts'
import type { PlacedText } from '../../../test/support/report-pages.ts'
import { understand } from './read-report.ts'

test('an unknown test name in a picture is doubtful, and in a text it is read as printed', () => {
  const lines = rows((name, value, index) => row(index === 2 ? 'Chlorlde ofx' : name, value))
  assert.deepEqual(kindsOf(read(lines))[2], ['name_is_unknown'])
  assert.deepEqual(kindsOf(read(lines, 'text'))[2], [])
  assert(read(lines).every(({ findings }, index) => index === 2 || findings.length === 0))
})

test('a name that laboratories use for what has no term is not unknown', () => {
  for (const name of ['Vegetable Cells', 'Large HDL-P', 'Chikungunya IgM', 'Blood Pressure - Systolic', 'LP-IR Score'])
    assert.deepEqual(kindsOf(read(rows((usual, value, index) => row(index === 2 ? name : usual, value))))[2], [], name)
})

test('an unknown name of which each letter is certain is not doubtful, unless its parts together are a known word', () => {
  const kinds = (name: string) =>
    kindsOf(understand([createPicture([HEADER, row(name, '100'), row('Sodium', '140')], 0.99)]).results)[0]
  for (const name of ['Oxidants', 'Neutrophils abs.', 'RA Latex Turbid.', 'R.B.C.', 'S. Paratyphi BH', 'Iron Bind.Cap.(TIBC)'])
    assert(!kinds(name)!.includes('name_is_unknown'), name)
  for (const name of ['Potass i um', 'Conjugated bi l irubin', 'Vitamin D (25-0H)', 'Qxidants,', 'VLDL.Size', 'HSV-1 IgG| Type'])
    assert(kinds(name)!.includes('name_is_unknown'), name)
})

test('a sign and a unit of a picture that are easily misread are doubtful', () => {
  const kinds = (cells: PlacedText[]) =>
    kindsOf(
      read([
        HEADER,
        cells,
        [
          [40, 'Sodium'],
          [220, '140'],
          [300, 'mmol/L'],
          [380, '135 - 145'],
        ],
        row('Urea', '5', '1 - 9'),
      ]),
    )[0]
  const occultBlood = (value: string): PlacedText[] => [
    [40, 'Occult Blood'],
    [220, value],
  ]
  assert(kinds(occultBlood('(±)'))!.includes('value_is_no_result'))
  assert(!kinds(occultBlood('(+)'))!.includes('value_is_no_result'))
  // The end of a name.
  const epithelial = (result: string, unit: string): PlacedText[] => [
    [40, 'Epithelial'],
    [220, result],
    [300, unit],
  ]
  assert(kinds(epithelial('Moderate', 'Cells'))!.includes('unit_is_no_unit'))
  assert(!kinds(epithelial('12', 'cells/uL'))!.includes('unit_is_no_unit'))
  const creatinine = (unit: string): PlacedText[] => [
    [40, 'Creatinine'],
    [220, '118'],
    [300, unit],
    [380, '39 - 259'],
  ]
  const withUnit = (unit: string) =>
    kindsOf(
      read([
        HEADER,
        creatinine(unit),
        [
          [40, 'Glucose'],
          [220, '90'],
          [300, 'mg/dL'],
          [380, '70 - 99'],
        ],
        row('24', '5'),
      ]),
    )[0]
  assert(withUnit('mg/d')!.includes('unit_is_no_unit'))
  assert(!withUnit('mg/dL')!.includes('unit_is_no_unit'))
})

test('a value of a picture with three decimals may have a point in place of a comma between thousands', () => {
  const kinds = (name: string, value: string, range: string) => kindsOfRow(name, value, range).ofPicture
  assert.deepEqual(kinds('Creatinine', '1.284', '800 - 2000'), ['value_is_far_from_range'])
  assert.deepEqual(kinds('Creatinine', '1.284', ''), ['value_is_far_from_range'])
  for (const [name, value, range] of [
    ['Creatinine', '1.284', '0.9 - 1.5'],
    ['Ferritin', '1.284', '0.800 - 0.950'],
    ['Haematocrit', '0.402', '0.5 - 0.6'],
    ['Specific Gravity', '1.015', ''],
  ] as const)
    assert.deepEqual(kinds(name, value, range), [], name)
})

test('a unit in a picture that is not known and a name that ends in a dot are doubtful, and in a text they are read as printed', () => {
  const lines = rows((name, value, index) => row(index === 4 ? 'Glucose.' : name, value))
  lines[2]![2] = [300, 'mmol/..']
  const [ofPicture, ofText] = [kindsOf(understand([createPicture(lines, 1)]).results), kindsOf(read(lines, 'text'))]
  assert.deepEqual([ofPicture[1], ofPicture[4]], [['unit_is_no_unit'], ['name_is_unknown']])
  assert(ofPicture.every((kinds, index) => index === 1 || index === 4 || kinds.length === 0))
  assert(ofText.every((kinds) => kinds.length === 0))
})

const OF_LETTERS = ['name_is_unknown', 'range_is_doubtful', 'value_is_far_from_range']

/** Kinds of findings about letters, digits and signs that a row has in a picture, and that it has in a text. */
function kindsOfRow(name: string, value: string, range: string, neighbors: PlacedText[][] = []) {
  const lines = [HEADER, row(name, value, range), ...rows((usualName, result) => row(usualName, result)).slice(1), ...neighbors]
  const ofLetters = (results: ReturnType<typeof read>) =>
    kindsOf(results).map((kinds) => kinds.filter((kind) => OF_LETTERS.includes(kind)))
  const [ofPicture, ofText] = [ofLetters(read(lines)), ofLetters(read(lines, 'text'))]
  return { ofPicture: ofPicture[0], ofText: ofText[0], isAlone: ofPicture.slice(1).every((kinds) => kinds.length === 0) }
}

test('a name in a picture with spaces or letters that no report prints is doubtful, also where its letters together are a name', () => {
  for (const name of ['HIV1&II', 'Anti HIV1 & II', 'Anti HIV &', 'HIV 1 +2 antibody/antigen', 'Rheumatoid Factor , Quantitative'])
    assert.deepEqual(kindsOfRow(name, '100', '0 - 200').ofPicture, ['name_is_unknown'], name)
  for (const name of ['HIV 1+2 antibody/antigen', 'Rheumatoid Factor, Quantitative', 'Ferritin', 'ANA titre', 'DHEA sulphate'])
    assert(!kindsOfRow(name, '100', '0 - 200').ofPicture!.includes('name_is_unknown'), name)
})

test('a name in a picture that lacks the comma before its specimen is doubtful where other names have it', () => {
  const doubted = (neighbor: string) => kindsOfRow('Ferritin Serum', '100', '0 - 200', [row(neighbor, '20')]).ofPicture
  assert.deepEqual(doubted('Iron, Serum'), ['name_is_unknown'])
  assert.deepEqual(doubted('Iron'), [])
})

test('a name in a picture that lacks the slash that it has wherever it is known is doubtful', () => {
  assert.deepEqual(kindsOfRow('Chol HDL Ratio', '3.2', '0.0 - 5.0').ofPicture, ['name_is_unknown'])
  assert.deepEqual(kindsOfRow('Chol/HDL Ratio', '3.2', '0.0 - 5.0').ofPicture, [])
})

test('what is counted or measured, without what tells of what, is an incomplete name', () => {
  for (const name of ['Count (RBC)', 'Width (RDW)', 'Volume (MPV)', 'Binding Capacity (TIBC)'])
    assert(
      kindsOf(read(rows((usualName, value, index) => row(index === 2 ? name : usualName, value))))[2]!.includes(
        'name_is_incomplete',
      ),
      name,
    )
  const volume = rows((usualName, value, index) => row(index === 2 ? 'Volume (mL)' : usualName, value))
  assert(!kindsOf(read(volume, 'text'))[2]!.includes('name_is_incomplete'))
})

test('a range in a picture that lost a bound, a bracket or a decimal sign is doubtful, and in a text it is read as printed', () => {
  for (const range of ['3.5 -', '- 5.1', '(3.5 - 5.11', '3.5 - 51', '<0', '< 0.0']) {
    const { ofPicture, ofText, isAlone } = kindsOfRow('Potassium', '4.1', range)
    assert.deepEqual([ofPicture, ofText, isAlone], [['range_is_doubtful'], [], true], range)
  }
  for (const range of ['3.5 - 5.1', '(3.5 - 5.1)', '0.8 - 5', '> 3.5', '<0.5'])
    assert.deepEqual(kindsOfRow('Potassium', '4.1', range).ofPicture, [], range)
})

test('open ranges and bounds without a zero are doubtful in a picture only where others are written otherwise', () => {
  const open = [row('Iron', '20', '10-'), row('Ferritin', '30', '-90')]
  assert.deepEqual(kindsOfRow('Potassium', '4.1', '3-').ofPicture, ['range_is_doubtful'])
  assert.deepEqual(kindsOfRow('Potassium', '4.1', '3-', open).ofPicture, [])
  assert.deepEqual(kindsOfRow('Potassium', '.4', '.3 - .5').ofPicture, [])
  assert.deepEqual(kindsOfRow('Potassium', '.4', '.3 - .5', [row('Iron', '0.4', '0.3 - 0.5')]).ofPicture, ['range_is_doubtful'])
})

test('a high bound without decimals is doubtful in a picture where others have them and the value is far below', () => {
  const others = [row('Iron', '2.0', '<8.8')]
  assert.deepEqual(kindsOfRow('Potassium', '2.1', '<50', others).ofPicture, ['range_is_doubtful'])
  assert.deepEqual(kindsOfRow('Potassium', '2.1', '<50', others).ofText, [])
  assert.deepEqual(kindsOfRow('Potassium', '2.1', '<50').ofPicture, [])
  for (const [value, range] of [
    ['22.5', '<50'],
    ['2', '<50'],
    ['2.1', '<55'],
  ] as const)
    assert.deepEqual(kindsOfRow('Potassium', value, range, others).ofPicture, [], `${value} of ${range}`)
})

test('a dot in a name in a picture that may be a dash is doubtful', () => {
  assert.deepEqual(kindsOfRow('CA 19.9', '22', '0 - 35').ofPicture, ['name_is_unknown'])
  assert.deepEqual(kindsOfRow('CA 19-9', '22', '0 - 35').ofPicture, [])
})

test('a whole number in a picture far above a range of decimal numbers may have lost its decimal sign', () => {
  const kinds = (value: string, range: string) => kindsOfRow('C-Reactive Protein', value, range)
  assert.deepEqual(kinds('85', '0.0 - 5.0').ofPicture, ['value_is_far_from_range'])
  assert.deepEqual(kinds('85', '0.0 - 5.0').ofText, [])
  for (const [value, range] of [
    ['85.0', '0.0 - 5.0'],
    ['8', '0.0 - 5.0'],
    ['85', '0 - 5'],
  ] as const)
    assert.deepEqual(kinds(value, range).ofPicture, [], `${value} of ${range}`)
})

test('a result with an unknown word in a picture is doubtful, unless its letters are certain and may be one word', () => {
  const isDoubtful = (value: string, confidence: number) => {
    const cells = (name: string, result: string): PlacedText[] => [
      [40, name],
      [220, result],
    ]
    const lines = [HEADER, cells('Mucus', value), cells('Occult Blood', 'Negative'), row('Sodium', '140')]
    return kindsOf(understand([createPicture(lines, confidence)]).results)[0]!.includes('value_is_no_result')
  }
  for (const value of ['Present', 'Pale yellow', 'Not seen', 'No parasites seen', 'Semi-formed'])
    assert(!isDoubtful(value, 0.9), value)
  assert(isDoubtful('Strwa coxured seen', 0.9))
  assert(!isDoubtful('Balantidium seen', 0.99))
  assert(isDoubtful('Entamoebahistolyticacystsseen', 0.99))
})

test('the first hour of a sedimentation rate is no misread number', () => {
  const rate: PlacedText[] = [
    [40, 'E.S.R. (1st hour)'],
    [220, '34'],
    [300, 'mm/hr'],
    [380, '0 - 20'],
  ]
  assert.deepEqual(kindsOf(read([HEADER, rate, row('Sodium', '140')]))[0], [])
})
