// Results of several days in one report.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { understand } from './read-report.ts'
import type { ReportResult } from './result.ts'

const resultsOf = (...lines: PlacedText[][]): ReportResult[] => understand([pageOfLines(lines)]).results
const kinds = ({ findings }: ReportResult): string[] => findings.map(({ kind }) => kind)

describe('the day of a result', () => {
  const DAYS: PlacedText[] = [
    [36, 'Test'],
    [140, '01/02/2024'],
    [220, '13/04/2024'],
    [300, '15/05/2024'],
    [380, 'Units'],
    [460, 'Range'],
  ]
  const days = (name: string, values: [string, string, string], unit: string, range: string): PlacedText[] => [
    [36, name],
    ...values.map((value, index): PlacedText => [140 + index * 80, value]),
    [380, unit],
    [460, range],
  ]

  test('results of several days are not duplicates, and each has its day', () => {
    const results = resultsOf(
      DAYS,
      days('Glucose', ['90', '95', '99'], 'mg/dL', '70-99'),
      days('Sodium', ['140', '141', '139'], 'mmol/L', '135-145'),
    )
    assert.deepEqual(
      results.map(({ value, date }) => [value, date]),
      [
        ['90', '01/02/2024'],
        ['95', '13/04/2024'],
        ['99', '15/05/2024'],
        ['140', '01/02/2024'],
        ['141', '13/04/2024'],
        ['139', '15/05/2024'],
      ],
    )
    assert.deepEqual(results.flatMap(kinds), [])
    assert.ok(results.every(({ loinc_match_status }) => loinc_match_status === 'auto_match'))
  })

  test('a calculated value that contradicts its parts is found on its day', () => {
    const results = resultsOf(
      DAYS,
      days('Total Cholesterol', ['200', '190', '195'], 'mg/dL', '0-200'),
      days('HDL Cholesterol', ['50', '50', '50'], 'mg/dL', '40-60'),
      days('Triglycerides', ['100', '100', '100'], 'mg/dL', '0-150'),
      days('LDL Cholesterol', ['130', '300', '125'], 'mg/dL', '0-130'),
    )
    const found = results.filter((result) => kinds(result).includes('contradicts_parts'))
    assert.deepEqual(
      found.map(({ test_name, date }) => [test_name, date]),
      [['LDL Cholesterol', '13/04/2024']],
    )
  })

  test('two samples of one day are distinguished by the times below the day', () => {
    const results = resultsOf(
      [
        [36, 'Date'],
        [140, '01/02/2024'],
        [220, '01/02/2024'],
        [380, 'Units'],
        [460, 'Range'],
      ],
      [
        [36, 'Time'],
        [140, '08:00'],
        [220, '16:30'],
      ],
      [
        [36, 'Glucose'],
        [140, '90'],
        [220, '120'],
        [380, 'mg/dL'],
        [460, '70-99'],
      ],
    )
    assert.deepEqual(
      results.map(({ value, date, findings }) => [value, date, findings.length]),
      [
        ['90', '01/02/2024 08:00', 0],
        ['120', '01/02/2024 16:30', 0],
      ],
    )
  })

  test('a column of days distinguishes them', () => {
    const results = resultsOf(
      [
        [36, 'Test'],
        [140, 'Collected'],
        [240, 'Result'],
        [320, 'Units'],
        [420, 'Reference Range'],
      ],
      [
        [36, 'Glucose'],
        [140, '01/02/2024'],
        [240, '90'],
        [320, 'mg/dL'],
        [420, '70-99'],
      ],
      [
        [36, 'Glucose'],
        [140, '13/04/2024'],
        [240, '95'],
        [320, 'mg/dL'],
        [420, '70-99'],
      ],
    )
    assert.deepEqual(
      results.map(({ date, findings }) => [date, findings.length]),
      [
        ['01/02/2024', 0],
        ['13/04/2024', 0],
      ],
    )
  })
})
