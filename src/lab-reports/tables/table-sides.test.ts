// Tables side by side, each with its own heights of lines.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { understand } from '../reading/read-report.ts'

type PlacedLine = [top: number, left: number, ...texts: [string, string, string, string]]

/** Lines at heights of their own; columns stand 90, 150 and 200 points right of the first. */
function pageOf(lines: readonly PlacedLine[]) {
  const texts = lines.map(([, left, ...cells]) =>
    cells.map((text, index): PlacedText => [left + [0, 90, 150, 200][index]!, text]).filter(([, text]) => text),
  )
  const page = pageOfLines(texts, 14)
  const words = page.words.map((word) => {
    const top = lines[(word.box.top - 40) / 14]![0]
    return { ...word, box: { ...word.box, top, bottom: top + 10 } }
  })
  return { ...page, words }
}
const read = (lines: readonly PlacedLine[]) =>
  understand([pageOf(lines)]).results.map(({ test_name, value, units, source_panel_name }) => [
    test_name,
    value,
    units,
    source_panel_name,
  ])

const LEFT: PlacedLine[] = [
  [40, 40, 'Liver profile', '', '', ''],
  [60, 40, 'Component', 'Result', 'Units', 'Range'],
  [80, 40, 'ALT', '31', 'U/L', '10 - 44'],
  [104, 40, 'AST', '28', 'U/L', '10 - 40'],
]
const RIGHT: PlacedLine[] = [
  [40, 320, 'Haematology', '', '', ''],
  [64, 320, 'Component', 'Result', 'Units', 'Range'],
  [87, 320, 'Hemoglobin', '14.1', 'g/dL', '13 - 17'],
  [99, 320, 'Platelets', '250', '10*9/L', '150 - 450'],
  [111, 320, 'MCV', '88', 'fL', '79 - 97'],
]

test('tables side by side with lines at different heights are read one after the other, with their own panels', () => {
  assert.deepEqual(read([...LEFT, ...RIGHT, [140, 40, 'Sodium', '140', 'mmol/L', '135 - 145']]).slice(0, 2), [
    ['ALT', '31', 'U/L', 'Liver profile'],
    ['AST', '28', 'U/L', 'Liver profile'],
  ])
  assert.deepEqual(read([...LEFT, ...RIGHT]).slice(2), [
    ['Hemoglobin', '14.1', 'g/dL', 'Haematology'],
    ['Platelets', '250', '10*9/L', 'Haematology'],
    ['MCV', '88', 'fL', 'Haematology'],
  ])
})

test('three tables side by side are read one after the other', () => {
  const tableAt = (left: number, panel: string, ...rows: [string, string, string, string][]): PlacedLine[] => [
    [40, left, panel, '', '', ''],
    [60, left, 'Component', 'Result', 'Units', 'Range'],
    ...rows.map((row, index): PlacedLine => [80 + index * 20, left, ...row]),
  ]
  const lines = [
    ...tableAt(20, 'Liver profile', ['ALT', '31', 'U/L', '10 - 44'], ['AST', '28', 'U/L', '10 - 40']),
    ...tableAt(320, 'Electrolytes', ['Sodium', '141', 'mmol/L', '135 - 145'], ['Chloride', '101', 'mmol/L', '98 - 107']),
    ...tableAt(620, 'Enzymes', ['Lipase', '36', 'U/L', '13 - 60'], ['Amylase', '59', 'U/L', '28 - 100']),
  ]
  assert.deepEqual(
    understand([{ ...pageOf(lines), width: 900 }]).results.map(({ test_name, value }) => [test_name, value]),
    [
      ['ALT', '31'],
      ['AST', '28'],
      ['Sodium', '141'],
      ['Chloride', '101'],
      ['Lipase', '36'],
      ['Amylase', '59'],
    ],
  )
})

test('tables of organisms side by side are read, whatever organisms they name above their columns', () => {
  const names = (left: string, right: string): PlacedLine[] => [
    [40, 40, left, 'Result', '', ''],
    [40, 320, right, 'Result', '', ''],
  ]
  const rows: PlacedLine[] = [
    [54, 40, 'Adenovirus', 'Not Detected', '', ''],
    [54, 320, 'Giardia lamblia', 'Not Detected', '', ''],
    [68, 40, 'Sapovirus', 'Detected', '', ''],
  ]
  for (const [left, right] of [
    ['Virus', 'Bacteria'],
    ['Viruses', 'Parasites and fungi'],
  ] as const)
    assert.deepEqual(
      read([...names(left, right), ...rows]).map((item) => item.slice(0, 2)),
      [
        ['Adenovirus', 'Not Detected'],
        ['Sapovirus', 'Detected'],
        ['Giardia lamblia', 'Not Detected'],
      ],
    )
})

test('tables side by side go on below a heading that reaches over both', () => {
  assert.deepEqual(
    read([
      [60, 40, 'Test', 'Result', '', 'Reference'],
      [60, 320, 'Test', 'Result', '', 'Reference'],
      [80, 40, 'ABO Group', 'O', '', ''],
      [80, 320, 'Rhesus (D)', 'Positive', '', 'Positive'],
      [100, 270, 'SEROLOGY AND PARASITOLOGY', '', '', ''],
      [120, 40, 'HBsAg', 'Reactive', '', 'Non Reactive'],
      [120, 320, 'HCV Antibody', 'Non Reactive', '', 'Non Reactive'],
      [140, 40, 'Glucose', 'Nil', '', 'Nil'],
      [140, 320, 'Ketones', 'Nil', '', 'Nil'],
    ]).map(([name, value, , panel]) => [name, value, panel]),
    [
      ['ABO Group', 'O', null],
      ['HBsAg', 'Reactive', 'SEROLOGY AND PARASITOLOGY'],
      ['Glucose', 'Nil', 'SEROLOGY AND PARASITOLOGY'],
      ['Rhesus (D)', 'Positive', null],
      ['HCV Antibody', 'Non Reactive', 'SEROLOGY AND PARASITOLOGY'],
      ['Ketones', 'Nil', 'SEROLOGY AND PARASITOLOGY'],
    ],
  )
})
