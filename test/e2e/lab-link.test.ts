// A production order from its creation to the corrected PDF of its result, as a clinic and its laboratory have it: a server, and a laboratory that
// is a program of its own and is killed on the way.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, describe, test, type TestContext } from 'node:test'
import { systemNow } from '../../src/platform/runtime/clock.ts'
import { offeredMarkers } from '../../src/sandbox/lab-peer/offered-markers.ts'
import { runPeer } from '../../src/sandbox/lab-peer/run-peer.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts } from '../support/free-ports.ts'
import { identifyLabs } from '../support/identified-labs.ts'
import { readPdf, skipWithoutPdfTools } from '../support/pdf-reader.ts'
import {
  caller,
  demoIn,
  folder,
  outcome,
  serving,
  start,
  stopAll,
  type Caller,
  type Demo,
  type Server,
} from '../support/program.ts'

const dataDir = folder('lab-link')
const CELLS = 'sandbox-us,production-us'
const settings = { DATA_DIR: dataDir, CELLS }
/** A panel and a single test of the catalog. */
const CODES = ['Q55024', 'Q55080']
const PATIENT = { first_name: 'Testa', last_name: 'Fictional', dob: '1990-01-31', gender: 'female' }

const ADDRESS = { first_line: '1 West Lincoln Street', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }

let server: Server
let demo: Demo
let api: Caller
let ports: number[]
before(async () => {
  ports = await freePorts(2)
  server = await serving(dataDir, {
    CELLS,
    LOG_LEVEL: 'silent',
    LAB_LISTEN: `127.0.0.1:${ports[1]}`,
    WEBHOOK_ALLOW: '127.0.0.1/32',
  })
  demo = demoIn(dataDir)
  await identifyLabs({ DATA_DIR: dataDir, CELLS: 'production-us' }, ['production-us'])
  api = caller(server.url, demo.api_keys['production-us'])
})
after(stopAll)

/** Runs a command that must succeed. @returns what it prints */
async function command(words: string): Promise<string> {
  const [first, ...others] = words.split(' ')
  const { code, stdout, err } = await outcome(first!, settings, ...others)
  assert.equal(code, 0, err)
  return stdout
}

/** An account at a laboratory with a live link to a simulated one. @param facility tells links apart that share the port of the server */
async function linkAccount({
  cell,
  lab,
  port,
  facility,
}: {
  cell: string
  lab: string
  port: number
  facility: string
}): Promise<string> {
  const created = await command(
    `lab-account create --lab ${lab} --account FICTIONAL-1 --org ${demo.org_id} --team ${demo.teams.us} --billing client_bill=AZ --cell ${cell} --json`,
  )
  const account = JSON.parse(created).lab_account_id as string
  const options = [
    `identity.our_facility=${facility}`,
    `identity.receiver_facilities=["${facility}"]`,
    'text.decimal_mark=.',
    'text.time_zone=America/New_York',
    'results.reports=cumulative',
    'transport.orders=mllp',
    `transport.client.port=${port}`,
    'transport.client.host=127.0.0.1',
    'transport.client.tls=false',
    'transport.results=mllp',
    `transport.listener.port=${ports[1]}`,
    'transport.listener.tls=false',
    'transport.listener.addresses=["127.0.0.1"]',
  ]
  await command(`links set ${account} ${options.join(' ')} --cell ${cell}`)
  await command(`links mode ${account} live --cell ${cell}`)
  return account
}

const startPeer = (plan: string) => {
  const addresses = `--listen 127.0.0.1:${ports[0]} --results-to 127.0.0.1:${ports[1]}`.split(' ')
  const journal = join(dataDir, 'laboratory.jsonl')
  return start({
    args: ['src/cli/entry.js', 'lab-peer', ...addresses, '--plan', plan, '--pause', '1', '--journal', journal],
  })
}

async function createOrder(account: string): Promise<string> {
  const { user_id } = (await api.post('/v2/user', { client_user_id: 'lab-link' })).body
  const { markers } = (await api.get('/v3/lab_tests/markers?lab_slug=quest&size=100')).body
  const marker_ids = (markers as { id: number; provider_id: string }[]).filter(({ provider_id }) => CODES.includes(provider_id))
  const labTest = await api.post('/v3/lab_tests', {
    name: 'Liver and sugar',
    description: 'For the whole life of an order',
    method: 'walk_in_test',
    marker_ids: marker_ids.map(({ id }) => id),
  })
  assert.equal(labTest.status, 200, JSON.stringify(labTest.body))
  await command(`lab-test approve ${labTest.body.id} --cell production-us`)
  return placeOrder(api, { user_id, lab_test_id: labTest.body.id, lab_account_id: account })
}

async function placeOrder({ post }: Caller, fields: Record<string, string>): Promise<string> {
  const { status, body } = await post('/v3/order', {
    ...fields,
    patient_details: { ...PATIENT, phone_number: '+15550100199', email: 'testa@example.com' },
    patient_address: ADDRESS,
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body.order.id
}

const untilStatus = (order: string, status: string, { get }: Caller = api) =>
  eventually(
    async () => ((await get(`/v3/order/${order}`)).body.last_event.status as string).endsWith(status),
    `the order is ${status}`,
  )
const resultsOf = async (order: string) =>
  (await api.get(`/v3/order/${order}/result`)).body.results as {
    name: string
    slug: string
    result: string
    unit: string | null
  }[]

/** The PDF of the result. With KEEP_PDFS=FOLDER it is also written there, for a person to look at. */
async function downloadPdf(order: string, name: string) {
  const response = await fetch(`${server.url}/v3/order/${order}/result/pdf`, {
    headers: { 'x-service-api-key': demo.api_keys['production-us']! },
  })
  assert.equal(response.status, 200)
  const bytes = new Uint8Array(await response.arrayBuffer())
  const kept = process.env.KEEP_PDFS
  if (kept) {
    mkdirSync(kept, { recursive: true })
    writeFileSync(join(kept, `${name}.pdf`), bytes)
  }
  return readPdf(bytes).text
}

/** The events of an order, oldest first: the type, and the status at that time. */
async function eventsOf(order: string): Promise<string[]> {
  const { data } = (await api.get(`/v1/events?object_id=${order}&limit=250`)).body
  return (data as { type: string; body?: { data?: { last_event?: { status: string } } } }[])
    .toReversed()
    .map(({ type, body }) => `${type} ${body?.data?.last_event?.status.split('.').at(-1) ?? ''}`.trim())
}

describe('a production order over a link', { skip: skipWithoutPdfTools }, () => {
  test('reaches its corrected PDF once, although the laboratory is killed twice', async () => {
    const account = await linkAccount({ cell: 'production-us', lab: 'quest', port: ports[0]!, facility: 'CLINIC' })
    const order = await createOrder(account)
    // The laboratory is away when the order is sent.
    const first = startPeer('status,partial,final')
    await untilStatus(order, 'requisition_created')
    await first.says(/message \S+: AA/)
    first.child.kill('SIGKILL')
    await first.exitStatus

    const second = startPeer('status,partial,final')
    await untilStatus(order, 'completed')
    await second.says(/message \S+: AA\nmessage \S+: AA/)
    second.child.kill('SIGKILL')
    await second.exitStatus
    const results = await resultsOf(order)
    assert(results.length > 10, JSON.stringify(results))
    const text = await downloadPdf(order, 'completed')
    for (const { name, result } of results) assertLine(text, name, result)

    const third = startPeer('status,partial,final,correct')
    await untilStatus(order, 'corrected')
    await third.says(/message \S+: AA/)
    const corrected = await resultsOf(order)
    const changes = corrected.filter(({ slug, result }) => results.find((item) => item.slug === slug)!.result !== result)
    assert(changes.length > 0 && changes.length < results.length)
    const correctedText = await downloadPdf(order, 'corrected')
    for (const { name, result } of corrected) assertLine(correctedText, name, result)

    assert.deepEqual(await eventsOf(order), EVENTS)
    const lines = readFileSync(join(dataDir, 'laboratory.jsonl'), 'utf8').trim().split('\n')
    const counts = Object.groupBy(
      lines.map((line) => JSON.parse(line) as { event: string; code?: string }),
      ({ event }) => event,
    )
    assert.deepEqual([counts.order?.length, counts.report?.length], [1, 4])
    assert(counts.answer!.every(({ code }) => code === 'AA'))
  })
})

/** The status that the simulator brings an order to, before the laboratory has its sample. */
const METHODS = {
  walk_in_test: undefined,
  testkit: 'collecting_sample.testkit.transit_lab',
  at_home_phlebotomy: 'collecting_sample.at_home_phlebotomy.draw_completed',
  on_site_collection: 'sample_with_lab.on_site_collection.draw_completed',
}

describe('a sandbox order over a link', () => {
  for (const [method, status] of Object.entries(METHODS))
    test(`of the method ${method} is reported on, completed and corrected by messages of a simulated laboratory`, async (t) => {
      const sandbox = caller(server.url, demo.api_keys['sandbox-us'])
      const [labTest] = (await sandbox.get(`/v3/lab_tests?collection_method=${method}`)).body
      const lab = labTest.lab.slug as string
      const [port] = await freePorts(1)
      const account = await linkAccount({ cell: 'sandbox-us', lab, port: port!, facility: `SANDBOX-${method}` })
      const laboratory = startCommandedPeer(t, lab, port!)
      const { user_id } = (await sandbox.post('/v2/user', { client_user_id: `lab-link ${method}` })).body
      const order = await placeOrder(sandbox, { user_id, lab_test_id: labTest.id, lab_account_id: account })
      await untilStatus(order, 'requisition_created', sandbox)
      if (method === 'at_home_phlebotomy') await bookVisit(sandbox, order)
      if (status) {
        const { status: code, body } = await sandbox.post(`/v3/order/${order}/test?final_status=${status}`)
        assert.equal(code, 200, JSON.stringify(body))
        await untilStatus(order, status.split('.').at(-1)!, sandbox)
      }
      for (const [step, next] of [
        ['status', undefined],
        ['partial', method === 'testkit' ? undefined : 'partial_results'],
        ['final', 'completed'],
        ['correct', 'corrected'],
      ] as const) {
        laboratory.command(step)
        if (next) await untilStatus(order, next, sandbox)
      }
    })
})

/** Books the first free at-home appointment. */
async function bookVisit({ post }: Caller, order: string): Promise<void> {
  const free = await post('/v3/order/phlebotomy/appointment/availability', { ...ADDRESS, zip_code: ADDRESS.zip })
  assert.equal(free.status, 200, JSON.stringify(free.body))
  const slots = (free.body.slots as { slots: { booking_key: string }[] }[]).flatMap((day) => day.slots)
  const { status, body } = await post(`/v3/order/${order}/phlebotomy/appointment/book`, { booking_key: slots[0]!.booking_key })
  assert.equal(status, 200, JSON.stringify(body))
}

/** A simulated laboratory in this process, which reports at commands. */
function startCommandedPeer(t: TestContext, lab: string, port: number) {
  const commands = new PassThrough()
  const stopping = new AbortController()
  const host = '127.0.0.1'
  const end = runPeer(
    {
      markersOf: offeredMarkers(lab),
      interpretation: 'normal',
      plan: [],
      isPlain: false,
      currentTime: systemNow,
      pause_s: 1,
      listen: { host, port },
      results_to: { host, port: ports[1]! },
    },
    { signal: stopping.signal, commands, print: () => {} },
  )
  t.after(() => {
    stopping.abort()
    return end
  })
  return { command: (line: string) => commands.write(`${line}\n`) }
}

/** The events of the order that clients receive. */
const EVENTS = [
  'labtest.order.created ordered',
  'labtest.order.updated requisition_created',
  'labtest.order.updated completed',
  'labtest.order.updated corrected',
]

/** A line of the report has the name and the value of a result. */
function assertLine(text: string, name: string, value: string): void {
  const isThere = text.split('\n').some((line) => line.includes(name) && line.includes(` ${value}`))
  assert(isThere, `${name} ${value} is in ${text}`)
}
