// How certain rows of pictures are: texts that were not read, ranges that may have moved, pages of which much is doubtful.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPicture, HEADER, kindsOf, read, row, rows, VALUES } from '../../../test/support/pictures-of-rows.ts'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import type { Box, PageText } from '../pages/page.ts'
import { understand } from './read-report.ts'

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

test('numbers of laboratories of which a digit was misread are no parts of names where most names have a number', () => {
  const withSite = (misread: string) => rows((name, value, index) => row(`${name} ${index === 2 ? misread : '01'}`, value))
  const clear = read(withSite('01'))
  for (const misread of ['n1', 'o?', '0l', '(01', '0 1'])
    assert.deepEqual(
      read(withSite(misread)).map(({ test_name }) => test_name),
      clear.map(({ test_name }) => test_name),
      misread,
    )
  assert.deepEqual(kindsOf(read(withSite('n1'))).flat(), [])
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

test('a row of a picture that says that it has no range is not doubtful where the others have one', () => {
  const lines = ['Sodium', 'Potassium', 'Chloride', 'Calcium', 'Glucose'].flatMap((name, index): PlacedText[][] => [
    [
      [40, name],
      [300, `${140 + index} mmol/L`],
    ],
    [[40, index === 3 ? 'No normal range available' : 'Normal range: 130 - 150 mmol/L']],
  ])
  assert.deepEqual(rangeKindsOf(read(lines)), [[], [], [], [], []])
  const withoutStatement = lines.map((line) => line.filter(([, text]) => !text.startsWith('No ')))
  assert.deepEqual(rangeKindsOf(read(withoutStatement)), [[], [], [], ['range_is_missing'], []])
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

test('bounds in a line of their own make the rows above and below doubtful, also below a label that was not read', () => {
  const { results } = understand([
    createPicture([
      [
        [40, 'Test'],
        [220, 'Result'],
        [300, 'Unit'],
      ],
      [
        [40, 'Zinc'],
        [220, '72'],
        [300, 'ug/dL'],
      ],
      [
        [40, '44'],
        [56, '115'],
      ],
      [
        [40, 'Copper'],
        [220, '191'],
        [300, 'ug/dL'],
      ],
    ]),
  ])
  assert.deepEqual(
    results.map(({ test_name, findings }) => [test_name, findings.map(({ kind }) => kind)]),
    [
      ['Zinc', ['line_without_row']],
      ['Copper', ['line_without_row']],
    ],
  )
})

/** Rows of words in a picture; a fourth text is a flag beside the results. */
const ofWords = (...lines: [name: string, value: string, range: string, flag?: string | undefined][]): PlacedText[][] => [
  [
    [40, 'Test'],
    [220, 'Result'],
    [380, 'Normal'],
  ],
  ...lines.map(([name, value, range, flag]): PlacedText[] => [
    [40, name],
    [220, value],
    ...(flag ? [[330, flag] as PlacedText] : []),
    [380, range],
  ]),
]

test('a result between what is expected and its opposite is doubtful without a flag where other results have one', () => {
  const kinds = (...flags: (string | undefined)[]) =>
    kindsOf(read(ofWords(['CMV IgG', 'Positive', 'Negative', flags[0]], ['Mumps IgG', 'Equivocal', 'Immune', flags[1]])))
  assert.deepEqual(kinds('*', undefined), [[], ['flag_is_missing']])
  assert.deepEqual(kinds('*', '*'), [[], []])
  assert.deepEqual(kinds(undefined, undefined), [[], []])
})

test('a mark of which no letter was recognized is the flag of a word that is not expected', () => {
  const kinds = (value: string) => {
    const page = createPicture(ofWords(['Clarity', value, 'Clear', '*'], ['Glucose', 'Negative', 'Negative']))
    const isMark = ({ text }: { text: string }) => text === '*'
    const unread = page.words.filter(isMark).map(({ box }) => box)
    const ink = page.words.map(({ box }) => box)
    return kindsOf(understand([{ ...page, words: page.words.filter((word) => !isMark(word)), unread, ink }]).results)[0]
  }
  assert.deepEqual(kinds('Cloudy'), [])
  assert.deepEqual(kinds('Clear'), ['letters_not_read'])
})

/** The row below a heading whose words are lower than those of rows. */
function readBelowHeading(heading: string, next: string) {
  const lines = rows((name, value) => row(name, value))
  const page = createPicture([...lines.slice(0, 5), [[40, heading]], row(next, '4'), ...lines.slice(7)])
  const isLow = ({ box }: { box: Box }) => box.top === 40 + 5 * 14
  const words = page.words.map((word) =>
    isLow(word) ? { ...word, box: { ...word.box, top: word.box.top + 1, bottom: word.box.bottom - 1 } } : word,
  )
  return understand([{ ...page, words, ink: words.map(({ box }) => box) }]).results[4]!
}

test('a heading that is a name as well makes the names beside it doubtful only if it may be their rest', () => {
  const isDoubtful = (heading: string, next: string) =>
    readBelowHeading(heading, next).findings.some(({ kind }) => kind === 'line_without_row')
  assert.equal(isDoubtful('Urine Albumin', 'Magnesium'), false)
  assert.equal(isDoubtful('Cholesterol', 'HDL'), true)
})

test('capitals in a picture are a heading, though they are lower than words with letters below the line', () => {
  assert.equal(readBelowHeading('URINE ALBUMIN', 'Magnesium').source_panel_name, 'URINE ALBUMIN')
  assert.equal(readBelowHeading('Urine Albumin', 'Magnesium').source_panel_name, null)
})

test('a block beside another one whose unit was misread is read, and one that was not asks for a person', () => {
  const blocks = (result: string): PlacedText[][] => [
    [
      [40, 'Total Cholesterol'],
      [240, 'LDL Cholesterol'],
      [440, 'HDL Cholesterol'],
    ],
    [
      [40, result],
      [240, '131 mg/dL'],
      [440, '61 mg/dL'],
    ],
    [
      [40, 'Reference range < 200 mg/dL'],
      [240, 'Reference range < 100 mg/dL'],
      [440, 'Reference range > 40 mg/dL'],
    ],
  ]
  const valuesOf = (result: string) => {
    const { results, findings } = understand([createPicture(blocks(result))])
    return { values: results.map(({ value, units }) => `${value} ${units}`), findings: findings!.map(({ kind }) => kind) }
  }
  assert.deepEqual(valuesOf('214 mgd'), { values: ['214 mg/dL', '131 mg/dL', '61 mg/dL'], findings: [] })
  assert.deepEqual(valuesOf('214 mlun'), { values: ['131 mg/dL', '61 mg/dL'], findings: ['line_without_row'] })
})

test('a heading of two texts that stand as close as letters are high is one heading', () => {
  const page = (left: number) => {
    const lines = rows((name, value) => row(name, value))
    const heading: PlacedText[] = [
      [40, 'KIDNEY'],
      [left, 'PROFILE'],
    ]
    return read([...lines.slice(0, 5), heading, HEADER, ...lines.slice(5)])[4]!.source_panel_name
  }
  assert.equal(page(79.9), 'KIDNEY PROFILE')
  assert.equal(page(110), null)
})

test('a list of what values mean below a row is no result, and one line of it may be one whose name was lost', () => {
  const kinds = (...classes: string[]) => {
    const lines = rows((name, value) => row(name, value))
    return kindsOf(read([...lines.slice(0, 5), ...classes.map((text): PlacedText[] => [[220, text]]), ...lines.slice(5)]))[3]
  }
  assert.deepEqual(kinds('Equivocal 0.91 - 1.09', 'Negative <0.91', 'Positive >1.09'), [])
  assert.deepEqual(kinds('Equivocal 0.91 - 1.09'), ['line_without_row'])
})

test('a specimen behind the name of a test and a comma before two words are how reports print names', () => {
  const kinds = (name: string) => kindsOf(read([HEADER, row('Sodium', '140'), row(name, '100')]))[1]!.includes('name_is_unknown')
  for (const name of ['Glucose, Fingerstick', 'Opiate Screen, Ur', 'hCG, Urine Qualitative'])
    assert.equal(kinds(name), false, name)
  for (const name of ['Glucose, Fingerstck', 'Opiate Screen, U r', 'hCG Qualitative']) assert.equal(kinds(name), true, name)
})

/** A picture of which the ink is that of its words, and of further texts. */
const createInked = (lines: PlacedText[][], extraInk: readonly Box[] = []): PageText => {
  const page = createPicture(lines)
  return { ...page, ink: [...page.words.map(({ box }) => box), ...extraInk] }
}

test('a row of a picture without a range is doubtful only where its picture has ink in the column of ranges', () => {
  const lines = rows((name, value, index) => row(name, value, index === 3 || index === 5 ? '' : '0 - 200'))
  const kinds = (extraInk?: readonly Box[]) => kindsOf(understand([createInked(lines, extraInk)]).results).map(([kind]) => kind)
  assert.deepEqual(new Set(kinds()), new Set([undefined]))
  const { top, bottom } = createPicture(lines).words.find(({ text }) => text === 'Calcium')!.box
  assert.equal(kinds([{ left: 380, right: 420, top, bottom }])[3], 'range_is_missing')
})

test('a line of a picture without a range is doubtful where it goes on behind its unit', () => {
  const lines = (end: string): PlacedText[][] =>
    Object.entries(VALUES).map(([name, value], index) => [
      [40, name],
      [220, `${value} mmol/L`],
      ...(index === 3 ? (end ? [[380, end] as PlacedText] : []) : [[380, '(0 - 200)'] as PlacedText]),
    ])
  const kinds = (end: string) => kindsOf(understand([createInked(lines(end))]).results)[3]
  assert.deepEqual(kinds(''), [])
  assert(kinds('(O Zoo')!.includes('range_is_missing'))
})

test('numbers without a range between words of a table are not doubtful', () => {
  const words = ['Protein', 'Glucose', 'Ketones', 'Bilirubin', 'Nitrite'].map((name): PlacedText[] => [
    [40, name],
    [220, 'Negative'],
  ])
  const numbers: PlacedText[][] = [
    [
      [40, 'Specific gravity'],
      [220, '1.020'],
    ],
    [
      [40, 'pH'],
      [220, '6.0'],
    ],
  ]
  const kinds = (lines: PlacedText[][]) => kindsOf(understand([{ ...pageOfLines([HEADER, ...lines]) }]).results).flat()
  assert.deepEqual(kinds([...numbers, ...words]), [])
  assert(kinds(numbers).includes('column_is_empty'))
})

test('an address that begins with a number and has another one in it is no block of a result', () => {
  const results = read([
    [[40, 'ABN 00 000 000 000 Accredited Laboratory Number 0000']],
    [[40, '5 Mock Street, Sampletown NSW 2500 Ph 02 5550 0100']],
    [[40, 'GENERAL CHEMISTRY']],
    [
      [40, 'Glucose'],
      [220, '105 mg/dL'],
    ],
  ])
  assert.deepEqual(
    results.map(({ test_name }) => test_name),
    ['Glucose'],
  )
})

test('a row of a picture without a range is not doubtful where its unit stands in the column of ranges', () => {
  const header: PlacedText[] = [
    [40, 'Test'],
    [220, 'Result'],
    [380, 'Reference Range'],
  ]
  const lines = Object.entries(VALUES).map(([name, value], index): PlacedText[] => [
    [40, name],
    [220, value],
    [380, index === 3 ? 'mmol/L' : '0 - 200 mmol/L'],
  ])
  const kinds = (extraInk?: readonly Box[]) => kindsOf(understand([createInked([header, ...lines], extraInk)]).results)[3]
  assert.deepEqual(kinds(), [])
  const { top, bottom } = createPicture([header, ...lines]).words.find(({ text }) => text === 'Calcium')!.box
  assert(kinds([{ left: 430, right: 460, top, bottom }])!.includes('range_is_missing'))
})

test('bars between two columns of a picture are no letters that were not read, and other ink there is', () => {
  const columns: PlacedText[] = [
    [40, 'Test'],
    [140, 'Result'],
    [380, 'Reference Range'],
  ]
  const lines = Object.entries(VALUES).map(([name, value]): PlacedText[] => [
    [40, name],
    [140, `${value} mmol/L`],
    [380, '0 - 200'],
  ])
  const page = createPicture([columns, ...lines])
  const ofRows = page.words.filter(({ text }) => Object.hasOwn(VALUES, text)).map(({ box }) => box)
  const kinds = (width: number, count: number, move = 0) => {
    const bars = ofRows
      .slice(0, count)
      .map(({ top, bottom }, index) => ({ left: 230 + index * move, right: 230 + index * move + width, top, bottom }))
    return kindsOf(understand([createInked([columns, ...lines], bars)]).results).flat()
  }
  assert.deepEqual(kinds(80, 8), [])
  assert(kinds(80, 2).includes('letters_not_read'))
  assert(kinds(12, 8).includes('letters_not_read'))
  // The markers of bars that are too light to be seen stand where their results are.
  assert.deepEqual(kinds(8, 8, 12), [])
})

test('a percent sign without a space behind names of a picture is how the report prints it, if no name has a space', () => {
  const kinds = (...names: string[]) =>
    kindsOf(read([HEADER, ...names.map((name) => row(name, '12', '0 - 20'))])).map((kindsOfName) =>
      kindsOfName.includes('name_is_unknown'),
    )
  assert.deepEqual(kinds('Lymphocytes%', 'Monocytes%', 'Eosinophils%'), [false, false, false])
  assert.deepEqual(kinds('Lymphocytes%', 'Monocytes%', 'Eosinophils %'), [true, true, false])
})

test('methods in brackets and values of classes below rows give no finding', () => {
  const cells = (name: string, value: string): PlacedText[] => [...row(name, value)]
  const lines: PlacedText[][] = [
    HEADER,
    cells('Sodium', '140'),
    [[40, '(ISE)']],
    cells('Glucose', '5.2'),
    [[40, '5.7% - 6.4% : Prediabetic']],
    [[40, '121 - 150 mg/dl : Fair Control']],
    cells('Urea', '5.0'),
  ]
  assert.deepEqual(kindsOf(read(lines)), [[], [], []])
})

test('a percentage in front of a count with a range has no lost range', () => {
  const cells = (name: string, percentage: string, count: string): PlacedText[] => [
    [40, name],
    [160, `${percentage} %`],
    [220, count],
    [300, 'x10^9/L'],
    [380, '0.00 - 7.50'],
  ]
  const lines = [cells('Neutrophils', '55.0', '3.19'), cells('Lymphocytes', '32.0', '1.86'), cells('Monocytes', '9.0', '0.52')]
  assert.deepEqual(kindsOf(read([...lines, cells('Eosinophils', '4.0', '0.23')])), Array(8).fill([]))
})

test('a misread label in a line of specimen and method is as usual as those of the other rows', () => {
  const stated = (label: string): PlacedText[] => [
    [40, `${label}: Serum`],
    [140, 'Method: Enzymatic'],
  ]
  const names = ['Sodium', 'Iron', 'Chloride', 'Creatinine']
  const labels = ['Sample', 'Sample', 'Sample', 'Sanpie']
  const found = kindsOf(read([HEADER, ...names.flatMap((name, index) => [row(name, '100'), stated(labels[index]!)])]))
  assert(found.every((kinds) => !kinds.includes('line_without_row')))
})

test('a heading between two rules that were read as dashes is no name that is cut off', () => {
  const lines = [HEADER, row('Sodium', '140'), [[40, '-LFT-']] as PlacedText[], row('Albumin', '41')]
  assert(kindsOf(read(lines)).every((kinds) => !kinds.includes('line_without_row')))
})

test('a heading whose rule was read as a dash is no begin of the name below it', () => {
  const namesBelow = (heading: string, name: string) =>
    read([row('Sodium', '140'), row('Potassium', '4.1'), [[40, heading]] as PlacedText[], row(name, '40')])
      .slice(2)
      .map(({ test_name, source_panel_name }) => [test_name, source_panel_name])
  assert.deepEqual(namesBelow('Haematinics-', 'Ferritin'), [['Ferritin', 'Haematinics']])
  assert.deepEqual(namesBelow('Gamma-', 'Glutamyl Transferase'), [['Gamma- Glutamyl Transferase', null]])
})
