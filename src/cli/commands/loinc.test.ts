// Imports of the full LOINC release.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { matchLoinc } from '../../lab-reports/loinc/match-loinc.ts'
import type { ReportData } from '../../lab-reports/parsing-jobs/schema.ts'
import { releaseColumns } from '../../lab-reports/loinc/release-file.ts'
import { findReleaseTerms } from '../../lab-reports/loinc/release.ts'
import { cells, createTestTeam } from '../../../test/support/server.ts'
import { command } from '../../../test/support/commands.ts'
import { parseUpload, pdfOf, reportPage } from '../../../test/support/uploaded-reports.ts'

const directory = await mkdtemp(join(tmpdir(), 'loinc-'))
after(() => rm(directory, { recursive: true }))

type Line = Partial<Record<(typeof releaseColumns)[number] | 'CLASSTYPE', string>>
const columns = [...releaseColumns, 'CLASSTYPE'] as const
const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`
const lineOf = (line: Line): string => columns.map((column) => quote(line[column] ?? '')).join(',')
const line = (code: string, name: string, overrides: Line = {}): Line => ({
  LOINC_NUM: code,
  COMPONENT: name,
  PROPERTY: 'MCnc',
  TIME_ASPCT: 'Pt',
  SYSTEM: 'Ser/Plas',
  SCALE_TYP: 'Qn',
  CLASS: 'CHEM',
  LONG_COMMON_NAME: `${name} [Mass/volume] in Serum or Plasma`,
  SHORTNAME: `${name} SerPl-mCnc`,
  RELATEDNAMES2: 'Chemistry; Point in time; Zedprotein',
  EXAMPLE_UCUM_UNITS: 'mg/dL',
  COMMON_TEST_RANK: '0',
  STATUS: 'ACTIVE',
  CLASSTYPE: '1',
  ...overrides,
})

async function writeRelease(lines: Line[], header: readonly string[] = columns): Promise<string> {
  const file = join(directory, 'Loinc.csv')
  await writeFile(file, `\uFEFF${[header.map(quote).join(','), ...lines.map(lineOf)].join('\r\n')}\r\n`)
  return file
}
const loinc = (file: string, ...options: string[]): Promise<string> => command(cells, ['loinc', 'import', file, ...options])
const refusal = (work: Promise<string>, text: RegExp) =>
  assert.rejects(work, (error) => error instanceof Error && text.test(error.message))

const first = line('90001-9', 'Fictional zedprotein')
const second = line('90002-7', 'Another zedprotein')

test('a release is imported into every cell, compared without a change, and removes terms with consent alone', async () => {
  const team = await createTestTeam()
  const count = async () => (await team.db.pool.query('select count(*)::int as n from loinc_release_term')).rows[0].n as number
  const file = await writeRelease([
    first,
    second,
    line('90003-5', 'Deprecated zedprotein', { STATUS: 'DEPRECATED' }),
    line('90004-3', 'Zedprotein survey', { CLASSTYPE: '4' }),
  ])
  const compared = await loinc(file, '--dry-run')
  assert.match(compared, /^sandbox-us +0 of 0 terms removed, 2 added, 0 changed\n/)
  assert.match(compared, /Nothing was changed\.\n$/)
  assert.equal(await count(), 0)

  assert.match(await loinc(file), /2 added, 0 changed\n[^]*Imported in each of .*sandbox-us/)
  assert.equal(await count(), 2)
  assert.match(await loinc(file), /0 of 2 terms removed, 0 added, 0 changed/)

  await writeRelease([{ ...first, LONG_COMMON_NAME: 'Fictional zedprotein renamed [Mass/volume] in Serum' }])
  await refusal(loinc(file), /^The import removes 1 of 2 terms in sandbox-us, .*Say --yes/)
  assert.equal(await count(), 2)
  assert.match(await loinc(file, '--yes'), /1 of 2 terms removed, 0 added, 1 changed/)
  assert.equal(await count(), 1)

  // What was imported is a candidate, below the shipped terms, and asks for review.
  const release = await findReleaseTerms(team.db.queries, ['Zedprotein, fictional', 'Glucose', '&|!():*', ''])
  const [unknown, known, hostile] = matchLoinc(
    ['Zedprotein, fictional', 'Glucose', '&|!():*'].map((test_name) => ({ test_name, value: '5', units: 'mg/dL' })),
    { release },
  )
  assert.equal(unknown!.loinc_matches[0]!.loinc_code, '90001-9')
  assert.equal(unknown!.loinc_match_status, 'needs_review')
  assert.equal(known!.loinc_matches[0]!.loinc_code, '2345-7')
  assert.deepEqual(hostile!.loinc_matches, [])
  const report = await pdfOf(
    reportPage(['Zedprotein, fictional', '5', '', 'mg/dL', '1-9'], ['Glucose', '105', 'H', 'mg/dL', '70-99']),
  )
  const { data } = await parseUpload(team, await team.user(), { bytes: report })
  assert.deepEqual(
    data.results.map(({ loinc_match_status, loinc_matches }: ReportData['results'][number]) => [
      loinc_match_status,
      loinc_matches![0]!.loinc_code,
    ]),
    [
      ['needs_review', '90001-9'],
      ['auto_match', '2345-7'],
    ],
  )
  await team.db.pool.query('delete from loinc_release_term')
})

test('a file that is not the table of a release is refused, and nothing changes', async () => {
  const team = await createTestTeam()
  const before = (await team.db.pool.query('select count(*)::int as n from loinc_release_term')).rows[0].n as number
  await refusal(loinc(join(directory, 'nowhere.csv')), /File not found/)
  await refusal(
    loinc(
      await writeRelease(
        [first],
        columns.filter((name) => name !== 'SHORTNAME' && name !== 'STATUS'),
      ),
    ),
    /no column SHORTNAME, STATUS/,
  )
  await refusal(loinc(await writeRelease([])), /no rows/)
  await refusal(loinc(await writeRelease([first, line('90002-8', 'Wrong digit')])), /row 3: LOINC_NUM is not a LOINC code/)
  await refusal(loinc(await writeRelease([first, first])), /row 3: LOINC_NUM occurs twice/)
  await refusal(loinc(await writeRelease([{ ...first, STATUS: 'SOMETHING' }])), /row 2: STATUS is unknown/)
  const latin1 = await readFile(await writeRelease([first, line('90002-7', 'B\u00e9ta')]), 'utf8')
  await writeFile(join(directory, 'Loinc.csv'), latin1.replace('\uFEFF', ''), 'latin1')
  await refusal(loinc(join(directory, 'Loinc.csv')), /row 3: not UTF-8/)
  const file = join(directory, 'other')
  await writeFile(file, 'code,description\nE119,"unterminated\n')
  await refusal(loinc(file), /no column|is not CSV/)
  await writeFile(file, Buffer.from([0, 1, 2, 255, 254, 10, 13, 0]))
  await refusal(loinc(file), /no column|is not CSV/)
  const after = (await team.db.pool.query('select count(*)::int as n from loinc_release_term')).rows[0].n as number
  assert.equal(after, before)
})
