// Tables of antibiotics and organisms.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { understand } from '../reading/read-report.ts'
import { categoryOf, isAntibiotic, organismIn } from '../texts/antibiotics.ts'

const read = (...lines: PlacedText[][]) =>
  understand([pageOfLines(lines)]).results.map((result) => [
    result.source_panel_name,
    result.test_name,
    result.value,
    result.units,
    result.interpretation,
    result.sensitivity,
    result.loinc_matches?.[0]?.loinc_code,
  ])
const cells = (...texts: string[]): PlacedText[] => texts.map((text, index) => [36 + index * 150, text])

test('an antibiotic has its concentration as result and its category as interpretation, below its organism', () => {
  assert.deepEqual(
    read(
      cells('Organism: Escherichia coli'),
      cells('Antibiotic', 'MIC (ug/mL)', 'Interpretation'),
      cells('Gentamicin', '<=1', 'S'),
      cells('Ampicillin/Sulbactam', '16/8', 'Intermediate'),
      cells('Ciprofloxacin', '>=4', 'R'),
    ),
    [
      ['Escherichia coli', 'Gentamicin', '<=1', 'ug/mL', 'normal', 'sensitive', '18928-2'],
      ['Escherichia coli', 'Ampicillin/Sulbactam', '16/8', 'ug/mL', 'abnormal', 'unknown', '18865-6'],
      ['Escherichia coli', 'Ciprofloxacin', '>=4', 'ug/mL', 'abnormal', 'insensitive', '18906-8'],
    ],
  )
})

test('each organism of a table has its own results, and an organism that was not tested has no results', () => {
  assert.deepEqual(
    read(
      cells('Antibiotic', 'E. coli', 'Klebsiella pneumoniae'),
      cells('Amikacin', 'S', 'R'),
      cells('Vancomycin', '-', 'Resistant'),
    ).map(([panel, name, value]) => [panel, name, value]),
    [
      ['E. coli', 'Amikacin', 'S'],
      ['Klebsiella pneumoniae', 'Amikacin', 'R'],
      ['Klebsiella pneumoniae', 'Vancomycin', 'Resistant'],
    ],
  )
})

test('two antibiotics in a line are two results', () => {
  assert.deepEqual(
    read(cells('Staphylococcus aureus'), cells('Oxacillin', 'S', 'Erythromycin', 'R'), cells('Linezolid', 'S')).map(
      ([panel, name, value]) => [panel, name, value],
    ),
    [
      ['Staphylococcus aureus', 'Oxacillin', 'S'],
      ['Staphylococcus aureus', 'Erythromycin', 'R'],
      ['Staphylococcus aureus', 'Linezolid', 'S'],
    ],
  )
})

test('the level of an antibiotic in the blood is a result as others are', () => {
  const [row] = read(cells('Test', 'Result', 'Reference Range'), cells('Vancomycin', '12.4 ug/mL', '10.0-20.0'))
  assert.deepEqual(row!.slice(1, 6), ['Vancomycin', '12.4', 'ug/mL', 'normal', 'unknown'])
  assert.notEqual(row![6], '19000-9')
})

test('antibiotics, categories and organisms are distinguished from other words', () => {
  for (const name of ['Piperacillin-Tazobactam', 'Cefazolin (urine)', 'Trimethoprim/Sulfa', 'Fusidic acid', 'Co-trimoxazole'])
    assert.ok(isAntibiotic(name), name)
  for (const name of ['Gentamicin Trough', 'Acid', 'Sodium', 'Penicillin allergy']) assert.ok(!isAntibiotic(name), name)
  assert.deepEqual(['S', '(R)', 'SDD', 'Sensitive', 'N', '12'].map(categoryOf), [
    'susceptible',
    'resistant',
    'intermediate',
    'susceptible',
    undefined,
    undefined,
  ])
  assert.equal(organismIn('Growth of Klebsiella pneumoniae >100,000 CFU/mL'), 'Klebsiella pneumoniae')
  assert.equal(organismIn('S. aureus'), 'S. aureus')
  assert.equal(organismIn('No growth after 48 hours'), undefined)
})

test('a numbered organism is a result, and its count is a comment', () => {
  const { results } = understand([
    pageOfLines([
      cells('Organism 1', 'Escherichia coli', '>100,000 cfu/ml'),
      cells('Antibiotic', 'Org 1'),
      cells('Amoxicillin', 'R'),
      cells('Ciprofloxacin', 'S'),
    ]),
  ])
  assert.deepEqual(
    results.map(({ test_name, value, comments }) => [test_name, value, comments]),
    [
      ['Organism 1', 'Escherichia coli', ['>100,000 cfu/ml']],
      ['Amoxicillin', 'R', []],
      ['Ciprofloxacin', 'S', []],
    ],
  )
})
