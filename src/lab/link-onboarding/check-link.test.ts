// The check of a link, against laboratories that answer, and against those that fail at one step.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import {
  readByPython,
  skipWithoutPythonHl7,
  startLaboratoryServer,
  textAt,
  type LaboratoryMode,
  type LaboratoryServer,
} from '../../../test/lab-peers/python-peers.ts'
import { makeCertificate, makeExpiredCertificate } from '../../../test/support/certificates.ts'
import { messageReads, statementsOf } from '../../../test/support/message-reads.ts'
import { asOwner } from '../../../test/support/server.ts'
import { clientAt, closedPort, labFolder, linkWith, runLinks } from '../../../test/support/onboarded-links.ts'
import { skipWithoutSftp, startSftpServer, type SftpServer } from '../../../test/support/sftp-server.ts'
import { systemNow } from '../../platform/runtime/clock.ts'
import { toProfile } from '../../../test/support/link-messages.ts'
import type { ProfileOptions } from '../links/profile/link-profile.ts'
import { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { findLink } from '../accounts/account-links.ts'
import { saveListeners } from '../link-transports/listener-states.ts'
import { checkLink, startCheck } from './check-link.ts'
import { readTraffic } from './check-traffic.ts'
import { claimLink, endClaim } from './link-claims.ts'
import type { CheckStep } from './check-step.ts'
import { writeEcho } from './echo-message.ts'

async function check(account: string) {
  const { output, failure } = await runLinks('check', account, '--json')
  const steps = JSON.parse(output) as CheckStep[]
  return {
    steps,
    outcomes: steps.map(({ name, outcome }) => `${name} ${outcome}`),
    failure,
    step: (name: string): CheckStep => steps.find((step) => step.name === name)!,
  }
}

const closings: (() => void)[] = []
after(() => closings.forEach((close) => close()))

/** A server of this machine. @returns its port */
async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  closings.push(() => server.close())
  return (server.address() as { port: number }).port
}

/** A laboratory that does this with each connection. */
const startPeer = (serve: (socket: Socket) => void): Promise<number> =>
  listen(
    createServer((socket) => {
      socket.on('error', () => socket.destroy())
      serve(socket)
    }),
  )

/** The echo of the check of a link whose laboratory is at a port. */
async function echoAt(port: number, changes: ProfileOptions['transport'] = {}): Promise<CheckStep> {
  const { account } = await linkWith({
    orders: 'mllp',
    ...changes,
    client: clientAt(port, { answer_timeout_s: 1, ...changes.client }),
  })
  return (await check(account)).step('echo')
}

describe('the echo of a check', { skip: skipWithoutPythonHl7 }, () => {
  let laboratory: LaboratoryServer
  before(async () => void (laboratory = await startLaboratoryServer()))
  after(() => laboratory.remove())
  const echo = async (mode: LaboratoryMode) => {
    await laboratory.setMode(mode)
    return echoAt(laboratory.port)
  }

  test('is a test message without a patient or an order, which the laboratory acknowledges', async () => {
    await laboratory.setMode({})
    const { team, account } = await linkWith({ orders: 'mllp', client: clientAt(laboratory.port) }, { mode: 'live' })
    const { outcomes, step, failure } = await check(account)
    assert.deepEqual(outcomes, ['profile ok', 'account ok', 'name ok', 'port ok', 'echo ok', 'acknowledgment open'])
    assert.equal(failure, undefined)
    assert.match(step('echo').text, /^the laboratory acknowledged ECHO[0-9A-F]{12} with AA after \d+ ms$/)
    const received = laboratory
      .log()
      .filter(({ event, control_id }) => event === 'received' && step('echo').text.includes(control_id!))
    assert.deepEqual(
      received.map(({ type }) => type),
      ['NMQ^N01'],
    )
    const { segments } = await readByPython(Buffer.from(received[0]!.bytes!, 'base64'))
    assert.deepEqual(
      segments.map(({ name }) => name),
      ['MSH', 'NCK'],
    )
    assert.deepEqual([textAt(segments, 'MSH-9.2'), textAt(segments, 'MSH-11')], ['N01', 'T'])
    for (const table of ['lab_order', 'lab_message', 'lab_link_issue'])
      assert.equal(
        (
          await team.db.pool.query(`select from ${table} where ${table === 'lab_order' ? 'team_id' : 'link_account_id'} = $1`, [
            table === 'lab_order' ? team.team : account,
          ])
        ).rowCount,
        0,
      )
    const { output } = await runLinks('check', account)
    assert.match(output, /^ok {6}port {12}port \d+ is open$/m)
  })

  test('counts a commit acknowledgment, and leaves open what a refusal means', async () => {
    assert.equal((await echo({ commit: 'CA', delay_s: 5 })).outcome, 'ok')
    const refused = await echo({ code: 'AR', error: `Unsupported\u0007 message type ${'x'.repeat(400)}` })
    assert.equal(refused.outcome, 'open')
    assert.match(refused.text, /with AR after \d+ ms: Unsupported message type x+$/)
    assert(refused.text.length < 300)
    assert.match(refused.advice!, /correct identity/)
  })

  test('fails with what to do if the laboratory closes the connection, also within its answer', async () => {
    const [closed, half] = [await echo({ fault: 'close' }), await echo({ fault: 'half_answer_then_close' })]
    assert.deepEqual([closed.outcome, half.outcome], ['failed', 'failed'])
    assert.match(closed.text, /^the connection was closed/)
    assert.match(closed.advice!, /admits this server/)
    assert.match(half.text, /^the answer began and did not end$/)
  })
})

test('an echo fails with what to do if what comes back is no answer to it', async () => {
  const answer = (bytes: string) => startPeer((socket) => socket.on('data', () => socket.write(bytes)))
  const ack = (id: string, end: string) => `\vMSH|^~\\&|||||||ACK|1|T|2.3\rMSA|AA|${id}\r${end}`
  const ports = await Promise.all([
    startPeer(() => undefined),
    answer('\vMSH|^~\\&|'),
    answer(ack('1', '\x1c')),
    answer(ack('1\x1c', '\x1c\r')),
    answer('HTTP/1.1 400 Bad Request\r\n\r\n'),
    startPeer((socket) => socket.pipe(socket)),
  ])
  const steps = await Promise.all(ports.map((port) => echoAt(port)))
  assert(steps.every(({ outcome }) => outcome === 'failed'))
  const texts = steps.map(({ text }) => text)
  assert.match(texts.splice(3, 1)[0]!, /^the answer was to another message, "1" instead of "ECHO/)
  assert.deepEqual(texts, [
    'no answer in time',
    'the answer began and did not end',
    'the answer ends with FS without CR',
    'what came is not framed by MLLP',
    'what came was no acknowledgment',
  ])
  const advices = steps.map(
    ({ advice }) => /one connection at a time|FS and CR$|ends_without_cr=true|MSA-2|with MLLP|MSA with AA/.exec(advice!)?.[0],
  )
  assert.deepEqual(advices, [
    'one connection at a time',
    'FS and CR',
    'ends_without_cr=true',
    'MSA-2',
    'with MLLP',
    'MSA with AA',
  ])
})

test('a profile without an echo leaves the acknowledgment open and sends nothing', async () => {
  let bytes = 0
  const port = await startPeer((socket) => socket.on('data', (chunk: Buffer) => (bytes += chunk.length)))
  const step = await echoAt(port, { client: { echo: false } as never })
  assert.equal(step.outcome, 'open')
  assert.equal(bytes, 0)
})

test('an echo asks for an acknowledgment where orders ask for none, and is a test whatever the profile writes', () => {
  const profile = toProfile({
    preset: 'us-23',
    text: { decimal_mark: '.', time_zone: 'America/New_York' },
    results: { reports: 'incremental' },
    acknowledgment: { accept_condition: 'ER', application_condition: 'NE' },
    order_content: { account_fields: ['MSH-4', 'MSH-11', 'PID-18'], constants: { 'MSH-8': 'X|Y', 'ZZZ-1': 'Z' } },
  })
  const text = writeEcho({ profile, account_number: 'A&1', control_id: 'ECHO1', now: systemNow() }).toString()
  const fields = text.split('\r')[0]!.split('|')
  assert.deepEqual(
    [fields[3], fields[7], fields[8], fields[10], fields[14], fields[15]],
    ['A\\T\\1', 'X\\F\\Y', 'NMQ^N01', 'T', 'AL', 'NE'],
  )
  assert.doesNotMatch(text, /ZZZ|PID|ORC/)
})

describe('a check of a connection', () => {
  test('fails at the first step that does not work, with what to do', async () => {
    const { account } = await linkWith({ orders: 'mllp', client: clientAt(await closedPort()) })
    const { outcomes, step, failure } = await check(account)
    assert.deepEqual(outcomes, ['profile ok', 'account ok', 'name ok', 'port failed', 'acknowledgment open'])
    assert.match(step('port').text, /ECONNREFUSED/)
    assert.match(step('port').advice!, /Nothing listens there/)
    assert.equal(failure, 'The link does not work: port.')
  })

  test('says that an address is not allowed, and that a name has no address', async () => {
    const inner = await linkWith({ orders: 'mllp', client: { ...clientAt(1), host: '10.1.2.3' } })
    assert.equal((await check(inner.account)).step('name').advice, 'Add it to WEBHOOK_ALLOW')
    const unknown = await linkWith({ orders: 'mllp', client: { ...clientAt(1), host: 'absent.invalid' } })
    assert.match((await check(unknown.account)).step('name').text, /has no address/)
  })

  test('names what is wrong with a certificate', async () => {
    const [own, expired] = [makeCertificate('laboratory'), makeExpiredCertificate()]
    const serve = async (pem: string, key: string) => {
      const server = createTlsServer({ cert: pem, key }, (socket) => socket.on('error', () => socket.destroy()))
      return listen(server.on('tlsClientError', () => undefined))
    }
    const tlsStep = async (port: number, changes: object) => {
      const { account } = await linkWith({ orders: 'mllp', client: clientAt(port, { tls: true, echo: false, ...changes }) })
      return (await check(account)).step('tls')
    }
    const [port, expiredPort] = [await serve(own.pem, own.keyPem), await serve(expired.pem, expired.keyPem)]
    assert.equal((await tlsStep(port, { authority: own.pem })).outcome, 'ok')
    const steps = [
      await tlsStep(port, {}),
      await tlsStep(port, { authority: own.pem, server_name: 'lab.example.com' }),
      await tlsStep(expiredPort, { authority: expired.pem }),
      await tlsStep(await startPeer((socket) => socket.end('no TLS')), {}),
    ]
    assert(steps.every(({ outcome }) => outcome === 'failed'))
    assert.deepEqual(
      steps.slice(0, 3).map(({ text }) => text),
      ['DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED'],
    )
    assert.deepEqual(
      steps.map(({ advice }) => /authority|server_name|new certificate|TLS 1.2/.exec(advice!)?.[0]),
      ['authority', 'server_name', 'new certificate', 'TLS 1.2'],
    )
  })

  test('says that a laboratory refuses us without a certificate', async () => {
    const { pem, keyPem } = makeCertificate('laboratory')
    const options = { cert: pem, key: keyPem, requestCert: true, rejectUnauthorized: true, ca: pem }
    const port = await listen(createTlsServer(options).on('tlsClientError', () => undefined))
    const step = await echoAt(port, { client: { tls: true, authority: pem } as never })
    assert.equal(step.outcome, 'failed')
    assert.match(step.advice!, /transport\.client\.certificate|admits this server/)
  })
})

describe('a check of folders', () => {
  test('tries all that is done there, and leaves nothing', async () => {
    const { account } = await linkWith({ orders: 'folder', results: 'folder' })
    assert.deepEqual((await check(account)).outcomes.slice(2, 5), ['login ok', 'folder ok', 'folder ok'])
    const list = (...names: string[]) => readdirSync(join(labFolder, account, ...names)).toSorted()
    assert.deepEqual(
      [list(), list('orders'), list('results'), list('results', 'done')],
      [['orders', 'results'], [], ['done'], []],
    )
  })

  test('fails for a folder that cannot be written, and counts acknowledgment files that nobody takes', async () => {
    const { account } = await linkWith({ orders: 'folder', results: 'folder', folder: { acknowledgment_files: true } })
    const place = join(labFolder, account)
    mkdirSync(join(place, 'results'), { recursive: true })
    writeFileSync(join(place, 'orders'), '')
    writeFileSync(join(place, 'results', 'one.hl7.ack'), '')
    const { steps, step, failure } = await check(account)
    assert.equal(failure, 'The link does not work: folder.')
    assert.match(steps.find(({ name }) => name === 'folder')!.text, /^orders in orders: /)
    assert.deepEqual(
      [step('acknowledgment files').outcome, step('acknowledgment files').text],
      ['open', '1 wait for the laboratory'],
    )
  })

  describe('of an SFTP server', { skip: skipWithoutSftp }, () => {
    let [sftp, readOnly]: SftpServer[] = []
    before(async () => void ([sftp, readOnly] = await Promise.all([startSftpServer(), startSftpServer({ isReadOnly: true })])))
    const options = (server: SftpServer, changes = {}) => ({
      host: '127.0.0.1',
      port: server.port,
      user: server.user,
      private_key: server.private_key,
      host_key: server.host_key,
      results: server.folder,
      ...changes,
    })

    test('logs in with the pinned key, and moves a file of its own', async () => {
      const { account } = await linkWith({ results: 'sftp', sftp: options(sftp!) })
      assert.deepEqual((await check(account)).outcomes.slice(2, 6), ['name ok', 'port ok', 'login ok', 'folder ok'])
      assert.deepEqual(readdirSync(sftp!.folder), ['done'])
    })

    test('refuses a server with another key, and says that a login or a folder is wrong', async () => {
      const wrong = async (changes: object, server = sftp!) => {
        const { account } = await linkWith({ results: 'sftp', sftp: options(server, changes) })
        const { steps } = await check(account)
        const { name, text } = steps.find(({ outcome }) => outcome === 'failed')!
        return `${name}: ${text}`
      }
      assert.match(await wrong({ host_key: 'SHA256:another' }), /^login: The SFTP server has another key/)
      assert.match(await wrong({ private_key: readOnly!.private_key }), /^login: The SFTP server refuses the login/)
      assert.match(await wrong({ results: join(sftp!.folder, 'absent') }), /^folder: .*The folder is missing/)
      assert.match(await wrong({}, readOnly), /^folder: .*cannot be used/)
    })
  })
})

test('a check says whether the laboratory can connect', async () => {
  const listener = { port: 2999, tls: true, addresses: ['192.0.2.7'] }
  const { team, account } = await linkWith({ results: 'mllp', listener })
  const state = (is_tls: boolean, reason: string | null) => ({ host: '127.0.0.1', port: 2999, is_tls, reason })
  const owner = team.team
  const seen: string[] = []
  for (const listeners of [[], [state(false, null)], [state(true, 'The port is in use')], [state(true, null)]]) {
    if (listeners.length > 0) await saveListeners(team.db.queries, owner, listeners)
    const { outcome, text } = (await check(account)).step('listener')
    seen.push(`${outcome}: ${text}`)
  }
  assert.deepEqual(seen, [
    'failed: port 2999: no process of the server has it',
    'failed: port 2999: it has no TLS',
    'failed: port 2999: The port is in use',
    'ok: port 2999 is open with TLS at 1 process of the server',
  ])
})

test('a check ends in time, and says so', async () => {
  const { team, account } = await linkWith({ orders: 'mllp', client: clientAt(await startPeer(() => undefined)) })
  const link = (await findLink(team.db.queries, account))!
  const facts = await team.db.plainTx((tx) => startCheck(tx, link))
  const network = { targets: new TargetPolicy({ loopback: true }), isSandbox: true, lab_folder: undefined }
  const steps: CheckStep[] = []
  for await (const step of checkLink(link, facts, network, 300)) steps.push(step)
  assert.deepEqual(
    steps.map(({ name, outcome }) => `${name} ${outcome}`),
    ['profile ok', 'account ok', 'name ok', 'port ok', 'time failed', 'acknowledgment open'],
  )
  assert.equal(steps[4]!.text, 'the check was ended after 0.3 s')
})

test('a link is checked by one at a time, and after one that was killed again', async () => {
  const { team, account } = await linkWith({})
  assert.equal((await check(account)).failure, 'The link does not work: profile.')
  const { pool } = team.db
  const start = (time: string) =>
    pool.query(`insert into lab_link_claim (account_id, purpose, expires_at) values ($1, 'check', ${time})`, [account])
  await start(`now() + interval '1 minute'`)
  await assert.rejects(check(account), /A check or a trial of the link is running/)
  await pool.query(`update lab_link_claim set expires_at = now() - interval '1 second' where account_id = $1`, [account])
  await check(account)
  assert.equal((await pool.query('select from lab_link_claim where account_id = $1', [account])).rowCount, 0)
})

test('a check that was stopped until its claim was over does not end the claim of the next one', async () => {
  const { team, account } = await linkWith({})
  const { pool, queries } = team.db
  const claim = (seconds: number) => claimLink(queries, account, 'check', seconds)
  const first = await claim(0)
  const second = await claim(60)
  assert.equal(await endClaim(queries, first), 0)
  await assert.rejects(claim(60), { status: 409 })
  assert.equal(await endClaim(queries, second), 1)
  assert.equal((await pool.query('select from lab_link_claim where account_id = $1', [account])).rowCount, 0)
})

test('a check looks at the newest 1,000 messages in each direction, and says so', async () => {
  const { team, account } = await linkWith({
    orders: 'mllp',
    client: clientAt(await closedPort()),
    results: 'mllp',
    listener: { tls: false, addresses: ['127.0.0.1'] },
  })
  const write = (direction: 'in' | 'out', count: number, first: number) =>
    team.db.pool.query(
      `insert into lab_message (id, team_id, link_account_id, direction, digest, bytes, control_id, state, order_id, answered_at, created_at, updated_at)
       select gen_random_uuid(), $1, $2, $3, 'fictional-' || $3 || n, '', $3 || n, case when $3 = 'in' then 'applied' else 'accepted' end,
              gen_random_uuid(), case when n % 2 = 0 then now() end, timestamptz '2000-01-01' + make_interval(secs => n)
                + (date_trunc('day', now()) - timestamptz '2000-01-01'), now()
       from generate_series($4::int, $5::int) n`,
      [team.team, account, direction, first, first + count - 1],
    )
  await write('out', 2, 1)
  await write('in', 999, 1)
  const [few, many] = [await check(account), (await write('out', 999, 3), await write('in', 2, 1000), await check(account))]
  assert.match(
    few.step('acknowledgment').text,
    /has answered 1 of 2 messages in 30 days, since \S+T00:00:01\S*, the last at \S+; 1 wait$/,
  )
  assert.match(few.step('results').text, /^999 messages in 30 days, since \S+T00:00:01\S*, the last at \S+T00:16:39\S*, received/)
  assert.match(
    many.step('acknowledgment').text,
    /has answered 500 of the newest 1,000 messages, since \S+T00:00:02\S*, .*; 500 wait$/,
  )
  assert.match(
    many.step('results').text,
    /^the newest 1,000 messages, since \S+T00:00:02\S*, the last at \S+T00:16:41\S*, received/,
  )
  // Of many messages only the newest are read.
  await write('out', 20_000, 2000)
  await write('in', 20_000, 2000)
  await asOwner(`analyze ${team.db.schema}.lab_message`)
  const statements = await statementsOf((queries) => readTraffic(queries, account))
  const reads = await Promise.all(statements.map((statement) => messageReads(team.db, statement)))
  assert.deepEqual(reads, [['lab_message__sent'], ['lab_message__received']])
})
