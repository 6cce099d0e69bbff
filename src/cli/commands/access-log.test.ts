// The commands on the access log, and the lines that commands write to it.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { describe, test } from 'node:test'
import { DayArchiver } from '../../platform/access-log/archive-days.ts'
import { tree } from '../command-list.ts'
import { parse, UsageError } from '../command-tree.ts'
import { address, patient } from '../../../test/support/people.ts'
import { acceptedOrder, deliveryFor, receiveOverLink } from '../../../test/support/results.ts'
import { siteWithSchedule, slots, walkIn } from '../../../test/support/psc-booking.ts'
import { accessRow, appendDay, dayAgo, emptyLog } from '../../../test/support/access-days.ts'
import { storedFiles } from '../../../test/support/report-files.ts'
import { s3Server } from '../../../test/support/s3-server.ts'
import { access, asOwner, cells, createTestTeam, settings, type TestTeam } from '../../../test/support/server.ts'
import { command } from '../../../test/support/commands.ts'

interface Line {
  key: string
  team: string | null
  operation: string
  objects: string[]
  users: string[]
  request: null
}

const run = (...words: string[]): Promise<string> => command(cells, ['access-log', ...words])

const exportLines = async (...words: string[]) =>
  (await run('export', '--cell', 'sandbox-us', ...words))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { seq: number; hash: string; day: string; line: Line })

/** The lines of a command that name an id. */
const listLines = async (operation: string, subject: string): Promise<Line[]> =>
  (await exportLines())
    .map(({ line }) => line)
    .filter((line) => line.operation === operation && JSON.stringify(line).includes(subject))

const key = `cli:${userInfo().username}`

describe('access-log export', () => {
  test('prints a line for each call, filters by user and team, and records itself', async () => {
    const team = await createTestTeam()
    const [user, other] = [await team.user(), await team.user()]
    await team.api.get(`/v2/user/${user}`)
    await access.flush()
    assert.deepEqual(
      (await exportLines('--user', user)).map(({ line }) => line.operation),
      ['create_user', 'get_user', 'access-log export'],
    )
    assert.deepEqual(
      (await exportLines('--team', team.team)).map(({ line }) => [line.operation, line.users[0]]),
      [
        ['create_user', user],
        ['create_user', other],
        ['get_user', user],
        ['access-log export', undefined],
      ],
    )
    const [line] = (await listLines('access-log export', user)).slice(-1)
    assert.deepEqual([line!.key, line!.request, line!.users], [key, null, [user]])
    assert.equal((await exportLines('--until', '2020-01-01')).length, 0)
  })

  test('names the person and the account, before or after the words of the command', async () => {
    const [first, second] = [randomUUID(), randomUUID()]
    await command(cells, ['--as', 'testa@clinic.example', 'access-log', 'export', '--cell', 'sandbox-us', '--user', first])
    await run('export', '--cell', 'sandbox-us', '--user', second, '--as=testo')
    assert.deepEqual(
      (await listLines('access-log export', first)).map((line) => line.key),
      [`${key}:testa@clinic.example`],
    )
    assert.deepEqual(
      (await listLines('access-log export', second)).map((line) => line.key),
      [`${key}:testo`],
    )
    for (const person of ['', 'two words', 'a"b', 'line\nbreak', 'x'.repeat(101)])
      await assert.rejects(run('export', '--cell', 'sandbox-us', '--as', person), UsageError, person)
    assert.throws(() => parse(tree, ['version', '--as', 'testa']), /--as is for commands on the database/)
  })

  test('rejects invalid options', async () => {
    for (const words of [
      ['export', '--cell', 'sandbox-moon'],
      ['export', '--cell', 'sandbox-us', '--user', 'nobody'],
      ['export', '--cell', 'sandbox-us', '--from', 'yesterday'],
      ['export', '--cell', 'sandbox-us', '--since', '2026-01-01'],
      ['verify', '--cell', 'sandbox-us', '--known', '7'],
      ['verify', '--cell', 'sandbox-us', '--from', 'yesterday'],
      ['verify', '--cell', 'all', '--known', `7:${'0'.repeat(64)}`],
      ['burn'],
    ])
      await assert.rejects(run(...words), UsageError, words.join(' '))
  })
})

describe('access-log verify', () => {
  test('prints the last position of each log and accepts it as a known line', async () => {
    await createTestTeam('production-us')
    const printed = await run('verify', '--cell', 'all')
    assert.match(printed, /^sandbox-us {2}\d+ lines since \d{4}-\d\d-\d\d, none changed; the last is \d+:[0-9a-f]{64}\n/m)
    const [, last] = /^sandbox-us .* the last is (\S+)$/m.exec(printed)!
    assert.match(await run('verify', '--cell', 'sandbox-us', '--known', last!), /none changed/)
    assert.match(
      await run('verify', '--cell', 'sandbox-us', '--from', '2100-01-01'),
      /^sandbox-us {2}0 lines, none changed; the last is/,
    )
  })

  test('says that files cannot be read, and checks the other cells', async () => {
    const db = cells.db('production-eu')
    await emptyLog(db, { database_days: 1 })
    for (const days of [5, 0])
      await appendDay(db, dayAgo(days), [accessRow({ user: randomUUID(), team: randomUUID(), request: 'fictional-1' })])
    const peer = await s3Server()
    const { url: endpoint, ...keys } = peer
    settings.s3 = { ...keys, endpoint, prefix: '', virtual_hosts: false }
    settings.report_storage = 's3'
    try {
      const archiver = new DayArchiver(storedFiles)
      for (let step = 0; step < 2; step++) assert.equal(await archiver.remove(db, cells.control, () => false), 1)
      assert.match(await run('verify', '--cell', 'production-eu'), /^production-eu {2}2 lines since .*, none changed/)
      peer.next.push(403)
      await assert.rejects(
        run('verify', '--cell', 'all'),
        /^Error: Files of the access log cannot be read, so it is not checked\. production-eu: GET was answered 403/,
      )
      peer.objects.clear()
      await assert.rejects(
        run('verify', '--cell', 'production-eu'),
        /^Error: The access log has been changed\. production-eu: the file \S+ with the lines 1 to 1 of \S+ is missing\.$/,
      )
    } finally {
      settings.report_storage = 'disk'
      settings.s3 = undefined
      await emptyLog(db, { database_days: 90 })
    }
  })

  test('fails with the first invalid line', async () => {
    const team = await createTestTeam('sandbox-eu')
    for (let i = 0; i < 3; i++) await team.user()
    await access.flush()
    const { rows } = await cells.db('sandbox-eu').pool.query('select min(seq)::int + 1 as seq from access_log')
    await asOwner('update sandbox_eu.access_log set line = replace(line, $2, $3) where seq = $1', [
      rows[0].seq,
      '"outcome":200',
      '"outcome":201',
    ])
    await assert.rejects(
      run('verify', '--cell', 'sandbox-eu'),
      new RegExp(`^Error: The access log has been changed. sandbox-eu: line ${rows[0].seq} of `),
    )
    await assert.rejects(run('verify', '--cell', 'all'), /sandbox-eu: line/)
  })
})

async function createUnassignedResult(team: TestTeam): Promise<string> {
  const delivery = await deliveryFor(team, await acceptedOrder(team), { sample_id: `NOBODYS-${randomUUID()}` })
  return (await receiveOverLink(delivery)).raw_result_id
}

describe('a command on patients leaves a line in the access log', () => {
  test('when a result is assigned to a team', async () => {
    const team = await createTestTeam()
    const id = await createUnassignedResult(team)
    await command(cells, ['result', 'assign', id, '--team', team.team, '--cell', 'sandbox-us'])
    const [line, ...more] = await listLines('result assign', id)
    assert.equal(more.length, 0)
    assert.deepEqual([line!.key, line!.team, line!.objects[0]], [key, team.team, id])
  })

  test('adds a line when a result is deleted, and no line if the result does not exist', async () => {
    const id = await createUnassignedResult(await createTestTeam())
    await command(cells, ['result', 'drop', id, '--cell', 'sandbox-us'])
    assert.equal((await listLines('result drop', id)).length, 1)
    await assert.rejects(command(cells, ['result', 'drop', id, '--cell', 'sandbox-us']))
    assert.equal((await listLines('result drop', id)).length, 1)
  })

  test("when emails to patients are listed or shown, with their recipients' users", async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const lab_test_id = await team.test('walk_in_test')
    const { order } = (
      await team.api.post('/v3/order', { user_id: user, lab_test_id, patient_details: patient, patient_address: address })
    ).body
    await team.api.post(`/v3/order/${order.id}/test?final_status=received.walk_in_test.requisition_created`)
    await team.settle()
    const { rows } = await team.db.pool.query('select mail_id from patient_message where order_id = $1 and mail_id is not null', [
      order.id,
    ])
    assert(rows.length > 0, 'the patient has been sent no mail')
    const mail = rows[0].mail_id as string
    await command(cells, ['mail', 'show', mail])
    await command(cells, ['mail', 'list'])
    for (const operation of ['mail show', 'mail list']) {
      const [line, ...more] = await listLines(operation, mail)
      assert.equal(more.length, 0)
      assert.deepEqual([line!.key, line!.team, line!.users, line!.objects.includes(mail)], [key, team.team, [user], true])
    }
  })

  test('when bookings are listed or confirmed, with their users', async () => {
    const team = await createTestTeam('production-us')
    await siteWithSchedule('HAND-9', { confirms: 'by_hand' })
    const order_id = await walkIn(team)
    const [slot] = await slots(team, 'lab=quest&site_codes=HAND-9')
    const path = `/v3/order/${order_id}/psc/appointment/book`
    const { body } = await team.api.post(path, { booking_key: slot!.booking_key, async_confirmation: true })
    const { user_id } = (await team.api.get(`/v3/order/${order_id}`)).body
    const lines = async (operation: string) =>
      (await run('export', '--cell', 'production-us', '--user', user_id))
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { line: Line }).line)
        .filter((line) => line.operation === operation)
    assert((await command(cells, ['psc', 'booking', 'list', '--cell', 'production-us'])).includes(body.id))
    assert.equal(await command(cells, ['psc', 'booking', 'confirm', body.id, '--cell', 'production-us']), 'Confirmed.\n')
    await assert.rejects(command(cells, ['psc', 'booking', 'confirm', body.id, '--cell', 'production-us']))
    const [listed, ...moreListed] = await lines('psc booking list')
    const [confirmed, ...moreConfirmed] = await lines('psc booking confirm')
    assert.deepEqual([moreListed, moreConfirmed], [[], []])
    assert.deepEqual([listed!.key, listed!.team, listed!.objects], [key, team.team, [body.id]])
    assert.deepEqual([confirmed!.key, confirmed!.team, confirmed!.objects], [key, team.team, [body.id, order_id]])
  })
})
