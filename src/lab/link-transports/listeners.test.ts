// Ports to which laboratories connect, over real sockets: framing, answers, limits, TLS.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { makeCertificate, type TestCertificate } from '../../../test/support/certificates.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { labLink } from '../../../test/support/link-messages.ts'
import { frame, openMllpSocket, type MllpSocket } from '../../../test/support/mllp-socket.ts'
import { skipWithoutPythonHl7, startLaboratoryClient } from '../../../test/lab-peers/python-peers.ts'
import { cells, createTestTeam, guard, metrics, newCells, type TestTeam } from '../../../test/support/server.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { createLog } from '../../platform/telemetry/log.ts'
import type { ProfileOptions } from '../links/profile/link-profile.ts'
import { ActiveLinks } from './active-links.ts'
import { LinkTroubles } from './link-troubles.ts'
import { Listeners, type ListenersOptions } from './listeners.ts'
import { MessageReceiver } from './message-receiver.ts'

const log = createLog('silent')
const running: Listeners[] = []

/** Ports of this process, as the program opens them. */
async function listen(
  options: Partial<ListenersOptions['settings']> = {},
  servedCells: Cells = cells,
  limits: ListenersOptions['limits'] = {},
) {
  const links = new ActiveLinks(servedCells)
  const listeners = new Listeners({
    cells: servedCells,
    settings: {
      lab_listen: ['127.0.0.1:0'],
      lab_tls_certificate: undefined,
      lab_tls_key: undefined,
      lab_tls_authorities: undefined,
      ...options,
    },
    links,
    receiver: new MessageReceiver(links, guard.tenant),
    troubles: new LinkTroubles(log, metrics),
    log,
    limits,
  })
  listeners.start()
  running.push(listeners)
  const [port] = await listeners.ports()
  return { port: port!, listeners }
}

let port = 0
before(async () => ({ port } = await listen()))
after(() => Promise.all(running.map((listeners) => listeners.stop())))

let addresses = 1
/** An address of this machine that no other test uses. */
const newAddress = () => `127.0.${Math.floor(++addresses / 250) + 1}.${(addresses % 250) + 1}`

/** A laboratory with a link, whose messages come from an address of its own. */
async function laboratory(changes: ProfileOptions = {}, listenPort = port) {
  const team = await createTestTeam()
  const address = newAddress()
  const { transport = {}, ...others } = changes
  const account = await labLink(team, {
    ...others,
    transport: {
      results: 'mllp',
      ...transport,
      listener: { port: listenPort, tls: false, addresses: [address], ...transport.listener },
    },
  })
  return {
    team,
    account,
    address,
    connect: (options: Partial<Parameters<typeof openMllpSocket>[0]> = {}): Promise<MllpSocket> =>
      openMllpSocket({ port: listenPort, address, ...options }),
    stored: () => storedMessages(team, account),
    /** The reasons and details of its issues. */
    issues: async () => {
      const rows = await team.db.queries.many(
        T.Object({ reason: T.String(), detail: T.String() }),
        sql`select reason, detail from lab_link_issue where link_account_id = ${account} order by reason`,
      )
      return rows.map(({ reason, detail }) => `${reason} ${detail}`)
    },
  }
}

const Row = T.Object({ bytes: T.Unsafe<Buffer>({}), source: Nullable(T.String()), repetitions: T.Integer() })
const storedMessages = ({ db }: TestTeam, account: string) =>
  db.queries.many(
    Row,
    sql`select bytes, source, repetitions from lab_message where link_account_id = ${account} order by created_at, id`,
  )

interface MessageChanges {
  type?: string
  sender?: string
  facility?: string
  accept?: string
  application?: string
  note?: string
}

const message = (
  id: string,
  { type = 'ORU^R01', sender = 'LIS', facility = 'CLINIC', accept = '', application = '', note = '' }: MessageChanges = {},
) =>
  `MSH|^~\\&|${sender}|FICTIONAL LAB|DRAWBRIDGE|${facility}|20300104101500||${type}|${id}|P|2.5.1|||${accept}|${application}\r` +
  `PID|1||P-1||Fictional^Testa||19900131|F\rOBR|1|PLACER-1|F-1|100^Glucose|||20300104|||||||||||||||20300104||LAB|F\r` +
  `OBX|1|NM|100^Glucose||95|mg/dL|65-99||||F\r${note && `NTE|1||${note}\r`}`

/** MSH-10 of stored messages. */
const ids = (rows: { bytes: Buffer }[]) => rows.map(({ bytes }) => bytes.toString('latin1').split('|')[9])

/** MSA-1 and MSA-2. */
const outcome = (answer: string | undefined) =>
  answer
    ?.split('\r')
    .find((line) => line.startsWith('MSA'))
    ?.split('|')
    .slice(1, 3)
    .join(' ')

describe('a message at a port', () => {
  test('is stored as it came before it is acknowledged', async () => {
    const { connect, stored, address } = await laboratory()
    const lab = await connect()
    await lab.send(message('C-1'))
    const [answer] = await lab.next()
    const [row, ...more] = await stored()
    assert.equal(outcome(answer), 'AA C-1')
    assert.match(
      answer!,
      /^MSH\|\^~\\&\|DRAWBRIDGE\|CLINIC\|LIS\|FICTIONAL LAB\|\d{14}[+-]\d{4}\|\|ACK\^R01\^ACK\|\w+\|P\|2\.5\.1/,
    )
    assert.deepEqual([row!.bytes.toString(), more.length], [message('C-1'), 0])
    assert.equal(row!.source, `mllp ${address}`)
  })

  test('arrives whole however its bytes are divided, and as often as it is sent', async () => {
    const { connect, stored } = await laboratory()
    const lab = await connect()
    const count = 60
    for (let i = 0; i < count; i++) {
      const bytes = frame(message(`C-${i}`))
      const cut =
        i < 8 ? [1, 2, 3, 10, bytes.length - 3, bytes.length - 2, bytes.length - 1, bytes.length][i]! : (i * 37) % bytes.length
      await lab.write(bytes.subarray(0, cut))
      // Otherwise the system would join the two packets.
      await sleep(2)
      await lab.write(bytes.subarray(cut))
    }
    const answers = await lab.next(count)
    assert.deepEqual(
      answers.map(outcome),
      Array.from({ length: count }, (_, i) => `AA C-${i}`),
    )
    assert.deepEqual(
      (await stored()).map(({ bytes }) => bytes.toString()),
      Array.from({ length: count }, (_, i) => message(`C-${i}`)),
    )
  })

  test('is answered in its turn if several come in one packet, with bytes between them', async () => {
    const { connect, stored, issues } = await laboratory()
    const lab = await connect()
    await lab.write(
      Buffer.concat([frame(message('C-1')), Buffer.from('\n\0noise'), frame(message('C-2')), frame(''), frame(message('C-3'))]),
    )
    assert.deepEqual((await lab.next(3)).map(outcome), ['AA C-1', 'AA C-2', 'AA C-3'])
    assert.equal((await stored()).length, 3)
    lab.socket.end(frame(message('C-4')).subarray(0, -1))
    await eventually(
      async () =>
        (await issues()).join() === 'half_frame The connection ended within a message,stray_bytes 5 bytes in one connection',
      'the issues are listed',
    )
  })

  test('is answered if the laboratory closes its side after it', async () => {
    const { connect } = await laboratory()
    const lab = await connect()
    lab.socket.end(frame(message('C-1')))
    assert.deepEqual((await lab.next()).map(outcome), ['AA C-1'])
    await lab.waitForEnd()
  })

  test('that comes again is acknowledged again and stored once', async () => {
    const { connect, stored } = await laboratory()
    for (let i = 0; i < 3; i++) {
      const lab = await connect()
      await lab.send(message('C-1'))
      assert.deepEqual((await lab.next()).map(outcome), ['AA C-1'])
      lab.socket.destroy()
    }
    assert.deepEqual(
      (await stored()).map(({ repetitions }) => repetitions),
      [2],
    )
  })

  test('gets the answers that its header asks for', async () => {
    const { connect } = await laboratory()
    const lab = await connect()
    const cases: [string, string, string[]][] = [
      ['AL', 'AL', ['CA', 'AA']],
      ['AL', 'NE', ['CA']],
      ['NE', 'AL', ['AA']],
      ['SU', 'ER', ['CA']],
      ['ER', 'SU', ['AA']],
      ['ER', 'ER', []],
      ['NE', 'NE', []],
      ['', '', ['AA']],
    ]
    for (const [i, [accept, application]] of cases.entries()) await lab.send(message(`C-${i}`, { accept, application }))
    const expected = cases.flatMap(([, , codes], i) => codes.map((code) => `${code} C-${i}`))
    assert.deepEqual((await lab.next(expected.length)).map(outcome), expected)
  })

  test('that cannot be read or used is stored, and answered with the codes of the profile', async () => {
    const { connect, stored, team, address } = await laboratory({
      identity: { sender_applications: ['LIS'] },
      acknowledgment: { unsupported: 'AE' },
    })
    const lab = await connect()
    await lab.send('this is no message')
    await lab.send(message('C-1', { type: 'ADT^A01' }))
    await lab.send(message('C-2', { type: 'ADT^A01', accept: 'AL', application: 'AL' }))
    await lab.send(message('C-3', { sender: 'OTHER' }))
    await lab.send(message('C-4'))
    assert.deepEqual((await lab.next(5)).map(outcome), ['AE ', 'AE C-1', 'CE C-2', 'AR C-3', 'AA C-4'])
    assert.equal((await stored()).length, 4)
    const unknown = await team.db.queries.many(
      Row,
      sql`select bytes, source, repetitions from lab_message where link_account_id is null and source = ${`mllp ${address}`}`,
    )
    assert.deepEqual(ids(unknown), ['C-3'])
    const reasons = await team.db.queries.many(
      T.Object({ error: T.String() }),
      sql`select error from lab_message where link_account_id is null and source = ${`mllp ${address}`}`,
    )
    assert.match(reasons[0]!.error, /^The sender in MSH-3 is not in identity.sender_applications/)
  })

  test('with names in a character set that it does not name is answered to its sender', async () => {
    const { connect } = await laboratory({ identity: { sender_facilities: ['LABOR MÜNCHEN'] } })
    const lab = await connect()
    await lab.send(Buffer.from(message('C-1').replace('FICTIONAL LAB', 'LABOR MÜNCHEN'), 'latin1'))
    assert.deepEqual((await lab.next()).map(outcome), ['AA C-1'])
  })

  test('goes to the account that it names, if laboratories share an address', async () => {
    const shared = newAddress()
    const ofAccount = (facility: string) =>
      laboratory({ identity: { receiver_facilities: [facility] }, transport: { listener: { addresses: [shared] } } })
    const [one, two] = [await ofAccount('ACCOUNT-1'), await ofAccount('ACCOUNT-2')]
    const lab = await openMllpSocket({ port, address: shared })
    for (const [i, facility] of ['ACCOUNT-2', 'ACCOUNT-1', 'ACCOUNT-3'].entries()) await lab.send(message(`C-${i}`, { facility }))
    assert.deepEqual((await lab.next(3)).map(outcome), ['AA C-0', 'AA C-1', 'AR C-2'])
    assert.deepEqual(ids(await one.stored()), ['C-1'])
    assert.deepEqual(ids(await two.stored()), ['C-0'])
  })

  test('goes to no account if two could have it', async () => {
    const shared = newAddress()
    const links = [
      await laboratory({ transport: { listener: { addresses: [shared] } } }),
      await laboratory({ transport: { listener: { addresses: [shared] } } }),
    ]
    const lab = await openMllpSocket({ port, address: shared })
    await lab.send(message('C-1'))
    assert.deepEqual((await lab.next()).map(outcome), ['AR C-1'])
    for (const { stored } of links) assert.deepEqual(await stored(), [])
  })

  test('is neither stored nor answered without the database, and the connection is closed', async () => {
    const others = newCells()
    const { port: listenPort } = await listen({}, others)
    const { connect, stored } = await laboratory({}, listenPort)
    const lab = await connect()
    await lab.send(message('C-1'))
    assert.deepEqual((await lab.next()).map(outcome), ['AA C-1'])
    await others.close()
    await lab.send(message('C-2'))
    await lab.waitForEnd()
    assert.equal(lab.answers().length, 1)
    assert.equal((await stored()).length, 1)
  })

  test('that is being stored when the server stops is answered', async () => {
    const { port: listenPort, listeners } = await listen()
    const { connect, stored } = await laboratory({}, listenPort)
    const lab = await connect()
    await lab.send(message('C-1'))
    await lab.next()
    const many = Array.from({ length: 50 }, (_, i) => message(`D-${i}`))
    await lab.write(Buffer.concat(many.map(frame)))
    await listeners.stop()
    await lab.waitForEnd()
    const answered = lab.answers().slice(1).map(outcome)
    const rows = ids((await stored()).slice(1)).map((id) => `AA ${id}`)
    assert.deepEqual(answered, rows, 'what is stored is answered, and what is answered is stored')
  })
})

describe('a connection', () => {
  test('from an address that no link names is closed before a byte is read', async () => {
    await laboratory()
    const stranger = await openMllpSocket({ port, address: newAddress() })
    await stranger.waitForEnd()
    assert.deepEqual(stranger.answers(), [])
  })

  test('to another port than that of the link is closed', async () => {
    const { port: other } = await listen()
    const { address } = await laboratory()
    await (await openMllpSocket({ port: other, address })).waitForEnd()
  })

  test('beyond those that the profile allows is closed, and one less makes room', async () => {
    const { connect } = await laboratory({ transport: { listener: { connections: 2 } } })
    const [first, second] = [await connect(), await connect()]
    for (const lab of [first, second]) {
      await lab.send(message('C-1'))
      await lab.next()
    }
    await (await connect()).waitForEnd()
    first.socket.destroy()
    await eventually(async () => {
      const lab = await connect()
      await lab.send(message('C-2'))
      return (await lab.next()).length === 1
    }, 'there is room for another connection')
    assert.equal(second.isClosed(), false)
  })

  test('is one of at most 64, which all work at the same time', async () => {
    const { port: listenPort } = await listen()
    const labs = await Promise.all(Array.from({ length: 7 }, () => laboratory({}, listenPort)))
    const sockets = await Promise.all(Array.from({ length: 64 }, (_, i) => labs[Math.floor(i / 10)]!.connect()))
    await Promise.all(sockets.map((lab, i) => lab.send(message(`C-${i}`))))
    const answers = await Promise.all(sockets.map((lab) => lab.next()))
    assert.deepEqual(
      answers.map(([answer]) => outcome(answer)),
      Array.from({ length: 64 }, (_, i) => `AA C-${i}`),
    )
    await (await labs[6]!.connect()).waitForEnd()
    assert(sockets.every((lab) => !lab.isClosed()))
  })

  test('that pauses within a message is closed after the limit of the profile, and between messages stays open', async () => {
    const { connect, stored, issues } = await laboratory({ transport: { listener: { idle_timeout_s: 1 } } })
    const [patient, half] = [await connect(), await connect()]
    await half.write(frame(message('C-1')).subarray(0, 100))
    await half.waitForEnd()
    await patient.send(message('C-2'))
    assert.deepEqual((await patient.next()).map(outcome), ['AA C-2'])
    assert.deepEqual(ids(await stored()), ['C-2'])
    await eventually(
      async () => (await issues()).join() === 'half_frame The laboratory paused too long within a message',
      'the issue is listed',
    )
  })

  test('that sends a byte now and then is closed when its message takes too long', async () => {
    const { port: listenPort } = await listen({}, cells, { frame_ms_max: 500 })
    const { connect } = await laboratory({}, listenPort)
    const lab = await connect()
    const bytes = frame(message('C-1'))
    for (let i = 0; i < bytes.length - 2 && !lab.isClosed(); i++) {
      await lab.write(bytes.subarray(i, i + 1))
      await sleep(20)
    }
    await lab.waitForEnd()
    assert.deepEqual(lab.answers(), [])
  })

  test('with a message without end is closed at 32 MiB', async () => {
    const { connect, stored } = await laboratory()
    const lab = await connect()
    await lab.write(Buffer.of(0x0b))
    const block = Buffer.alloc(1_048_576, 'x')
    for (let i = 0; i < 40 && !lab.isClosed(); i++) await lab.write(block)
    await lab.waitForEnd()
    assert.deepEqual(await stored(), [])
  })

  test('with a message of 14 MB is answered', async () => {
    const { connect, stored } = await laboratory()
    const lab = await connect()
    const note = 'QUJD'.repeat(3_500_000)
    await lab.send(message('C-1', { note }))
    assert.deepEqual((await lab.next()).map(outcome), ['AA C-1'])
    assert.equal((await stored())[0]!.bytes.length, Buffer.byteLength(message('C-1', { note })))
  })

  test('whose peer reads no answers is closed, and keeps no other waiting', async () => {
    const { port: listenPort } = await listen({}, cells, { write_ms_max: 1000 })
    const [deaf, other] = [await laboratory({}, listenPort), await laboratory({}, listenPort)]
    const flood = await deaf.connect()
    flood.socket.pause()
    const facility = 'X'.repeat(4000)
    const many = Buffer.concat(Array.from({ length: 20 }, (_, i) => frame(message(`C-${i}`, { facility }))))
    const flooding = (async () => {
      while (!flood.socket.destroyed) {
        if (flood.socket.writableLength < 1_000_000) flood.socket.write(many)
        await sleep(5)
      }
    })()
    const lab = await other.connect()
    for (let i = 0; i < 10; i++) {
      await lab.send(message(`D-${i}`))
      assert.deepEqual((await lab.next()).map(outcome), [`AA D-${i}`])
    }
    await flooding
  })

  test('with frames that end without CR is read if the profile says so', async () => {
    const { connect } = await laboratory({ transport: { listener: { ends_without_cr: true } } })
    const lab = await connect()
    for (const id of ['C-1', 'C-2']) await lab.write(Buffer.concat([Buffer.of(0x0b), Buffer.from(message(id)), Buffer.of(0x1c)]))
    assert.deepEqual((await lab.next(2)).map(outcome), ['AA C-1', 'AA C-2'])
  })
})

describe('a connection with TLS', () => {
  let server: TestCertificate, laboratoryOne: TestCertificate, laboratoryTwo: TestCertificate
  before(() => {
    ;[server, laboratoryOne, laboratoryTwo] = ['server', 'one', 'two'].map(makeCertificate) as [
      TestCertificate,
      TestCertificate,
      TestCertificate,
    ]
  })
  const listenWithTls = (settings: Partial<ListenersOptions['settings']> = {}) =>
    listen({ lab_listen: ['tls://127.0.0.1:0'], lab_tls_certificate: server.certificate, lab_tls_key: server.key, ...settings })
  const identity = ({ pem, keyPem }: TestCertificate) => ({ cert: pem, key: keyPem })
  const answerTo = async (lab: MllpSocket) => {
    await lab.send(message('C-1'))
    return (await lab.next()).map(outcome)
  }

  test('shows the certificate of the settings, and refuses versions before 1.2', async () => {
    const { port: listenPort } = await listenWithTls()
    const { connect } = await laboratory({ transport: { listener: { tls: true } } }, listenPort)
    const lab = await connect({ tls: { ca: server.pem, rejectUnauthorized: true, servername: 'localhost' } })
    assert.deepEqual(await answerTo(lab), ['AA C-1'])
    await assert.rejects(connect({ tls: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } }))
  })

  test('is what a link requires unless its profile says otherwise', async () => {
    const { connect } = await laboratory({ transport: { listener: { tls: true } } })
    await (await connect()).waitForEnd()
  })

  test('needs a certificate that the link names', async () => {
    const { port: listenPort } = await listenWithTls()
    const { connect } = await laboratory(
      { transport: { listener: { tls: true, client_certificates: [laboratoryOne.fingerprint] } } },
      listenPort,
    )
    assert.deepEqual(await answerTo(await connect({ tls: identity(laboratoryOne) })), ['AA C-1'])
    for (const tls of [{}, identity(laboratoryTwo)]) await (await connect({ tls })).waitForEnd()
  })

  test('needs a certificate of the authorities of the settings', async () => {
    const { port: listenPort } = await listenWithTls({ lab_tls_authorities: laboratoryOne.certificate })
    const { connect } = await laboratory({ transport: { listener: { tls: true } } }, listenPort)
    assert.deepEqual(await answerTo(await connect({ tls: identity(laboratoryOne) })), ['AA C-1'])
    // In TLS 1.3 the client is ready before the server has seen its certificate.
    for (const tls of [{}, identity(laboratoryTwo)]) {
      const lab = await connect({ tls }).catch(() => undefined)
      await lab?.waitForEnd()
      assert.deepEqual(lab?.answers() ?? [], [])
    }
  })
})

describe('python-hl7', { skip: skipWithoutPythonHl7 }, () => {
  test('sends messages over several connections, in pieces, and reads their answers', async () => {
    const { port: listenPort } = await listen()
    const { stored } = await laboratory({ transport: { listener: { addresses: ['127.0.0.1'] } } }, listenPort)
    const client = await startLaboratoryClient({ port: listenPort })
    after(() => client.remove())
    const results = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (connection) => {
        const codes = []
        for (let i = 0; i < 5; i++) {
          const { code, answered_id } = await client.send(message(`${connection}-${i}`), { connection, chunk_bytes: 50 })
          codes.push(`${code} ${answered_id}`)
        }
        return codes
      }),
    )
    assert.deepEqual(results[0], ['AA a-0', 'AA a-1', 'AA a-2', 'AA a-3', 'AA a-4'])
    assert.equal((await stored()).length, 20)
  })
})
