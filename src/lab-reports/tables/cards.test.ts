// Results as blocks: the name above the value, its range between them or below.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { understand } from '../reading/read-report.ts'

const read = (...lines: PlacedText[][]) =>
  understand([pageOfLines(lines)]).results.map((row) => [
    row.test_name,
    row.value,
    row.units,
    row.min_reference_range,
    row.max_reference_range,
    row.interpretation,
  ])

test('a word behind the value of a block is its flag, also where it stands below the end of the name', () => {
  assert.deepEqual(
    read(
      [[40, 'Triiodothyronine (T3), Free']],
      [[40, 'Normal range: 2.0 - 4.4 pg/mL']],
      [
        [40, 'Value'],
        [70, '5.1'],
        [150, 'High'],
      ],
    ),
    [['Triiodothyronine (T3), Free', '5.1', 'pg/mL', 2, 4.4, 'abnormal']],
  )
  assert.deepEqual(
    read(
      [[40, 'Color']],
      [[40, 'Normal range: Yellow']],
      [
        [40, 'Value'],
        [70, 'Dark yellow'],
        [150, 'Abnormal'],
      ],
    ),
    [['Color', 'Dark yellow', null, null, null, 'abnormal']],
  )
})

test('a word behind the value of a block is a result where it has a name of its own above it', () => {
  assert.deepEqual(
    read(
      [
        [40, 'Specific Gravity'],
        [310, 'Urobilinogen'],
      ],
      [
        [40, 'Normal range: 1.005 - 1.030'],
        [310, 'Normal range: Normal'],
      ],
      [
        [40, '1.020'],
        [310, 'Normal'],
      ],
    ),
    [
      ['Specific Gravity', '1.020', null, 1.005, 1.03, 'normal'],
      ['Urobilinogen', 'Normal', null, null, null, 'normal'],
    ],
  )
})

test('a flag in words behind a result makes no block with the heading above', () => {
  assert.deepEqual(
    read(
      [[64, 'Thyroid Function Panel With TSH']],
      [[84, 'TSH: 0.135 uIU/mL - LOW (normal 0.450 to 4.500)']],
      [[84, 'T4,Free(Direct): 0.70 ng/dL - LOW (normal 0.82 to 1.77)']],
    ),
    [
      ['TSH', '0.135', 'uIU/mL', 0.45, 4.5, 'abnormal'],
      ['T4,Free(Direct)', '0.70', 'ng/dL', 0.82, 1.77, 'abnormal'],
    ],
  )
})

test('a bound with its unit is the value of a block whose range stands below it', () => {
  const block = (...flag: PlacedText[]) =>
    read(
      [[40, 'TSH']],
      [[40, '<0.01 mIU/L'], ...flag],
      [[40, 'Reference range: 0.4 - 4.5 mIU/L']],
      [[40, 'Hemoglobin A1c']],
      [[40, '5.2 %']],
      [[40, 'Reference range: 4.0 - 5.6 %']],
    )
  const [tsh, a1c] = [
    ['TSH', '<0.01', 'mIU/L', 0.4, 4.5, 'abnormal'],
    ['Hemoglobin A1c', '5.2', '%', 4, 5.6, 'normal'],
  ]
  assert.deepEqual(block(), [tsh, a1c])
  assert.deepEqual(block([140, 'Low']), [tsh, a1c])
})
