import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines } from '../../../test/support/report-pages.ts'
import { resultData } from '../parsing-jobs/parsing-jobs.ts'
import { understand } from '../reading/read-report.ts'
import { changedFields } from './corrections.ts'

const read = (flag: string) =>
  understand([
    pageOfLines([
      [
        [36, 'Hemoglobin A1c'],
        [200, '5.1'],
        ...(flag ? [[240, flag] satisfies [number, string]] : []),
        [300, '%'],
        [360, '<5.7'],
      ],
    ]),
  ]).results[0]!

test('a corrected value is compared with the printed range, whose bound may not belong to it', () => {
  const result = read('')
  assert.equal(result.max_reference_range, 5.7)
  assert.equal(changedFields(resultData(result), { value: '5.7' }, result).interpretation, 'abnormal')
  assert.equal(changedFields(resultData(result), { value: '5.6' }, result).interpretation, 'normal')
  assert.equal(changedFields(resultData(result), { value: '5.7', max_reference_range: 6 }, result).interpretation, 'normal')
})

test('the printed flag of a result still decides after its value has been corrected', () => {
  const result = read('H')
  assert.equal(changedFields(resultData(result), { value: '5.2' }, result).interpretation, 'abnormal')
})
