// Imports of an operator's payors and diagnoses.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { loadInsuranceData } from '../../people/insurance/load.ts'
import { cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { command, runOnDatabase } from '../../../test/support/commands.ts'

const directory = await mkdtemp(join(tmpdir(), 'insurance-'))
after(() => rm(directory, { recursive: true }))

async function load(kind: string, text: string | Uint8Array): Promise<string> {
  const file = join(directory, 'file')
  await writeFile(file, text)
  return command(cells, [kind, 'import', file])
}
const refusal = (work: Promise<string>, text: RegExp) =>
  assert.rejects(work, (error) => error instanceof Error && text.test(error.message))
const search = async ({ api }: TestTeam, name: string) =>
  (await api.get(`/v3/insurance/search/payor?insurance_name=${encodeURIComponent(name)}`)).body
const searchCodes = async ({ api }: TestTeam, query: string) =>
  (await api.get(`/v3/insurance/search/diagnosis?diagnosis_query=${query}`)).body

const HEADER = 'payor_code,name,first_line,city,state,zip,program,program_state'
const at = '1 Example Street,Phoenix,AZ,85004'

test('payors are added and changed in every cell, and survive a restart of the server', async () => {
  const [team, other] = [await createTestTeam(), await createTestTeam('production-us')]
  const said = await load('payors', `${HEADER}\nAETNA,Aetna Renamed,${at},,\nAZ-PLAN,Fictional Plan,${at},medicaid,AZ\n`)
  assert.match(said, /^2 payors in each of .*sandbox-us.*production-us/)
  for (const cell of cells.names) {
    // Simulates a new version with another file.
    await cells.db(cell).pool.query(`update insurance_data_version set checksum = 'other' where part = 'payors'`)
    await loadInsuranceData(cells.db(cell))
  }
  for (const one of [team, other]) {
    assert.equal((await search(one, 'aetna'))[0].name, 'Aetna Renamed')
    assert.equal((await search(one, 'cigna'))[0].payor_code, 'CIGNA')
  }
  const plans = await team.db.pool.query(`select code from payor where program = 'medicaid' and state = 'AZ'`)
  assert.deepEqual(plans.rows, [{ code: 'AZ-PLAN' }])
})

test('a file with an invalid row is not imported, and each invalid row is listed', async () => {
  const team = await createTestTeam()
  const text = `${HEADER}\nFICT-1,Fictional One,${at},,\n,Fictional Two,${at},,\nFICT-3,,${at},,\n`
  await refusal(load('payors', text), /Nothing was imported:\n {2}line 3: payor_code is empty\n {2}line 4: name is empty/)
  assert.deepEqual(await search(team, 'fictional one'), [])
  const many = Array.from({ length: 60 }, (_, i) => `,Name ${i},${at},,`)
  await refusal(load('payors', [HEADER, ...many].join('\n')), /and 10 more/)
  await refusal(load('icd', 'code,description\nE119,\n'), /line 2/)
  assert.equal((await searchCodes(team, 'E11.9')).length, 1)
})

test('a row that is not UTF-8 is refused, in every format', async () => {
  const team = await createTestTeam()
  const latin1 = (...lines: string[]) => Buffer.from(lines.join('\n'), 'latin1')
  await refusal(load('payors', latin1(HEADER, `F-1,Soci\xe9t\xe9,${at},,`)), /Nothing was imported:\n {2}line 2: not UTF-8/)
  await refusal(load('icd', latin1('code,description', 'E119,Mal d\xe9fini')), /line 2: not UTF-8/)
  const order = `00001 A0101   1 ${'Short'.padEnd(60)} Mal d\xe9fini`
  await refusal(load('icd', latin1(order)), /line 1: not UTF-8/)
  const names = (await search(team, 'société')) as { name: string }[]
  assert(!names.some(({ name }) => name.startsWith('Soci')))
})

test('diagnoses are replaced, and survive a restart of the server', async () => {
  const team = await createTestTeam()
  assert.equal((await searchCodes(team, 'I10'))[0].diagnosis_code, 'I10')
  const line = `00001 A0101   1 ${'Short'.padEnd(60)} Typhoid meningitis`
  const before = (await team.db.pool.query('select count(*)::int as n from icd_code')).rows[0].n as number
  const unchanged = async () =>
    assert.equal((await team.db.pool.query('select count(*)::int as n from icd_code')).rows[0].n, before)
  const file = join(directory, 'codes')
  await writeFile(file, `${line}\n`)

  // Without a terminal `--yes` is required.
  await refusal(
    command(cells, ['icd', 'import', file]),
    new RegExp(`^The import removes ${before} of ${before} codes in sandbox-us, .*Say --yes`),
  )
  await unchanged()
  const output = await command(cells, ['icd', 'import', file, '--dry-run'])
  assert.match(output, new RegExp(`^sandbox-us +${before} of ${before} codes removed, 1 added, 0 changed\n`))
  assert.match(output, /Nothing was changed\.\n$/)
  await unchanged()

  // On a terminal the command asks.
  const asked: string[] = []
  const answer = (yes: boolean) => async (question: string) => (asked.push(question), yes)
  await assert.rejects(runOnDatabase(cells, ['icd', 'import', file], answer(false)), /^Error: Nothing was changed\.$/)
  await unchanged()
  const { output: printed } = await runOnDatabase(cells, ['icd', 'import', file], answer(true))
  assert.match(asked.join('|'), new RegExp(`^The import removes ${before} of ${before} codes in .*Go on\\?\\|The import`))
  assert.match(printed, /codes removed, 1 added.*\n1 diagnoses in each of/s)

  // An import that removes nothing needs no consent.
  const more = `00002 A0102   1 ${'Short'.padEnd(60)} Typhoid with heart involvement`
  assert.match(await load('icd', `${line} renamed\n${more}\n`), /^sandbox-us +0 of 1 codes removed, 1 added, 1 changed\n/)
  assert.match(await command(cells, ['icd', 'import', file, '--yes']), /1 of 2 codes removed, 0 added, 1 changed/)
  await loadInsuranceData(team.db)
  const { rows } = await team.db.pool.query('select code from icd_code')
  assert.deepEqual(rows, [{ code: 'A0101' }])
  // Cached codes expire; another process of the server starts with an empty cache.
  const reply = await team.api.post('/v3/insurance/validate_icd_codes', { codes: ['A01.01', 'I10'] })
  assert.deepEqual(reply.body.errors, ['I10 is not an ICD-10-CM code that can be billed'])
})

test('a command that fails prints the reason', async () => {
  await refusal(command(cells, ['icd', 'export', 'x']), /Unknown command 'export'/)
  await refusal(command(cells, ['icd', 'import', join(directory, 'nowhere')]), /Cannot read the file \(ENOENT\)/)
})
