import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparable, interpret, type Interpretation } from './interpret.ts'

/** What a result without a flag means beside its range. */
function judge(result: string, reference: string | null): Interpretation {
  const lines = reference === null ? [] : [reference]
  const { value, range } = comparable(result, lines, { sex: null, age: null }, { unit: null, name: 'Analyte' })
  return interpret(value, range, null).interpretation
}

const words: [Interpretation, string, string[]][] = [
  ['normal', 'Non-Reactive', ['Non-Reactive', 'NONREACTIVE', 'non reactive', 'Not Reactive', 'Negative', 'Non-Reactive (0.02)']],
  ['abnormal', 'Non-Reactive', ['Reactive', 'REACTIVE', 'Repeatedly reactive', 'Weakly Reactive', 'Positive', 'Detected']],
  ['normal', 'NOT DETECTED', ['NOT DETECTED', 'Not_Detected', 'not detected', 'Undetected', 'Target not detected', 'Negative.']],
  ['abnormal', 'NOT DETECTED', ['DETECTED', 'Detected', 'detected', 'Positive', 'PRESENT']],
  ['normal', 'Negative', ['negative', 'NEG', 'Neg.', 'None detected', 'Absent', 'nil']],
  ['abnormal', 'Negative', ['POSITIVE', 'pos', 'Trace', '1+', '+', '2 +', '4+', 'Small', 'Moderate', 'Large', 'Positive (1:80)']],
  [
    'unknown',
    'Negative',
    ['Equivocal', 'Indeterminate', 'Borderline', 'Invalid', 'See note', 'Pending', 'Yellow', '', 'TNP', 'not tested'],
  ],
  ['normal', 'Positive', ['Positive', 'POS', 'Reactive', '2+']],
  ['abnormal', 'Positive', ['Negative', 'Not Detected']],
  ['unknown', 'Positive', ['Equivocal']],
  ['normal', 'Negative/Trace', ['Negative', 'Trace']],
  ['normal', 'Negative or Trace', ['Neg', 'TRACE']],
  ['normal', 'Negative - Trace', ['Negative', 'Trace']],
  ['normal', 'Neg-Trace', ['Negative', 'Trace']],
  ['abnormal', 'Negative to Trace', ['1+', '2+', 'Small', 'Large']],
  ['unknown', 'Negative to Trace', ['Few', 'Cloudy']],
  ['normal', 'None - Few', ['None seen', 'Rare', 'Few']],
  ['abnormal', 'None-Few', ['Moderate', 'Many']],
  ['abnormal', 'None Seen', ['Moderate', 'Many', 'Present', '1+']],
  ['unknown', 'None Seen', ['Few', 'Rare', 'Occasional']],
  ['normal', 'Clear', ['Clear', 'CLEAR']],
  ['abnormal', 'Clear', ['Cloudy', 'Turbid']],
  ['normal', 'Yellow, Straw', ['Yellow', 'straw']],
  ['unknown', 'Yellow', ['Amber', 'Red']],
  ['unknown', 'Positive/Negative', ['Positive', 'Negative']],
  ['normal', 'Non-Reactive (S/CO <1.00)', ['Non-Reactive', 'NON REACTIVE (0.1)']],
  ['abnormal', 'Non-Reactive (S/CO <1.00)', ['Reactive']],
  ['normal', 'Normal', ['Normal']],
  ['abnormal', 'Normal', ['Abnormal']],
  ['abnormal', '1:40 or less', ['1:80']],
  ['unknown', 'See note', ['Negative', 'See note']],
  ['normal', '<1:40', ['<1:40', '1:20']],
  ['abnormal', '<1:40', ['1:40', '1:80', '>1:640']],
  ['normal', 'Negative: <1:40', ['1:20']],
  ['unknown', '1:40', ['1:80', 'Negative']],
]

test('a result in words agrees with its range, or does not, or cannot be compared', () => {
  for (const [interpretation, reference, results] of words)
    for (const result of results) {
      assert.equal(judge(result, reference), interpretation, `${result} against ${reference}`)
      if (result && interpretation === 'normal')
        assert.equal(judge(result, reference.toUpperCase()), 'normal', `${result} against ${reference.toUpperCase()}`)
    }
})

test('a word without a range has no interpretation', () => {
  for (const result of ['Negative', 'Positive', 'NOT DETECTED', 'Detected', '1:40', 'Normal'])
    for (const reference of [null, '', 'n/a']) assert.equal(judge(result, reference), 'unknown', result)
})
