// The simulated laboratory against laboratories that are independent of it: python-hl7 sends the orders and reads what comes.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, describe, test } from 'node:test'
import { eventually, eventuallyHolds } from '../../../test/support/eventually.ts'
import { freePort } from '../../../test/support/free-ports.ts'
import { runToEnd } from '../../../test/support/local-command.ts'
import {
  readAllByPython,
  readByPython,
  skipWithoutPythonHl7,
  startLaboratoryClient,
  startLaboratoryServer,
  textAt,
  type PythonSegment,
} from '../../../test/lab-peers/python-peers.ts'
import { systemNow } from '../../platform/runtime/clock.ts'
import { offeredMarkers } from './offered-markers.ts'
import { reportSteps } from './result-messages.ts'
import { runPeer, type PeerOptions } from './run-peer.ts'

const markersOf = offeredMarkers('quest')
const folder = mkdtempSync(join(tmpdir(), 'lab-peer-test-'))
const closings: (() => Promise<unknown>)[] = []
after(async () => {
  await Promise.all(closings.map((close) => close()))
  rmSync(folder, { recursive: true, force: true })
})

/** A peer with these options, what it prints, and its commands. It listens on a free port. */
async function startPeer(changes: Partial<PeerOptions>) {
  const commands = new PassThrough()
  const stop = new AbortController()
  const printed: string[] = []
  const options = {
    markersOf,
    interpretation: 'normal' as const,
    plan: [],
    isPlain: false,
    currentTime: systemNow,
    pause_s: 0,
    ...(!changes.folders && { listen: { host: '127.0.0.1', port: 0 } }),
    ...changes,
  }
  const end = runPeer(options, { signal: stop.signal, commands, print: (line) => printed.push(line) })
  const close = () => {
    stop.abort()
    return end
  }
  closings.push(close)
  const [, port] = await eventually(() => /:(\d+)$|^reading/.exec(printed[0] ?? ''), 'the peer listens')
  return {
    port: Number(port),
    printed,
    close,
    /** Gives a command and waits for its reply. */
    command: async (line: string) => {
      const count = printed.length
      commands.write(`${line}\n`)
      return eventually(() => printed.slice(count).find((text) => !text.startsWith('message ')), `reply to ${line}`)
    },
  }
}

/** A laboratory's system that receives, a peer that sends to it, and a client that orders. */
async function startTrio(changes: Partial<PeerOptions> = {}) {
  const receiver = await startLaboratoryServer()
  const peer = await startPeer({ results_to: { host: '127.0.0.1', port: receiver.port }, ...changes })
  const client = await startLaboratoryClient({ port: peer.port })
  closings.push(receiver.remove, client.remove)
  const messages = async (count: number): Promise<PythonSegment[][]> => {
    const lines = await eventually(() => {
      const received = receiver.log().filter(({ event }) => event === 'received')
      return received.length >= count ? received : undefined
    }, `${count} messages have come`)
    return readAllByPython(lines.map(({ bytes }) => Buffer.from(bytes!, 'base64')))
  }
  return { receiver, peer, client, messages }
}

/** A panel, and a single test, of the catalog. */
const codes = ['Q55024', 'Q55080']

const orderMessage = (control_id: string, { placer = 'P-1', control = 'NW', conditions = '' } = {}) =>
  Buffer.from(
    [
      `MSH|^~\\&|DRAWBRIDGE|CLINIC|LIS|LAB|20300104101500+0000||OML^O21^OML_O21|${control_id}|T|2.5.1${conditions}`,
      'PID|1||P-1^^^CLINIC^PI||Fictional\\T\\Son^Testa||19900131|F',
      `ORC|${control}|${placer}`,
      `OBR|1|${placer}||${codes[0]}^First test^L`,
      `ORC|${control}|${placer}`,
      `OBR|2|${placer}||${codes[1]}^Second test^L`,
      '',
    ].join('\r'),
  )

const listTexts = (segments: PythonSegment[], name: string, field: number) =>
  segments.filter((segment) => segment.name === name).map((_, i) => textAt(segments, `${name}[${i + 1}]-${field}`))

describe('the simulated laboratory', { skip: skipWithoutPythonHl7 }, () => {
  test('accepts an order with its numbers and reports status and final results by its plan', async () => {
    const { client, messages } = await startTrio({ plan: ['status', 'final'] })
    const answer = await readByPython((await client.send(orderMessage('C-1'))).answer!)
    assert.deepEqual(
      ['MSH-9.3', 'MSA-1', 'MSA-2', 'ORC-1', 'ORC-3', 'ORC[2]-3'].map((place) => textAt(answer.segments, place)),
      ['ORL_O22', 'AA', 'C-1', 'OK', 'LP-1', 'LP-2'],
    )
    const [status, final] = (await messages(2)) as [PythonSegment[], PythonSegment[]]
    assert.deepEqual([listTexts(status, 'OBR', 25), listTexts(status, 'OBX', 11)], [['I', 'I'], []])
    assert.deepEqual(listTexts(final, 'OBR', 25), ['F', 'F'])
    assert.deepEqual(
      ['MSH-3', 'MSH-5', 'MSH-9.1', 'PID-5', 'PID-5.2', 'OBR-3', 'OBR-4', 'ORC-5'].map((place) => textAt(final, place)),
      ['LIS', 'DRAWBRIDGE', 'ORU', 'Fictional&Son', 'Testa', 'LP-1', codes[0], 'CM'],
    )
    const results = final.filter(({ name }) => name === 'OBX')
    assert(results.length > 1)
    assert(results.every(({ fields }) => fields[3]![0]![0]![0] && fields[5]![0]![0] && fields[11]![0]![0]![0] === 'F'))
  })

  test('acknowledges the echo of a check, which is no order', async () => {
    const { client, peer } = await startTrio()
    const echo = (id: string, conditions = '') =>
      `MSH|^~\\&|DRAWBRIDGE||LIS||20300104||NMQ^N01|${id}|T|2.5.1${conditions}\rNCK|20300104\r`
    assert.deepEqual((await client.send(echo('E-1'))).code, 'AA')
    assert.deepEqual((await client.send(echo('E-2', '|||AL|NE'))).code, 'CA')
    assert.equal(await peer.command('list'), 'There are no orders.')
    await peer.command('refuse')
    assert.deepEqual((await client.send(echo('E-3'))).code, 'AE')
  })

  test('reports each step at a command, and corrects with another value', async () => {
    const { client, peer, messages } = await startTrio()
    await client.send(orderMessage('C-1'))
    for (const step of reportSteps) assert.equal(await peer.command(`${step} P-1`), `done: ${step} P-1`)
    const all = await messages(reportSteps.length)
    const ofStep = (step: (typeof reportSteps)[number]) => all[reportSteps.indexOf(step)]!
    assert(listTexts(ofStep('partial'), 'OBX', 11).length < listTexts(ofStep('final'), 'OBX', 11).length)
    assert(listTexts(ofStep('incomplete'), 'OBX', 11).includes('X'))
    const values = (step: 'final' | 'correct') => listTexts(ofStep(step), 'OBX', 5)
    const changes = values('correct').map((value, i) => (value === values('final')[i] ? 'F' : 'C'))
    assert(changes.includes('C') && changes.includes('F'))
    assert.deepEqual(listTexts(ofStep('correct'), 'OBX', 11), changes)
    assert.deepEqual(listTexts(ofStep('reject'), 'OBR', 25), ['X', 'X'])
    assert.equal(textAt(ofStep('cancel'), 'ORC-1'), 'OC')
    assert.match(await peer.command('final P-9'), /no order P-9/)
    assert.match(await peer.command('sing'), /^Commands: status, partial/)
    assert.equal(await peer.command('list'), 'P-1')
  })

  test('refuses, is silent and sends half of an answer when it is told to', async () => {
    const { client, peer } = await startTrio()
    await peer.command('refuse')
    const refusal = await readByPython((await client.send(orderMessage('C-1'))).answer!)
    assert.deepEqual(
      ['MSA-1', 'ERR-4', 'ORC-1'].map((place) => textAt(refusal.segments, place)),
      ['AE', 'E', 'UA'],
    )
    assert.equal(await peer.command('list'), 'There are no orders.')
    for (const reaction of ['silence', 'half']) {
      await peer.command(reaction)
      assert.match((await client.send(orderMessage('C-2'), { timeout_s: 0.3 })).error!, /Timeout/)
    }
    await peer.command('accept')
    assert.equal((await client.send(orderMessage('C-2'))).code, 'AA')
  })

  test('grants a request to cancel before its results, and not after them', async () => {
    const { client, peer } = await startTrio()
    for (const [placer, hasResults] of [
      ['P-1', false],
      ['P-2', true],
    ] as const) {
      await client.send(orderMessage(`C-${placer}`, { placer }))
      if (hasResults) await peer.command(`final ${placer}`)
      const { answer } = await client.send(orderMessage(`D-${placer}`, { placer, control: 'CA' }))
      assert.equal(textAt((await readByPython(answer!)).segments, 'ORC-1'), hasResults ? 'UC' : 'CR')
    }
    assert.match(await peer.command('final P-1'), /is cancelled/)
  })

  test('answers in enhanced mode with a commit first, and with an ACK alone when it is told to', async () => {
    const { client } = await startTrio({ isPlain: true })
    const send = (conditions: string, count: number) =>
      client.sendRaw(Buffer.concat([Buffer.of(11), orderMessage('C-1', { conditions }), Buffer.of(28, 13)]), { answers: count })
    const read = async ({ answers }: { answers?: Buffer[] }) =>
      (await readAllByPython(answers!)).map((segments) => [textAt(segments, 'MSH-9.1'), textAt(segments, 'MSA-1')])
    assert.deepEqual(await read(await send('|||AL|AL', 2)), [
      ['ACK', 'CA'],
      ['ACK', 'AA'],
    ])
    assert.deepEqual(await read(await send('|||AL|NE', 1)), [['ACK', 'CA']])
    assert.deepEqual(await read(await send('', 1)), [['ACK', 'AA']])
  })

  test('continues from its journal after a crash: same numbers, and the same bytes until they are acknowledged', async () => {
    const journal = join(folder, 'journal.jsonl')
    const port = await freePort()
    const first = await startPeer({ journal, results_to: { host: '127.0.0.1', port } })
    const client = await startLaboratoryClient({ port: first.port })
    await client.send(orderMessage('C-1'))
    await first.command('final')
    await eventually(() => first.printed.find((line) => line.includes('not delivered')), 'the delivery fails')
    await first.close()
    // A crash within a write leaves a line that is not whole.
    writeFileSync(journal, '{"event":"answer","control', { flag: 'a' })
    const lines = readFileSync(journal, 'utf8').split('\n')

    const receiver = await startLaboratoryServer({ port })
    await receiver.setMode({ fault: 'close', times: 1 })
    const second = await startPeer({ journal, results_to: { host: '127.0.0.1', port } })
    const again = await startLaboratoryClient({ port: second.port })
    closings.push(receiver.remove, client.remove, again.remove)
    await receiver.waitFor(({ event }) => event === 'sent')
    const deliveries = receiver.log().filter(({ event }) => event === 'received')
    assert.deepEqual(
      deliveries.map(({ delivery, bytes }) => [delivery, bytes]),
      [1, 2].map((delivery) => [delivery, JSON.parse(lines[1]!).bytes]),
    )
    assert.equal(textAt((await readByPython((await again.send(orderMessage('C-2'))).answer!)).segments, 'ORC[2]-3'), 'LP-2')
  })

  test('delivers a message whole after a half of it', async () => {
    const { client, peer, receiver, messages } = await startTrio()
    await client.send(orderMessage('C-1'))
    await peer.command('cut')
    await peer.command('final')
    await messages(1)
    const [half] = receiver.log().filter(({ event }) => event === 'disconnected')
    assert(half && receiver.log().filter(({ event }) => event === 'received').length === 1)
  })

  test('sends a PDF with results', async () => {
    const pdf = Buffer.from('%PDF-1.7 fictional')
    const { client, messages } = await startTrio({ plan: ['final'], pdf })
    await client.send(orderMessage('C-1'))
    const [final] = await messages(1)
    const document = final!.find(({ name, fields }) => name === 'OBX' && fields[2]![0]![0]![0] === 'ED')!
    assert.deepEqual(document.fields[5]![0]!.slice(1, 4).flat(), ['application', 'pdf', 'Base64'])
    assert.deepEqual(Buffer.from(document.fields[5]![0]![4]![0]!, 'base64'), pdf)
  })

  test('reads orders from a folder when they are whole and writes answers and results to another', async () => {
    const folders = { orders: join(folder, 'orders'), results: join(folder, 'results') }
    mkdirSync(folders.orders, { recursive: true })
    await startPeer({ folders, plan: ['final'] })
    const path = join(folders.orders, 'order.hl7')
    writeFileSync(`${path}.tmp`, orderMessage('C-2', { placer: 'P-2' }))
    writeFileSync(path, orderMessage('C-1'))
    utimesSync(path, 1, 1)
    await eventuallyHolds(() => assert.equal(existsSync(join(folders.orders, 'done', 'order.hl7')), true))
    const names = await eventually(() => {
      const written = existsSync(folders.results) ? readdirSync(folders.results).filter((name) => name.endsWith('.hl7')) : []
      return written.length === 2 ? written : undefined
    }, 'answer and results are written')
    const read = await readAllByPython(names.map((name) => readFileSync(join(folders.results, name))))
    assert.deepEqual(read.map((segments) => textAt(segments, 'MSH-9.1')).toSorted(), ['ORL', 'ORU'])
    assert(existsSync(`${path}.tmp`))
  })
})

test('lab-peer names what is wrong with its options', async () => {
  const cases: [string[], RegExp][] = [
    [[], /requires --results-to/],
    [['--orders', 'in'], /belong together/],
    [['--results-to', 'nowhere'], /HOST:PORT/],
    [['--results-to', '1', '--plan', 'final,dance'], /--plan must be/],
    [['--results-to', '1', '--lab', 'nobody'], /laboratory must be one of quest|one of .*quest/],
    [['--results-to', '1', '--interpretation', 'good'], /--interpretation/],
    [['--results-to', '1', '--pause', '-1'], /--pause/],
  ]
  for (const [words, pattern] of cases) {
    const { code, err } = await runToEnd(['lab-peer', ...words])
    assert.equal(code, 2, words.join(' '))
    assert.match(err, pattern)
  }
})
