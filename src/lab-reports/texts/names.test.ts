// Names of results without what leads to the result.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanName, isPossibleName } from './names.ts'

test('dots that lead to a result are not part of a name, in any reading of text recognition', () => {
  for (const name of [
    'Platelet count',
    'Platelet count .......',
    'Platelet count.......',
    'Platelet count . . . .',
    'Platelet count ____',
    'Platelet count ·· .· ...· .',
    'Platelet count .',
    'Platelet count ·',
    'Platelet count····',
    'Platelet count … :',
    'Platelet count ..... :',
  ])
    assert.equal(cleanName(name), 'Platelet count', name)
  assert.equal(cleanName('Glucose, est.'), 'Glucose, est.')
  assert.equal(cleanName('Specific Gr.:'), 'Specific Gr.')
})

test('the number of a page at the end of a line and a legend are no results', () => {
  for (const name of [
    'Ordered by Dr. Jane Example. Page 1 of',
    'Mockhaven Family Medicine - page',
    'Laboratory director: P. Example. PAGE 2 /',
    'Icon Legend',
  ])
    assert.equal(
      isPossibleName(name, () => false),
      false,
      name,
    )
  assert.ok(isPossibleName('Lupus Anticoagulant Stage', () => false))
})

test('a letter and its number are a name where laboratories measure something of that name', () => {
  for (const name of ['K', 'C3', 'B12', 'B 12']) {
    assert.ok(
      isPossibleName(name, () => true),
      name,
    )
    assert.equal(
      isPossibleName(name, () => false),
      false,
      name,
    )
  }
})

test('a number or a LOINC code in front of a name is no part of it', () => {
  for (const name of ['1. Vitamin B12', '12) Vitamin B12', '2132-9 Vitamin B12'])
    assert.equal(cleanName(name), 'Vitamin B12', name)
  for (const name of ['17-OH Progesterone', '25 Hydroxyvitamin D', '5-HIAA', '11-Deoxycortisol'])
    assert.equal(cleanName(name), name)
})
