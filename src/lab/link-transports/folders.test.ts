// Folders of laboratories, on this server and on an SFTP server of OpenSSH: the same rules for both.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { labLink } from '../../../test/support/link-messages.ts'
import { linkedTeam, queuedMessages } from '../../../test/support/link-orders.ts'
import { localTargets, startLinkRunner } from '../../../test/support/link-runner.ts'
import { createOrder } from '../../../test/support/orders.ts'
import { smallDisk } from '../../../test/support/faults/small-disk.ts'
import { skipWithoutSftp, startSftpServer, type SftpServer } from '../../../test/support/sftp-server.ts'
import { cells, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { findLink } from '../accounts/account-links.ts'
import { listIssues } from '../link-messages/issues.ts'
import type { ProfileOptions } from '../links/profile/link-profile.ts'
import { ActiveLinks } from './active-links.ts'
import { FolderError, matchesPattern, type FileStore } from './file-store.ts'
import { FolderReader, type FolderReaderOptions } from './folder-reader.ts'
import { writeMessageFile } from './folder-writer.ts'
import { LocalFolder } from './local-folder.ts'
import { MessageReceiver } from './message-receiver.ts'
import { connectTo } from './secure-connect.ts'
import { SftpStore } from './sftp-store.ts'

const result = (id: string) =>
  `MSH|^~\\&|LIS|LAB|||20300104101500||ORU^R01|${id}|P|2.5.1\rPID|1||P-1||Fictional^Testa\rOBR|1|PLACER-1|F-1|100^Glucose\r`

/** A place for files, as a link sees it and as a laboratory does. */
interface Place {
  open: () => Promise<FileStore>
  /** How the link names the folder. */
  folder: string
  /** Where it is on this machine. */
  path: string
}

async function localPlace(): Promise<Place> {
  const root = mkdtempSync(join(tmpdir(), 'drop-'))
  const name = randomUUID()
  const store = await LocalFolder.open(root, name)
  await store.createFolder('results')
  return { open: () => LocalFolder.open(root, name), folder: 'results', path: join(root, name, 'results') }
}

let sftp: SftpServer
const sftpOptions = () => {
  const { port, user, private_key, host_key } = sftp
  return { host: '127.0.0.1', port, user, private_key, host_key }
}
const openSftp = (changes: Partial<Parameters<typeof SftpStore.open>[0]> = {}) =>
  SftpStore.open(
    { ...({ password: '', passphrase: '' } as Parameters<typeof SftpStore.open>[0]), ...sftpOptions(), ...changes },
    () => connectTo({ host: '127.0.0.1', port: sftp.port, tls: undefined }, localTargets, false),
  )

async function sftpPlace(): Promise<Place> {
  const path = join(sftp.folder, randomUUID())
  mkdirSync(path)
  return { open: () => openSftp(), folder: path, path }
}

/** A link that reads a place by hand. */
async function linkWithReader(place: Place, changes: Partial<FolderReaderOptions> = {}) {
  const team = await createTestTeam()
  const account = await labLink(team)
  const links = new ActiveLinks(cells)
  const [link] = await links.find(({ account_id }) => account_id === account)
  const receiver = new MessageReceiver(links, guard.tenant)
  const clock = { now_ms: 0 }
  const reader = new FolderReader({
    folder: place.folder,
    pattern: '*',
    stable_ms: 5000,
    endsWithTerminator: true,
    bytes_max: 33_554_432,
    writesAcknowledgments: true,
    receive: async (bytes) => {
      const { fault, answers } = await receiver.receiveFromLink(link!, bytes, `folder ${place.folder}`)
      return { fault, acknowledgment: answers.at(-1) }
    },
    now_ms: () => clock.now_ms,
    ...changes,
  })
  const store = await place.open()
  return {
    team,
    account,
    store,
    /** Looks into the folder after a time. @returns how many files were taken, wait, and are faulty */
    look: (after_ms = 0) => {
      clock.now_ms += after_ms
      return reader
        .look(store, () => false)
        .then(({ taken_count, waiting_count, faulty_count, failure }) => {
          if (failure) throw failure
          return [taken_count, waiting_count, faulty_count]
        })
    },
    stored: () => storedBytes(team, account),
  }
}

const storedBytes = async ({ db }: TestTeam, account: string) => {
  const rows = await db.queries.many(
    T.Object({ bytes: T.Unsafe<Buffer>({}) }),
    sql`select bytes from lab_message where link_account_id = ${account} and direction = 'in' order by created_at, id`,
  )
  return rows.map(({ bytes }) => bytes.toString())
}

/** A place of which some work differs. */
const storeWith = (store: FileStore, changes: Partial<FileStore>): FileStore => ({
  list: (folder) => store.list(folder),
  read: (path, bytes_max) => store.read(path, bytes_max),
  stat: (path) => store.stat(path),
  write: (path, bytes) => store.write(path, bytes),
  rename: (path, newPath) => store.rename(path, newPath),
  remove: (path) => store.remove(path),
  createFolder: (folder) => store.createFolder(folder),
  close: () => store.close(),
  ...changes,
})

const filesIn = (path: string): string[] => (existsSync(path) ? readdirSync(path).sort() : [])

for (const [name, makePlace, skip] of [
  ['a folder of this server', localPlace, false],
  ['a folder of an SFTP server', sftpPlace, skipWithoutSftp],
] as const)
  describe(name, { skip }, () => {
    before(async () => {
      if (makePlace === sftpPlace) sftp ??= await startSftpServer()
    })

    test('has files that are taken once they have not changed for the time of the profile, and then are in done', async () => {
      const place = await makePlace()
      const { look, stored, store } = await linkWithReader(place)
      writeFileSync(join(place.path, 'b.hl7.tmp'), result('C-1'))
      renameSync(join(place.path, 'b.hl7.tmp'), join(place.path, 'b.hl7'))
      assert.deepEqual(await look(), [0, 1, 0])
      assert.deepEqual(await look(4000), [0, 1, 0])
      assert.deepEqual(await look(1000), [1, 0, 0])
      assert.deepEqual(await stored(), [result('C-1')])
      assert.deepEqual(filesIn(place.path), ['b.hl7.ack', 'done', 'error'])
      assert.deepEqual([filesIn(join(place.path, 'done')), filesIn(join(place.path, 'error'))], [['b.hl7'], []])
      assert.match(readFileSync(join(place.path, 'b.hl7.ack'), 'utf8'), /\rMSA\|AA\|C-1\r/)
      assert.equal(readFileSync(join(place.path, 'done/b.hl7'), 'utf8'), result('C-1'))
      await store.close()
    })

    test('has files that grow, which are taken when they are whole', async () => {
      const place = await makePlace()
      const { look, stored, store } = await linkWithReader(place)
      const lines = result('C-1').split('\r').slice(0, -1)
      for (let i = 1; i <= lines.length; i++) {
        writeFileSync(
          join(place.path, 'slow.hl7'),
          lines
            .slice(0, i)
            .map((line) => `${line}\r`)
            .join('')
            .slice(0, i < lines.length ? -3 : undefined),
        )
        assert.deepEqual(await look(4000), [0, 1, 0])
      }
      assert.deepEqual(await look(5000), [1, 0, 0])
      assert.deepEqual(await stored(), [result('C-1')])
      await store.close()
    })

    test('has files that end within a line, which are not taken, and are in error after a minute', async () => {
      const place = await makePlace()
      const { look, stored, store } = await linkWithReader(place)
      writeFileSync(join(place.path, 'cut.hl7'), result('C-1').slice(0, -1))
      writeFileSync(join(place.path, 'empty.hl7'), '')
      await look()
      assert.deepEqual(await look(59_000), [0, 2, 0])
      assert.deepEqual(await look(1000), [0, 0, 2])
      assert.deepEqual(await stored(), [])
      assert.deepEqual(filesIn(join(place.path, 'error')), ['cut.hl7', 'cut.hl7.reason', 'empty.hl7', 'empty.hl7.reason'])
      assert.equal(
        readFileSync(join(place.path, 'error/cut.hl7.reason'), 'utf8'),
        'The file does not end with CR or LF: it is not complete\n',
      )
      assert.equal(readFileSync(join(place.path, 'error/empty.hl7.reason'), 'utf8'), 'The file is empty\n')
      await store.close()
    })

    test('has files that end within a line, which are taken if the profile says that its files do', async () => {
      const place = await makePlace()
      const { look, store, stored } = await linkWithReader(place, { endsWithTerminator: false, stable_ms: 0 })
      writeFileSync(join(place.path, 'cut.hl7'), result('C-1').slice(0, -1))
      assert.deepEqual(await look(), [1, 0, 0])
      assert.equal((await stored()).length, 1)
      await store.close()
    })

    test('has files that cannot be read, which are stored, and are in error with the reason', async () => {
      const place = await makePlace()
      const { look, stored, store } = await linkWithReader(place, { stable_ms: 0 })
      writeFileSync(join(place.path, 'noise.hl7'), 'this is no message\n')
      writeFileSync(join(place.path, 'good.hl7'), result('C-1'))
      assert.deepEqual(await look(), [1, 0, 1])
      assert.equal((await stored()).length, 2)
      assert.equal(readFileSync(join(place.path, 'error/noise.hl7.reason'), 'utf8'), 'The message cannot be read\n')
      await store.close()
    })

    test('has files that are not for the link', async () => {
      const place = await makePlace()
      const { look, store, stored } = await linkWithReader(place, { stable_ms: 0, pattern: 'RES*.hl7' })
      for (const file of ['.RES1.hl7', 'RES1.hl7.tmp', 'RES1.hl7.part', 'OTHER.hl7', 'RES1.txt', 'RES1.hl7.ack'])
        writeFileSync(join(place.path, file), result('C-1'))
      mkdirSync(join(place.path, 'RES-folder.hl7'))
      const secret = join(tmpdir(), `secret-${randomUUID()}`)
      writeFileSync(secret, result('C-2'))
      symlinkSync(secret, join(place.path, 'RES-link.hl7'))
      assert.deepEqual(await look(), [0, 0, 0])
      assert.deepEqual(await stored(), [])
      await store.close()
    })

    test('has files with names that were used before', async () => {
      const place = await makePlace()
      const { look, stored, store } = await linkWithReader(place, { stable_ms: 0 })
      for (const id of ['C-1', 'C-2', 'C-3']) {
        writeFileSync(join(place.path, 'results.hl7'), result(id))
        await look()
      }
      assert.deepEqual(await stored(), ['C-1', 'C-2', 'C-3'].map(result))
      const done = filesIn(join(place.path, 'done'))
      assert.equal(done.length, 3)
      assert.deepEqual(
        done.map((file) => readFileSync(join(place.path, 'done', file), 'utf8')).sort(),
        ['C-1', 'C-2', 'C-3'].map(result),
      )
      await store.close()
    })

    test('has a file that is stored once, even if it could not be moved afterwards', async () => {
      const place = await makePlace()
      const { look, stored, store } = await linkWithReader(place, { stable_ms: 0 })
      writeFileSync(join(place.path, 'a.hl7'), result('C-1'))
      let isBroken = true
      const failing = storeWith(store, {
        rename: (path, newPath) =>
          isBroken && newPath.includes('/done/') ? Promise.reject(new FolderError('full')) : store.rename(path, newPath),
      })
      const reader = await linkWithReader({ ...place, open: () => Promise.resolve(failing) }, { stable_ms: 0 })
      await assert.rejects(reader.look(), { name: 'FolderError' })
      assert.deepEqual(await reader.stored(), [result('C-1')])
      assert.deepEqual(filesIn(join(place.path, 'done')), [])
      isBroken = false
      await reader.look()
      assert.deepEqual(await reader.stored(), [result('C-1')])
      assert.deepEqual(filesIn(join(place.path, 'done')), ['a.hl7'])
      assert.deepEqual(await stored(), [])
      assert.deepEqual(await look(), [0, 0, 0])
      await store.close()
    })

    test('has a file that may not be read, which stays and does not stop the others, and one that is gone, which is no failure', async () => {
      const place = await makePlace()
      const store = await place.open()
      for (const id of ['1', '2', '3', '4']) writeFileSync(join(place.path, `${id}.hl7`), result(`C-${id}`))
      const locked = storeWith(store, {
        read: (path, bytes_max) => {
          if (path.endsWith('/1.hl7')) return Promise.reject(new FolderError('The file may not be read'))
          if (path.endsWith('/2.hl7')) rmSync(join(place.path, '2.hl7'), { force: true })
          return store.read(path, bytes_max)
        },
      })
      const reader = await linkWithReader({ ...place, open: () => Promise.resolve(locked) }, { stable_ms: 0 })
      await assert.rejects(reader.look(), /The file may not be read/)
      assert.deepEqual((await reader.stored()).sort(), ['C-3', 'C-4'].map(result))
      assert.deepEqual(filesIn(join(place.path, 'done')), ['3.hl7', '4.hl7'])
      await store.close()
    })

    test('has many files that may not be read before one that may, which is taken with the next look', async () => {
      const place = await makePlace()
      const store = await place.open()
      for (let i = 0; i < 6; i++) writeFileSync(join(place.path, `a${i}.hl7`), result(`C-${i}`))
      writeFileSync(join(place.path, 'z.hl7'), result('C-Z'))
      const locked = storeWith(store, {
        read: (path, bytes_max) =>
          path.endsWith('/z.hl7') ? store.read(path, bytes_max) : Promise.reject(new FolderError('The file may not be read')),
      })
      const reader = await linkWithReader({ ...place, open: () => Promise.resolve(locked) }, { stable_ms: 0 })
      for (let i = 0; i < 3; i++) await assert.rejects(reader.look(), /The file may not be read/)
      assert.deepEqual(await reader.stored(), [result('C-Z')])
      await store.close()
    })

    test('has files that are too large or have a name that is too long, which are in error with the reason', async () => {
      const place = await makePlace()
      const reasons: string[] = []
      const { look, stored, store } = await linkWithReader(place, {
        stable_ms: 0,
        bytes_max: 1000,
        onIncomplete: (reason) => void reasons.push(reason),
      })
      writeFileSync(join(place.path, 'large.hl7'), result('C-1').padEnd(1001, '\r'))
      writeFileSync(join(place.path, `${'l'.repeat(250)}.hl7`), result('C-2'))
      writeFileSync(join(place.path, 'good.hl7'), result('C-3'))
      assert.deepEqual(await look(), [1, 0, 2])
      assert.deepEqual(await look(), [0, 0, 0])
      assert.deepEqual(await stored(), [result('C-3')])
      const texts = filesIn(join(place.path, 'error')).flatMap((file) =>
        file.endsWith('.reason') ? [readFileSync(join(place.path, 'error', file), 'utf8').trim()] : [],
      )
      assert.equal(filesIn(join(place.path, 'error')).length, 4)
      assert.deepEqual(texts.sort(), ['The file has more than 1000 bytes', 'The name of the file has more than 200 bytes'])
      assert.deepEqual(reasons.sort(), texts)
      await store.close()
    })

    test('has a file that stays when it cannot be stored', async () => {
      const place = await makePlace()
      const { look, store } = await linkWithReader(place, {
        stable_ms: 0,
        receive: () => Promise.reject(new Error('no database')),
      })
      writeFileSync(join(place.path, 'a.hl7'), result('C-1'))
      await assert.rejects(look(), /no database/)
      assert.deepEqual(filesIn(place.path), ['a.hl7', 'done', 'error'])
      await store.close()
    })

    test('gets whole files alone, each once', async () => {
      const place = await makePlace()
      const store = await place.open()
      const write = (control_id: string) =>
        writeMessageFile(store, place.folder, { control_id, bytes: Buffer.from(result(control_id)) })
      await write('C-1')
      const written = filesIn(place.path)
      await write('C-1')
      assert.deepEqual([written, filesIn(place.path)], [['C-1.hl7'], ['C-1.hl7']])
      assert.equal(readFileSync(join(place.path, 'C-1.hl7'), 'utf8'), result('C-1'))
      // What a process leaves that was killed while it wrote.
      writeFileSync(join(place.path, 'C-2.hl7.tmp'), 'half')
      await write('C-2')
      assert.deepEqual(filesIn(place.path), ['C-1.hl7', 'C-2.hl7'])
      await store.close()
    })

    test('that is missing is reported', async () => {
      const place = await makePlace()
      const { look, store } = await linkWithReader(place)
      rmSync(place.path, { recursive: true })
      await assert.rejects(
        look(),
        (error: Error) => error instanceof FolderError && error.message.startsWith('The folder is missing'),
      )
      const message = { control_id: 'C-1', bytes: Buffer.from('x') }
      await assert.rejects(writeMessageFile(store, place.folder, message), FolderError)
      await store.close()
    })
  })

describe('a folder of this server', () => {
  test('is never outside of the folder of the link', async () => {
    const root = mkdtempSync(join(tmpdir(), 'drop-'))
    const outside = mkdtempSync(join(tmpdir(), 'outside-'))
    const name = randomUUID()
    const store = await LocalFolder.open(root, name)
    mkdirSync(join(root, 'other-link/results'), { recursive: true })
    symlinkSync(outside, join(root, name, 'link'))
    symlinkSync(join(root, 'other-link/results'), join(root, name, 'link-to-other'))
    for (const folder of [
      '..',
      '../other-link/results',
      '/etc',
      'a/../..',
      '',
      '.',
      'link',
      'link-to-other',
      'a\0b',
      'x'.repeat(2000),
    ]) {
      await assert.rejects(store.list(folder), FolderError, folder)
      await assert.rejects(store.write(`${folder}/x`, Buffer.from('x')), FolderError, folder)
      await assert.rejects(store.createFolder(folder === 'x'.repeat(2000) ? folder : `${folder}`), FolderError, folder)
    }
    assert.deepEqual([readdirSync(outside), readdirSync(join(root, 'other-link/results'))], [[], []])
    symlinkSync(outside, join(root, 'account'))
    await assert.rejects(LocalFolder.open(root, 'account'), FolderError)
    await assert.rejects(LocalFolder.open(undefined, name), /LAB_FOLDER is not set/)
    await assert.rejects(LocalFolder.open(join(root, 'missing'), name), /LAB_FOLDER is missing/)
  })

  test('carries orders and results of a link, and its state', async () => {
    const lab_folder = mkdtempSync(join(tmpdir(), 'drop-'))
    const runner = startLinkRunner({ settings: { lab_folder } })
    const options: ProfileOptions = { transport: { orders: 'folder', results: 'folder', folder: { stable_s: 0, poll_s: 1 } } }
    const { team, account } = await linkedTeam({ options })
    const link = async () => (await findLink(team.db.queries, account))!
    const path = join(lab_folder, account)
    await createOrder(team, { lab_test_id: await team.test('walk_in_test'), lab_account_id: account })
    await team.settle()
    const states = async () => (await queuedMessages(team, account)).map(({ state }) => state)
    await eventually(async () => (await states())[0] === 'committed', 'the order is written')
    const [message] = await queuedMessages(team, account)
    const file = join(path, 'orders', `${message!.control_id}.hl7`)
    assert.deepEqual(readFileSync(file), message!.bytes)
    writeFileSync(
      join(path, 'results/answer.hl7'),
      `MSH|^~\\&|LIS|LAB|||20300102||ACK|A-1|P|2.5.1\rMSA|AA|${message!.control_id}\r`,
    )
    await eventually(async () => (await states())[0] === 'accepted', 'the answer is read')
    assert.equal((await link()).state, 'ok')
    rmSync(join(path, 'results'), { recursive: true })
    writeFileSync(join(path, 'results'), 'a file is in the way')
    await eventually(async () => (await link()).state === 'failing', 'the link fails')
    assert.match((await link()).state_reason!, /^The folder /)
    rmSync(join(path, 'results'))
    await eventually(async () => (await link()).state === 'ok', 'the link works again')
    await runner.stop()
  })
})

describe('the folders of a link', () => {
  const options = (transport: ProfileOptions['transport']): ProfileOptions => ({
    transport: { ...transport, folder: { stable_s: 0, poll_s: 1 } },
  })

  test('with a file of more than 32 MiB have it in error with the reason, and list an issue once; other files are taken', async () => {
    const lab_folder = mkdtempSync(join(tmpdir(), 'drop-'))
    const runner = startLinkRunner({ settings: { lab_folder } })
    const { team, account } = await linkedTeam({ options: options({ orders: 'none', results: 'folder' }) })
    const path = join(lab_folder, account, 'results')
    await eventually(() => existsSync(path), 'the folder exists')
    writeFileSync(join(path, 'large.hl7.tmp'), result('C-1'))
    truncateSync(join(path, 'large.hl7.tmp'), 33_554_433)
    renameSync(join(path, 'large.hl7.tmp'), join(path, 'large.hl7'))
    writeFileSync(join(path, 'good.hl7'), result('C-2'))
    await eventually(async () => (await storedBytes(team, account)).length === 1, 'the other file is stored')
    const issues = async () => (await listIssues(team.db.queries, { account_id: account })).data
    await eventually(async () => (await issues()).length === 1, 'the issue is listed')
    writeFileSync(join(path, 'good.hl7'), result('C-3'))
    await eventually(async () => (await storedBytes(team, account)).length === 2, 'the folder was looked at again')
    assert.deepEqual(
      (await issues()).map(({ reason, source, detail, count }) => [reason, source, detail, count]),
      [['unreadable', 'folder results', 'The file has more than 33554432 bytes', 1]],
    )
    assert.deepEqual(filesIn(join(path, 'error')), ['large.hl7', 'large.hl7.reason'])
    await runner.stop()
  })

  test('on a full disk lose no order and no result, and go on when there is room', async (t) => {
    const disk = smallDisk('drop', 4)
    if (typeof disk === 'string') {
      assert.notEqual(process.env.CI_FULL_DISK, 'required', disk)
      return t.skip(disk)
    }
    const runner = startLinkRunner({ settings: { lab_folder: disk.folder } })
    const { team, account } = await linkedTeam({
      options: {
        transport: { orders: 'folder', results: 'folder', folder: { stable_s: 0, poll_s: 1, acknowledgment_files: true } },
      },
    })
    const path = join(disk.folder, account)
    await eventually(() => existsSync(join(path, 'results')), 'the folders exist')
    writeFileSync(join(path, 'results/a.hl7.tmp'), result('C-1'))
    mkdirSync(join(path, 'results/done'))
    disk.fill()
    renameSync(join(path, 'results/a.hl7.tmp'), join(path, 'results/a.hl7'))
    const { id } = await createOrder(team, { lab_test_id: await team.test('walk_in_test'), lab_account_id: account })
    await team.settle()
    const link = async () => (await findLink(team.db.queries, account))!
    const state = async () => (await queuedMessages(team, account))[0]?.state
    await eventually(async () => (await link()).state_reason?.includes('full disk') === true, 'the link fails')
    assert.equal(await state(), 'queued', 'an order that was not written was not sent')
    assert.deepEqual(filesIn(join(path, 'orders')), [])
    assert.deepEqual([existsSync(join(path, 'results/a.hl7')), filesIn(join(path, 'results/done'))], [true, []])
    disk.clear()
    await eventually(async () => (await state()) === 'committed', 'the order is written')
    const [message] = await queuedMessages(team, account)
    assert.equal(message!.order_id, id)
    assert.deepEqual(readFileSync(join(path, 'orders', `${message!.control_id}.hl7`)), message!.bytes)
    await eventually(() => filesIn(join(path, 'results/done')).length === 1, 'the result is taken')
    assert.deepEqual(await storedBytes(team, account), [result('C-1')])
    assert.match(readFileSync(join(path, 'results/a.hl7.ack'), 'utf8'), /\rMSA\|AA\|C-1\r/)
    await eventually(async () => (await link()).state === 'ok', 'the link works again')
    await runner.stop()
  })
})

describe('an SFTP server', { skip: skipWithoutSftp }, () => {
  before(async () => void (sftp ??= await startSftpServer()))

  test('is not used without the fingerprint of its key, with another key, or without a login', async () => {
    const { host_key } = sftp
    await assert.rejects(openSftp({ host_key: '' }), /The fingerprint of the key of the SFTP server is not set/)
    await assert.rejects(
      openSftp({ host_key: `SHA256:${'A'.repeat(43)}` }),
      new RegExp(`has another key: ${host_key.replaceAll(/[+/]/g, '.')}`),
    )
    await assert.rejects(openSftp({ private_key: '', password: 'wrong' }), /The SFTP server refuses the login/)
    await assert.rejects(openSftp({ user: 'nobody-of-that-name' }), /The SFTP server refuses the login/)
  })

  test('carries orders and results of a link, and is waited for', async () => {
    const runner = startLinkRunner()
    const [orders, results] = [await sftpPlace(), await sftpPlace()]
    const options: ProfileOptions = {
      transport: {
        orders: 'sftp',
        results: 'sftp',
        sftp: { ...sftpOptions(), orders: orders.folder, results: results.folder, stable_s: 0, poll_s: 5 },
      },
    }
    writeFileSync(join(results.path, 'a.hl7'), result('C-1'))
    await sftp.stop()
    const { team, account } = await linkedTeam({ options })
    const link = async () => (await findLink(team.db.queries, account))!
    await eventually(async () => (await link()).state === 'failing', 'the link fails')
    assert.equal((await link()).state_reason, 'The SFTP server cannot be reached')
    await sftp.start()
    await eventually(async () => (await storedBytes(team, account)).length === 1, 'the result is read')
    await createOrder(team, { lab_test_id: await team.test('walk_in_test'), lab_account_id: account })
    await team.settle()
    const [message] = await queuedMessages(team, account)
    // It is renamed when it is whole.
    await eventually(() => filesIn(orders.path).join() === `${message!.control_id}.hl7`, 'the order is written')
    assert.deepEqual(readFileSync(join(orders.path, `${message!.control_id}.hl7`)), message!.bytes)
    await eventually(async () => (await link()).state === 'ok', 'the link works again')
    await runner.stop()
  })
})

describe('the name of a file', () => {
  test('is the control id, or has a digest where that is no name', async () => {
    const { open, folder, path } = await localPlace()
    const store = await open()
    const ids = ['../../etc/passwd', '..\\..\\etc', 'a/b', 'a:b', '.', '..', '', 'x'.repeat(300), 'ä']
    for (const id of [...ids, 'C-1']) await writeMessageFile(store, folder, { control_id: id, bytes: Buffer.from(id) })
    const files = filesIn(path)
    assert.equal(files.length, ids.length + 1)
    for (const file of files) assert.match(file, /^(?:C-1|[\w-]{0,60}-[0-9a-f]{16})\.hl7$/)
  })

  test('fits a pattern whose only special character is the star', () => {
    const cases: [string, string, boolean][] = [
      ['*', 'any.hl7', true],
      ['*.hl7', 'a.hl7', true],
      ['*.hl7', 'ahl7', false],
      ['RES*.HL?', 'RES1.HL7', false],
      ['a*b*c', 'a-b-c', true],
      ['a*b*c', 'a-c-b', false],
      ['a*a', 'a', false],
      ['a', 'a', true],
      ['**', '', true],
      ['*ab*b', 'ab', false],
    ]
    for (const [pattern, name, fits] of cases) assert.equal(matchesPattern(pattern)(name), fits, `${pattern} ${name}`)
    assert.equal(matchesPattern('*a'.repeat(50))(`${'a'.repeat(60)}b`), false)
  })
})
