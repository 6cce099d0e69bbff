// Import of a laboratory's list of tests by command, at a fictional laboratory of its own.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { command } from '../../../test/support/commands.ts'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { hasCheckDigit } from '../../lab-values/loinc-codes.ts'
import { findLink } from '../accounts/account-links.ts'
import type { LabSlug } from '../catalog/enums.ts'
import { exportCatalog } from '../catalog-exchange/exchange.ts'
import type { MarkerEntry } from '../catalog-exchange/file-schema.ts'
import { createCodes } from '../result-matching/link-codes.ts'

const CELL = 'sandbox-eu'
const folder = await mkdtemp(join(tmpdir(), 'compendium-'))
after(() => rm(folder, { recursive: true }))

async function write(content: string | Uint8Array): Promise<string> {
  const path = join(folder, randomUUID())
  await writeFile(path, content)
  return path
}
const csv = (...lines: string[]): Promise<string> => write(`${lines.join('\n')}\n`)
/** A LOINC code that no list of codes has, with its check digit. */
const loinc = (number: number): string =>
  Array.from({ length: 10 }, (_, digit) => `${number}-${digit}`).find((code) => hasCheckDigit(code))!
const [SALT, ACID, WORD, LATER] = [loinc(9_991_001), loinc(9_991_002), loinc(9_991_003), loinc(9_991_004)]

let team: TestTeam
let labs = 0
before(async () => void (team = await createTestTeam(CELL)))

/** A laboratory with no tests but the given ones, and an account there with a link. */
async function createLaboratory(markers: Partial<MarkerEntry>[] = [], options: string[] = []) {
  const lab = `compendium_lab_${++labs}`
  const entry = { slug: lab, name: 'Compendium Lab', collection_methods: ['walk_in_test'], sample_types: ['serum'] }
  const common = { lab, type: 'biomarker', price: '12.50' }
  const file = { format: 'drawbridge-catalog-1', labs: [entry], markers: markers.map((marker) => ({ ...common, ...marker })) }
  await command(cells, ['catalog', 'import', await write(JSON.stringify(file)), '--cell', CELL])
  const account = await labAccount(team, { lab: lab as LabSlug })
  await command(cells, [
    'links',
    'set',
    account,
    'preset=us-23',
    'text.time_zone=UTC',
    'results.reports=cumulative',
    ...options,
    '--cell',
    CELL,
  ])
  const run = (...words: string[]) => command(cells, ['links', 'compendium', account, ...words, '--cell', CELL])
  const readMarkers = async () => (await exportCatalog(team.db.queries)).markers.filter((marker) => marker.lab === lab)
  const readCodes = async () => (await findLink(team.db.queries, account))!.profile.codes
  return { account, run, readMarkers, readCodes }
}

const TESTS = ['test,test_name,specimen', 'C-1,Salt,serum', '"C-2","Salt, acid and word",serum']
const RESULTS = [
  'test,result,result_name,loinc,unit',
  `C-1,C-1,Salt,${SALT},mmol/L`,
  `C-2,R-SALT,Salt,${SALT},mmol/l`,
  `C-2,R-ACID,Acid,${ACID},mg/dL`,
  `C-2,R-WORD,Word,${WORD},`,
  'C-2,R-OWN,Own,,%',
]

describe('a list of tests', () => {
  test('is compared without changing anything, then applied to catalog and profile, and then has no difference', async () => {
    const { run, readMarkers, readCodes } = await createLaboratory()
    const files = [await csv(...TESTS), '--results', await csv(...RESULTS)]
    const preview = await run(...files)
    assert.match(preview, /^new +test C-1 {2}Salt\n +name {2}"Salt"\n +unit {2}"mmol\/L"\n +result [a-z]+.* {2}"required"$/m)
    assert.match(preview, new RegExp(`^new +analyte acid.* {2}Acid {2}${ACID} {2}mg/dL$`, 'm'))
    assert.match(preview, new RegExp(`^new +codes.results R-ACID {2}Acid\n +loinc {2}"${ACID}"\n +unit {2}"mg/dL"$`, 'm'))
    assert.match(preview, /^tests +2 new, 0 changed, 0 unchanged, 0 gone$/m)
    assert.match(preview, /^mapped +60\.0 % of 5 result codes/m)
    assert.match(preview, /^unmapped R-WORD {2}Word {2}no unit\nunmapped R-OWN {2}Own {2}no LOINC code$/m)
    assert.match(preview, /Nothing was changed\. Add --apply/)
    assert.deepEqual([await readMarkers(), (await readCodes()).results], [[], []])

    assert.match(await run(...files, '--apply'), /\nApplied\. /)
    const [salt, panel] = await readMarkers()
    assert.deepEqual(
      [salt!.provider_id, salt!.type, salt!.unit, salt!.price, salt!.is_orderable, salt!.a_la_carte_enabled, panel!.type],
      ['C-1', 'biomarker', 'mmol/L', 'N/A', true, true, 'panel'],
    )
    assert.deepEqual([salt!.results.length, panel!.results.length, panel!.results[0]], [1, 3, salt!.results[0]])
    const { analytes } = await exportCatalog(team.db.queries)
    const expected = panel!.results.map(({ analyte }) => analytes.find(({ slug }) => slug === analyte)!)
    assert.deepEqual(
      expected.map((analyte) => [analyte.loinc, analyte.definition.unit, analyte.definition.type, analyte.definition.specimen]),
      [
        [SALT, 'mmol/L', 'numeric', 'serum'],
        [ACID, 'mg/dL', 'numeric', 'serum'],
        [WORD, null, 'comment', 'serum'],
      ],
    )
    const codes = await readCodes()
    // The code of a test with one result needs no entry.
    assert.deepEqual(codes.results.map(({ code }) => code).toSorted(), ['R-ACID', 'R-OWN', 'R-SALT', 'R-WORD'])
    assert.equal(createCodes({ codes }).result({ code: 'R-ACID' }).loinc, ACID)
    assert.equal(createCodes({ codes }).unit({ code: 'R-ACID' }), 'mg/dL')

    const again = await run(...files, '--apply')
    assert.match(again, /^tests +0 new, 0 changed, 2 unchanged, 0 gone\n/)
    assert.match(again, /Nothing to apply\.\n$/)
    assert.deepEqual([await readMarkers(), await readCodes()], [[salt, panel], codes])
  })

  test('shows each changed field, and what is gone stays', async () => {
    const { run, readMarkers, readCodes } = await createLaboratory([], ['codes.results=[{"code":"OLD","loinc":"2345-7"}]'])
    await run(await csv(...TESTS, 'C-3,Salt of yore,'), '--results', await csv(...RESULTS), '--apply')
    const stored = await readMarkers()
    const changed = [
      'test,result,result_name,loinc,unit,required',
      `C-1,C-1,Salt,${LATER},g/L,`,
      `C-2,R-ACID,Acid,${ACID},mg/dL,no`,
      `C-2,R-WORD,Word,${LATER},g/L,yes`,
    ]
    const files = [await csv('test,test_name', 'C-1,Table salt', 'C-2,"Salt, acid and word"'), '--results', await csv(...changed)]
    const report = JSON.parse(await run(...files, '--apply', '--json'))
    const fields = (code: string) =>
      report.tests
        .find((change: { code: string }) => change.code === code)
        .fields.map(Object.values)
        .map(String)
    const slugs = new Map(stored[1]!.results.map(({ analyte }, i) => [['salt', 'acid', 'word'][i], analyte]))
    const later = report.analytes[0].slug
    assert.deepEqual(fields('C-1'), [
      'name,Salt,Table salt',
      'unit,mmol/L,g/L',
      `result ${slugs.get('salt')},required,`,
      `result ${later},,required`,
    ])
    assert.deepEqual(
      fields('C-2').toSorted(),
      [
        `result ${slugs.get('acid')},required,optional`,
        `result ${later},,required`,
        `result ${slugs.get('salt')},required,`,
        `result ${slugs.get('word')},required,`,
      ].toSorted(),
    )
    assert.deepEqual(report.tests.at(-1), { kind: 'gone', code: 'C-3', name: 'Salt of yore', fields: [] })
    assert.deepEqual(report.result_codes.map(({ kind, code }: Record<string, string>) => `${kind} ${code}`).toSorted(), [
      'changed R-WORD',
      'gone OLD',
      'gone R-OWN',
      'gone R-SALT',
    ])
    const markers = await readMarkers()
    assert.deepEqual(
      markers.map(({ id, name, is_orderable }) => [id, name, is_orderable]),
      stored.map(({ id, name }) => [id, name === 'Salt' ? 'Table salt' : name, true]),
    )
    const results = new Map((await readCodes()).results.map((entry) => [entry.code, entry]))
    assert.deepEqual(
      [results.get('OLD')!.loinc, results.get('R-WORD')!.loinc, results.get('R-SALT')!.loinc],
      ['2345-7', LATER, SALT],
    )
    assert.match(
      await run(...files),
      /^gone +test C-3 {2}Salt of yore {2}not in the list; stays in the catalog and can be ordered$/m,
    )
  })

  test('is one file with the names of the laboratory, uses analytes of the catalog, and codes of the profile', async () => {
    const { run, readMarkers } = await createLaboratory(
      [{ provider_id: 'OWN-1', name: 'Sugar', slug: 'sugar', results: [{ analyte: 'glucose', required: true }] }],
      ['codes.tests={"LAB-1":"OWN-1"}', 'codes.results=[{"code":"GLU","loinc":"2345-7"}]', 'codes.units={"MGD":"mg/dL"}'],
    )
    const map = await write(
      JSON.stringify({
        test: ['ORDER CODE', 'PARENT'],
        test_name: 'ORDER NAME',
        result: 'CODE',
        result_name: 'NAME',
        unit: 'UNITS',
      }),
    )
    const file = await csv(
      'ORDER NAME,ORDER CODE,CODE,NAME,loinc,UNITS,PRICE',
      'Sugar,LAB-1,GLU,Glucose,,MG/DL,$1',
      'Sugar twice,LAB-2,GLU,Glucose,,MG/DL,$2',
      'Sugar twice,LAB-2,BUN,Nitrogen,3094-0,MGD,',
      'Only a test,constructor,,,,,',
    )
    const output = await run(file, '--map', map, '--apply')
    assert.match(output, /^mapped +100\.0 % of 2 result codes/m)
    assert.doesNotMatch(output, /new +analyte|unmapped/)
    assert.match(output, /^tests +2 new, 0 changed, 1 unchanged, 0 gone$/m)
    const markers = await readMarkers()
    assert.deepEqual(
      markers.map(({ provider_id, type, results }) => [provider_id, type, results.map(({ analyte }) => analyte)]),
      [
        ['OWN-1', 'biomarker', ['glucose']],
        ['LAB-2', 'panel', ['glucose', 'bun']],
        ['constructor', 'biomarker', []],
      ],
    )
  })

  test('without results leaves those of the catalog, and a result without a code removes none', async () => {
    const results = [
      { analyte: 'glucose', required: true },
      { analyte: 'bun', required: false },
    ]
    const { run, readMarkers } = await createLaboratory([
      { provider_id: 'P', name: 'Pair', slug: 'pair', type: 'panel', results },
    ])
    await run(await csv('test,test_name', 'P,Pair of two'), '--apply')
    assert.deepEqual(
      (await readMarkers()).map(({ name, results: expected }) => [name, expected]),
      [['Pair of two', results]],
    )
    const unknown = await csv('test,result,result_name,loinc,unit', 'P,GLU,Glucose,2345-7,mg/dL', 'P,ODD,Odd,,')
    const output = await run(await csv('test,test_name', 'P,Pair of two'), '--results', unknown, '--apply')
    assert.match(output, /^mapped +50\.0 %.*\nunmapped ODD {2}Odd {2}no LOINC code$/m)
    assert.deepEqual((await readMarkers())[0]!.results, results)
  })

  test('stores the code of a test for its result, too, if the test has further results', async () => {
    const { run, readCodes } = await createLaboratory([
      { provider_id: 'GLU', name: 'Glucose', slug: 'glucose', results: [{ analyte: 'glucose', required: true }] },
    ])
    const header = 'test,result,result_name,loinc,unit'
    const [tests, glucose] = [await csv('test,test_name', 'GLU,Glucose'), 'GLU,GLU,Glucose,2345-7,mg/dL']
    await run(tests, '--results', await csv(header, glucose), '--apply')
    assert.deepEqual((await readCodes()).results, [])
    await run(tests, '--results', await csv(header, glucose, 'GLU,BUN,Nitrogen,3094-0,mg/dL'), '--apply')
    assert.deepEqual(
      (await readCodes()).results.map(({ code, loinc: term }) => [code, term]),
      [
        ['GLU', '2345-7'],
        ['BUN', '3094-0'],
      ],
    )
  })

  test('brings questions, whose ids stay when they change', async () => {
    const { run, readMarkers } = await createLaboratory()
    const tests = await csv(...TESTS)
    const header = 'test,question,question_text,question_type,question_required,answers'
    await run(tests, '--questions', await csv(header, 'C-1,FAST,Fasting?,,,Y=Yes|N=No', 'C-1,HOURS,Hours,numeric,no,'), '--apply')
    const first = (await readMarkers())[0]!.aoe!.questions
    assert.deepEqual(
      first.map(({ code, type, required, sequence }) => [code, type, required, sequence]),
      [
        ['FAST', 'choice', true, 1],
        ['HOURS', 'numeric', false, 2],
      ],
    )
    const changed = await csv(header, 'C-1,NOTE,Notes,text,no,', 'C-1,FAST,Fasting?,,,N=No|U=Unknown')
    const output = await run(tests, '--questions', changed, '--apply')
    assert.match(output, /question FAST {2}"1\. Fasting\? \(choice, required, Y=Yes, N=No\)" -> "2\. .*U=Unknown\)"$/m)
    assert.match(output, /question HOURS {2}".*" -> none$/m)
    const second = (await readMarkers())[0]!.aoe!.questions
    assert.deepEqual([second[1]!.id, second[1]!.answers[0]], [first[0]!.id, first[0]!.answers[1]])
    const ids = second.flatMap(({ id, answers }) => [id, ...answers.map((answer) => answer.id)])
    assert.equal(new Set(ids).size, ids.length)
    assert.match(await run(tests, '--questions', changed), /Nothing to apply/)
  })
})

describe('a list with faults', () => {
  test('is refused as a whole, and each row is listed with its line and without its content', async () => {
    const { run, readMarkers, readCodes } = await createLaboratory()
    const tests = await csv(
      ...TESTS,
      'C-1,Again,',
      ',Nameless,',
      'C-4,,',
      '"C-5\u001b[2J",Hidden,',
      `C-6,${'x'.repeat(201)},`,
      'C-7',
    )
    const results = await csv(
      ...RESULTS,
      `C-1,C-1,Salt,${SALT},mmol/L`,
      'C-1,BAD,Bad,2345-8,g/L',
      'C-9,X,Unknown,,',
      `C-1,R-ACID,Acid,${ACID},g/L`,
      'C-1,ZERO,Zero\u0000,,',
      'C-1,TURN,\u202eTurned,,',
    )
    const questions = await csv('test,question,question_text,answers', 'C-1,Q,Text?,no equals sign', 'C-1,Q2,,')
    const error = await run(tests, '--results', results, '--questions', questions, '--apply').then(
      () => assert.fail('it was imported'),
      (reason: Error) => reason,
    )
    assert.deepEqual(error.message.split('\n').slice(1), [
      '  tests line 4: the test is already in line 2',
      '  tests line 5: test is empty',
      '  tests line 6: test_name is empty',
      '  tests line 7: test has a character that cannot be shown',
      '  tests line 8: test_name has more than 200 characters',
      '  tests line 9: 1 fields; the header has 3',
      '  results line 7: the test already has the result',
      '  results line 8: loinc is not a LOINC code',
      '  results line 9: the test is not in the list',
      '  results line 10: loinc or unit of the result differs from line 4',
      '  results line 11: result_name has a character that cannot be shown',
      '  results line 12: result_name has a character that cannot be shown',
      '  questions line 2: answers must be such as Y=Yes|N=No',
      '  questions line 3: question_text is empty',
    ])
    assert.match(error.message, /^Nothing was imported\. Rows of the list: 14 rejected:\n/)
    assert.deepEqual([await readMarkers(), (await readCodes()).results], [[], []])
  })

  test('is refused if a file cannot be used', async () => {
    const { run, account, readMarkers } = await createLaboratory([], ['codes.tests={"A":"SAME","B":"SAME"}'])
    const other = await labAccount(team, { lab: 'quest' })
    const tests = await csv(...TESTS)
    const map = (value: unknown) => write(JSON.stringify(value))
    const rows = Array.from({ length: 10_001 }, (_, i) => `T${i},Test`)
    const cases: [string[], RegExp][] = [
      [[await write(Buffer.from('test,test_name\nC-1,Gl\xfccose\n', 'latin1'))], /not UTF-8 at line 2/],
      [[await csv('test,test_name', ...rows)], /more than 10000 rows/],
      [[await write(Buffer.alloc(32 * 1024 * 1024 + 1, 'x'))], /more than 33554432 bytes/],
      [[await write('')], /is empty/],
      [[await csv('test,test_name')], /has no rows/],
      [[await csv('code,name', 'C-1,Salt')], /has no column "test" for "test"/],
      [[await csv('test,test,test_name', 'C-1,C-1,Salt')], /several columns for "test"/],
      [[await csv('test,test_name', '"C-1,Salt')], /malformed at line \d+: quote not closed/],
      [[await csv('test,test_name,result', 'C-1,Salt,C-1')], /no column for result_name, loinc, unit/],
      [[tests, '--map', await map({ specimen: 'TUBE' })], /has no column "TUBE" for "specimen"/],
      [[tests, '--map', await map({ color: 'x' })], /unknown key/],
      [[tests, '--map', await map({ test: [] })], /test must be the name of a column/],
      [[tests, '--map', await map([])], /not an object/],
      [[tests, '--map', await write('{')], /not JSON/],
      [[await csv('test,test_name', 'A,One', 'B,Two')], /makes the tests A and B the same test SAME/],
      [[join(folder, 'absent')], /File not found/],
    ]
    for (const [words, reason] of cases) await assert.rejects(run(...words, '--apply'), reason)
    const withoutLink = command(cells, ['links', 'compendium', other, tests, '--apply', '--cell', CELL])
    await assert.rejects(withoutLink, /has no link\. Nothing was imported/)
    assert.notEqual(account, other)
    assert.deepEqual(await readMarkers(), [])
  })
})
