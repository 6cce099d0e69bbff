// How certain rows of pictures are: names that nobody uses, ranges that may have moved, pages of which much is doubtful.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import type { PageText } from '../pages/page.ts'
import { understand } from './read-report.ts'

const HEADER: PlacedText[] = [
  [40, 'Test'],
  [220, 'Result'],
  [300, 'Unit'],
  [380, 'Reference Range'],
]
const row = (name: string, value: string, range = '0 - 200'): PlacedText[] => [
  [40, name],
  [220, value],
  [300, 'mmol/L'],
  ...(range ? [[380, range] as PlacedText] : []),
]
const VALUES = {
  Sodium: '140',
  Potassium: '4.1',
  Chloride: '101',
  Calcium: '2.4',
  Glucose: '5.2',
  Magnesium: '0.8',
  Phosphate: '1.1',
  Lactate: '1.2',
  Urea: '5.0',
  Bicarbonate: '25',
}
const rows = (change: (name: string, value: string, index: number) => PlacedText[]): PlacedText[][] => [
  HEADER,
  ...Object.entries(VALUES).map(([name, value], index) => change(name, value, index)),
]

/** A page of which each letter is quite sure, and none certain. */
const createPicture = (lines: PlacedText[][], confidence = 0.95): PageText => {
  const page = pageOfLines(lines)
  return { ...page, source: 'ocr', words: page.words.map((word) => ({ ...word, confidence })) }
}
const read = (lines: PlacedText[][], source: PageText['source'] = 'ocr') =>
  understand([source === 'ocr' ? createPicture(lines) : { ...pageOfLines(lines), source }]).results
const kindsOf = (results: ReturnType<typeof read>) => results.map(({ findings }) => findings.map(({ kind }) => kind))

test('an unknown test name in a picture is doubtful, and in a text it is read as printed', () => {
  const lines = rows((name, value, index) => row(index === 2 ? 'Chlorlde ofx' : name, value))
  assert.deepEqual(kindsOf(read(lines))[2], ['name_is_unknown'])
  assert.deepEqual(kindsOf(read(lines, 'text'))[2], [])
  assert(read(lines).every(({ findings }, index) => index === 2 || findings.length === 0))
})

test('an unknown name of which each letter is certain is not doubtful, unless its parts together are a known word', () => {
  const kinds = (name: string) =>
    kindsOf(understand([createPicture([HEADER, row(name, '100'), row('Sodium', '140')], 0.99)]).results)[0]
  for (const name of ['Oxidants', 'Neutrophils abs.', 'R.B.C.', 'S. Paratyphi BH'])
    assert(!kinds(name)!.includes('name_is_unknown'), name)
  for (const name of ['Potass i um', 'Conjugated bi l irubin', 'Vitamin D (25-0H)', 'Qxidants,'])
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
  for (const name of ['HIV1&II', 'HIV 1 +2 antibody/antigen', 'Rheumatoid Factor , Quantitative', 'Vitamin D (25-0H)'])
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
  for (const range of ['3.5 -', '- 5.1', '(3.5 - 5.11', '3.5 - 51']) {
    const { ofPicture, ofText, isAlone } = kindsOfRow('Potassium', '4.1', range)
    assert.deepEqual([ofPicture, ofText, isAlone], [['range_is_doubtful'], [], true], range)
  }
  for (const range of ['3.5 - 5.1', '(3.5 - 5.1)', '0.8 - 5', '> 3.5'])
    assert.deepEqual(kindsOfRow('Potassium', '4.1', range).ofPicture, [], range)
})

test('open ranges and bounds without a zero are doubtful in a picture only where others are written otherwise', () => {
  const open = [row('Iron', '20', '10-'), row('Ferritin', '30', '-90')]
  assert.deepEqual(kindsOfRow('Potassium', '4.1', '3-').ofPicture, ['range_is_doubtful'])
  assert.deepEqual(kindsOfRow('Potassium', '4.1', '3-', open).ofPicture, [])
  assert.deepEqual(kindsOfRow('Potassium', '.4', '.3 - .5').ofPicture, [])
  assert.deepEqual(kindsOfRow('Potassium', '.4', '.3 - .5', [row('Iron', '0.4', '0.3 - 0.5')]).ofPicture, ['range_is_doubtful'])
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

test('a text in a picture of which no letter was recognized gives a finding only if it has ink that belongs to no word', () => {
  const page = withSigns({ 4: 't' })
  const isSign = ({ text }: { text: string }) => text === 't'
  const unread = page.words.filter(isSign).map(({ box }) => box)
  const words = page.words.filter((word) => !isSign(word))
  const kinds = (ink: PageText['ink']) => kindsOf(understand([{ ...page, words, unread, ink: ink! }]).results)[4]
  const inkOfWords = words.map(({ box }) => box)
  assert.deepEqual(kinds(inkOfWords), [])
  assert(kinds([...inkOfWords, ...unread])!.includes('letters_not_read'))
})

test('a name below the rows of a picture that has nothing beside it asks for a person only if there is ink that was not read', () => {
  const note: PlacedText[] = [[40, 'RBC normocytic normochromic cells are seen']]
  const lines = [...rows((name, value) => row(name, value)), [[40, 'Ferritin'] as PlacedText], note]
  const page: PageText = { ...pageOfLines(lines), source: 'ocr' }
  const ofWords = page.words.map(({ box }) => box)
  const { box } = page.words.find(({ text }) => text === 'Ferritin')!
  const lost = { ...box, left: 220, right: 230 }
  const findings = (ink: PageText['ink']) => understand([{ ...page, ...(ink && { ink }) }]).findings!.map(({ kind }) => kind)
  assert.deepEqual(findings(undefined), ['line_without_row'])
  assert.deepEqual(findings(ofWords), [])
  assert(findings([...ofWords, lost]).includes('line_without_row'))
})

test('a name alone in a picture asks for a person if more than a fifth of the rows of its page are doubtful', () => {
  const reportKinds = (doubtfulCount: number) => {
    const misread = rows((name, value, index) => row(index < doubtfulCount ? `${name} ofx` : name, value))
    const note: PlacedText[] = [[40, 'RBC normocytic normochromic cells are seen']]
    const lines = [...misread, [[40, 'Ferritin'] as PlacedText], note]
    const page = createPicture(lines)
    const ofText = [2, 3, 4].map((number): PageText => ({ ...pageOfLines(rows((name, value) => row(name, value))), number }))
    return understand([{ ...page, ink: page.words.map(({ box }) => box) }, ...ofText]).findings!.map(({ kind }) => kind)
  }
  assert.deepEqual(reportKinds(0), [])
  // Of the rows of all pages they are less than a fifth.
  assert.deepEqual(reportKinds(5), ['line_without_row'])
})

test('two numbers of laboratories behind names of a picture are how the report prints them, and one word is not', () => {
  const withWord = (...places: number[]) =>
    rows((name, value, index) =>
      [...row(name, value), ...(places.includes(index) ? [[150, 'o1'] as PlacedText] : [])].toSorted((a, b) => a[0] - b[0]),
    )
  assert.deepEqual(kindsOf(read(withWord(2, 5))).flat(), [])
  assert.deepEqual(kindsOf(read(withWord(2))).flat(), ['text_not_read'])
})

/** A column of signs without a name between names and results. `sign` is that of the row of the index. */
function withSigns(sign: Record<number, string>): PageText {
  const lines = rows((name, value, index) => {
    const cells = row(name, index === 1 ? '7.1' : value, index === 1 ? '3.5 - 5.1' : undefined)
    return sign[index] ? [cells[0]!, [150, sign[index]] as PlacedText, ...cells.slice(1)] : cells
  })
  return { ...pageOfLines(lines), source: 'ocr' }
}

test('an arrow in a picture that was read as a digit is not the result, and gives no finding if the result is outside of its range', () => {
  const valuesOf = (page: PageText) => understand([page]).results.map(({ value }) => value)
  const page = withSigns({ 1: '1', 4: '1' })
  assert.deepEqual(valuesOf(page), valuesOf(withSigns({})))
  const kinds = kindsOf(understand([page]).results)
  assert.deepEqual([kinds[1], kinds[4]], [[], ['text_not_read']])
})

test('an arrow in a picture of which no letter was recognized gives a finding only if the result is within its range', () => {
  const page = withSigns({ 1: 't', 4: 't' })
  const isSign = ({ text }: { text: string }) => text === 't'
  const unread = page.words.filter(isSign).map(({ box }) => box)
  const kinds = kindsOf(understand([{ ...page, words: page.words.filter((word) => !isSign(word)), unread }]).results)
  assert.deepEqual([kinds[1], kinds[4]], [[], ['letters_not_read']])
})

const cardsOf = (ranges: readonly [left: string, right: string][]): PlacedText[][] =>
  ranges.flatMap(([left, right], index): PlacedText[][] => [
    [
      [40, ['Sodium', 'Calcium', 'Glucose'][index]!],
      [300, ['Potassium', 'Chloride', 'Urea'][index]!],
    ],
    [
      [40, '44'],
      [110, 'mmol/L'],
      [304, '57'],
      [370, 'mmol/L'],
    ],
    [[40, left], [299, right] as PlacedText],
  ])

const rangeKindsOf = (results: ReturnType<typeof read>) =>
  kindsOf(results).map((kinds) => kinds.filter((kind) => kind.startsWith('range_')))

test('a card of a picture does not take the range of the next one, and says that its own was not understood', () => {
  const results = read(
    cardsOf([
      ['Reference: 2 39', 'Reference: 0 - 99'],
      ['Reference: 30 - 60', 'Reference: s 130'],
    ]),
  )
  assert.deepEqual(
    results.map(({ test_name, min_reference_range: min, max_reference_range: max }) => [test_name, min, max]),
    [
      ['Sodium', null, null],
      ['Potassium', 0, 99],
      ['Calcium', 30, 60],
      ['Chloride', null, 130],
    ],
  )
  assert.deepEqual(rangeKindsOf(results), [['range_is_not_understood'], [], [], []])
})

test('a card of a picture without a range is doubtful where the others have one', () => {
  const ranges: [string, string][] = [
    ['Reference: 30 - 60', 'Reference: 0 - 99'],
    ['Reference: 30 - 60', 'Ref'],
  ]
  assert.deepEqual(rangeKindsOf(read(cardsOf(ranges))), [[], [], [], ['range_is_missing']])
})

test('names of cards in a picture that stand above their ranges and have no result ask for a person', () => {
  const card = (value: string): PlacedText[][] => [
    [
      [40, 'TSH'],
      [300, 'Free T4'],
    ],
    [
      [40, 'Normal range: 0.450 - 4.500 uIU/mL'],
      [300, 'Normal range: 0.82 - 1.77 ng/dL'],
    ],
    [
      [40, value ? 'Value 1.985' : 'Val ue1.985'],
      [300, value ? 'Value 1.40' : 'Values.40'],
    ],
  ]
  const reportOf = (lines: PlacedText[][]) => understand([{ ...pageOfLines(lines), source: 'ocr' }])
  assert.equal(reportOf(card('1.985')).results.length, 2)
  assert.equal(reportOf(card('1.985')).findings?.length, 0)
  assert.deepEqual(
    reportOf(card('')).findings?.map(({ kind }) => kind),
    ['line_without_row'],
  )
})

test('a range in a picture next to two lost ranges may belong to another row', () => {
  const lines = rows((name, value, index) => row(name, value, index === 3 || index === 5 ? '' : '0 - 200'))
  const kinds = kindsOf(read(lines))
  assert.deepEqual(
    kinds.map((ownKinds) => ownKinds[0] ?? ''),
    ['', '', 'range_is_doubtful', 'range_is_missing', 'range_is_doubtful', 'range_is_missing', 'range_is_doubtful', '', '', ''],
  )
})

test('where more than a fifth of the rows in pictures are doubtful, no row has a confidence of 0.9', () => {
  const sure = (lines: PlacedText[][]) => read(lines).filter(({ place }) => place.confidence >= 0.9).length
  const unknown = (count: number) => rows((name, value, index) => row(index < count ? `Unheard of ${name}x` : name, value))
  assert.equal(sure(unknown(0)), 10)
  assert.equal(sure(unknown(2)), 8)
  assert.equal(sure(unknown(3)), 0)
})

test('where several results of a picture do not fit their names, no row of its page is certain', () => {
  const moved: Record<string, string> = { Sodium: '4.1', Potassium: '140', Calcium: '101', Magnesium: '93' }
  const results = read(rows((name, value) => row(name, moved[name] ?? value)))
  const kinds = Object.fromEntries(results.map(({ test_name, findings }) => [test_name, findings.map(({ kind }) => kind)]))
  assert.deepEqual(kinds.Sodium, ['outside_human_limits'])
  assert.deepEqual(kinds.Urea, ['table_is_doubtful'])
  assert(results.every(({ place }) => place.confidence < 0.9))
  const single = read(rows((name, value) => row(name, name === 'Sodium' ? '4.1' : value)))
  assert.deepEqual(
    single.flatMap(({ findings }) => findings.map(({ kind }) => kind)),
    ['outside_human_limits'],
  )
})

test('the number of a laboratory behind most names of a picture gives no finding, also where its zero was read as a letter', () => {
  const lines = rows((name, value, index) => {
    const [first, ...neighbors] = row(name, value)
    return [first!, [130, ['01', 'o1', 'O1'][index % 3]!], ...neighbors]
  })
  const results = read(lines)
  assert.equal(results.length, Object.keys(VALUES).length)
  assert(kindsOf(results).every((kinds) => kinds.length === 0))
})

test('a method that is stated next to the lines of a range counts as read', () => {
  const lines: PlacedText[][] = [
    HEADER,
    ...rows((name, value) => row(name, value)).slice(1),
    [
      [40, 'Estradiol'],
      [220, '35'],
      [300, 'pg/mL'],
      [380, 'Adult men: 7.6 to 42.6'],
    ],
    [
      [40, 'Method: Equilibrium dialysis'],
      [380, 'Adult women: 27.0 to 246.0'],
    ],
    [[380, 'Children: 24.8 to 226.3']],
  ]
  const results = read(lines)
  assert.equal(results.at(-1)!.test_name, 'Estradiol')
  assert.deepEqual(kindsOf(results).at(-1), [])
})

/** Rows of words on two pages, of which the second has no names of columns, with its columns moved to the right. */
function readTwoPages(shift: number) {
  const words = (isShifted: boolean): PlacedText[][] =>
    ['Bilirubin', 'Urobilinogen', 'Nitrite'].map((name) =>
      [40, 220, 380].map((left, column) => [left + (isShifted ? shift : 0), column ? 'Negative' : name]),
    )
  return understand([
    { ...pageOfLines([HEADER, ...words(false)]), source: 'ocr' },
    { ...pageOfLines(words(true)), source: 'ocr', number: 2 },
  ])
}

test('rows of words on the next page of a picture that are under no column ask for a person', () => {
  const whole = readTwoPages(0)
  assert.deepEqual([whole.results.length, whole.findings], [6, []])
  const { results, findings } = readTwoPages(45)
  assert.equal(results.length, 3)
  assert.deepEqual(
    findings!.map(({ kind, page }) => [kind, page]),
    Array.from({ length: 3 }, () => ['line_without_row', 2]),
  )
})

test('two numbers below a name in a picture that are in no row make the rows around them doubtful', () => {
  const lines = rows((name, value) => row(name, value))
  lines.splice(4, 0, [[40, '38 169']])
  assert.deepEqual(
    kindsOf(read(lines)).map((kinds) => kinds[0] ?? ''),
    ['', '', 'line_without_row', 'line_without_row', '', '', '', '', '', ''],
  )
})
