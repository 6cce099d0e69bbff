// The commands on links and their messages.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { labLink, messageFor, observation, observedTest } from '../../../test/support/link-messages.ts'
import { acceptedOrder } from '../../../test/support/results.ts'
import { access, cells, createTestTeam } from '../../../test/support/server.ts'
import { command } from '../../../test/support/commands.ts'
import { BIRTH_YEAR } from '../../../test/support/people.ts'

const folder = mkdtempSync(join(tmpdir(), 'links-'))
after(() => rmSync(folder, { recursive: true }))
let count = 0
function write(text: string): string {
  const path = join(folder, `${++count}.json`)
  writeFileSync(path, text)
  return path
}

const run = (...words: string[]) => command(cells, ['links', ...words, '--cell', 'sandbox-us'])

test('a profile is created by options, shown as a difference from its preset, and changed', async () => {
  const account = await labAccount(await createTestTeam(), { lab: 'quest' })
  await assert.rejects(run('show', account), /has no link/)
  const saved = await run('set', account, 'preset=us-23', 'text.time_zone=America/New_York', 'results.reports=incremental')
  assert.equal(
    saved,
    `Link saved in mode off. It differs from the preset us-23 in:
  text.time_zone  "America/New_York"
  results.reports  "incremental"
`,
  )
  const changed = await run('set', account, 'order_content.message=OML', 'identity.sender_facilities=["NORTH"]', 'patient.phone=')
  assert.match(changed, /order_content.message {2}"ORM" -> "OML"/)
  const shown = await run('show', account)
  assert.match(shown, /preset +us-23\n/)
  assert.match(shown, /identity.sender_facilities {2}\[\] -> \["NORTH"\]/)
  assert.equal(JSON.parse(await run('show', account, '--whole')).identity.version, '2.3')
  assert.doesNotMatch(await run('set', account, 'order_content.message='), /order_content/)
  assert((await run('list')).includes(`${account}  quest          off            ok`))
  assert.match(await command(cells, ['links', 'presets']), /^de-25 .*Germany$/m)
})

test('options that are typed wrongly are refused, each with what is wrong', async () => {
  const account = await labAccount(await createTestTeam(), { lab: 'quest' })
  for (const [word, problem] of [
    ['text', /must be an option and its value/],
    ['text=UTF-8', /text is not an option/],
    ['text.color=red', /text.color is not an option/],
    ['identity.sender_facilities=NORTH', /must be JSON/],
    ['transport.sftp.password=invented', /is a secret: write transport.sftp.password=@FILE/],
    ['text.time_zone=Moon/Base', /text.time_zone: .*results.reports: /],
    [`transport.client.key=@${join(folder, 'absent.pem')}`, /cannot be read \(ENOENT\)/],
  ] as const)
    await assert.rejects(run('set', account, word), problem, word)
})

test('a profile is exported and imported for another account, without its secrets', async () => {
  const team = await createTestTeam()
  const [account, other] = [await labAccount(team, { lab: 'quest' }), await labAccount(team, { lab: 'quest' })]
  const password = write('invented-password\n')
  const sftp = ['host=sftp.lab.example', 'user=clinic', 'host_key=SHA256:fictional', 'results=/out', `password=@${password}`]
  const words = [...sftp.map((option) => `transport.sftp.${option}`), 'transport.results=sftp', 'text.decimal_mark=,']
  const printed = await run('set', account, 'text.time_zone=UTC', 'results.reports=cumulative', ...words)
  assert.doesNotMatch(printed + (await run('show', account)) + (await run('show', account, '--json')), /invented/)
  assert.match(await run('show', account), /secrets +transport.sftp.password\n/)
  const exported = await run('export', account)
  assert.equal(JSON.parse(exported).transport.sftp.password, '********')
  assert.match(await run('import', account, write(exported)), /differs from the defaults/)
  assert.equal(await run('export', account), exported)
  await assert.rejects(run('import', other, write(exported)), /transport.sftp.password: .*no secret is stored/)
  await run('import', other, write(exported.replace('********', 'another-password')))
  assert.equal(await run('export', other), exported)
})

test('every fault of an imported profile is reported at once', async () => {
  const account = await labAccount(await createTestTeam(), { lab: 'quest' })
  const faulty = {
    text: { time_zone: 'Moon/Base' },
    results: { reports: 'sometimes', later_reports: 'apply' },
    transport: { client: { port: 0, cable: 'long' } },
  }
  await assert.rejects(
    run('import', account, write(JSON.stringify(faulty))),
    /transport\.client\.port: .*client\.cable: .*text\.decimal_mark: .*text\.time_zone: .*results\.reports: /s,
  )
  await assert.rejects(run('import', account, write('no JSON')), /The profile is not JSON/)
  await assert.rejects(run('import', account, join(folder, 'absent.json')), /cannot be read \(ENOENT\)/)
  await assert.rejects(run('show', account), /has no link/)
})

test('the mode of a link is changed, for one team first', async () => {
  const team = await createTestTeam()
  const account = await labLink(team)
  await assert.rejects(run('mode', account, 'on'), /The mode must be one of off, test, shadow, live_for_team, live/)
  await assert.rejects(run('mode', account, 'live_for_team'), /A team is required/)
  await run('mode', account, 'live_for_team', '--team', team.team)
  assert.match(await run('show', account), new RegExp(`mode +live_for_team ${team.team}\n`))
  assert.equal(await run('mode', account, 'off'), 'The link is in mode off. Takes effect in every process within 5 s.\n')
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
  assert.match(listed, /quest +in +applied/)
  assert.doesNotMatch(listed, new RegExp(String.raw`Testa|Fictional|${BIRTH_YEAR}`))
  assert.equal(await run('message', id!), `${text}\n`)
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
  const [, id] = /^(\S+) {2}failed, The message does not begin with a header\n$/.exec(
    await run('receive', account, write('no message')),
  )!
  const issue = (await run('issues', '--account', account)).split('\n')
  assert.match(issue[0]!, new RegExp(`^${id} .*  unreadable  quest, command, 1 times$`))
  assert(issue.some((line) => line.includes('Ask the laboratory')))
  assert.match(await run('replay', id!), /failed, The message does not begin with a header/)
  await assert.rejects(run('done', id!, '--comment', ''), /--comment must have 1 to 500 characters/)
  assert.equal(await run('done', id!, '--comment', 'The laboratory was notified'), 'Message marked as done.\n')
  assert.equal(await run('issues', '--account', account), 'There are none.\n')
  assert.match(
    await run('issues', '--account', account, '--state', 'done'),
    new RegExp(`^${id} .*\n    Comment: The laboratory was notified`, 's'),
  )
  await assert.rejects(run('done', account), /Issue not found/)
  await assert.rejects(run('message', account), /Message not found/)
  await assert.rejects(run('replay', account), /Message not found/)
})
