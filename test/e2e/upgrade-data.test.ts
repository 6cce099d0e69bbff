// The upgrade of an installation: every migration after a release runs over tables that hold rows, nothing is lost, and what was waiting
// goes on. The rows are those of test/e2e/upgrade/release-30.sql, and later those of test/e2e/upgrade/release-57.sql.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type pg from 'pg'
import { migrate } from '../../src/platform/db/migrate.ts'
import { migrationsOf, UNDECLARED_MAX, type MigrationKind } from '../../src/platform/db/migrations.ts'
import { createExternalDatabase } from '../support/external-database.ts'
import { caller, runCli, stopAll, folder, listening, onDatabase, start, waitUntil } from '../support/program.ts'
import { isValidSignature } from '../support/signed.ts'
import { referenceTables, SCHEMAS } from './upgrade/tables.ts'

const database = await createExternalDatabase()
const received: { id: string; url: string; headers: Record<string, unknown>; body: string }[] = []
const receiver = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => (body += text))
  request.on('end', () => {
    received.push({ id: String(request.headers['webhook-id']), url: request.url!, headers: request.headers, body })
    response.end()
  })
})
after(async () => {
  await stopAll()
  receiver.closeAllConnections()
  receiver.close()
  await database.close()
})

const settings = {
  DATABASE_URL: database.url,
  DATA_DIR: folder('data'),
  CELLS: 'sandbox-us',
  PORT: '0',
  LOG_LEVEL: 'silent',
  // The key under which the secrets of the rows were encrypted.
  ENCRYPTION_KEYS: Buffer.alloc(32, 'fictional key of the upgrade test').toString('base64'),
}

async function command(...words: string[]): Promise<string> {
  const program = start({ args: ['src/cli/entry.js', ...words], settings })
  assert.equal(await program.ended, 0, program.err())
  return program.out()
}

const many = <R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]> =>
  onDatabase(database.connection, async (client) => (await client.query<R>(text, values)).rows)

/** Migrates the schemas as a release with these migrations does. */
async function migrateTo(last: Record<MigrationKind, number>): Promise<void> {
  for (const schema of SCHEMAS) {
    const kind = schema === 'control' ? 'control' : 'cell'
    await migrate(database.connection, schema, kind, { migrations: migrationsOf(kind).slice(0, last[kind]) })
  }
}

/** The last migrations before tables, columns and jobs got other names. */
const RELEASE_57 = { cell: 57, control: 13 }

/** The schemas of the release, and its rows as if they had been written an hour ago: what is older than 30 days is deleted. */
async function restoreRelease(): Promise<void> {
  await migrateTo(UNDECLARED_MAX)
  await onDatabase(database.connection, async (client) => {
    await client.query(readFileSync(new URL('upgrade/release-30.sql', import.meta.url), 'utf8'))
    const { rows } = await client.query<{ age: string }>(
      `select (now() - interval '1 hour' - max(created_at))::text as age from sandbox_us.event`,
    )
    const columns = await client.query<{ at: string; column: string }>(
      `select format('%I.%I', table_schema, table_name) as at, column_name as column
       from information_schema.columns join pg_tables on schemaname = table_schema and tablename = table_name
       where table_schema = any ($1) and data_type = 'timestamp with time zone' and table_name <> 'migration'`,
      [SCHEMAS],
    )
    for (const [at, listed] of Map.groupBy(columns.rows, (row) => row.at)) {
      const moved = listed.map(({ column }) => `"${column}" = "${column}" + $1::interval`).join(', ')
      await client.query(`update ${at} set ${moved}`, [rows[0]!.age])
    }
  })
}

/** A table keeps its `oid` when it is renamed, and a column its number. */
interface Table {
  oid: number
  at: string
  columns: { number: number; name: string; type: string }[]
  rows: Record<string, string | null>[]
}

/** Every row as text, without reference data: each release loads its own. */
async function contents(): Promise<Map<string, Table>> {
  const columns = await many<Table['columns'][number] & { oid: number; at: string }>(
    `select c.oid, format('%I.%I', n.nspname, c.relname) as at, a.attnum as number, a.attname as name,
            format_type(a.atttypid, a.atttypmod) as type
     from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any ($1) and c.relkind in ('r', 'p') and not c.relispartition and not c.relname = any ($2)
       and a.attnum > 0 and not a.attisdropped order by 1, a.attnum`,
    [SCHEMAS, [...referenceTables, 'migration']],
  )
  const tables = new Map<string, Table>()
  for (const [at, listed] of Map.groupBy(columns, (column) => column.at)) {
    const texts = listed.map(({ name }) => `"${name}"::text as "${name}"`).join(', ')
    tables.set(at, { oid: listed[0]!.oid, at, columns: listed, rows: await many(`select ${texts} from ${at}`) })
  }
  return tables
}

type Row = Table['rows'][number]

/** What migrations change on purpose: these columns of these rows of a table. */
type Changed = Record<string, { rows: (row: Row) => boolean; columns: string[] }>

/** Migration 35: permanently failed erasures are retried. */
const CHANGED_UP_TO_57: Changed = {
  'sandbox_us.job': {
    rows: ({ name, failed_at }) => name === 'users.erase' && failed_at !== null,
    columns: ['due_at', 'attempts', 'failed_at'],
  },
}

/** The names that migration 58 gives jobs. */
const RENAMED_JOBS: Record<string, string> = {
  'messages.plan_visit': 'messages.plan_appointment_reminders',
  'messages.remind_visit': 'messages.remind_appointment',
  'orders.mark': 'orders.create_checkpoints',
  'phlebotomy.date': 'phlebotomy.schedule_visit',
  'phlebotomy.play': 'phlebotomy.simulate_visit',
  'scheduling.give-up': 'scheduling.expire_booking',
  'simulator.rehearse': 'simulator.run_test_stage',
  'users.mark': 'users.create_checkpoints',
}
const CHANGED_FROM_58: Changed = {
  // Migration 60 fills in these columns, which releases before migration 55 did not write.
  'sandbox_us.lab_order': { rows: () => true, columns: ['status_detail', 'kit_sent'] },
  'sandbox_us.job': { rows: ({ name }) => name! in RENAMED_JOBS, columns: ['name'] },
}

/** Migration 58: programs before migration 42 counted by its rows. Migration 109: deliveries have the rows of their own that it inserts. */
const DROPPED = ['sandbox_us.order_mark', 'sandbox_us.handful', 'sandbox_us.dispatch_batch']
/** Migration 109. */
const GROWN = ['sandbox_us.delivery']

/** Every row exists with its values in the columns that both releases have with the same type. */
function assertKept(before: Map<string, Table>, after: Map<string, Table>, changes: Changed): void {
  for (const [at, old] of before) {
    if (old.rows.length === 0 || DROPPED.includes(at)) continue
    const now = [...after.values()].find(({ oid }) => oid === old.oid)
    assert.ok(now, `the table ${at} is gone: say in this test where its rows are now`)
    const columns = old.columns.flatMap(({ number, name, type }) => {
      const same = now.columns.find((column) => column.number === number && column.type === type)
      return same ? [{ old: name, now: same.name }] : []
    })
    assert.ok(columns.length > 0)
    const changed = changes[at]
    const changedIds = new Set(changed && old.rows.filter(changed.rows).map(({ id }) => id))
    const lines = ({ rows }: Table, release: 'old' | 'now') =>
      rows
        .map((row) => {
          const isChanged = (column: string) => changedIds.has(row.id!) && changed!.columns.includes(column)
          return JSON.stringify(columns.map((column) => (isChanged(column.old) ? 'changed' : row[column[release]])))
        })
        .sort()
    const [rows, expected] = [lines(now, 'now'), lines(old, 'old')]
    const compared = GROWN.includes(at) ? rows.filter((line) => expected.includes(line)) : rows
    assert.deepEqual(compared, expected, `rows of ${at}`)
  }
}

interface Order {
  id: string
  document: string
}

test(
  'an installation of migration 30 is upgraded with all its rows, and what was waiting goes on',
  { timeout: 180_000 },
  async (t) => {
    await restoreRelease()
    const before = await contents()
    const rowsOf = (table: string) => before.get(`sandbox_us.${table}`)!.rows
    for (const table of ['lab_order', 'event', 'delivery', 'announcement', 'handful', 'job', 'lab_result', 'idempotency', 'feed'])
      assert.ok(rowsOf(table).length > 0, `the release has no rows in ${table}`)

    await t.test('migrations up to 57 keep every row', async () => {
      await migrateTo(RELEASE_57)
      assertKept(before, await contents(), CHANGED_UP_TO_57)
    })

    await t.test('later migrations keep every row, and jobs have their present names', async () => {
      const sql = readFileSync(new URL('upgrade/release-57.sql', import.meta.url), 'utf8')
      await onDatabase(database.connection, (client) => client.query(sql))
      const of57 = await contents()
      for (const table of [
        'control.embedded_member',
        'sandbox_us.lane_recall',
        'sandbox_us.pipeline_lane',
        'sandbox_us.phlebotomy_visit',
      ])
        assert.ok(of57.get(table)!.rows.length > 0, `the release has no rows in ${table}`)
      assert.equal(await command('migrate'), 'Migrations complete.\n')
      const [{ applied }] = (await many<{ applied: number }>(
        'select count(*)::integer as applied from sandbox_us.migration',
      )) as [{ applied: number }]
      assert.equal(applied, migrationsOf('cell').length)
      const now = await contents()
      assertKept(of57, now, CHANGED_FROM_58)
      for (const { low_level_status, document, status_detail, kit_sent } of now.get('sandbox_us.lab_order')!.rows) {
        if (!['ordered', 'awaiting_registration', 'registered'].includes(low_level_status!)) continue
        const { last_event } = JSON.parse(document!) as { last_event: { status_detail: string | null } }
        assert.deepEqual([status_detail, kit_sent], [last_event.status_detail, String(low_level_status === 'registered')])
      }
      const names = new Map(now.get('sandbox_us.job')!.rows.map(({ id, name }) => [id, name]))
      for (const { id, name } of of57.get('sandbox_us.job')!.rows) assert.equal(names.get(id!), RENAMED_JOBS[name!] ?? name)
    })

    const team = rowsOf('team')[0]!.id!
    const org = rowsOf('team')[0]!.org_id!
    const keyIn = (out: string, pattern: RegExp) => pattern.exec(out)![0]
    const key = keyIn(await command('key', 'create', '--team', team, '--cell', 'sandbox-us'), /sk_us_[\w-]{43}/)
    const managementKey = keyIn(await command('key', 'create', '--org', org), /mg_[\w-]{43}/)
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    const secrets = new Map<string, string>()

    const server = await listening(runCli('serve', settings), settings.DATA_DIR)
    const api = caller(server.url, key)

    await t.test('orders, results and events are read as they were', async () => {
      const orders = await many<Order>('select id, document from sandbox_us.lab_order order by id')
      assert.equal(orders.length, rowsOf('lab_order').length)
      for (const { id, document } of orders) {
        const read = await api.get(`/v3/order/${id}`)
        assert.deepEqual([read.status, read.body.events], [200, (JSON.parse(document) as { events: unknown }).events])
      }
      for (const { order_id, document } of rowsOf('lab_result')) {
        const { status, body } = await api.get(`/v3/order/${order_id}/result`)
        assert.deepEqual([status, body.results], [200, (JSON.parse(document!) as { results: unknown }).results])
      }
      const listed = await api.get('/v1/events?limit=100')
      assert.deepEqual(
        (listed.body.data as { id: string }[]).map(({ id }) => id).sort(),
        rowsOf('event')
          .map(({ id }) => id)
          .sort(),
      )
    })

    await t.test('secrets of endpoints are decrypted', async () => {
      const manage = (method: string, path: string, body?: unknown) =>
        caller(server.url).call(method, `/v1/org/${org}/team/${team}/sandbox/webhook/${path}`, body, {
          'x-management-key': managementKey,
        })
      for (const { id } of rowsOf('webhook')) {
        const { status, body } = await manage('GET', `${id}/secret`)
        assert.equal(status, 200)
        secrets.set(`/${id}`, body.key as string)
        assert.equal((await manage('PATCH', id!, { url: `${receiverUrl}/${id}` })).status, 200)
      }
    })

    await t.test('pending deliveries arrive, signed, and due jobs run', async () => {
      const inBraces = (list: string) => list.slice(1, -1).split(',')
      const messageOf = (event: string) => `msg_${event.replaceAll('-', '')}`
      const expected = new Set<string>()
      for (const { webhook_id, message_id, due_at } of rowsOf('delivery'))
        if (due_at) expected.add(`/${webhook_id} ${messageOf(message_id!)}`)
      for (const { webhook_ids, event_ids } of rowsOf('handful'))
        for (const event of inBraces(event_ids!)) expected.add(`/${inBraces(webhook_ids!)[0]} ${messageOf(event)}`)
      for (const { event_ids } of rowsOf('announcement'))
        for (const event of inBraces(event_ids!))
          for (const { id } of rowsOf('webhook')) expected.add(`/${id} ${messageOf(event)}`)
      assert.ok(expected.size >= 8)
      const due = rowsOf('job').filter(({ name, failed_at }) => name === 'simulator.step' && !failed_at)
      assert.ok(due.length > 0)

      const worker = runCli('work', settings)
      await worker.says(/Worker started/)
      const arrived = () => new Set(received.map(({ url, id }) => `${url} ${id}`))
      await waitUntil(() => [...expected].every((delivery) => arrived().has(delivery)))
      for (const { url, headers, body } of received)
        assert.ok(isValidSignature(secrets.get(url)!, headers, body), `the signature for ${url}`)
      for (const { id, payload } of due) {
        const { order_id } = JSON.parse(payload!) as { order_id: string }
        await waitUntil(async () => (await many('select from sandbox_us.job where id = $1', [id])).length === 0)
        await waitUntil(async () => (await api.get(`/v3/order/${order_id}`)).body.last_event.status === TRANSIT)
      }
      const dueUnderOldName = `select from sandbox_us.job where name = 'orders.create_checkpoints'`
      await waitUntil(async () => (await many(dueUnderOldName)).length === 0)
      worker.child.kill('SIGTERM')
      assert.equal(await worker.ended, 0)
    })

    await t.test('a planned job is still planned, and a failed one is kept', async () => {
      const kept = ({ name, failed_at }: Row) =>
        (name === 'users.erase' && !failed_at) || (name === 'orders.dispatch' && failed_at)
      const old = rowsOf('job').filter(kept)
      assert.equal(old.length, 2)
      const jobs = await many<Row>(
        'select id, payload, due_at::text, failed_at::text from sandbox_us.job where id = any ($1) order by id',
        [old.map(({ id }) => id)],
      )
      const columns = ({ id, payload, due_at, failed_at }: Row) => ({ id, payload, due_at, failed_at })
      assert.deepEqual(
        jobs,
        old.map(columns).sort((a, b) => (a.id! < b.id! ? -1 : 1)),
      )
    })

    assert.equal(await server.end('SIGTERM'), 0)
  },
)

const TRANSIT = 'collecting_sample.testkit.transit_customer'
