// The shipped files, and the import of an operator's files.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { usStates } from '../person/countries.ts'
import { exclusionRows, InvalidFileError, icdRows, payorRows, readBundledFile } from './data-files.ts'

const faults = (work: () => unknown): readonly string[] => {
  try {
    work()
  } catch (error) {
    assert(error instanceof InvalidFileError)
    return error.lines
  }
  return assert.fail('the file was taken')
}

describe('the shipped files of payors and diagnoses', () => {
  test('contain at least 1,500 diagnoses, each once and in order', () => {
    const rows = icdRows(readBundledFile('icd'))
    assert(rows.length >= 1500, String(rows.length))
    const codes = rows.map(({ code }) => code)
    assert.deepEqual(codes, [...codes].sort())
    for (const code of ['Z0000', 'E119', 'I10', 'N390', 'Z113', 'D649']) assert(codes.includes(code), code)
  })

  test('contain a plan of Medicare and one of Medicaid for every state', () => {
    const rows = payorRows(readBundledFile('payors'))
    for (const program of ['medicare', 'medicaid'])
      for (const state of usStates)
        assert.equal(rows.filter((row) => row.program === program && row.state === state).length, 1, `${program} ${state}`)
    assert.equal(rows.find(({ code }) => code === 'AETNA')!.payer_id, '60054')
  })

  test('list as exclusions only prefixes of codes', () => {
    const rows = exclusionRows(readBundledFile('exclusions'))
    assert(rows.some(({ code, excluded_code, type }) => code === 'E11' && excluded_code === 'E10' && type === 'excludes1'))
  })

  test('stay small', () => {
    for (const part of ['payors', 'icd', 'exclusions'] as const) assert(readBundledFile(part).length < 1_000_000)
  })
})

describe('a file of payors', () => {
  const header = 'payor_code,name,first_line,city,state,zip'
  test('is imported with its optional columns', () => {
    const [row] = payorRows(
      `${header},aliases,availity,program,program_state\nFICT,Fictional Plan,1 Example Street,Phoenix,arizona,85004,One| Two |,F1,medicaid,AZ\n`,
    )
    assert.deepEqual(row, {
      code: 'FICT',
      name: 'Fictional Plan',
      aliases: ['One', 'Two'],
      org_address: {
        first_line: '1 Example Street',
        second_line: '',
        city: 'Phoenix',
        state: 'AZ',
        zip: '85004',
        country: 'United States',
        access_notes: null,
      },
      payer_id: null,
      external_codes: { availity: 'F1' },
      program: 'medicaid',
      state: 'AZ',
    })
  })

  test('is rejected with one error line per invalid row', () => {
    const good = 'A,Name,1 Example Street,Phoenix,AZ,85004'
    const lines = faults(() => payorRows(`${header}\n${good}\n${good}\nB,,1 Example Street,Phoenix,Nowhere,85004\n`))
    assert.deepEqual(lines, ['line 3: duplicate payor_code A', 'line 4: state is not a US state', 'line 4: name is empty'])
    assert.match(faults(() => payorRows('payor_code,name\nA,B\n'))[0]!, /is missing columns: first_line, city, state, zip/)
    assert.match(faults(() => payorRows(`${header},color\n${good},red\n`))[0]!, /color/)
    assert.match(faults(() => payorRows(`${header}\n${good},more\n`))[0]!, /line 2/)
    assert.match(faults(() => payorRows(`${header},program,program_state\n${good},medicare,\n`))[0]!, /must be set together/)
    for (const empty of ['', header]) assert.equal(faults(() => payorRows(empty)).length, 1)
  })
})

describe('a file of diagnoses', () => {
  const order = (number: string, code: string, billable: string, text: string) =>
    `${number} ${code.padEnd(8)}${billable} ${text.slice(0, 60).padEnd(60)} ${text}`

  test('may be the order file of CMS, whose headings are skipped', () => {
    const lines = [
      order('00001', 'E11', '0', 'Type 2 diabetes mellitus'),
      order('00002', 'E119', '1', 'Type 2 diabetes mellitus without complications'),
      order('00003', 'G63', '1', 'Polyneuropathy in diseases classified elsewhere'),
    ]
    for (const end of ['\n', '\r\n'])
      assert.deepEqual(icdRows(lines.join(end) + end), [
        { code: 'E119', description: 'Type 2 diabetes mellitus without complications', is_secondary: false },
        { code: 'G63', description: 'Polyneuropathy in diseases classified elsewhere', is_secondary: true },
      ])
  })

  test('may be CSV', () => {
    const rows = icdRows('code,description,billable\nE11,"Type 2 diabetes mellitus",0\ne11.9,"Type 2, without complications",1\n')
    assert.deepEqual(rows, [{ code: 'E119', description: 'Type 2, without complications', is_secondary: false }])
  })

  test('is rejected with one error line per invalid row', () => {
    const csv = faults(() => icdRows('code,description,billable\nE1,Short,1\nE119,,1\nI10,Text,x\nI10,Text,1\nI10,Text,1\n'))
    assert.deepEqual(csv, [
      'line 2: the code is malformed',
      'line 3: the description must have 1 to 400 characters in one line',
      'line 4: billable must be 1 or 0',
      'line 6: duplicate I10',
    ])
    const lines = [order('00001', 'E119', '1', 'Text'), 'something else', order('00003', 'E119', '1', 'Text')]
    assert.deepEqual(
      faults(() => icdRows(lines.join('\n'))),
      ['line 2: the line is not in the order-file format', 'line 3: duplicate E119'],
    )
    assert.equal(faults(() => icdRows('code,description,billable\nE11,Heading,0\n')).length, 1)
  })
})
