// `bin/drawbridge seed`: fills a running sandbox with fictional patients, their orders at several stages, results and health data.
import { UsageError, type ClientContext } from '../command-tree.ts'
import { createApiClient, type RemoteValues } from './api-client.ts'
import { place, Sandbox, type Ordered } from './sandbox.ts'
import { examplePatient, examplePhysician } from '../../people/person/example-patient.ts'

const USERS = 5
const USERS_MAX = 40

const givenNames = ['Testa', 'Samplo', 'Demona', 'Pretendo', 'Exempla', 'Mocko', 'Ficta', 'Placebo']
const familyNames = ['Fictional', 'Imaginary', 'Invented', 'Notreal', 'Madeup']
const interpretations = ['normal', 'abnormal', 'critical']
const demoProviders = ['oura', 'fitbit', 'freestyle_libre']
const providerOf = (n: number): string => demoProviders[n % demoProviders.length]!
const KIT_STATUS = 'collecting_sample.testkit.transit_customer'

/** The person of a number: the same in every run. */
const personOf = (n: number) => ({
  ...examplePatient,
  first_name: givenNames[n % givenNames.length]!,
  last_name: familyNames[n % familyNames.length]!,
  dob: `${1950 + ((n * 7) % 50)}-0${1 + (n % 9)}-1${n % 10}`,
  gender: n % 2 ? 'female' : 'male',
  email: `seed-${n}@example.com`,
})

interface Seeded {
  client_user_id: string
  user_id: string
  /** False: it was there already, and nothing was added to it. */
  is_new: boolean
  orders: { id: string; status: string }[]
  providers: string[]
}

/**
 * Creates users `seed-1`, `seed-2` and so on: each with a completed blood draw, a kit that is on its way, and a demo connection. Users of an
 * earlier run are left as they are.
 * @throws UsageError; Error for a key of production, and when the server rejects a request
 */
export async function seed(
  { values }: { values: RemoteValues & { users?: string; json?: boolean } },
  { env, printNow }: ClientContext,
): Promise<void> {
  const count = Number(values.users ?? USERS)
  if (!Number.isInteger(count) || count < 1 || count > USERS_MAX)
    throw new UsageError(`--users must be a number from 1 to ${USERS_MAX}.`)
  const sandbox = new Sandbox(createApiClient(values, env))
  await sandbox.assertSandbox()
  const [draw, kit] = [await sandbox.labTest('walk_in_test'), await sandbox.labTest('testkit')]
  const seeded: Seeded[] = []
  for (let n = 1; n <= count; n++) {
    const client_user_id = `seed-${n}`
    const { id: user_id, is_new } = await sandbox.userCalled(client_user_id)
    if (is_new) await fillUser(sandbox, user_id, n, { draw, kit })
    const { orders } = await sandbox.get<Pick<Seeded, 'orders'>>(`/v3/orders?user_id=${user_id}`)
    const { providers } = await sandbox.get<{ providers: { slug: string }[] }>(`/v2/user/providers/${user_id}`)
    const one = {
      client_user_id,
      user_id,
      is_new,
      orders: orders.map(({ id, status }) => ({ id, status })),
      providers: providers.map(({ slug }) => slug),
    }
    seeded.push(one)
    if (!values.json) printNow(lineOf(one))
  }
  if (values.json) printNow(`${JSON.stringify(seeded, null, 2)}\n`)
}

const lineOf = ({ client_user_id, user_id, is_new, orders, providers }: Seeded): string => {
  const what = [...orders.map(({ status, id }) => `order ${id} ${status}`), ...providers].join(', ')
  return `${client_user_id.padEnd(8)}  ${user_id}  ${what}${is_new ? '' : ' (was there already)'}\n`
}

/** Orders a blood draw, which is completed before this returns, and a kit; connects a provider. */
async function fillUser(sandbox: Sandbox, user_id: string, n: number, tests: { draw: string; kit: string }): Promise<void> {
  const person = personOf(n)
  const { order: draw } = await sandbox.post<Ordered>('/v3/order', {
    user_id,
    lab_test_id: tests.draw,
    patient_details: person,
    patient_address: place,
    physician: examplePhysician,
  })
  await sandbox.post(`/v3/order/${draw.id}/test`, { interpretation: interpretations[n % interpretations.length] })
  const receiver_name = `${person.first_name} ${person.last_name}`
  const { order: kit } = await sandbox.post<Ordered>('/v3/order/testkit', {
    user_id,
    lab_test_id: tests.kit,
    shipping_details: { ...place, receiver_name, phone_number: person.phone_number },
  })
  await sandbox.post(`/v3/order/${kit.id}/test?final_status=${KIT_STATUS}`, {})
  await sandbox.post('/v2/link/connect/demo', { user_id, provider: providerOf(n) })
  // The laboratory is simulated by a worker.
  await sandbox.waitForEvents(draw.id, 'labtest.order.updated', 'completed')
}
