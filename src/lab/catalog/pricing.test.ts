import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labTestSlug } from './lab-tests.ts'
import { priceOf } from './pricing.ts'

test('a price in dollars is converted to whole cents', () => {
  for (const [price, cents] of [
    ['0.05', 5],
    ['9', 900],
    ['9.5', 950],
    ['19.99', 1999],
    ['1234567.89', 123456789],
  ] as const)
    assert.deepEqual(priceOf(price), { base_amount_minor: cents, modifiers: null }, price)
})

test('a text that is not a price has no amount', () => {
  for (const price of ['N/A', '', null, '$9', '1e3', '-1', '1.005', '1,000'])
    assert.deepEqual(priceOf(price), { unspecified: 'price_unavailable' }, String(price))
})

test('the slug of a lab test starts with its team and contains plain letters and digits', () => {
  const team = '0123abcd-0000-7000-8000-000000000000'
  assert.equal(labTestSlug(team, 'Vitamin D, 25-Hydroxy'), '0123abcd-vitamin-d-25-hydroxy')
  assert.equal(labTestSlug(team, '  Überprüfung & Café (A1c)  '), '0123abcd-uberprufung-cafe-a1c')
})
