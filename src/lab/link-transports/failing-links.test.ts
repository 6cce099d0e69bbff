// Links that only receive: what keeps a laboratory from sending its results makes the link fail, and is reported once, as is its end.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { makeCertificate } from '../../../test/support/certificates.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { freePort } from '../../../test/support/free-ports.ts'
import { labLink } from '../../../test/support/link-messages.ts'
import { startLinkRunner } from '../../../test/support/link-runner.ts'
import { cells, createTestTeam, guard, metrics } from '../../../test/support/server.ts'
import { skipWithoutSftp, startSftpServer } from '../../../test/support/sftp-server.ts'
import { createLog } from '../../platform/telemetry/log.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { findLink } from '../accounts/account-links.ts'
import type { ProfileOptions } from '../links/profile/link-profile.ts'
import { listIssues } from '../link-messages/issues.ts'
import { LinkAlerts } from '../link-messages/link-alerts.ts'
import { ActiveLinks } from './active-links.ts'
import { LinkTroubles } from './link-troubles.ts'
import { Listeners, type ListenersOptions } from './listeners.ts'
import { MessageReceiver } from './message-receiver.ts'

const log = createLog('silent')
const lab_folder = join(tmpdir(), `drop-${randomUUID()}`)
before(() => void startLinkRunner({ settings: { lab_folder }, watchTimes: { poll_ms: 50, missing_ms: 300 } }))

/** A process that listens for laboratories. */
function listen(address: string, changes: Partial<ListenersOptions> = {}): Listeners {
  const links = new ActiveLinks(cells)
  const { settings, ...others } = changes
  const listeners = new Listeners({
    cells,
    settings: {
      lab_listen: [address],
      lab_tls_certificate: undefined,
      lab_tls_key: undefined,
      lab_tls_authorities: undefined,
      ...settings,
    },
    links,
    receiver: new MessageReceiver(links, guard.tenant),
    troubles: new LinkTroubles(log, metrics),
    log,
    beat_ms: 100,
    ...others,
  })
  listeners.start()
  after(() => listeners.stop())
  return listeners
}

const Subject = T.Object({ subject: T.String() })

/** A link over which no orders go. */
async function receivingLink(transport: NonNullable<ProfileOptions['transport']>) {
  const team = await createTestTeam()
  const account = await labLink(team, { transport: { orders: 'none', ...transport } })
  const link = async () => (await findLink(team.db.queries, account))!
  return {
    /** Waits until the link has failed and that was reported. @returns the reason */
    waitForFailure: async (reason: RegExp) => {
      await eventually(async () => reason.test((await link()).state_reason ?? ''), `the link fails: ${reason}`)
      assert.equal((await link()).state, 'failing')
    },
    waitForEnd: () => eventually(async () => (await link()).state === 'ok', 'the link works'),
    /** What is reported after a minute: the subjects of mails, and the states of issues. */
    report: async () => {
      await team.db.queries.run(sql`update lab_link set state_at = state_at - interval '2 minutes' where account_id = ${account}`)
      const alerts = new LinkAlerts({ cells, log, settings: { lab_alert_email: 'operator@example.com' } })
      for (let i = 0; i < 2; i++) await alerts.runOnce('sandbox-us')
      const mails = await team.db.queries.many(
        Subject,
        sql`select subject from mail where body like ${`%${account}%`} order by id`,
      )
      const issues = (await listIssues(team.db.queries, { account_id: account })).data
      return [...mails.map(({ subject }) => subject), ...issues.map(({ reason, state }) => `${reason} ${state}`)]
    },
  }
}

const FAILS = 'The link to quest fails'
const WORKS = 'The link to quest works again'
const mllp = (port: number, tls = false) =>
  ({ results: 'mllp', listener: { port, tls, addresses: ['127.0.0.1'] } }) satisfies ProfileOptions['transport']

describe('a link that only receives fails, and is reported once,', () => {
  test('while the port of its laboratory is taken', async () => {
    const port = await freePort()
    const occupant: Server = createServer().listen(port, '127.0.0.1')
    await once(occupant, 'listening')
    listen(`127.0.0.1:${port}`)
    const { waitForFailure, waitForEnd, report } = await receivingLink(mllp(port))
    await waitForFailure(/^Port \d+ for laboratories cannot be opened \(EADDRINUSE\)$/)
    assert.deepEqual(await report(), [FAILS, 'link_down open'])
    await new Promise((resolve) => occupant.close(resolve))
    await waitForEnd()
    assert.deepEqual(await report(), [FAILS, WORKS, 'link_down done'])
  })

  test('while no server listens on its port, or none with TLS', async () => {
    const port = await freePort()
    const { waitForFailure, waitForEnd, report } = await receivingLink(mllp(port))
    await waitForFailure(/^No server listens on port \d+: LAB_LISTEN$/)
    assert.deepEqual(await report(), [FAILS, 'link_down open'])
    const listeners = listen(`127.0.0.1:${port}`)
    await waitForEnd()
    const secure = await receivingLink(mllp(port, true))
    await secure.waitForFailure(/^LAB_LISTEN has port \d+ without TLS$/)
    await listeners.stop()
    await waitForFailure(/^No server listens/)
  })

  test('while the certificate has expired', async () => {
    const port = await freePort()
    const { certificate, key } = makeCertificate('server')
    let days = 3
    const settings = {
      lab_listen: [`tls://127.0.0.1:${port}`],
      lab_tls_certificate: certificate,
      lab_tls_key: key,
      lab_tls_authorities: undefined,
    }
    listen('', { settings, now: () => new Date(Date.now() + days * 86_400_000) })
    const { waitForFailure, waitForEnd, report } = await receivingLink(mllp(port, true))
    await waitForFailure(/^The certificate in LAB_TLS_CERTIFICATE has expired$/)
    days = -1
    await waitForFailure(/^The certificate in LAB_TLS_CERTIFICATE is not valid yet$/)
    assert.deepEqual(await report(), [FAILS, 'link_down open'])
    days = 0
    await waitForEnd()
  })

  test('but not while one of several processes has its port', async () => {
    const port = await freePort()
    listen(`127.0.0.1:${port}`)
    listen(`127.0.0.1:${port}`)
    const { waitForEnd, report } = await receivingLink(mllp(port))
    const other = await receivingLink(mllp(await freePort()))
    await other.waitForFailure(/^No server listens/)
    await waitForEnd()
    assert.deepEqual(await report(), [])
  })

  test('while its folder cannot be read', async () => {
    const { waitForFailure, waitForEnd, report } = await receivingLink({
      results: 'folder',
      folder: { stable_s: 0, poll_s: 1 },
    })
    assert(!existsSync(lab_folder))
    await waitForFailure(/^LAB_FOLDER is missing$/)
    assert.deepEqual(await report(), [FAILS, 'link_down open'])
    mkdirSync(lab_folder)
    await waitForEnd()
    assert.deepEqual(await report(), [FAILS, WORKS, 'link_down done'])
  })

  test('while an SFTP server refuses its login', { skip: skipWithoutSftp }, async () => {
    const { port, user, host_key, folder } = await startSftpServer()
    const { waitForFailure, report } = await receivingLink({
      results: 'sftp',
      sftp: { host: '127.0.0.1', port, user, password: 'wrong', host_key, results: folder, poll_s: 5 },
    })
    await waitForFailure(/^The SFTP server refuses the login$/)
    assert.deepEqual(await report(), [FAILS, 'link_down open'])
  })
})
