import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { labId } from '../../../test/support/psc-sites.ts'
import { cells } from '../../../test/support/server.ts'
import { findSite } from './sites.ts'
import { command, runOnDatabase } from '../../../test/support/commands.ts'

const folder = mkdtempSync(join(tmpdir(), 'psc-'))
after(() => rmSync(folder, { recursive: true }))

let files = 0
function writeFile(text: string | Uint8Array, ending = 'csv'): string {
  const path = join(folder, `${++files}.${ending}`)
  writeFileSync(path, text)
  return path
}

const run = (...words: string[]) => command(cells, ['psc', ...words])
const take = (lab: string, path: string, ...args: string[]) =>
  run('import', path, '--lab', lab, '--cell', 'production-us', ...args)
const findImported = async (lab: string, code: string) => findSite(cells.db('production-us').queries, await labId(lab), code)
const HEADER = 'site_code,name,first_line,city,state,zip_code,lat,lng,capabilities,supported_bill_types,hours'
const row = (code: string, lat = '33.45', lng = '-112.07', rest = ',,') =>
  `${code},Pretend Site,1 Sample Way,Phoenix,Arizona,85004,${lat},${lng},${rest}`

test('a site has the values of its row, and defaults for absent values', async () => {
  const file = writeFile(
    [
      'zip_code,state,site_code,name,first_line,second_line,city,phone_number,fax_number,website,hours,lat,lng,capabilities,supported_bill_types,active',
      '85004-1234,az,A-1,"Pretend, Inc.",1 Sample Way,Suite 2,Phoenix,+15550100111,+15550100112,https://sites.example.com,"{""monday"":""07:00""}",33.45,-112.07,stat appointment_scheduling_via_junction,client_bill;patient_bill,no',
      '85004,AZ,A-2,Mock Site,2 Sample Way,,Phoenix,,,,,,,,,',
    ].join('\r\n'),
  )
  assert.equal(await take('crl', file), 'production-us\n2 imported\n')
  assert.deepEqual(await findImported('crl', 'A-1'), {
    site_code: 'A-1',
    name: 'Pretend, Inc.',
    first_line: '1 Sample Way',
    second_line: 'Suite 2',
    city: 'Phoenix',
    state: 'AZ',
    zip_code: '85004-1234',
    phone_number: '+15550100111',
    fax_number: '+15550100112',
    hours: { monday: '07:00' },
    website: 'https://sites.example.com',
    lat: 33.45,
    lng: -112.07,
    capabilities: ['stat', 'appointment_scheduling_via_service'],
    supported_bill_types: ['client_bill', 'patient_bill'],
    active: false,
  })
  const plain = (await findImported('crl', 'A-2'))!
  assert.deepEqual([plain.lat, plain.lng, plain.hours, plain.active], [33.4557, -112.0686, null, true])
  assert.deepEqual([plain.capabilities, plain.supported_bill_types], [[], ['client_bill']])
})

test('imports valid rows and reports all errors of the others', async () => {
  const file = writeFile(
    [
      HEADER,
      row('B-1'),
      row('B-2', '133.45', '-112.07'),
      row('B-3', '-112.07', '33.45'),
      row('B-4', '33.45', '112.07'),
      row('B-5', '33.45', ''),
      row('B-6', '33.45', '-112.07', 'espresso,cash,noon'),
      row('B-7', '33.45', '-112.07', 'appointment_scheduling_with_lab appointment_scheduling_via_service,,[]'),
      'B-8,short',
      ',,,,XX,85',
      row('B-1'),
      'B-10,No Zip,1 Sample Way,Phoenix,AZ,,,,,,',
      'B-9,No Place,1 Sample Way,Phoenix,AZ,00000,,,,,',
    ].join('\n'),
  )
  const bookable = 'stat, appointment_scheduling_via_service, appointment_scheduling_with_lab'
  assert.equal(
    await take('ussl', file),
    [
      'production-us',
      '1 imported',
      '11 rejected:',
      '  line 3: lat and lng are not a point in decimal degrees',
      '  line 4: lat and lng are not a point in decimal degrees',
      '  line 5: lat and lng are 6998 miles from the ZIP code',
      '  line 6: lat and lng are not a point in decimal degrees',
      `  line 7: hours must be a JSON object of at most 4000 characters; capabilities must be one of ${bookable}; supported_bill_types must be one of client_bill, commercial_insurance, patient_bill_passthrough, patient_bill`,
      '  line 8: hours must be a JSON object of at most 4000 characters; capabilities must not contain both ways of booking',
      '  line 9: 2 fields; the header has 11',
      '  line 10: 6 fields; the header has 11',
      '  line 11: duplicate site_code',
      '  line 12: zip_code is missing',
      '  line 13: coordinates are missing and the ZIP code is not recognized',
      '',
    ].join('\n'),
  )
  assert.ok(await findImported('ussl', 'B-1'))
  assert.equal(await findImported('ussl', 'B-6'), undefined)
})

test('refuses a row that is not UTF-8 and imports the others, with and without a byte order mark', async () => {
  for (const [i, mark] of ['', '\xef\xbb\xbf'].entries()) {
    const rows = [
      HEADER.replace('site_code', '"site_code"'),
      row(`U-${i}`),
      row(`V-${i}`).replace('Pretend Site', 'Pe\xf1on Lab'),
    ]
    const file = writeFile(
      Buffer.from(`${mark}${[...rows, row(`W-${i}`).replace('Pretend', 'Pe\xc3\xb1on')].join('\n')}\n`, 'latin1'),
    )
    const { output } = await runOnDatabase(cells, ['psc', 'import', file, '--lab', 'crl', '--cell', 'production-us'])
    assert.equal(output, 'production-us\n2 imported\n1 rejected:\n  line 3: not UTF-8\n')
    assert.equal(await findImported('crl', `V-${i}`), undefined)
    assert.equal((await findImported('crl', `W-${i}`))!.name, 'Peñon Site')
  }
  const points = Buffer.from('{"type":"FeatureCollection","features":["\xf1"]}', 'latin1')
  await assert.rejects(take('crl', writeFile(points, 'geojson')), /The file is not UTF-8 at line 1/)
})

test('a second file updates the sites that it contains and keeps the others', async () => {
  await take('my_uti', writeFile([HEADER, row('C-1'), row('C-2')].join('\n')))
  await take('my_uti', writeFile([HEADER, row('C-2', '33.5', '-112.07', 'stat,,'), row('C-3')].join('\n')))
  assert.deepEqual((await findImported('my_uti', 'C-2'))!.capabilities, ['stat'])
  assert.equal(
    await run('list', '--lab', 'my_uti', '--cell', 'production-us'),
    [
      'production-us',
      '  C-1          active   AZ 85004      Pretend Site',
      '  C-2          active   AZ 85004      Pretend Site  [stat]',
      '  C-3          active   AZ 85004      Pretend Site',
      '',
    ].join('\n'),
  )
})

test('a strict import with an invalid row imports nothing', async () => {
  const lines = [HEADER, ...Array.from({ length: 600 }, (_, i) => row(`D-${i}`)), row('D-BAD', '200', '200')]
  await assert.rejects(
    take('spiriplex', writeFile(lines.join('\n')), '--strict'),
    /Nothing was imported\. 1 rejected:\n {2}line 602: /,
  )
  assert.equal(await findImported('spiriplex', 'D-0'), undefined)
  assert.match(await take('spiriplex', writeFile(lines.slice(0, -1).join('\n')), '--strict'), /600 imported/)
})

test('imports GeoJSON like CSV, with its points as coordinates', async () => {
  const properties = {
    site_code: 'E-1',
    name: 'Mock',
    first_line: '1 Sample Way',
    city: 'Phoenix',
    state: 'AZ',
    zip_code: '85004',
  }
  const feature = (overrides: object, coordinates: unknown = [-112.07, 33.45]) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates },
    properties: { ...properties, ...overrides },
  })
  const file = {
    type: 'FeatureCollection',
    features: [
      feature({ hours: { monday: '07:00' }, capabilities: ['stat'], active: 'true' }),
      feature({ site_code: 'E-2', hours: 7 }),
      feature({ site_code: 'E-3' }, ['x', null]),
      feature({ site_code: 'E-4', color: 'green' }),
      feature({ site_code: { no: 'text' } }),
      { type: 'Feature', properties: null },
      null,
      7,
    ],
  }
  const printed = await take('ayumetrix', writeFile(JSON.stringify(file), 'geojson'))
  assert.match(printed, /1 imported\n7 rejected:\n/)
  for (const line of [
    'feature 2: hours must',
    'feature 3: lat and lng',
    'feature 4: unrecognized properties',
    'feature 5: site_code is not text',
  ])
    assert.ok(printed.includes(line), printed)
  const { hours, capabilities } = (await findImported('ayumetrix', 'E-1'))!
  assert.deepEqual([hours, capabilities], [{ monday: '07:00' }, ['stat']])
})

test('rejects a file of another format with an error that does not contain its content', async () => {
  for (const [text, ending, sentence] of [
    ['', 'csv', /is empty/],
    ['site_code,name\nF-1,x', 'csv', /is missing columns: first_line, city, state, zip_code/],
    [`${HEADER},color\n${row('F-2')},green`, 'csv', /Unrecognized column "color"/],
    [`${HEADER},lat\n`, 'csv', /duplicate column/],
    [`${HEADER}\n${row('F-3')}\n"Secret" patient,x\n`, 'csv', /^(?!.*Secret).*malformed at line 3/],
    [`${HEADER}\n"${'x'.repeat(200_000)}`, 'csv', /is malformed/],
    ['{', 'json', /is not a GeoJSON/],
    ['[]', 'geojson', /is not a GeoJSON/],
  ] as const)
    await assert.rejects(take('sanocardio', writeFile(text, ending)), sentence)
  await assert.rejects(take('sanocardio', join(folder, 'missing.csv')), /File not found/)
  await assert.rejects(take('sanocardio', join(folder, 'missing.json')), /File not found/)
  for (const code of ['F-1', 'F-2', 'F-3']) assert.equal(await findImported('sanocardio', code), undefined)
})

test('counts sites, and disables and enables them by code', async () => {
  await take('us_biotek', writeFile([HEADER, row('G-1'), row('G-2')].join('\n')))
  const inCell = ['--lab', 'us_biotek', '--cell', 'production-us']
  assert.equal(await run('deactivate', 'G-1', 'G-9', ...inCell), 'production-us\n  G-1  inactive\n  G-9  not found\n')
  assert.match(await run('list', '--cell', 'production-us'), / {2}us_biotek +1 active, 1 inactive\n/)
  assert.match(await run('list', ...inCell), /G-1 +inactive/)
  await run('activate', 'G-1', ...inCell)
  assert.match(await run('list', '--cell', 'production-us'), / {2}us_biotek +2 active, 0 inactive\n/)
})

test('an import with an invalid row exits with the status for a partial failure', async () => {
  const words = [
    'psc',
    'import',
    writeFile([HEADER, row('H-0'), row('')].join('\n')),
    '--lab',
    'manual',
    '--cell',
    'production-us',
  ]
  const { output, failure } = await runOnDatabase(cells, words)
  assert.match(output, /^production-us\n1 imported\n1 rejected:\n/)
  assert.equal(failure, '1 of the file rejected; the rest was imported.')
})

test('an import without a cell goes to the sandbox or the cell of the environment, and with "all" to every cell', async () => {
  const words = ['psc', 'import', writeFile([HEADER, row('H-1')].join('\n')), '--lab', 'manual']
  assert.equal((await runOnDatabase(cells, words)).output, 'sandbox-us\n1 imported\n')
  assert.equal((await runOnDatabase(cells, words, undefined, 'production-eu')).output, 'production-eu\n1 imported\n')
  const typed = [...words, '--cell', 'production-us']
  assert.equal((await runOnDatabase(cells, typed, undefined, 'production-eu')).output, 'production-us\n1 imported\n')
  const all = await runOnDatabase(cells, [...words, '--cell', 'all'])
  assert.equal(all.output, cells.names.map((name) => `${name}\n1 imported\n`).join(''))
  await assert.rejects(runOnDatabase(cells, words, undefined, 'moon'), /--cell must be one of/)
})

test('invalid arguments are reported', async () => {
  await assert.rejects(run('import', 'x.csv', '--lab', 'no_such_lab'), /Lab not found in the cell/)
  await assert.rejects(run('import', 'x.csv'), /--lab is required/)
  await assert.rejects(run('import', '--lab', 'quest'), /Missing required argument 'file'/)
  await assert.rejects(run('deactivate', '--lab', 'quest'), /Missing required argument 'code'/)
  await assert.rejects(run('paint'), /Unknown command 'paint'/)
  await assert.rejects(run('list', '--cell', 'mars'), /--cell must be/)
})
