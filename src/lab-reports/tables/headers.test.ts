import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellOf, toLine } from './table-cells.ts'
import { columnKind, columnsOf } from './headers.ts'

/** The columns that a line with these texts names, from left to right. */
const kindsOf = (...texts: string[]) => {
  const cells = texts.map((text, position) =>
    cellOf(
      text.split(' ').map((word, index) => ({
        text: word,
        confidence: 1,
        box: { left: position * 120 + index * 20, top: 0, right: position * 120 + index * 20 + 18, bottom: 9 },
      })),
    ),
  )
  return columnsOf(toLine(1, cells))?.map(({ kind }) => kind)
}

test('columns get their kind from their title, including the previous result', () => {
  assert.deepEqual(kindsOf('Test', 'Result', 'Flag', 'Units', 'Reference Range'), ['name', 'value', 'flag', 'unit', 'range'])
  assert.deepEqual(kindsOf('Component', 'Previous', 'Current', 'Units', 'Reference'), [
    'name',
    'previous',
    'value',
    'unit',
    'range',
  ])
  assert.deepEqual(kindsOf('Test', 'Current (12/14/2025)', 'Previous (07/15/2025)', 'Units'), [
    'name',
    'value',
    'previous',
    'unit',
  ])
  assert.deepEqual(kindsOf('Test', 'Value', 'Abnormal?', 'Range', 'Result Status'), ['name', 'value', 'flag', 'range', 'other'])
  assert.deepEqual(kindsOf('Test', 'Prior', 'Latest', 'Range'), ['name', 'previous', 'value', 'range'])
})

test('a table of names and ranges has a column of results under any name', () => {
  assert.deepEqual(kindsOf('Analyte', 'Patient', 'Units', 'Reference interval'), ['name', 'value', 'unit', 'range'])
  assert.equal(kindsOf('Comprehensive Metabolic', 'Panel'), undefined)
})

test('results behind their labels name no columns', () => {
  assert.equal(kindsOf('Value Negative', 'Value Normal'), undefined)
  assert.equal(kindsOf('Value 4.870', 'High', 'Value', '1.13'), undefined)
})

test('one column of all results is not one of abnormal results, and a day behind its name says when they were measured', () => {
  assert.deepEqual(kindsOf('Analyte', 'In Range / Out of Range', 'Units'), ['name', 'value', 'unit'])
  assert.deepEqual(kindsOf('Analyte', 'In Range', 'Out of Range', 'Units'), ['name', 'normal_value', 'abnormal_value', 'unit'])
  assert.deepEqual(kindsOf('Analyte', 'Last 03/02/2023', 'Result 03/09/2024', 'Units'), ['name', 'previous', 'value', 'unit'])
  assert.equal(kindsOf('Collected 03/09/2024', 'Reported 03/10/2024'), undefined)
})

test('names of columns in the words of patients are understood', () => {
  assert.deepEqual(kindsOf('What was measured', 'Your level', 'Usual range', 'What this means'), [
    'name',
    'value',
    'range',
    'flag',
  ])
})

test('what a panel looks for is its names, and goals are ranges', () => {
  assert.deepEqual(kindsOf('Target', 'Result', 'Flag', 'Reference'), ['name', 'value', 'flag', 'range'])
  assert.deepEqual(kindsOf('Test', 'Result', 'Target'), ['name', 'value', 'range'])
  assert.deepEqual(kindsOf('Measure', 'Your Result', 'Goal', 'Status'), ['unit', 'value', 'range', 'flag'])
})

test('a name of a column in misread letter cases is one, and labels of a patient name no columns', () => {
  assert.equal(columnKind('NORMAL RaNGE'), 'range')
  assert.equal(columnKind('Reference RangeStatus'), 'range')
  assert.equal(kindsOf('DR A PRETEND', 'Patient Name', 'SPECIMEN OLIVER', 'Lab Ref', '26Z018843'), undefined)
})
