// Names of results without what leads to the result.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanName } from './names.ts'

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
