// The peers themselves: what they send, answer and log is what tests of links rely on.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import {
  mllpSend,
  readAllByPython,
  readByPython,
  skipWithoutPythonHl7,
  startLaboratoryClient,
  startLaboratoryServer,
  textAt,
  type LaboratoryClient,
  type LaboratoryMode,
  type LaboratoryServer,
} from './python-peers.ts'
import { eventually } from '../support/eventually.ts'

const order = (control_id: string, note = '') =>
  [
    `MSH|^~\\&|DRAWBRIDGE|CLINIC|LIS|LAB|20300104101500||OML^O21^OML_O21|${control_id}|T|2.5.1`,
    'PID|1||P-1||Fictional^Testa||19900131|F',
    'ORC|NW|PLACER-1',
    `OBR|1|PLACER-1||100^Glucose^99LAB|||20300104${note}`,
    'ORC|NW|PLACER-2',
    'OBR|2|PLACER-2||200^Lipids^99LAB',
    '',
  ].join('\r')

/** A laboratory with a client of its own, in a mode. */
async function laboratoryIn(mode: LaboratoryMode) {
  const server = await startLaboratoryServer()
  const client = await startLaboratoryClient({ port: server.port })
  peers.push(server, client)
  await server.setMode(mode)
  return { server, client }
}

const peers: (LaboratoryServer | LaboratoryClient)[] = []
after(() => Promise.all(peers.map((peer) => peer.remove())))

describe('the peers of python-hl7', { skip: skipWithoutPythonHl7 }, () => {
  test('a laboratory accepts a message and logs it before its answer', async () => {
    const { server, client } = await laboratoryIn({})
    const result = await client.send(order('C-1', 'é'))
    assert.deepEqual([result.code, result.answered_id], ['AA', 'C-1'])
    await eventually(() => server.log().length === 3, 'the answer is logged')
    const [connected, received, sent] = server.log()
    assert.deepEqual([connected!.event, received!.event, sent!.event], ['connected', 'received', 'sent'])
    assert.deepEqual([received!.type, received!.control_id, received!.delivery], ['OML^O21^OML_O21', 'C-1', 1])
    assert.equal(Buffer.from(received!.bytes!, 'base64').toString(), order('C-1', 'é'))
    assert.equal(client.log().find(({ event }) => event === 'answered')!.sent_digest, received!.digest)
  })

  test('a laboratory answers orders with its numbers, and an order that comes again with the same ones', async () => {
    const { client } = await laboratoryIn({ type: 'ORL^O22' })
    for (const id of ['C-1', 'C-2']) {
      const { segments } = await readByPython((await client.send(order(id))).answer!)
      assert.deepEqual(
        ['MSH-9.1', 'MSH-9.2', 'MSH-9.3', 'MSA-1', 'MSA-2', 'ORC-1', 'ORC-2', 'ORC-3', 'ORC[2]-3', 'OBR[2]-3'].map((place) =>
          textAt(segments, place),
        ),
        ['ORL', 'O22', 'ORL_O22', 'AA', id, 'OK', 'PLACER-1', 'PYLAB-1', 'PYLAB-2', 'PYLAB-2'],
      )
    }
  })

  test('a laboratory refuses with its text, and answers in the enhanced mode with two messages', async () => {
    const { server, client } = await laboratoryIn({ code: 'AE', error: 'Unknown test', commit: 'CA', times: 1 })
    const { answers } = await client.sendRaw(`\u000b${order('C-1')}\u001c\r`, { answers: 2 })
    const [commit, refusal] = await readAllByPython(answers!)
    assert.equal(textAt(commit!, 'MSA-1'), 'CA')
    assert.deepEqual(
      ['MSA-1', 'MSA-3', 'ERR-3.1', 'ERR-8'].map((place) => textAt(refusal!, place)),
      ['AE', 'Unknown test', '207', 'Unknown test'],
    )
    assert.equal((await client.send(order('C-2'))).code, 'AA', 'the mode applied once')
    await server.setMode({ commit: 'CA', without_answer: true })
    assert.equal((await client.send(order('C-3'))).code, 'CA')
  })

  test('a laboratory leaves a message unanswered in each of its faults, and the client repeats the same bytes', async () => {
    const { server, client } = await laboratoryIn({})
    const faults: LaboratoryMode[] = [
      { fault: 'deaf', times: 1 },
      { fault: 'half_answer', times: 1 },
      { fault: 'half_answer_then_close', times: 1 },
      { fault: 'close', times: 1 },
      { fault: 'close_after_bytes', bytes: 40, times: 1 },
      { unanswered_deliveries: 2 },
    ]
    for (const [index, mode] of faults.entries()) {
      await client.disconnect()
      await server.setMode(mode)
      const result = await client.send(order(`C-${index}`), { timeout_s: 0.5, attempts: 3, retry_s: 0.01 })
      assert.deepEqual([result.code, result.answered_id], ['AA', `C-${index}`], JSON.stringify(mode))
      const deliveries = server.log().filter((line) => line.event === 'received' && line.control_id === `C-${index}`)
      assert.equal(deliveries.length, mode.unanswered_deliveries === 2 ? 3 : mode.fault === 'close_after_bytes' ? 1 : 2)
      assert.equal(new Set(deliveries.map(({ digest }) => digest)).size, 1)
    }
    await server.setMode({ fault: 'wrong_id' })
    assert.equal((await client.send(order('C-9'))).answered_id, 'NOT-C-9')
  })

  test('the log of a laboratory survives its end, and the laboratory starts again on its port', async () => {
    const { server, client } = await laboratoryIn({})
    await client.send(order('C-1'))
    await server.kill()
    assert.match((await client.send(order('C-2'), { timeout_s: 1 })).error!, /Error/)
    await server.restart()
    assert.equal((await client.send(order('C-3'))).code, 'AA')
    assert.deepEqual(
      server.log().flatMap((line) => (line.event === 'received' ? [line.control_id] : [])),
      ['C-1', 'C-3'],
    )
  })

  test('a message of 14 MB in small pieces arrives whole', async () => {
    const { server, client } = await laboratoryIn({})
    const long = order('C-1', `|${'QUJD'.repeat(3_500_000)}`)
    assert.equal((await client.send(long, { timeout_s: 60, chunk_bytes: 100_000 })).code, 'AA')
    assert.equal(server.log().find(({ event }) => event === 'received')!.length, Buffer.byteLength(long))
  })

  test('mllp_send delivers the messages of a file and prints their acknowledgments', async () => {
    const { server } = await laboratoryIn({})
    const folder = mkdtempSync(join(tmpdir(), 'mllp-send-'))
    const file = join(folder, 'messages')
    writeFileSync(file, ['C-1', 'C-2'].map((id) => `\u000b${order(id)}\u001c\r`).join(''))
    assert.match(await mllpSend(server.port, file), /MSA\|AA\|C-1[^]*MSA\|AA\|C-2/)
    rmSync(folder, { recursive: true })
  })

  test('python-hl7 reads repetitions, components, subcomponents and escape sequences', async () => {
    const text = 'MSH|^~\\&|A\rPID|1||X^^^N&1.2&ISO~Y||O\\T\\Neil^\\F\\^\\.br\\\rNTE|1||a\\S\\b\r'
    const { segments } = await readByPython(Buffer.from(text))
    assert.deepEqual(
      ['MSH-2', 'MSH-3', 'PID-3.4.2', 'PID-3(2)', 'PID-5', 'PID-5.2', 'PID-5.3', 'NTE-3', 'PID-9'].map((place) =>
        textAt(segments, place),
      ),
      ['^~\\&', 'A', '1.2', 'Y', 'O&Neil', '|', '\r', 'a^b', undefined],
    )
  })
})
