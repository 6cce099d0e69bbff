import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { cells } from '../../../test/support/server.ts'
import { findPlace } from './postal-places.ts'
import { command, runOnDatabase } from '../../../test/support/commands.ts'

const folder = mkdtempSync(join(tmpdir(), 'places-'))
after(() => rmSync(folder, { recursive: true }))

let files = 0
function fileOf(...lines: string[]): string {
  const path = join(folder, `${++files}.txt`)
  writeFileSync(path, lines.join('\n'))
  return path
}
const line = (country: string, code: string, city: string, lat: string, lng: string) =>
  [country, code, city, 'Test Province', 'TP', '', '', '', '', lat, lng, '4'].join('\t')
const placeIn = (country: string, postal_code: string) => findPlace(cells.db('sandbox-eu').queries, { country, postal_code })
const run = (...words: string[]) => command(cells, ['places', 'import', ...words, '--cell', 'sandbox-eu'])

test('imports valid lines and reports the errors of the others', async () => {
  const file = fileOf(
    line('FR', '75001', 'Exempleville', '48.85', '2.35'),
    line('FR', '75001', 'Exempleville', '0', '0'),
    'FR\t75002',
    '',
    line('XX', '1', 'Nowhere', '1', '1'),
    line('FR', '', '', '91', 'east'),
    line('PT', '1000-001', 'Exemplo', '38.7', '-9.15'),
  )
  const printed = await run(file)
  assert.equal(
    printed,
    [
      'sandbox-eu     2 places of FR, PT',
      '3 rejected:',
      '  line 3: 2 fields instead of 12',
      '  line 5: the first field is not the code of a country',
      '  line 6: the postal code is none; the name of the place must have 1 to 200 characters; latitude and longitude are not a point',
      '',
    ].join('\n'),
  )
  assert.deepEqual(await placeIn('France', '75001'), { lat: 48.85, lng: 2.35, city: 'Exempleville', state: 'Test Province' })
  assert.equal((await placeIn('PT', '1000 001'))?.city, 'Exemplo')
})

test('refuses a line that is not UTF-8', async () => {
  const file = fileOf('')
  const lines = [line('BE', '1201', 'Gen\xe8ve', '46.2', '6.1'), line('BE', '1202', 'Gen\xc3\xa8ve', '46.2', '6.1')]
  writeFileSync(file, Buffer.from(lines.join('\n'), 'latin1'))
  assert.equal(await run(file), 'sandbox-eu     1 places of BE\n1 rejected:\n  line 1: not UTF-8\n')
  assert.equal((await placeIn('BE', '1202'))?.city, 'Genève')
  assert.equal(await placeIn('BE', '1201'), undefined)
})

test('importing a country replaces all of it, and importing one named country ignores the others in the file', async () => {
  await run(fileOf(line('AT', '1010', 'Altstadt', '48', '16'), line('CH', '8000', 'Musterdorf', '47', '8')))
  const printed = await run(
    fileOf(line('AT', '1020', 'Neustadt', '48', '16'), line('CH', '9000', 'Anderswo', '47', '9')),
    '--country',
    'at',
    '--yes',
  )
  assert.match(printed, /1 places of AT/)
  assert.equal(await placeIn('AT', '1010'), undefined)
  assert.equal((await placeIn('AT', '1020'))?.city, 'Neustadt')
  assert.equal((await placeIn('CH', '8000'))?.city, 'Musterdorf')
  assert.equal(await placeIn('CH', '9000'), undefined)
})

test('an import that removes postal codes asks for confirmation or needs --yes; other imports do not', async () => {
  const [one, two, three] = ['1', '2', '3'].map((n) => line('FI', `0010${n}`, `Testila ${n}`, '60', '25'))
  await run(fileOf(one!, two!, line('NO', '0150', 'Testvik', '59', '10')))
  const file = fileOf(two!, three!)
  const unchanged = async () => {
    assert.deepEqual([(await placeIn('FI', '00101'))?.city, await placeIn('FI', '00103')], ['Testila 1', undefined])
    assert.equal((await placeIn('NO', '0150'))?.city, 'Testvik')
  }
  const loss = '1 of 2 places of FI in sandbox-eu'
  await assert.rejects(run(file), {
    message: `The import removes ${loss}, which the file does not have. Say --yes for that, or --dry-run to see more. Nothing was changed.`,
  })
  await unchanged()
  assert.equal(await run(file, '--dry-run'), 'sandbox-eu     1 of 2 places of FI removed\nNothing was changed.\n')
  await unchanged()
  const asked: string[] = []
  const answered = (yes: boolean) =>
    runOnDatabase(cells, ['places', 'import', file, '--cell', 'sandbox-eu'], async (question) => (asked.push(question), yes))
  await assert.rejects(answered(false), /^Error: Nothing was changed\.$/)
  await unchanged()
  assert.match((await answered(true)).output, /2 places of FI/)
  assert.deepEqual(asked, Array(2).fill(`The import removes ${loss}, which the file does not have. Go on?`))
  assert.equal(await placeIn('FI', '00101'), undefined)
  assert.match(await run(fileOf(two!.replace('\t60\t', '\t61\t'), three!, one!)), /3 places of FI/)
  assert.equal((await placeIn('FI', '00102'))?.lat, 61)
})

test('an invalid file changes nothing', async () => {
  await run(fileOf(line('DK', '1000', 'Testhavn', '55', '12')))
  assert.match(await run(fileOf('DK\tnonsense')), /0 places of no country\n1 rejected/)
  assert.equal((await placeIn('DK', '1000'))?.city, 'Testhavn')
})

test('imports many lines, and reports only the first of many errors', async () => {
  const lines = Array.from({ length: 2500 }, (_, i) =>
    i % 25 ? line('SE', String(10_000 + i), `Ort ${i}`, '59', '18') : 'SE\tnothing',
  )
  const printed = await run(fileOf(...lines))
  assert.match(printed, /2400 places of SE\n100 rejected:/)
  assert.match(printed, / {2}… and 50 more\n$/)
  const words = (...rows: string[]) => ['places', 'import', fileOf(...rows), '--cell', 'sandbox-eu', '--yes']
  const partly = await runOnDatabase(cells, words(lines[1]!, 'SE\tnothing'))
  assert.match(partly.output, /1 places of SE\n1 rejected:/)
  assert.equal(partly.failure, '1 of the file rejected; the rest was imported.')
  assert.equal((await runOnDatabase(cells, words(lines[1]!))).failure, undefined)
})

test('reports unusable input as a one-line error', async () => {
  await assert.rejects(run(join(folder, 'missing.txt')), /File not found/)
  await assert.rejects(run(folder), /is a directory/)
  await assert.rejects(run(fileOf(''), '--country', 'Nowhere'), /--country/)
  await assert.rejects(command(cells, ['places', 'export']), /Unknown command 'export'/)
  await assert.rejects(command(cells, ['places', 'import']), /Missing required argument 'file'/)
})
