// Trying a link before it is live: its check, and the trial orders with their report.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  readAllByPython,
  skipWithoutPythonHl7,
  startLaboratoryServer,
  textAt,
  type LaboratoryServer,
} from '../../../test/lab-peers/python-peers.ts'
import { runOnDatabase } from '../../../test/support/commands.ts'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { profileWith, receiveBytes } from '../../../test/support/link-messages.ts'
import { cells, createTestTeam } from '../../../test/support/server.ts'
import { skipWithoutSftp, startSftpServer, type SftpServer } from '../../../test/support/sftp-server.ts'
import type { LinkMode } from '../links/link-modes.ts'
import type { ProfileOptions } from '../links/profile/link-profile.ts'
import type { CheckStep } from './check-link.ts'
import type { TrialOutcome } from './trial-report.ts'

const folder = mkdtempSync(join(tmpdir(), 'onboarding-'))
process.env.LAB_FOLDER = folder
after(() => rmSync(folder, { recursive: true }))

async function linkWith(transport: ProfileOptions['transport'], mode: LinkMode = 'test') {
  const team = await createTestTeam()
  const account = await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID().slice(0, 8)}` })
  const file = profileWith({ preset: 'us-23', transport } as ProfileOptions)
  const path = join(folder, `${randomUUID()}.json`)
  writeFileSync(path, JSON.stringify(file))
  await run('import', account, path)
  await run('mode', account, mode)
  return { team, account }
}

const run = (...words: string[]) => runOnDatabase(cells, ['links', ...words, '--cell', 'sandbox-us'])

async function check(account: string): Promise<{ steps: CheckStep[]; outcomes: string[]; failure: string | undefined }> {
  const { output, failure } = await run('check', account, '--json')
  const steps = JSON.parse(output) as CheckStep[]
  return { steps, outcomes: steps.map(({ name, outcome }) => `${name} ${outcome}`), failure }
}

const client = (port: number, changes = {}) => ({ host: '127.0.0.1', port, tls: false, answer_timeout_s: 2, ...changes })

/** A port of this machine on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('links check', () => {
  test('finds name and port of the laboratory, and says what has not been seen yet', async () => {
    const server = createServer((socket) => socket.on('error', () => socket.destroy()).end()).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    try {
      const { account } = await linkWith({ orders: 'mllp', client: client(port) })
      const { steps, outcomes, failure } = await check(account)
      assert.deepEqual(outcomes, ['profile ok', 'account ok', 'name ok', 'port ok', 'acknowledgment open', 'results open'])
      assert.equal(failure, undefined)
      assert(steps.filter(({ outcome }) => outcome !== 'ok').every(({ advice }) => advice !== null))
      const { output } = await run('check', account)
      assert.match(output, /^ok {6}port {12}port \d+ is open$/m)
    } finally {
      server.close()
    }
  })

  test('fails at the first step that does not work, with what to do', async () => {
    const { account } = await linkWith({ orders: 'mllp', client: client(await closedPort()) })
    const { steps, outcomes, failure } = await check(account)
    assert.deepEqual(outcomes.slice(2, 4), ['name ok', 'port failed'])
    assert.match(steps[3]!.text, /ECONNREFUSED/)
    assert.match(steps[3]!.advice!, /Nothing listens there/)
    assert.equal(failure, 'The link does not work: port.')
  })

  test('says that a port has no TLS, and that an address is not allowed', async () => {
    const server = createServer((socket) => socket.on('error', () => socket.destroy()).end('no TLS')).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    try {
      const plain = await linkWith({ orders: 'mllp', client: client(port, { tls: true }) })
      assert.deepEqual((await check(plain.account)).outcomes.slice(2, 5), ['name ok', 'port ok', 'tls failed'])
    } finally {
      server.close()
    }
    const inner = await linkWith({ orders: 'mllp', client: { ...client(port), host: '10.1.2.3' } })
    const { steps } = await check(inner.account)
    assert.deepEqual([steps[2]!.outcome, steps[2]!.advice], ['failed', 'Add it to WEBHOOK_ALLOW'])
  })

  test('tries the rights in the folders of the link, and leaves nothing there', async () => {
    const { account } = await linkWith({ orders: 'folder', results: 'folder' })
    assert.deepEqual((await check(account)).outcomes.slice(2, 5), ['login ok', 'folder ok', 'folder ok'])
    assert.deepEqual(readdirSync(join(folder, account)).toSorted(), ['orders', 'results'])
    assert.deepEqual(readdirSync(join(folder, account, 'orders')), [])
  })

  describe('of an SFTP server', { skip: skipWithoutSftp }, () => {
    let sftp: SftpServer
    before(async () => void (sftp = await startSftpServer()))
    after(() => sftp?.stop())
    const options = (changes = {}) => ({
      host: '127.0.0.1',
      port: sftp.port,
      user: sftp.user,
      private_key: sftp.private_key,
      host_key: sftp.host_key,
      results: sftp.folder,
      ...changes,
    })

    test('logs in with the pinned key and lists the folder', async () => {
      const { account } = await linkWith({ results: 'sftp', sftp: options() })
      assert.deepEqual((await check(account)).outcomes.slice(2, 6), ['name ok', 'port ok', 'login ok', 'folder ok'])
    })

    test('refuses a server with another key, and says what is wrong with a folder', async () => {
      const other = await linkWith({ results: 'sftp', sftp: options({ host_key: 'SHA256:another' }) })
      const { steps } = await check(other.account)
      assert.match(`${steps[4]!.name} ${steps[4]!.outcome} ${steps[4]!.text}`, /login failed The SFTP server has another key/)
      const missing = await linkWith({ results: 'sftp', sftp: options({ results: join(sftp.folder, 'absent') }) })
      assert.match((await check(missing.account)).steps[5]!.text, /The folder is missing/)
    })
  })

  test('fails for a link without a transport and for an account that is not active', async () => {
    const { account } = await linkWith({})
    assert.equal((await check(account)).failure, 'The link does not work: profile.')
  })
})

describe('links trial', { skip: skipWithoutPythonHl7 }, () => {
  let laboratory: LaboratoryServer
  before(async () => void (laboratory = await startLaboratoryServer()))
  after(() => laboratory.remove())

  const outcomesOf = async (account: string): Promise<TrialOutcome[]> =>
    JSON.parse((await run('trial-report', account, '--json')).output) as TrialOutcome[]

  const trial = async (transport: ProfileOptions['transport'] = { orders: 'mllp', client: client(laboratory.port) }) => {
    const link = await linkWith(transport)
    const save = join(folder, randomUUID())
    await run('trial', link.account, '--save', save)
    return { ...link, save, outcomes: await outcomesOf(link.account) }
  }

  test('sends ten fictional orders as test messages and compares each answer with the expected one', async () => {
    const { save, outcomes } = await trial()
    assert.deepEqual(
      outcomes.map(({ name, answer, verdict }) => [name, answer, verdict]),
      [
        ['plain', 'AA', 'as_expected'],
        ['answers', 'AA', 'as_expected'],
        ['insurance', 'AA', 'as_expected'],
        ['patient_bill', 'AA', 'as_expected'],
        ['collection_center', 'AA', 'as_expected'],
        ['cancelled_order', 'AA', 'as_expected'],
        ['cancel', 'AA', 'as_expected'],
        ['correction', 'AA', 'as_expected'],
        ['microbiology', 'AA', 'as_expected'],
        ['unknown_test', 'AA', 'different'],
      ],
    )
    const files = readdirSync(save).toSorted()
    assert.equal(files.length, 10)
    const messages = await readAllByPython(files.map((file) => readFileSync(join(save, file))))
    assert(messages.every((segments) => textAt(segments, 'MSH-11') === 'T'))
    assert(messages.every((segments) => textAt(segments, 'PID-5')!.startsWith('FICTIONAL')))
    assert.deepEqual(
      messages.map((segments) => textAt(segments, 'ORC-1')),
      ['NW', 'NW', 'NW', 'NW', 'NW', 'NW', 'CA', 'NW', 'NW', 'NW'],
    )
    assert.equal(textAt(messages[6]!, 'ORC-2'), textAt(messages[5]!, 'ORC-2'))
    assert(messages[2]!.some(({ name }) => name === 'IN1'))
    const ids = new Set(messages.map((segments) => textAt(segments, 'MSH-10')))
    assert.equal(ids.size, 10)
    assert.equal(laboratory.log().filter(({ event, control_id }) => event === 'received' && ids.has(control_id!)).length, 10)
  })

  test('counts a refusal as expected only for the unknown test, and a laboratory that is deaf as different', async () => {
    await laboratory.setMode({ code: 'AE', error: 'Unknown test' })
    const refused = await trial()
    assert.deepEqual(
      refused.outcomes.filter(({ verdict }) => verdict === 'as_expected').map(({ name }) => name),
      ['unknown_test'],
    )
    assert.match(refused.outcomes[0]!.text!, /Unknown test/)
    await laboratory.setMode({})
    const deaf = await trial({ orders: 'mllp', client: client(await closedPort()) })
    assert(deaf.outcomes.every(({ verdict, text }) => verdict === 'different' && text!.includes('ECONNREFUSED')))
  })

  test('shows the results that the laboratory sends for each order, and prints them for the laboratory', async () => {
    const { team, account, outcomes } = await trial()
    const { placer_number } = outcomes[0]!
    const message =
      `MSH|^~\\&|LIS|LAB|DRAWBRIDGE||20300104101500||ORU^R01|${randomUUID().slice(0, 18)}|T|2.3\r` +
      `PID|1|||||FICTIONAL-ONE^TESTA\rORC|RE|${placer_number}|F-1\rOBR|1|${placer_number}|F-1|100^Glucose|||20300104|||||||||||||||20300104||LAB|F\r` +
      'OBX|1|NM|100^Glucose||95|mg/dL|65-99||||F\rOBX|2|NM|101^Calcium||9|mg/dL|||||P\r'
    assert.equal((await receiveBytes(team, account, Buffer.from(message))).state, 'test')
    const [plain, answers] = await outcomesOf(account)
    assert.deepEqual([plain!.received_tests, answers!.received_tests], [['100 F (1 F, 1 P)'], []])
    const { output } = await run('trial-report', account, '--html')
    assert.match(output, /^<!doctype html>/)
    assert(output.includes(placer_number) && output.includes('100 F (1 F, 1 P)'))
    assert.match(output, /9 answers as expected, 1 different, 0 open/)
    assert.doesNotMatch(output, /<script|http:|https:/)
  })

  test('of a folder writes the messages for the laboratory, whose answers are open', async () => {
    const { outcomes, save } = await trial({ orders: 'folder' })
    assert(outcomes.every(({ verdict }) => verdict === 'open'))
    assert.equal(readdirSync(save).length, 10)
  })

  test('is refused unless the link is in mode test, and for a test that the laboratory does not have', async () => {
    const live = await linkWith({ orders: 'mllp', client: client(laboratory.port) }, 'live')
    await assert.rejects(run('trial', live.account), /needs a link in mode test; this one is in mode live/)
    const { account } = await linkWith({ orders: 'mllp', client: client(laboratory.port) })
    await assert.rejects(run('trial', account, '--test', 'NO-SUCH-CODE'), /has no orderable test NO-SUCH-CODE/)
    assert.equal((await run('trial-report', account)).output, 'No trial was sent.\n')
  })
})
