// Appointments at sites of the operator's own laboratory: from the files of the sites and their schedules to the booked appointment.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { command, runOnDatabase } from '../../../test/support/commands.ts'
import { eventuallyHolds } from '../../../test/support/eventually.ts'
import { production, createTestWith } from '../../../test/support/fulfillment.ts'
import { advanceTo, createOrder } from '../../../test/support/orders.ts'
import {
  book,
  cancel,
  getAvailability,
  findBookingKey,
  move,
  read,
  assertRefused,
  slots,
} from '../../../test/support/psc-booking.ts'
import { labId } from '../../../test/support/psc-sites.ts'
import { cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const folder = mkdtempSync(join(tmpdir(), 'own-laboratory-'))
after(() => rmSync(folder, { recursive: true }))
const CELL = ['--lab', 'manual', '--cell', 'production-us']
const run = (...words: string[]) => command(cells, ['psc', ...words, ...CELL])
function fileOf(...lines: string[]): string {
  const file = join(folder, `${lines.length}-${lines.join().length}.csv`)
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}
const columns = 'site_code,name,first_line,city,state,zip_code,capabilities'
const bookable = 'appointment_scheduling_via_service'
const sites = fileOf(
  columns,
  `OWN-1,Harbor Light Draw Site,1 Sample Way,Phoenix,AZ,85004,${bookable}`,
  `OWN-2,Harbor Light Annex,2 Sample Way,Phoenix,AZ,85004,${bookable}`,
  'OWN-3,Harbor Light Kiosk,3 Sample Way,Phoenix,AZ,85004,',
)
const everyDay = 'site_code,monday,tuesday,wednesday,thursday,friday,saturday,sunday,places'
const hours = '08:00-12:00,08:00-12:00,08:00-12:00,08:00-12:00,08:00-12:00,08:00-12:00,08:00-12:00'
const NEAR = 'lab=manual&zip_code=85004'
const order = async (team: TestTeam) => {
  const { id } = await createOrder(team, { lab_test_id: await createTestWith(team, 'walk_in_test') })
  await advanceTo(team, id, 'requisition_created')
  return id
}

describe('a laboratory with sites of its own', () => {
  test('takes appointments at sites with a schedule, and shows the others as not bookable', async () => {
    const team = await production()
    const id = await order(team)
    assertRefused(await getAvailability(team, NEAR), 400, 'This lab is not supported.')
    assertRefused(await book(team, id, 'x'), 400, 'This lab is not supported.')
    assert.equal(await run('import', sites), 'production-us\n3 imported\n')
    assertRefused(await getAvailability(team, NEAR), 400, 'This lab is not supported.')

    const schedules = fileOf(everyDay, `OWN-1,${hours},2`, `OWN-3,${hours},1`)
    const { output, failure } = await runOnDatabase(cells, ['psc', 'schedule', 'import', schedules, ...CELL])
    assert.match(
      output,
      /^production-us\n1 imported\n1 rejected:\n.*the site has not the capability appointment_scheduling_via_service/,
    )
    assert.match(failure!, /1 of the file rejected/)
    assert.match(await run('schedule', 'list'), /OWN-1 +20 minutes/)

    const shown = async () => {
      const lab_id = await labId('manual', 'production-us')
      const { body } = await team.api.get(`/v3/order/psc/info?zip_code=85004&lab_id=${lab_id}`)
      return Object.fromEntries(
        body.patient_service_centers.map((center: { site_code: string; capabilities: string[] }) => [
          center.site_code,
          center.capabilities,
        ]),
      )
    }
    const both = [bookable, 'appointment_scheduling_via_junction']
    await eventuallyHolds(async () => assert.deepEqual(await shown(), { 'OWN-1': both, 'OWN-2': [], 'OWN-3': [] }))
    await eventuallyHolds(async () => {
      const { central_labs } = (await team.api.get('/v3/order/area/info?zip_code=85004')).body
      assert.deepEqual(central_labs.manual?.patient_service_centers, {
        appointment_with_vital: true,
        within_radius: 3,
        radius: '25',
        capabilities: both,
      })
    })
    assert.deepEqual([...new Set((await slots(team, NEAR)).map(({ site }) => site))], ['OWN-1'])

    const booked = await book(team, id, await findBookingKey(team, NEAR))
    assert.deepEqual(
      [booked.status, booked.body.provider, booked.body.status, booked.body.iana_timezone],
      [200, 'manual', 'confirmed', 'America/Phoenix'],
    )
    assert.equal((await move(team, id, await findBookingKey(team, NEAR, 3))).status, 200)
    assert.equal((await read(team, id)).body.event_status, 'scheduled')

    await run('schedule', 'remove', 'OWN-1')
    await eventuallyHolds(async () => assert.deepEqual((await shown())['OWN-1'], []))
    assertRefused(await getAvailability(team, NEAR), 400, 'This lab is not supported.')
    assert.equal((await cancel(team, id)).body.status, 'cancelled')
  })

  test('gives its capacity to all teams together', async () => {
    await run('import', sites)
    await run('schedule', 'import', fileOf(everyDay, `OWN-2,${hours},1`))
    const [first, second] = [await production(), await production()]
    const key = (team: TestTeam) => findBookingKey(team, 'lab=manual&site_codes=OWN-2')
    const taken = [await key(first), await key(second)]
    assert.equal((await book(first, await order(first), taken[0])).status, 200)
    assert.equal((await book(second, await order(second), taken[1])).status, 404)
  })

  test('of a sandbox has the slots of every sandbox once sites are imported', async () => {
    const team = await createTestTeam()
    assertRefused(await getAvailability(team, NEAR), 400, 'This lab is not supported.')
    await command(cells, ['psc', 'import', sites, '--lab', 'manual', '--cell', 'sandbox-us'])
    assert.equal((await getAvailability(team, 'lab=manual&site_codes=OWN-1')).status, 200)
  })
})
