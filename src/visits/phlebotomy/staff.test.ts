// Management of phlebotomists, through the Management API and the CLI.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import {
  available,
  createPhlebotomist,
  homeOrder,
  ok,
  assertRejected,
  slots,
  staff,
  staffPath,
  street,
  createAtHomeTeam,
  visitCalls,
  week,
} from '../../../test/support/home-visits.ts'
import { cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { command, runOnDatabase } from '../../../test/support/commands.ts'

const PRODUCTION = 'production-us'

describe('phlebotomists of an organization', () => {
  test('phlebotomists are stored with every default filled in', async () => {
    const team = await createTestTeam(PRODUCTION)
    const made = await createPhlebotomist(team, 'north-team', {
      service_area: { zips: ['85006', '85004', '85006'] },
      hours: {
        monday: [
          { from: '13:00', to: '17:00' },
          { from: '08:00', to: '12:00' },
        ],
      },
      days_off: ['2030-12-25', '2030-01-01', '2030-12-25'],
    })
    const { id, created_at, updated_at, ...rest } = made
    assert.equal(created_at, updated_at)
    const none = Object.fromEntries(Object.keys(week).map((day) => [day, []]))
    assert.deepEqual(rest, {
      org_id: team.org_id,
      reference: 'north-team',
      name: 'Testa Team',
      is_active: true,
      service_types: ['appointment-ready'],
      service_area: { zips: ['85006', '85004'], center: null, radius_miles: null },
      time_zone: 'America/Phoenix',
      hours: {
        ...none,
        monday: [
          { from: '08:00', to: '12:00' },
          { from: '13:00', to: '17:00' },
        ],
      },
      days_off: ['2030-01-01', '2030-12-25'],
      window_min: 120,
      visit_min: 30,
      travel_min: 30,
      notice_min: 120,
      capacity: 1,
      price_cents: 4200,
      priority: null,
    })
    assert.deepEqual((await team.manage.get(staffPath(team))).body, { data: [made] })
    const again = await createPhlebotomist(team, 'north-team', { name: 'Another name' })
    assert.deepEqual([again.id, again.name, again.days_off], [id, 'Another name', []])
    assert.equal((await team.manage.delete(staffPath(team, 'north-team'))).status, 204)
    assert.deepEqual((await team.manage.get(staffPath(team))).body, { data: [] })
    assertRejected(await team.manage.delete(staffPath(team, 'north-team')), 404, 'Phlebotomist not found')
  })

  test('phlebotomists of another organization are not accessible', async () => {
    const [team, other] = [await createAtHomeTeam(), await createTestTeam(PRODUCTION)]
    assert.deepEqual((await other.manage.get(staffPath(other))).body, { data: [] })
    assert.equal((await other.manage.delete(staffPath(other, 'north-team'))).status, 404)
    assert.notEqual((await createPhlebotomist(other, 'north-team')).id, (await team.manage.get(staffPath(team))).body.data[0].id)
  })

  test('phlebotomists with upcoming visits cannot be removed, and can be afterwards', async () => {
    const team = await createAtHomeTeam()
    const id = await homeOrder(team)
    ok(await visitCalls(team, id).book((await slots(team)).at(-1)!.booking_key))
    const detail = 'This phlebotomist has upcoming visits; deactivate it instead'
    assertRejected(await team.manage.delete(staffPath(team, 'north-team')), 400, detail)
    ok(await visitCalls(team, id).cancel())
    assert.equal((await team.manage.delete(staffPath(team, 'north-team'))).status, 204)
  })

  const faults: [string, Record<string, unknown>, string][] = [
    ['hours that end before they begin', { hours: { monday: [{ from: '12:00', to: '08:00' }] } }, 'hours.monday.0.to'],
    [
      'hours that overlap',
      {
        hours: {
          friday: [
            { from: '08:00', to: '12:00' },
            { from: '11:00', to: '13:00' },
          ],
        },
      },
      'hours.friday',
    ],
    ['a service area without center and ZIP codes', { service_area: {} }, 'service_area.zips'],
    ['a circle without a radius', { service_area: { center: { lat: 33, lng: -112 } } }, 'service_area.radius_miles'],
    [
      'a center with an invalid latitude',
      { service_area: { center: { lat: 91, lng: -112 }, radius_miles: 5 } },
      'service_area.center.lat',
    ],
    ['a window shorter than a visit', { window_min: 30 }, 'window_min'],
    ['an unrecognized time zone', { time_zone: 'PST' }, 'time_zone'],
    ['an unknown ZIP code without a time zone', { service_area: { zips: ['00000'] } }, 'time_zone'],
    ['hours that do not start at a quarter hour', { hours: { monday: [{ from: '08:10', to: '12:00' }] } }, 'hours.monday.0.from'],
    ['a capacity of zero', { capacity: 0 }, 'capacity'],
  ]
  for (const [what, changes, place] of faults)
    test(`rejects ${what}`, async () => {
      const team = await createTestTeam(PRODUCTION)
      const { status, body } = await team.manage.put(staffPath(team, 'x'), staff(changes))
      assert.equal(status, 422)
      assert.deepEqual(
        body.detail.map(({ loc }: { loc: string[] }) => loc.slice(1).join('.')),
        [place],
      )
      assert.deepEqual((await team.manage.get(staffPath(team))).body, { data: [] })
    })
})

describe('drawbridge phlebotomy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-staff-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const run = (...words: string[]) => command(cells, ['phlebotomy', ...words])
  const file = (content: unknown): string => {
    const path = join(folder, `${Math.random()}.json`)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  const fails = (words: string[], reason: RegExp) =>
    assert.rejects(run(...words), (error: unknown) => error instanceof Error && reason.test(error.message))
  const of = ({ org_id }: TestTeam) => ['--cell', PRODUCTION, '--org', org_id]

  test('imports valid entries, reports invalid ones, and replaces earlier imports', async () => {
    const team = await createTestTeam(PRODUCTION)
    const content = [
      { reference: 'one', ...staff() },
      { reference: 'two', ...staff({ capacity: 0, price_cents: -1 }) },
      { reference: 'no name', ...staff() },
      'nonsense',
      { reference: 'one', ...staff({ name: 'Twice' }) },
      { reference: 'three', ...staff({ service_area: { zips: ['00000'] } }) },
    ]
    assert.equal(
      await run('import', file(content), ...of(team)),
      [
        'production-us\n1 imported\n5 rejected:\n',
        '  2: price_cents: Input should be greater than or equal to 0; capacity: Input should be greater than or equal to 1\n',
        '  3: reference: String should begin with a letter or digit and have up to 100 letters, digits and . _ -\n',
        '  4: Input should be a valid dictionary or object to extract fields from\n',
        '  5: duplicate reference\n',
        '  6: time_zone: Value error, is required: no time zone is known for the first ZIP code of the service area\n',
      ].join(''),
    )
    const again = await runOnDatabase(cells, ['phlebotomy', 'import', file(content.slice(0, 2)), ...of(team)])
    assert.equal(again.failure, '1 of the file rejected; the rest was imported.')
    assert.match(
      await run('list', ...of(team)),
      /^production-us\n {2}one +active +appointment-ready +America\/Phoenix +Testa Team\n$/,
    )
    ok(await available(team))
    await run('import', file([{ reference: 'one', ...staff({ is_active: false }) }]), ...of(team))
    assert.match(await run('list', ...of(team)), /one +inactive/)
    assert.equal((await available(team)).status, 400)
  })

  test('with --strict, imports nothing from an invalid file', async () => {
    const team = await createTestTeam(PRODUCTION)
    const content = [{ reference: 'one', ...staff() }, { reference: 'two' }]
    await fails(['import', file(content), '--strict', ...of(team)], /^Nothing was imported\. 1 rejected:/)
    assert.equal(await run('list', ...of(team)), 'production-us\n')
  })

  test("imports the operator's own phlebotomists, who serve the patients of every team", async () => {
    const team = await createTestTeam('production-eu')
    const zip = '99501'
    const anchorage = { ...street, zip, city: 'Anchorage', state: 'AK' }
    assert.equal((await available(team, anchorage)).status, 400)
    const own = staff({ service_area: { zips: [zip] } })
    await run('import', file([{ reference: 'own', ...own }]), '--cell', 'production-eu')
    ok(await available(team, anchorage))
    assert.deepEqual((await team.manage.get(staffPath(team))).body, { data: [] })
    const id = await homeOrder(team, { patient_address: anchorage })
    ok(await visitCalls(team, id).book((await slots(team, anchorage)).at(-1)!.booking_key))
    const kept = await runOnDatabase(cells, ['phlebotomy', 'remove', 'own', '--cell', 'production-eu'])
    assert.match(kept.output, /^production-eu\n {2}own {2}not removed: This phlebotomist has upcoming visits/)
    assert.equal(kept.failure, 'Not removed everywhere: own.')
    ok(await visitCalls(team, id).cancel())
    assert.equal(await run('remove', 'own', '--cell', 'production-eu'), 'production-eu\n  own  removed\n')
    assert.equal((await available(team, anchorage)).status, 400)
  })

  test('removes a phlebotomist from each cell that has it, and fails if no cell has it', async () => {
    const { org_id } = await createTestTeam(PRODUCTION)
    const removed = (...references: string[]) =>
      runOnDatabase(cells, ['phlebotomy', 'remove', ...references, '--org', org_id, '--cell', 'all'])
    await run('import', file(['north', 'south'].map((reference) => ({ reference, ...staff() }))), ...of({ org_id } as TestTeam))
    const linesOf = (name: string, lines: [north: string, south?: string]) =>
      `${name}\n  north  ${lines[0]}\n${lines[1] === undefined ? '' : `  south  ${lines[1]}\n`}`
    assert.deepEqual(await removed('north'), {
      output: cells.names.map((name) => linesOf(name, [name === PRODUCTION ? 'removed' : 'not here'])).join(''),
      failure: undefined,
    })
    assert.deepEqual(await removed('north', 'south'), {
      output: cells.names.map((name) => linesOf(name, ['not here', name === PRODUCTION ? 'removed' : 'not here'])).join(''),
      failure: `Phlebotomist not found: north in ${cells.names.join(', ')}.`,
    })
  })

  test('reports usage errors', async () => {
    const team = await createTestTeam(PRODUCTION)
    await fails(['import', join(folder, 'absent.json'), ...of(team)], /File not found/)
    await fails(['import', file('{'), ...of(team)], /not JSON/)
    await fails(['import', file('"text"'), ...of(team)], /must be a list/)
    await fails(['import', ...of(team)], /Missing required argument 'file'/)
    await fails(['import', file([]), '--cell', 'nowhere'], /./)
    await fails(['import', file([]), '--cell', PRODUCTION, '--org', team.team], /Organization not found/)
    await fails(['remove', ...of(team)], /Missing required argument 'reference'/)
    await fails(['nonsense'], /Unknown command 'nonsense'/)
  })
})
