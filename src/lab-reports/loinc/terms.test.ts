// The shipped LOINC terms: every code is one, every row is complete, and the notice is beside them.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { parseCsv } from '../../platform/files/csv.ts'
import { hasCheckDigit } from '../../lab-values/loinc-codes.ts'
import { shippedIndex } from './match-loinc.ts'
import { nameKeys, tokensOf } from './name-words.ts'
import { namesWithoutTerm, parseTsv, shippedTerm, shippedTerms, type Term } from './terms.ts'
import { kindsOfProperty, readUnit } from '../../lab-values/ucum-units.ts'

const data = new URL('data/', import.meta.url)
const terms = shippedTerms()
const where = (term: Term): string => `${term.code} ${term.longName}`

test('at least 1,500 terms are shipped, each once, in files of reasonable size', () => {
  assert.ok(terms.length >= 1_500, `${terms.length} terms`)
  assert.equal(new Set(terms.map(({ code }) => code)).size, terms.length)
  assert.equal(new Set(terms.map(({ longName }) => longName)).size, terms.length)
  for (const name of readdirSync(data)) assert.ok(statSync(new URL(name, data)).size < 200_000, name)
})

test('the LOINC notice is next to the terms', () => {
  const notice = readFileSync(new URL('LOINC-NOTICE.txt', data), 'utf8')
  assert.equal(notice, readFileSync(new URL('../../lab/catalog/data/LOINC-NOTICE.txt', import.meta.url), 'utf8'))
})

test('each code passes the check digit, and a code with another digit does not', () => {
  for (const term of terms) {
    assert.ok(hasCheckDigit(term.code), where(term))
    const digit = (Number(term.code.at(-1)) + 1) % 10
    assert.ok(!hasCheckDigit(`${term.code.slice(0, -1)}${digit}`), where(term))
  }
  for (const text of ['', '2345', '-7', '2345-77', 'LP1234-5', '12345678-1']) assert.ok(!hasCheckDigit(text), text)
})

test('each term has all of its parts, and names by which reports print it', () => {
  for (const term of terms) {
    for (const part of ['component', 'property', 'timing', 'system', 'scale', 'displayName'] as const)
      assert.ok(term[part], `${where(term)}: ${part}`)
    assert.ok(['Qn', 'Ord', 'Nom', 'Nar', 'OrdQn'].includes(term.scale), `${where(term)}: ${term.scale}`)
    assert.ok(term.aliases.length + term.sharedAliases.length > 0, where(term))
    assert.ok(Number.isInteger(term.rank) && term.rank > 0, where(term))
    for (const alias of [...term.aliases, ...term.sharedAliases]) assert.equal(alias, alias.trim(), `${where(term)}: "${alias}"`)
  }
})

test('names without a term are in order, each once, and none is the name of a term', () => {
  const names = namesWithoutTerm()
  assert.ok(names.length > 3_000)
  assert.deepEqual(names, [...new Set(names.map((name) => name.trim().toLowerCase()))].sort())
  const { exact } = shippedIndex()
  assert.deepEqual(
    names.filter((name) => nameKeys(name).some((key) => exact.has(key))),
    [],
  )
  // Words that change nothing are no part of a key: a letter alone would be the name of everything that ends in it.
  assert.deepEqual(
    names.filter((name) => tokensOf(name).join('').length < 2),
    [],
  )
})

/** Units that LOINC gives as examples and that no report of common panels has. */
const rareUnits = new Set([
  'cP',
  '{#}',
  'U/mmol{creat}',
  'umol.min/L',
  'um/s',
  "{CTA'U}/mL",
  "{MPS'U}",
  'U/mL{RBCs}',
  'umol/{ejaculate}',
  "{Ehrlich'U}/dL",
])

test('the usual units of a term are recognized and fit its property', () => {
  const unread = new Set<string>()
  for (const term of terms)
    for (const text of term.units) {
      const units = readUnit(text)
      if (units.length === 0) unread.add(text)
    }
  assert.deepEqual(
    [...unread].filter((text) => !rareUnits.has(text)),
    [],
  )
  for (const term of terms.filter(
    ({ property, units }) =>
      ['MCnc', 'SCnc', 'CCnc', 'NFr', 'EntVol', 'Time', 'PPres'].includes(property) &&
      units.length > 0 &&
      !rareUnits.has(units[0]!),
  ))
    assert.ok(
      readUnit(term.units[0]).some(({ kind }) => kindsOfProperty[term.property]!.includes(kind)),
      `${where(term)}: ${term.units.join(' ')}`,
    )
})

test('mass and molar concentrations of a component are terms of their own', () => {
  const pairs = [
    ['2345-7', '14749-6'],
    ['2160-0', '14682-9'],
    ['2093-3', '14647-2'],
    ['3024-7', '14920-3'],
    ['2498-4', '14798-3'],
  ]
  for (const [mass, molar] of pairs) {
    const [a, b] = [shippedTerm(mass!)!, shippedTerm(molar!)!]
    assert.deepEqual([a.component, a.property, b.property], [b.component, 'MCnc', 'SCnc'])
  }
})

test('plausible limits are in a unit of the term, low below high, and hundreds of terms have them', () => {
  const limited = terms.filter(({ low }) => low !== null)
  assert.ok(limited.length > 700, `${limited.length} terms have limits`)
  for (const term of limited) {
    assert.ok(term.low! < term.high!, where(term))
    assert.ok(term.units.includes(term.rangeUnit), where(term))
  }
})

test('a file with another header or a row of another length is refused', () => {
  assert.throws(() => parseTsv('x.tsv', 'a\tb\n1\t2\n', ['a', 'c']), /x\.tsv: the columns must be a, c/)
  assert.throws(() => parseTsv('x.tsv', 'a\tb\n1\n', ['a', 'b']), /x\.tsv, line 2: 1 fields, not 2/)
  assert.deepEqual(parseTsv('x.tsv', 'a\tb\n1\t\n', ['a', 'b']), [{ a: '1', b: '' }])
})

/** Beside the repository, or beside the folder of its work trees. */
const folder = ['../../../../shared/loinc/', '../../../../../shared/loinc/']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url))

test('each code exists in the LOINC tables, with the same component and long name', (t) => {
  if (!folder) return t.skip('no folder ../shared/loinc beside the repository')
  const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8')
  const components = new Map(parseCsv(read('loinc_code_component_93600.csv')).map((row) => [row.LOINC_NUM!, row.COMPONENT!]))
  const known = JSON.parse(read('lab_common.json')) as { code: string; long_name: string }[]
  const names = new Map(known.map((row) => [row.code, row.long_name]))
  const full = new Map(parseCsv(read('loinc_2.68_full_columns_747.csv')).map((row) => [row.LOINC_NUM!, row]))
  let compared = 0
  for (const term of terms) {
    const component = components.get(term.code)
    // Codes that are newer than the table are in the other one.
    if (component === undefined) assert.ok(names.has(term.code) || term.code === '98979-8', where(term))
    else assert.equal(term.component, component, where(term))
    if (names.has(term.code)) assert.equal(term.longName, names.get(term.code), where(term))
    const row = full.get(term.code)
    if (!row) continue
    compared += 1
    const parts = [term.system, term.property.replace('Ratio', 'Rto'), term.scale, term.timing, term.method]
    assert.deepEqual(
      parts,
      [row.SYSTEM, row.PROPERTY!.replace('Ratio', 'Rto'), row.SCALE_TYP, row.TIME_ASPCT, row.METHOD_TYP],
      where(term),
    )
  }
  assert.ok(compared > 300, `${compared} terms compared by all parts`)
})
