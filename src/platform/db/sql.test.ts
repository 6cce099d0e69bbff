import assert from 'node:assert/strict'
import { test } from 'node:test'
import { join, raw, sql, type Sql } from './sql.ts'

const textAndValues = ({ text, values }: Sql) => [text, values]

test('Values become parameters, numbered in the order of the text', () => {
  const row = (id: number) => sql`(${id}, ${'x'})`
  const statement = sql`insert into t (id, name) values ${join([row(1), row(2)], ', ')} returning ${raw('id')}, ${null}`
  assert.deepEqual(textAndValues(statement), [
    'insert into t (id, name) values ($1, $2), ($3, $4) returning id, $5',
    [1, 'x', 2, 'x', null],
  ])
})

test('Statements of the same templates with different nested parts have texts of their own', () => {
  const any = (a: unknown, b: unknown, c: unknown) => sql`select ${a}, ${b}, ${c}`
  const pair = (a: unknown, b: unknown) => sql`(${a}, ${b})`
  // The same templates in the same order, nested at different places.
  const forms = [
    any(pair(1, sql`random()`), 2, 3),
    any(pair(1, 2), sql`random()`, 3),
    any(pair(1, 2), 3, sql`random()`),
    any(1, pair(2, 3), sql`random()`),
    any(1, 2, pair(3, sql`random()`)),
    any(raw('a'), raw('b'), 1),
    any(raw('a'), 1, raw('b')),
    any(raw('ab'), 1, raw('')),
    any(join([1, 2]), 3, 4),
    any(join([1]), join([2, 3]), 4),
    any(join([1, 2], ' + '), 3, 4),
    any(join([1, sql`random()`]), 3, 4),
  ]
  const texts = [
    'select ($1, random()), $2, $3',
    'select ($1, $2), random(), $3',
    'select ($1, $2), $3, random()',
    'select $1, ($2, $3), random()',
    'select $1, $2, ($3, random())',
    'select a, b, $1',
    'select a, $1, b',
    'select ab, $1, ',
    'select $1,$2, $3, $4',
    'select $1, $2,$3, $4',
    'select $1 + $2, $3, $4',
    'select $1,random(), $2, $3',
  ]
  assert.deepEqual(
    forms.map((form) => sql`${form}`.text),
    texts,
  )
})

test('An empty list cannot be joined', () => {
  assert.throws(() => join([]), TypeError)
})
