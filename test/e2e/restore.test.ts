// The restore drill of docs/operating/backup.md, with its commands as they stand there: an installation is backed up, destroyed and restored, and
// goes on where it was.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { openEmbedded } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import { exampleReport } from '../../src/lab-reports/parsing-jobs/example-report.ts'
import { accessRow, appendDayAsOwner, dayAgo } from '../support/access-days.ts'
import { readCommands } from '../support/page-commands.ts'
import { address, patient, shipping } from '../support/people.ts'
import { debianPostgres, startPostgres, type OwnPostgres } from '../support/debian-postgres.ts'
import { readManifests } from '../support/manifests.ts'
import {
  caller,
  demoIn,
  stopAll,
  folder,
  migratedFolder,
  onDatabase,
  outcome,
  root,
  serving,
  start,
  waitUntil,
  type Caller,
  type Server,
} from '../support/program.ts'
import { isValidSignature } from '../support/signed.ts'

/** What the receiver of the endpoint answers, and what it has taken since it answers 200. */
let status = 503
const received: { id: string; headers: Record<string, unknown>; body: string }[] = []
let refused = 0
const receiver = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => (body += text))
  request.on('end', () => {
    if (status === 200) received.push({ id: String(request.headers['webhook-id']), headers: request.headers, body })
    else refused++
    response.writeHead(status).end()
  })
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const endpointUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
after(async () => {
  receiver.closeAllConnections()
  receiver.close()
  await stopAll()
})

/** Run the commands that follow a mark of the page. */
async function drill(mark: string, variables: Record<string, string>): Promise<void> {
  const commands = readCommands('docs/operating/backup.md', mark)
  const shell = start({ program: 'bash', args: ['-euo', 'pipefail', '-c', `umask 0; ${commands}`], settings: variables })
  assert.equal(await shell.exitStatus, 0, shell.err())
}

/** The folders and files below a folder that other accounts may read, write or enter. */
const openToOthers = (top: string): string[] =>
  readdirSync(top, { recursive: true, encoding: 'utf8' }).filter((path) => (statSync(join(top, path)).mode & 0o077) !== 0)

/** A report whose file and picture are on the disk. */
async function waitingReport(url: string, key: string, user_id: string): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([exampleReport], { type: 'application/pdf' }), 'report.pdf')
  form.append('user_id', user_id)
  form.append('needs_human_review', 'true')
  const headers = { 'x-service-api-key': key }
  const response = await fetch(`${url}/lab_report/v1/parser/job`, { method: 'POST', headers, body: form })
  const { id } = (await response.json()) as { id: string }
  await waitUntil(async () => (await caller(url, key).get(`/lab_report/v1/parser/job/${id}`)).body.status === 'pending_review')
  return id
}

async function readPicture(url: string, key: string, report: string): Promise<string> {
  const headers = { 'x-service-api-key': key }
  const response = await fetch(`${url}/lab_report/v1/review/${report}/page/1`, { headers })
  assert.equal(response.status, 200)
  return Buffer.from(await response.arrayBuffer()).toString('base64')
}

/** A result, a report in review, an order under way, an endpoint with an encrypted secret and deliveries that wait, and how to read all of it. */
async function fill(first: Server) {
  const { org_id, management_key, teams, api_keys } = demoIn(first.dataDir)
  const hooks = `/v1/org/${org_id}/team/${teams.us}/sandbox/webhook`
  const at = (url: string) => {
    const api = caller(url, api_keys['sandbox-us']!)
    return {
      api,
      manage: (m: string, path: string, body?: unknown) => api.call(m, path, body, { 'x-management-key': management_key }),
    }
  }
  const { api, manage } = at(first.url)
  const hook = (await manage('POST', hooks, { url: endpointUrl })).body.id as string
  const { user_id } = (await api.post('/v2/user', { client_user_id: 'restored' })).body
  const testOf = async (method: string) => (await api.get(`/v3/lab_tests?collection_method=${method}`)).body[0].id as string
  const draw = { user_id, lab_test_id: await testOf('walk_in_test'), patient_details: patient, patient_address: address }
  const complete = (await api.post('/v3/order', draw)).body.order.id as string
  assert.equal((await api.post(`/v3/order/${complete}/test`, {})).status, 200)
  await waitUntil(async () => (await api.get(`/v3/order/${complete}`)).body.status === 'completed')
  const open = (
    await api.post('/v3/order/testkit', { user_id, lab_test_id: await testOf('testkit'), shipping_details: shipping })
  ).body.order
  const report = await waitingReport(first.url, api_keys['sandbox-us']!, user_id as string)
  await waitUntil(() => refused > 0)

  const contents = async (url: string) => {
    const { api, manage } = at(url)
    const answers = await Promise.all([
      api.get(`/v3/order/${complete}`),
      api.get(`/v3/order/${complete}/result`),
      api.get(`/v3/order/${open.id}`),
      api.get('/v1/events?limit=100'),
      api.get(`/v2/user/${user_id}`),
      api.get(`/lab_report/v1/review/${report}`),
      manage('GET', `${hooks}/${hook}/secret`),
    ])
    for (const answer of answers) assert.equal(answer.status, 200)
    return [await readPicture(url, api_keys['sandbox-us']!, report), ...answers.map(({ body }) => body)]
  }
  const messages = async (url: string) => {
    const { body } = await at(url).manage('GET', `${hooks}/${hook}/message?limit=100`)
    return (body.data as { id: string; state: string }[]).map(({ id, state }) => ({ id, state }))
  }
  const addOrder = async (url: string): Promise<string> => {
    const { status, body } = await at(url).api.post('/v3/order', draw)
    assert.equal(status, 200)
    return body.order.id as string
  }
  return { contents, messages, addOrder, follower: createFollower((url) => at(url).api) }
}

/** A reader of the event feed that continues with its cursor, also on another server. */
function createFollower(apiOf: (url: string) => Caller) {
  let cursor = ''
  let epoch = 0
  const objects = new Set<string>()
  return {
    epoch: () => epoch,
    /** Reads until there is an event of an object. */
    readTo: (url: string, object_id: string) =>
      waitUntil(async () => {
        const { status, body } = await apiOf(url).get(`/v1/events/follow${cursor && `?next_cursor=${cursor}`}`)
        assert.equal(status, 200)
        cursor = body.next_cursor as string
        epoch = body.epoch as number
        for (const event of body.data as { object_id: string }[]) objects.add(event.object_id)
        return objects.has(object_id)
      }),
  }
}

/** Attempts follow each other soon, so that deliveries go on soon after the restore, and never end before. */
const schedule = {
  WEBHOOK_SCHEDULE: ['0', ...Array.from({ length: 19 }, () => '10')].join(),
  CELLS: 'sandbox-us',
  LOG_LEVEL: 'silent',
}

async function backUpAndRestore(
  dataDir: string,
  settings: Record<string, string>,
  {
    prepare,
    backUp,
    destroy,
    restore,
  }: {
    /** @returns how to connect as the owner of the tables, before a server does */
    prepare: () => Promise<{ connection: pg.ClientConfig; close: () => Promise<void> }>
    backUp: (server: Server) => Promise<Server>
    destroy?: () => Promise<void>
    restore: () => Promise<void>
  },
): Promise<void> {
  status = 503
  refused = received.length = 0
  const { connection, close } = await prepare()
  await onDatabase(connection, appendOldDay)
  await close()
  let server = await serving(dataDir, { ...schedule, ...settings, DEMO: 'on' })
  const { contents, messages, addOrder, follower } = await fill(server)
  await waitUntil(async () => (await messages(server.url)).length >= 3)
  // The server archives what was appended when it starts.
  await waitUntil(() => existsSync(join(dataDir, 'report-files')) && listLogFiles(dataDir).length === 1)
  const before = await contents(server.url)
  server = await backUp(server)
  const waiting = (await messages(server.url)).filter(({ state }) => state === 'pending')
  assert.ok(waiting.length >= 3)
  // Several events, which the restored database does not have.
  for (let i = 0; i < 3; i++) await follower.readTo(server.url, await addOrder(server.url))
  const epoch = follower.epoch()
  assert.equal(await server.end('SIGTERM'), 0)
  rmSync(dataDir, { recursive: true })
  await destroy?.()
  await restore()

  status = 200
  server = await serving(dataDir, { ...schedule, ...settings, DEMO: 'off' })
  assert.deepEqual(await contents(server.url), before)
  await waitUntil(() => waiting.every(({ id }) => received.some((delivery) => delivery.id === id)))
  const { key } = before.at(-1) as { key: string }
  for (const { headers, body } of received) assert.ok(isValidSignature(key, headers, body))
  await waitUntil(async () => (await messages(server.url)).every(({ state }) => state === 'delivered'))
  // Its numbers are higher than those that the follower has read.
  await follower.readTo(server.url, await addOrder(server.url))
  assert(follower.epoch() > epoch)
  const { code, stdout, err } = await outcome('access-log', { ...schedule, ...settings, DATA_DIR: dataDir }, 'verify')
  assert.equal(code, 0, stdout + err)
  assert.match(stdout, new RegExp(`since ${dayAgo(OLD_DAYS_AGO)}, none changed`))
  assert.equal(await server.end('SIGTERM'), 0)
}

const OLD_DAYS_AGO = 200

/** Appends lines to the access log that the first worker moves to a file. */
async function appendOldDay(client: pg.Client): Promise<void> {
  const row = accessRow({ user: randomUUID(), team: randomUUID(), request: 'fictional-1' })
  await appendDayAsOwner(client, 'sandbox_us', dayAgo(OLD_DAYS_AGO), [row])
  await appendDayAsOwner(client, 'sandbox_us', dayAgo(0), [row])
}

const listLogFiles = (dataDir: string): string[] =>
  readdirSync(join(dataDir, 'report-files'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /access-log-[^/]*\.gz$/.test(path),
  )

const folders = (name: string) => {
  const [BACKUP, KEYS] = [folder(`${name}-backup`), folder(`${name}-keys`)]
  for (const path of [BACKUP, KEYS]) mkdirSync(path)
  return { DATA_DIR: folder(name), BACKUP, KEYS }
}

test('an installation with the bundled PostgreSQL is restored from its backup', { timeout: 240_000 }, async () => {
  const variables = folders('bundled')
  const { DATA_DIR } = variables
  await backUpAndRestore(
    DATA_DIR,
    {},
    {
      async prepare() {
        const database = await openEmbedded({ dataDir: await migratedFolder(DATA_DIR), ownership: 'required', log: () => {} })
        return { connection: database.connection, close: () => database.stop() }
      },
      async backUp(server) {
        // The folder of a backup may have been made before, open to all.
        mkdirSync(join(variables.BACKUP, 'drawbridge'), { mode: 0o755 })
        await drill('bundled backup', variables)
        assert.deepEqual(openToOthers(variables.BACKUP), [])
        return server
      },
      restore: () => drill('bundled restore', variables),
    },
  )
})

test('an installation with a PostgreSQL of its own is restored from a dump into a new one', { timeout: 240_000 }, async (t) => {
  const bin = debianPostgres()
  if (!bin) {
    assert.notEqual(process.env.CI_POSTGRES, 'required', 'CI has no PostgreSQL of Debian')
    return t.skip('PostgreSQL of Debian is not installed')
  }
  let postgres = await startPostgres(bin, 'postgres')
  let jobDump: string | undefined
  let countsAtBackup: unknown
  const variables = {
    ...folders('external'),
    DATABASE_URL: postgres.url('drawbridge', 'drawbridge'),
    ADMIN_URL: postgres.url('postgres', 'postgres'),
    BACKUP_URL: postgres.url('drawbridge', 'postgres'),
    PATH: `${bin}:${process.env.PATH}`,
    ...schedule,
  }
  await command(bin, 'psql', '--dbname', variables.ADMIN_URL, '--quiet', '--command', 'create role drawbridge login createrole')
  await command(bin, 'createdb', '--maintenance-db', variables.ADMIN_URL, '--owner', 'drawbridge', 'drawbridge')
  await backUpAndRestore(
    variables.DATA_DIR,
    { DATABASE_URL: variables.DATABASE_URL },
    {
      async prepare() {
        assert.equal((await outcome('migrate', variables)).code, 0)
        return { connection: { connectionString: variables.DATABASE_URL }, close: async () => {} }
      },
      async backUp(server) {
        await drill('external backup', variables)
        assert.deepEqual(openToOthers(variables.BACKUP), [])
        jobDump = await runBackupJob(postgres, bin)
        countsAtBackup = await countOrders(postgres, 'drawbridge')
        return server
      },
      async destroy() {
        await postgres.stop()
        postgres = await startPostgres(bin, 'postgres')
      },
      restore: () => drill('external restore', variables),
    },
  )
  await copyGrantsNothing(bin, postgres, jobDump!)
  assert.deepEqual(await countOrders(postgres, 'copied'), countsAtBackup)
  await postgres.stop()
})

/**
 * Runs the commands of the Kubernetes job for backups, as the login that it describes. They leave no part of a backup and none of old backups.
 * @returns the file of the dump
 */
async function runBackupJob(postgres: OwnPostgres, bin: string): Promise<string> {
  const file = join(root, 'deploy/kubernetes/examples/backup.yaml')
  const [, role] = /^# +(create role drawbridge_backup .*?) password/m.exec(readFileSync(file, 'utf8')) ?? []
  await command(bin, 'psql', '--dbname', postgres.url('postgres', 'postgres'), '--quiet', '--command', role!)
  const [container] = readManifests(file).find(({ kind }) => kind === 'CronJob')!.spec.jobTemplate.spec.template.spec.containers
  const BACKUPS = folder('job-backups')
  for (const name of ['2026-01-02T03-04-05Z', '2026-11-01T03-04-05Z.part', 'lost+found'])
    mkdirSync(join(BACKUPS, name), { recursive: true })
  utimesSync(join(BACKUPS, '2026-01-02T03-04-05Z'), new Date(0), new Date(0))
  const settings = { BACKUPS, BACKUP_URL: postgres.url('drawbridge', 'drawbridge_backup'), PATH: `${bin}:${process.env.PATH}` }
  const [program, ...options] = container.command as [string, ...string[]]
  const job = start({ program, args: [...options, ...container.args], settings })
  assert.equal(await job.exitStatus, 0, job.err())
  const [backup, other, ...more] = readdirSync(BACKUPS).toSorted()
  assert.match(backup!, /^20\d\d-\d\d-\d\dT\d\d-\d\d-\d\dZ$/)
  assert.deepEqual(
    [other, more, readdirSync(join(BACKUPS, backup!)).toSorted()],
    ['lost+found', [], ['drawbridge.dump', 'roles.sql']],
  )
  assert.deepEqual(openToOthers(join(BACKUPS, backup!)), [])
  return join(BACKUPS, backup!, 'drawbridge.dump')
}

/** How many orders and events a database has. */
const countOrders = (postgres: OwnPostgres, database: string) =>
  onDatabase({ connectionString: postgres.url(database, 'postgres') }, async (client) => {
    const { rows } = await client.query<{ orders: number; events: number }>(
      'select (select count(*)::integer from sandbox_us.lab_order) as orders, (select count(*)::integer from sandbox_us.event) as events',
    )
    assert(rows[0]!.orders >= 2)
    return rows
  })

/** Whether roles of the installation that was dumped, and those of the copy, may execute functions there that not everybody may. */
const MAY_EXECUTE = `
  select distinct r.rolname like 'drawbridge_' || left(encode(sha256(convert_to(current_database(), 'UTF8')), 'hex'), 8) || '_%' as own
  from pg_proc p cross join lateral aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee
  where p.prosecdef and r.rolname like 'drawbridge\\_%'`

/** A dump brings grants to the roles of its installation along; a database of another name is another installation. */
async function copyGrantsNothing(bin: string, postgres: OwnPostgres, dump: string): Promise<void> {
  const DATABASE_URL = postgres.url('copied', 'drawbridge')
  const mayExecute = async () => {
    const client = new pg.Client(DATABASE_URL)
    await client.connect()
    const { rows } = await client.query<{ own: boolean }>(MAY_EXECUTE)
    await client.end()
    return rows.map(({ own }) => own)
  }
  await command(bin, 'createdb', '--maintenance-db', postgres.url('postgres', 'postgres'), '--owner', 'drawbridge', 'copied')
  await command(bin, 'pg_restore', '--dbname', DATABASE_URL, '--exit-on-error', '--no-owner', dump)
  assert.deepEqual(await mayExecute(), [false], 'the dump grants the functions to the roles of the installation that was dumped')
  const { code, err } = await outcome('migrate', { DATABASE_URL, DATA_DIR: folder('copied'), ...schedule })
  assert.equal(code, 0, err)
  assert.deepEqual(await mayExecute(), [true], 'only the roles of the copy may execute its functions')
}

async function command(bin: string, program: string, ...args: string[]): Promise<void> {
  const { exitStatus, err } = start({ program: join(bin, program), args })
  assert.equal(await exitStatus, 0, err())
}
