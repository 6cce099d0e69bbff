// The commands on links and their messages.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { labLink, messageFor, observation, observedTest, profile, profileWith } from '../../../test/support/link-messages.ts'
import { acceptedOrder } from '../../../test/support/results.ts'
import { access, cells, createTestTeam } from '../../../test/support/server.ts'
import { command } from '../../../test/support/commands.ts'

const folder = mkdtempSync(join(tmpdir(), 'links-'))
after(() => rmSync(folder, { recursive: true }))
let count = 0
function write(text: string): string {
  const path = join(folder, `${++count}.json`)
  writeFileSync(path, text)
  return path
}

const run = (...words: string[]) => command(cells, ['links', ...words, '--cell', 'sandbox-us'])

test('a profile is set, shown and replaced, and every fault of a profile is reported at once', async () => {
  const team = await createTestTeam()
  const account = await labAccount(team, { lab: 'quest' })
  await assert.rejects(run('show', account), /has no link/)
  assert.equal(await run('set', account, write(JSON.stringify(profile))), 'Link saved.\n')
  assert.deepEqual(JSON.parse(await run('show', account)), profile)
  await run('set', account, write(JSON.stringify(profileWith({ text: { decimal_mark: ',' } }))))
  assert.equal(JSON.parse(await run('show', account)).text.decimal_mark, ',')
  const faulty = {
    text: { time_zone: 'Moon/Base' },
    results: { reports: 'sometimes', later_reports: 'apply' },
    transport: { client: { port: 0, cable: 'long' } },
  }
  await assert.rejects(
    run('set', account, write(JSON.stringify(faulty))),
    /transport\.client\.port: .*client\.cable: .*text\.decimal_mark: .*text\.time_zone: .*results\.reports: /s,
  )
  await assert.rejects(run('set', account, write('no JSON')), /The profile is not JSON/)
  await assert.rejects(run('set', account, join(folder, 'absent.json')), /cannot be read \(ENOENT\)/)
  assert.equal(JSON.parse(await run('show', account)).text.decimal_mark, ',')
})

test('a message is received, listed without its patient, shown with a line in the access log, replayed and marked as done', async () => {
  const team = await createTestTeam()
  const account = await labLink(team)
  const order = await acceptedOrder(team, 'walk_in_test', { lab_account_id: account })
  const text = JSON.stringify(messageFor(order, [observedTest({ code: 'X1', observations: [observation('X1', '5')] })]))
  const received = await run('receive', account, write(text))
  const [, id] = /^(\S+) {2}applied, order \S+\n$/.exec(received)!
  assert(received.includes(order.id))
  assert.equal(await run('receive', account, write(text)), `${id}  repetition, applied, order ${order.id}\n`)
  const listed = (await run('messages')).split('\n').find((line) => line.startsWith(id!))!
  assert.match(listed, /quest +applied/)
  assert.doesNotMatch(listed, /Testa|Fictional|1990/)
  assert.equal(await run('message', id!), text)
  assert.match(await run('replay', id!), /applied, order/)
  await access.flush()
  const log = await command(cells, ['access-log', 'export', '--cell', 'sandbox-us', '--user', order.user_id])
  const operations = log
    .split('\n')
    .filter((line) => line.includes(id!))
    .map((line) => JSON.parse(line).line)
  assert.deepEqual(
    operations.map(({ operation, team: ofTeam, users }) => [operation, ofTeam, users]),
    ['links receive', 'links receive', 'links message', 'links replay'].map((operation) => [
      operation,
      team.team,
      [order.user_id],
    ]),
  )
})

test('a message that failed needs attention until a person marks it as done', async () => {
  const account = await labLink(await createTestTeam())
  const [, id] = /^(\S+) {2}failed, The message is not JSON\n$/.exec(await run('receive', account, write('MSH|')))!
  assert((await run('messages', '--attention')).includes(id!))
  assert.match(await run('replay', id!), /failed, The message is not JSON/)
  assert.equal(await run('done', id!), 'Message marked as done.\n')
  assert(!(await run('messages', '--attention')).includes(id!))
  await assert.rejects(run('done', account), /Message not found/)
  await assert.rejects(run('message', account), /Message not found/)
  await assert.rejects(run('replay', account), /Message not found/)
})
