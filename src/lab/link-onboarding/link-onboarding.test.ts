// The trial orders of a link that is not live yet, with their report.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  readAllByPython,
  skipWithoutPythonHl7,
  startLaboratoryServer,
  textAt,
  type LaboratoryServer,
} from '../../../test/lab-peers/python-peers.ts'
import { receiveBytes } from '../../../test/support/link-messages.ts'
import { clientAt, closedPort, labFolder, linkWith, runLinks } from '../../../test/support/onboarded-links.ts'
import type { ProfileOptions } from '../links/profile/link-profile.ts'
import type { TrialOutcome } from './trial-report.ts'

describe('links trial', { skip: skipWithoutPythonHl7 }, () => {
  let laboratory: LaboratoryServer
  before(async () => void (laboratory = await startLaboratoryServer()))
  after(() => laboratory.remove())

  const outcomesOf = async (account: string): Promise<TrialOutcome[]> =>
    JSON.parse((await runLinks('trial-report', account, '--json')).output) as TrialOutcome[]

  const trial = async (transport: ProfileOptions['transport'] = { orders: 'mllp', client: clientAt(laboratory.port) }) => {
    const link = await linkWith(transport)
    const save = join(labFolder, randomUUID())
    await runLinks('trial', link.account, '--save', save)
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
    const deaf = await trial({ orders: 'mllp', client: clientAt(await closedPort()) })
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
    const { output } = await runLinks('trial-report', account, '--html')
    assert.match(output, /^<!doctype html>/)
    assert(output.includes(placer_number) && output.includes('100 F (1 F, 1 P)'))
    assert.match(output, /9 answers as expected, 1 different, 0 open/)
    assert.doesNotMatch(output, /<script|http:|https:/)
  })

  test('of a folder writes a file for each message, and judges the answers that come as files', async () => {
    const { team, account, outcomes, save } = await trial({ orders: 'folder', results: 'folder' })
    assert(outcomes.every(({ verdict }) => verdict === 'open'))
    const read = (place: string) =>
      readdirSync(place).map((name) => readFileSync(join(place, name), 'utf8').replaceAll(/[\r\n]+/g, '\n'))
    assert.deepEqual(read(join(labFolder, account, 'orders')).toSorted(), read(save).toSorted())
    const answer = (code: string, control_id: string) =>
      receiveBytes(
        team,
        account,
        Buffer.from(`MSH|^~\\&|LIS|LAB|||20300104||ACK|${randomUUID()}|T|2.3\rMSA|${code}|${control_id}|Words\r`),
      )
    const states = [
      await answer('AA', outcomes[0]!.control_id),
      await answer('AE', outcomes[1]!.control_id),
      await answer('AA', 'ABSENT'),
    ]
    assert(states.every(({ state }) => state === 'test'))
    assert.deepEqual(
      (await outcomesOf(account)).slice(0, 3).map(({ verdict, answer: code, text }) => [verdict, code, text]),
      [
        ['as_expected', 'AA', 'Words'],
        ['different', 'AE', 'Words'],
        ['open', null, null],
      ],
    )
    assert.match((await runLinks('issues', '--account', account)).output, /There are none/)
  })

  test('is refused unless the link is in mode test, and for a test that the laboratory does not have', async () => {
    const live = await linkWith({ orders: 'mllp', client: clientAt(laboratory.port) }, { mode: 'live' })
    await assert.rejects(runLinks('trial', live.account), /needs a link in mode test; this one is in mode live/)
    const { account } = await linkWith({ orders: 'mllp', client: clientAt(laboratory.port) })
    await assert.rejects(runLinks('trial', account, '--test', 'NO-SUCH-CODE'), /has no orderable test NO-SUCH-CODE/)
    assert.equal((await runLinks('trial-report', account)).output, 'No trial was sent.\n')
  })
})
