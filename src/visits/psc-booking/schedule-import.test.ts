// Schedules and replies to bookings through the CLI.
import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { book, BOOKABLE, read, siteWithSchedule, slots, walkIn } from '../../../test/support/psc-booking.ts'
import { labId, site, insertSites } from '../../../test/support/psc-sites.ts'
import { cells, createTestTeam } from '../../../test/support/server.ts'
import { command, runOnDatabase } from '../../../test/support/commands.ts'

const folder = mkdtempSync(join(tmpdir(), 'schedules-'))
after(() => rmSync(folder, { recursive: true }))
const NOBODY = '01890000-0000-7000-8000-000000000000'
let files = 0
function writeFile(text: string, ending = 'csv'): string {
  const path = join(folder, `${++files}.${ending}`)
  writeFileSync(path, text)
  return path
}

const CELL = ['--cell', 'production-us']
const run = (...words: string[]) => command(cells, ['psc', ...words])
const take = (path: string, ...args: string[]) => run('schedule', 'import', path, '--lab', 'quest', ...CELL, ...args)
const show = async (...codes: string[]) => JSON.parse(await run('schedule', 'show', ...codes, '--lab', 'quest', ...CELL))
const sites = async (...codes: string[]) =>
  insertSites(
    'production-us',
    await labId('quest', 'production-us'),
    codes.map((code) => site(code, 1, BOOKABLE)),
  )

test('imports schedules from CSV and shows them in a form that can be imported again', async () => {
  await sites('F-1', 'F-2')
  const file = writeFile(
    [
      'site_code,monday,tuesday,wednesday,thursday,friday,saturday,sunday,closed,slot_minutes,places,price,confirms',
      'F-1,07:00-12:00 13:00-15:30,,07:00-12:00,00:00-24:00,,,,2030-12-25;2030-01-01,15,3,1500,by_hand',
      'F-2,,,,,,,,,,,,',
    ].join('\r\n'),
  )
  assert.equal(await take(file), 'production-us\n2 imported\n')
  const shown = await show('F-1')
  assert.deepEqual(shown, [
    {
      site_code: 'F-1',
      monday: ['07:00-12:00', '13:00-15:30'],
      tuesday: [],
      wednesday: ['07:00-12:00'],
      thursday: ['00:00-24:00'],
      friday: [],
      saturday: [],
      sunday: [],
      closed: ['2030-01-01', '2030-12-25'],
      slot_minutes: 15,
      places: 3,
      price: 1500,
      confirms: 'by_hand',
    },
  ])
  const [plain] = await show('F-2')
  assert.deepEqual([plain.slot_minutes, plain.places, plain.price, plain.confirms], [20, 1, 0, 'at_once'])
  await take(writeFile(JSON.stringify([{ ...shown[0], places: 4 }]), 'json'))
  assert.deepEqual(await show('F-1'), [{ ...shown[0], places: 4 }])
  assert.match(await run('schedule', 'list', '--lab', 'quest', ...CELL), /F-1 +15 minutes {2}4 at a time {2}confirmed by hand\n/)
})

test('refuses a row that is not UTF-8, and a JSON file that is not', async () => {
  await sites('U-1', 'U-2')
  const file = writeFile('site_code,monday\nU-1,07:00-12:00\nU-2,07:00-12:00 \n')
  writeFileSync(file, Buffer.from('site_code,monday\nU-1,07:00-12:00\nU-2,07:00-12:00 \xa0\n', 'latin1'))
  const { output } = await runOnDatabase(cells, ['psc', 'schedule', 'import', file, '--lab', 'quest', ...CELL])
  assert.match(output, /1 rejected:\n {2}row 2: not UTF-8/)
  writeFileSync(file, Buffer.from('[{"site_code":"\xe8"}]', 'latin1'))
  const json = `${file}.json`
  renameSync(file, json)
  await assert.rejects(take(json), /not UTF-8 at line 1/)
})

test('imports valid rows and reports all errors of the others', async () => {
  await sites('G-1')
  const file = writeFile(
    [
      'site_code,monday,closed,slot_minutes,places,price,confirms',
      'G-1,,,,,,',
      'G-1,,,,,,',
      'NONE,,,,,,',
      ',12:00-07:00,someday,5,0,-1,maybe',
      'G-3,07:00-12:00 11:00-13:00,2030-02-30,20,1,0,at_once',
    ].join('\n'),
  )
  const MONDAY = 'monday must be times in order such as 07:00-12:00 13:00-15:30, at most 10'
  const CLOSED = 'closed must be days such as 2030-12-25, at most 400'
  assert.equal(
    await take(file),
    [
      'production-us',
      '1 imported',
      '4 rejected:',
      '  row 2: duplicate site_code',
      '  row 3: site not found',
      `  row 4: site_code must have 1 to 50 characters; ${MONDAY}; ${CLOSED}; confirms must be at_once or by_hand; slot_minutes must be a whole number from 10 to 240; places must be a whole number from 1 to 100; price must be a whole number from 0 to 1000000`,
      `  row 5: ${MONDAY}; ${CLOSED}`,
      '',
    ].join('\n'),
  )
  await sites('G-2')
  await assert.rejects(take(writeFile('site_code\nG-2\nNONE'), '--strict'), /Nothing was imported/)
  assert.deepEqual(await show('G-2'), [])
})

for (const [what, text, ending] of [
  ['invalid JSON', '{', 'json'],
  ['an object instead of a list', '{"site_code":"F-1"}', 'json'],
  ['a list of numbers', '[1]', 'json'],
  ['an unknown column', 'site_code,color\nF-1,green', 'csv'],
  ['an unclosed quote', 'site_code\n"F-1', 'csv'],
  ['no content', '', 'csv'],
] as const)
  test(`rejects a file with ${what} as a whole`, async () => assert.rejects(take(writeFile(text, ending)), Error))

test('a site whose schedule was removed takes no new appointments and keeps the booked ones', async () => {
  const team = await createTestTeam('production-us')
  await siteWithSchedule('H-1')
  const id = await walkIn(team)
  const [slot] = await slots(team, 'lab=quest&site_codes=H-1')
  assert.equal((await book(team, id, slot!.booking_key)).status, 200)
  const remove = () => run('schedule', 'remove', 'H-1', '--lab', 'quest', ...CELL)
  assert.equal(await remove(), 'production-us\n  H-1  removed\n')
  assert.equal(await remove(), 'production-us\n  H-1  has no schedule\n')
  assert.equal((await team.api.post('/v3/order/psc/appointment/availability?lab=quest&site_codes=H-1')).status, 404)
  assert.equal((await read(team, id)).body.status, 'confirmed')
})

test('lists a pending booking, and confirms or declines it', async () => {
  const team = await createTestTeam('production-us')
  await siteWithSchedule('I-1', { confirms: 'by_hand', places: 2 })
  const [slot] = await slots(team, 'lab=quest&site_codes=I-1')
  for (const [answer, status] of [
    ['confirm', 200],
    ['refuse', 404],
  ] as const) {
    const id = await walkIn(team)
    const { body } = await book(team, id, slot!.booking_key, { async_confirmation: true })
    assert((await run('booking', 'list', ...CELL)).includes(`  ${body.id}  quest I-1  ${slot!.start}  team ${team.team}\n`))
    await run('booking', answer, body.id, ...CELL)
    assert.equal((await read(team, id)).status, status)
    await assert.rejects(run('booking', answer, body.id, ...CELL), /Pending booking not found/)
    assert(!(await run('booking', 'list', ...CELL)).includes(body.id))
  }
})

test('an import with an invalid row exits with the status for a partial failure', async () => {
  const words = ['psc', 'schedule', 'import', writeFile('[{"site_code":"PHX-NOWHERE"}]', 'json'), '--lab', 'quest', ...CELL]
  const { output, failure } = await runOnDatabase(cells, words)
  assert.match(output, /^production-us\n0 imported\n1 rejected:\n/)
  assert.equal(failure, '1 of the file rejected; the rest was imported.')
})

test('reports usage errors', async () => {
  await assert.rejects(run('schedule', 'list', '--lab', 'no_such_lab', ...CELL), /Lab not found in the cell/)
  await assert.rejects(run('schedule', 'import', '--lab', 'quest'), /Missing required argument 'file'/)
  await assert.rejects(take(join(folder, 'nowhere.csv')), /File not found/)
  await assert.rejects(run('booking', 'confirm', 'nonsense', ...CELL), /must be an id/)
  await assert.rejects(run('booking', 'confirm', NOBODY, '--cell', 'all'), /--cell must be one of/)
})
