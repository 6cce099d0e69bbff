// Creating and registering orders, beside bare statements that write as much.
import { Pool } from 'undici'
import { measureCreateBaseline, measureRegisterBaseline, type Sample } from './baseline-write.ts'
import { compare, CONNECTIONS, load, SECONDS } from './measure.ts'
import { address, waitForJobs, type Bench } from './program.ts'

const PATIENT = { first_name: 'Bench', last_name: 'Fictional', dob: '1990-01-31', gender: 'female', phone_number: '+15550100199' }
const patient = { patient_details: { ...PATIENT, email: 'bench@example.com' }, patient_address: address }

export async function createKits(bench: Bench): Promise<void> {
  await compareCreation(bench, 'create a kit order, 10 connections', '/v3/order/testkit', bench.kit, bench.order_id)
}

export async function createWalkIns(bench: Bench): Promise<void> {
  const [test] = await bench.api('GET', '/v3/lab_tests?collection_method=walk_in_test')
  const body = { ...patient, patient_address: bench.kit.shipping_details, user_id: bench.user_id, lab_test_id: test.id }
  const { order } = await bench.api('POST', '/v3/order', body)
  await compareCreation(bench, 'create a walk-in order, 10 connections', '/v3/order', body, order.id)
}

async function compareCreation(bench: Bench, name: string, path: string, body: object, order_id: string): Promise<void> {
  const { url, headers, connection, db } = bench
  const sample = await readSample(bench, order_id)
  const create = () => load({ url: url + path, method: 'POST', headers, body: JSON.stringify(body) })
  // The first part begins with empty tables, which have no statistics.
  await create()
  await finishPart(db)
  await compare(name, 'at least 0.40', {
    ours: create,
    limit: () => measureCreateBaseline(connection, sample, { connections: CONNECTIONS, seconds: SECONDS }),
  })
  await finishPart(db)
}

/** Waits for the jobs of a part's orders and analyzes the tables, as autovacuum does within a minute: other parts are not planned without statistics. */
async function finishPart(db: Bench['db']): Promise<void> {
  await waitForJobs(db)
  await db.query('analyze')
}

/** Kits that are registered in each measurement, and those before it to warm up. */
const KITS = 2000
const WARM_UP_KITS = 400
/** Whose kits they are: two kits of one user wait for each other, since both write the user's demographics. */
const USERS = 100

export async function registerKits(bench: Bench): Promise<void> {
  const { url, headers, connection, db } = bench
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 })
  const post = async (path: string, body: object) => {
    const response = await pool.request({ method: 'POST', path, headers, body: JSON.stringify(body) })
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${await response.body.text()}`)
    return (await response.body.json()) as { user_id: string; order: { id: string; sample_id: string } }
  }
  const users: string[] = []
  for (let i = 0; i < USERS; i++) users.push((await post('/v2/user', { client_user_id: `bench-register-${i}` })).user_id)
  const registered: string[] = []
  const register = async (sample_id: string) => {
    const body = { ...patient, sample_id, consents: [{ consentType: 'terms-of-use' }] }
    registered.push((await post('/v3/order/testkit/register', body)).order.id)
  }
  const order = async (i: number) => {
    const kit = await post('/v3/order/testkit', { ...bench.kit, user_id: users[i % USERS] })
    return kit.order.sample_id
  }
  await register(await order(0))
  const sample = await readSample(bench, registered[0]!, 2)
  await compare('register a kit, 10 connections', 'at least 0.30', {
    ours: async () => {
      const kits: string[] = []
      await times(KITS + WARM_UP_KITS, async (i) => void kits.push(await order(i)))
      await waitForJobs(db)
      await times(WARM_UP_KITS, (i) => register(kits[KITS + i]!))
      return times(KITS, (i) => register(kits[i]!))
    },
    limit: () =>
      measureRegisterBaseline(connection, sample, { users, orders: registered, connections: CONNECTIONS, seconds: SECONDS }),
  })
  await pool.close()
  await finishPart(db)
}

/** Does something so many times, over all connections. → times a second */
async function times(count: number, create: (i: number) => Promise<void>): Promise<number> {
  const started = performance.now()
  let next = 0
  const worker = async () => {
    while (next < count) await create(next++)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  return count / ((performance.now() - started) / 1000)
}

/** What the limit writes of an order: as much as ours did, with the last `events` of its events. */
async function readSample({ db, team }: Bench, id: string, events = 2): Promise<Sample> {
  const { rows } = await db.query(
    'select document, internal_data, lab_id, user_id, lab_test_id, patient_name, recipient_name from lab_order where team_id = $1 and id = $2',
    [team, id],
  )
  const { rows: emitted } = await db.query<{ body: string }>(
    'select body from event where object_id = $1 order by id desc limit $2',
    [id, events],
  )
  return { ...rows[0], team_id: team, bodies: emitted.map((event) => event.body), payload: JSON.stringify({ order_id: id }) }
}
