import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mendedName, mendedRange, mendedRow, mendedUnit } from './mended-rows.ts'
import { newRow } from '../tables/row-parts.ts'
import { isNamed } from './read-report.ts'

test('ranges of pictures have their dash and their zero again, and other texts stay as they were read', () => {
  const ranges = {
    'O to 149': '0 to 149',
    Oto99: '0 to 99',
    'o 125': '0 - 125',
    '0.82 1.77': '0.82 - 1.77',
    '(135 145)': '(135 - 145)',
    '(135 145': '(135 145',
    '44 196': '44 - 196',
    '2 50': '2 50',
    '2 9': '2 - 9',
    '14--46': '14 - 46',
    '0.12 -. 0.38': '0.12 - 0.38',
    '0.26... 2.17': '0.26 - 2.17',
    '4,5 10,8': '4,5 - 10,8',
    '5.0 - 7.5': '5.0 - 7.5',
    '2.15 - 2.57 01': '2.15 - 2.57',
    '1.5 - 2 09': '1.5 - 2 09',
    '< 5 01': '< 5 01',
    '<40 o1': '<40',
    '70 99 01': '70 99 01',
    '-2 - 2': '-2 - 2',
    '0to 65': '0 to 65',
    '0 to65': '0 to 65',
    '0 to 65': '0 to 65',
    '0-1 d: 1.0-8.0: 2-5 d: 1.0-12.0': '0-1 d: 1.0-8.0; 2-5 d: 1.0-12.0',
    'Ratio 1: 2-5': 'Ratio 1: 2-5',
    '1.77 0.82': '1.77 0.82',
    '<0.5': '<0.5',
    Negative: 'Negative',
    'Group O': 'Group O',
  }
  for (const [read, meant] of Object.entries(ranges)) assert.equal(mendedRange(read), meant, read)
})

test('units and names in pictures that are confused with others become the ones that laboratories print', () => {
  const units = {
    'S.': 's',
    '±mL/min/1.73m2': 'mL/min/1.73m2',
    'I U/L': 'IU/L',
    'TU/L': 'IU/L',
    'mg/LFEU': 'mg/L FEU',
    'HU/L': 'IU/L',
    '[ug/L': 'ug/L',
    'mL/min/1.73m2 2': 'mL/min/1.73m2',
    'mL/min/1.73 mz': 'mL/min/1.73 m²',
    f: 'fL',
    'µmol/L.': 'µmol/L',
    'sec.': 'sec.',
    'U/L': 'U/L',
    'mg/dL': 'mg/dL',
  }
  for (const [read, meant] of Object.entries(units)) assert.equal(mendedUnit(read), meant, read)
  const names = {
    TSII: 'TSH',
    'Sodium Lv': 'Sodium Lvl',
    PIt: 'Plt',
    'Potassium LV': 'Potassium Lvl',
    'Free 13': 'Free T3',
    Blooct: 'Blood',
    gA: 'IgA',
    'Anti-CCP Ab, IgG/gA': 'Anti-CCP Ab, IgG/IgA',
    'LYMPHS °': 'LYMPHS %',
    'Immunoglobulin G (gG)': 'Immunoglobulin G (IgG)',
    Glucose: 'Glucose',
    'Unheard-of Marker 13': 'Unheard-of Marker 13',
  }
  for (const [read, meant] of Object.entries(names)) assert.equal(mendedName(read, isNamed), meant, read)
})

test('names in pictures have the commas, spaces and slashes again that laboratories print', () => {
  const names = {
    'PROTEIN. TOTAL': 'PROTEIN, TOTAL',
    'Immunoglobulin A. Qn. Serum': 'Immunoglobulin A, Qn, Serum',
    'Estim. Avg Glu (eAG)': 'Estim. Avg Glu (eAG)',
    'T. Protein': 'T. Protein',
    'Immunoglobulin A(IgA)': 'Immunoglobulin A (IgA)',
    'Urea Nitrogen(BUN)': 'Urea Nitrogen (BUN)',
    'T4,FREE(DIRECT)': 'T4,FREE(DIRECT)',
    'Lipoprotein(a)': 'Lipoprotein(a)',
    'AG RATIO': 'A/G RATIO',
    'Trichomonas vaginalis, NAA.': 'Trichomonas vaginalis, NAA',
    'Neutrophils Abs.': 'Neutrophils Abs.',
    'SGPT (ALT).': 'SGPT (ALT)',
    'Salmonella Typhi "O""': 'Salmonella Typhi "O"',
  }
  for (const [read, meant] of Object.entries(names)) assert.equal(mendedName(read, isNamed), meant, read)
})

test('the small first letter of a name that was read for a capital I is one', () => {
  assert.equal(mendedName('iron', isNamed), 'Iron')
  assert.equal(mendedName('insuline xyz', isNamed), 'insuline xyz')
})

test('a letter that was read for the result zero is one, and for an antibiotic a one is intermediate', () => {
  const box = { left: 0, top: 0, right: 10, bottom: 10 }
  const row = newRow(1, [{ text: '', box, words: [] }])
  const valueOf = (parts: Partial<typeof row>) => mendedRow({ ...row, ...parts }, isNamed).value
  assert.equal(valueOf({ name: 'Basophils', value: 'o', unit: '%' }), '0')
  assert.equal(valueOf({ name: 'Casts', value: 'O', range_lines: ['0 - 2'] }), '0')
  assert.equal(valueOf({ name: 'Blood Group', value: 'O' }), 'O')
  assert.equal(valueOf({ name: 'Ciprofloxacin', value: '1' }), 'I')
  assert.equal(valueOf({ name: 'Ciprofloxacin', value: '1', unit: 'ug/mL' }), '1')
  assert.equal(valueOf({ name: 'Casts', value: '1' }), '1')
})

test('a dot of an abbreviation is no comma', () => {
  assert.equal(mendedName('R.A. Factor', isNamed), 'R.A. Factor')
})

test('a unit with lost letters is the one of its range, and another unit stays as it was read', () => {
  const row = newRow(1, [{ text: '', box: { left: 0, right: 1, top: 0, bottom: 1 }, words: [] }])
  const unitOf = (unit: string, range: string) =>
    mendedRow({ ...row, name: 'Insulin', value: '6', unit, range_lines: [range] }, isNamed).unit
  assert.equal(unitOf('uU/mL', '2.6 - 18.4 uIU/mL'), 'uIU/mL')
  assert.equal(unitOf('mg/d', '< 200 mg/dL'), 'mg/dL')
  assert.equal(unitOf('mgd', '< 200 mg/dL'), 'mg/dL')
  assert.equal(unitOf('mg/L', '2 - 5 mg/dL'), 'mg/L')
  assert.equal(unitOf('g/L', '2 - 5 mg/L'), 'g/L')
  assert.equal(unitOf('mg/dL', '2 - 5'), 'mg/dL')
})

test('an arrow in front of the name of an unusual result that was read as a letter is no part of the name', () => {
  const row = newRow(1, [{ text: '', box: { left: 0, right: 1, top: 0, bottom: 1 }, words: [] }])
  const nameOf = (name: string, flag: typeof row.flag) => mendedRow({ ...row, name, value: '6', flag }, isNamed).name
  assert.equal(nameOf('A Hemoglobin A1c', 'high'), 'Hemoglobin A1c')
  assert.equal(nameOf('A Hemoglobin A1c', null), 'A Hemoglobin A1c')
  assert.equal(nameOf('A Marker Unheard Of', 'high'), 'A Marker Unheard Of')
})
