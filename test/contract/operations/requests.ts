// A request that works, for every operation, made from its declaration and from what a team has. What an operation needs beyond its
// example is said here once; everything else follows from the names of its parameters.
import { reportForm as exampleReport } from '../../../src/lab-reports/parsing-jobs/example-report.ts'
import { createHmac, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { contents } from '../../../src/app/contents.ts'
import type { AvailableSlots } from '../../../src/visits/appointments/schema.ts'
import type { Operation } from '../../../src/platform/http/operation.ts'
import { hashKey } from '../../../src/platform/crypto/api-keys.ts'
import {
  CONSOLE_HEADERS,
  consoleHeaders,
  createDemoMember,
  furtherSession,
  newPasskeyRequest,
  passkeyOf,
  passkeySignInRequest,
  passwordSignIn,
} from '../../support/console-sessions.ts'
import { saveLink, setLinkMode } from '../../../src/lab/accounts/account-links.ts'
import { saveDocuments } from '../../../src/lab/results/lab-documents.ts'
import { queueOutgoing } from '../../../src/lab/link-messages/message-store.ts'
import { saveAnswer } from '../../../src/lab/link-messages/outgoing-messages.ts'
import { profile, receiveBytes } from '../../support/link-messages.ts'
import { answer, orderLink, queuedMessages } from '../../support/link-orders.ts'
import { createOrder } from '../../support/orders.ts'
import { fhirServer } from '../../support/fhir-server.ts'
import { createLaunchBody, embedding, getPage, launch, launchedHeaders } from '../../support/launch-browser.ts'
import { labAccount } from '../../support/lab-accounts.ts'
import { avenue, createPhlebotomist, slots, street, usAddress, visitCalls } from '../../support/home-visits.ts'
import { signIn, createSignInToken } from '../../support/phones.ts'
import { cells, client, type TestTeam, type Reply, vault } from '../../support/server.ts'
import { waitingReport } from '../../support/waiting-reports.ts'
import { verifyToken } from '../../../src/connections/pulls/poll.ts'
import { pscScheduling } from '../../../src/visits/psc-booking/features.ts'

const { operations } = contents

export interface Request {
  path: Record<string, string>
  query: Record<string, string | string[]>
  body: unknown
  headers?: Record<string, string>
}

interface Json {
  [key: string]: unknown
}
export const propertiesOf = (schema: unknown): Record<string, Json> =>
  (schema as { properties?: Record<string, Json> } | undefined)?.properties ?? {}

/** What an operation does with what a request names: operations that change nothing, or that refuse a request, leave it as it is. */
export type Use = 'read' | 'change'
const useOf = ({ method }: Operation): Use => (method === 'GET' ? 'read' : 'change')

const kept = new WeakMap<TestTeam, Map<string, Promise<unknown>>>()
/** A thing of a team: a new one for an operation that changes it; one of each kind for all operations that only read it. */
function thing<V>(team: TestTeam, use: Use, kind: string, make: () => Promise<V>): Promise<V> {
  if (use === 'change') return make()
  const things = kept.get(team) ?? new Map<string, Promise<unknown>>()
  kept.set(team, things)
  const made = things.get(kind) ?? make()
  things.set(kind, made)
  return made as Promise<V>
}

/** An order as an operation needs it: a fresh one, except where that would be refused. */
function orderFor(team: TestTeam, operation: Operation, use: Use): Promise<Json> {
  const { id, module, path } = operation
  const order = (kind: string, make: () => Promise<Json>) => thing(team, use, `order ${kind}`, make)
  if (module === 'fulfillment' || id === 'get_order_abn') return order(`for ${id}`, () => byHand(team, id))
  if (/\/result(\/|$)/.test(path)) return order('with a result', () => createReportedOrder(team))
  if (/\/psc\/(appointment|cancel)/.test(path)) {
    const isBooked = id !== 'book_psc_appointment'
    return order(isBooked ? 'with an appointment' : 'without an appointment', () => walkIn(team, isBooked))
  }
  if (id === 'update_on_site_collection_order_draw_completed')
    return order('of an on-site collection', () => atStep(team, 'on_site_collection'))
  if (/\/(requisition|labels)\/pdf$/.test(path)) return order('with a requisition', () => atStep(team, 'walk_in_test'))
  // A patient has one visit at a time, so none of these orders stays as it is.
  if (/phlebotomy_appointment$|^set_visit_/.test(id)) return atHomeOrder(team, operation)
  if (id === 'send_lab_link_order') return order('that its laboratory has refused', () => refusedOrderOf(team))
  if (id === 'update_order') return placeOrder(team, { activate_by: '2100-01-31' })
  return order('that is placed', () => placeOrder(team, {}))
}

/** An order that the laboratory of a link has refused. Its account takes no others: a team that may use several has to choose. */
async function refusedOrderOf(team: TestTeam): Promise<Json> {
  const account = await orderLink(team)
  const order = await createOrder(team, { lab_test_id: await team.test('walk_in_test'), lab_account_id: account })
  await team.settle()
  const [message] = await queuedMessages(team, account)
  await answer(team, message!, 'AR')
  ok(await team.manage.patch(`/lab_account/sandbox/us/${account}`, { team_id_allowlist: [] }))
  return { ...order, lab_account_id: account }
}

/** Query parameters that are given although they may be left out. */
const queryFor: Record<string, string[]> = {
  confirm_provider_notifications: ['verification_token', 'challenge'],
  undo_user_delete: ['user_id'],
  delete_team_data_pull_preferences: ['team_id'],
  delete_team_ehr_pipelines: ['team_id'],
  search_insurance_payor_information: ['insurance_name'],
  get_psc_appointment_availability: ['lab', 'zip_code'],
}

/** What a team must have for something to be deleted, by the operation that makes it. */
const standing: Record<string, string> = {
  delete_team_data_pull_preferences: 'upsert_team_data_pull_preferences',
  delete_team_ehr_pipelines: 'upsert_team_ehr_pipelines',
  delete_team_etl_pipelines: 'upsert_team_etl_pipelines',
}

const runUnmatchedResultTest = async (team: TestTeam): Promise<Json> => {
  const body = { case: 'match_completed', order_source: 'managed', lab_test_id: await team.test('walk_in_test') }
  const { run_id } = ok(await team.api.post('/v3/unmatched_result_test', body, { 'x-idempotency-key': randomUUID() })).body
  await team.settle()
  return ok(await team.api.get(`/v3/unmatched_result_test/${run_id}`)).body
}

/** A result that waits for the team, or for the operator. */
function createUnmatchedResult(team: TestTeam, { auth }: Operation, use: Use): Promise<string> {
  return thing(team, use, `result that waits for ${auth}`, async () => {
    const id = (await runUnmatchedResultTest(team)).raw_result_id as string
    if (auth === 'management') ok(await team.api.post(`/v3/unmatched_result/${id}/resolve`, { action: 'unsure' }))
    return id
  })
}

/** A user of a demo connection, whose history is there where that is said: it costs seconds. */
async function demoUser(team: TestTeam, hasHistory: boolean): Promise<string> {
  const user_id = await team.user()
  ok(await team.api.post('/v2/link/connect/demo', { user_id, provider: 'fitbit', timeseries: hasHistory }))
  if (hasHistory) await team.settle()
  return user_id
}

/** What a team has, by the names under which requests ask for it. Each is made when it is asked for. */
const belongings: Record<string, (team: TestTeam, operation: Operation, use: Use) => Promise<string>> = {
  user_id: async (team, operation, use) => {
    if (operation.id === 'connect_demo_provider') return team.user()
    if (operation.id === 'fail_demo_connection') return demoUser(team, false)
    if (operation.id === 'record_demo_sample') return thing(team, 'read', 'user of demo connections', () => demoUser(team, true))
    if (operation.path.startsWith('/v2/link/bulk_')) return applicant(team)
    if (/^get_profile(_raw)?$/.test(operation.id)) return thing(team, use, 'user with a profile', () => profiledUser(team))
    if (operation.id === 'deregister_provider' || operation.id === 'refresh_user_data')
      return thing(team, use, 'user with a connection', () => connectedUser(team))
    if (signedIn.has(operation.id) || operation.module === 'devices') return patientOf(team)
    if (describedUsers.has(operation.id)) {
      const isInsured = operation.id === 'get_latest_insurance'
      return thing(team, use, `user ${isInsured ? 'with an insurance' : 'who is described'}`, () =>
        describedUser(team, isInsured),
      )
    }
    if (/^\/v2\/(summary|timeseries)\/|^\/aggregate\/|\/sdk_|\/file_import/.test(operation.path)) return patientOf(team)
    if (operation.id !== 'undo_user_delete')
      return use === 'change' && operation.path.includes('{user_id}') ? team.user() : patientOf(team)
    const user = await team.user()
    ok(await team.api.delete(`/v2/user/${user}`))
    return user
  },
  client_user_id: async (team, operation) => {
    const reference = `reference-${randomUUID()}`
    const user = await team.user(reference)
    if (operation.id === 'undo_user_delete') ok(await team.api.delete(`/v2/user/${user}`))
    return reference
  },
  query_id: (team, operation, use) =>
    operation.path.includes('{query_id}') ? continuousQuery(team, use) : belongings.client_user_id!(team, operation, use),
  query_id_or_slug: (team, _operation, use) => continuousQuery(team, use),
  job_id: async (team, { path }, use) =>
    path.includes('review')
      ? thing(team, use, 'report that waits', async () => waitingReport(team, await patientOf(team)))
      : reportOf(team),
  page: () => Promise.resolve('1'),
  order_id: async (team, operation, use) => (await orderFor(team, operation, use)).id as string,
  document_id: async (team, operation, use) => saveDocument(team, await orderFor(team, operation, use)),
  search_input: (team, operation, use) => belongings.order_id!(team, operation, use),
  failed_job_id: () => Promise.resolve(randomUUID()),
  request_id: async (team) => (await team.api.get('/v3/lab_tests')).headers.get('x-request-id')!,
  view_id: async (team, _operation, use) =>
    thing(team, use, 'saved view', async () => {
      const view = { ...bodies.create_saved_view, name: randomUUID() }
      return ok(await team.api.post('/console/v1/saved_views', view)).body.id
    }),
  object_id: (team, operation, use) => belongings.order_id!(team, operation, use),
  raw_result_id: createUnmatchedResult,
  run_id: async (team, _operation, use) =>
    (await thing(team, use, 'test of an unmatched result', () => runUnmatchedResultTest(team))).run_id as string,
  wrong_lab_test_id: (team) => team.test(),
  transaction_id: async (team, operation, use) => ((await orderFor(team, operation, use)).order_transaction as Json).id as string,
  order_transaction_id: (team, operation, use) => belongings.transaction_id!(team, operation, use),
  lab_test_id: (team) => team.test(),
  booking_key: (team, { path }) => (path.includes('/phlebotomy/') ? windowOf(team) : bookingKey(team)),
  reference: async (team, { id }) => {
    if (id === 'delete_phlebotomist') await createPhlebotomist(team, 'to-go')
    return id === 'delete_phlebotomist' ? 'to-go' : 'north-team'
  },
  sample_id: async (team, operation) =>
    operation.id === 'import_order' || operation.module === 'fulfillment'
      ? `FICTIONAL-${randomUUID()}`
      : ((await kit(team)).sample_id as string),
  lab_id: async (team) => String((await marker(team)).lab_id),
  lab: () => Promise.resolve('quest'),
  zip_code: () => Promise.resolve('85004'),
  provider_id: async (team) => (await marker(team)).provider_id as string,
  org_id: async (team, operation) => {
    if (['get_ehr_integration_configuration', 'create_dashboard_url'].includes(operation.id))
      ok(await team.manage.put('/ehr_integration/configuration', { ...bodies[PUT_EMBEDDING], slug: `clinic-${team.org_id}` }))
    return team.org_id
  },
  physician_id: (team) =>
    createThing(team, `/team/${team.team}/sandbox/physician`, {
      ...bodies.add_team_service_physician,
      npi: randomUUID().slice(0, 18),
    }),
  import_id: importOf,
  offset: () => Promise.resolve(String(FIRST_PART.length)),
  provider: (_team, { id, path }) =>
    Promise.resolve(
      id.includes('provider_notification')
        ? 'oura'
        : path.includes('/password/')
          ? 'peloton'
          : path.includes('/email/')
            ? 'freestyle_libre'
            : PROVIDER,
    ),
  oauth_provider: async (team) => {
    const application = { team_id: team.team, provider: 'strava', client_id: 'fictional', client_secret: 'fictional' }
    ok(await team.manage.post('/team_custom_credentials/sandbox/us', application))
    return application.provider
  },
  cell: () => Promise.resolve('sandbox-us'),
  verification_token: (team) => Promise.resolve(verifyToken({ vault }, 'sandbox-us', team.team, 'oura')),
  challenge: () => Promise.resolve('fictional'),
  resource: () => Promise.resolve('heartrate'),
  start_date: () => Promise.resolve('2026-01-01'),
  insurance_name: () => Promise.resolve('Aetna'),
  diagnosis_query: () => Promise.resolve('diabetes'),
  slug: () => Promise.resolve(`clinic-${randomUUID()}`),
  domain: () => Promise.resolve(`clinic-${randomUUID()}.example.com`),
  domain_id: async (team, _operation, use) =>
    thing(team, use, 'domain', () => createThing(team, '/domain', { domain: `clinic-${randomUUID()}.example.com` })),
  team_id: async (team, operation) => {
    if (operation.id.includes('provider_notification')) {
      const application = { team_id: team.team, provider: 'oura', client_id: 'fictional', client_secret: NOTICE_SECRET }
      ok(await team.manage.post('/team_custom_credentials/sandbox/us', application))
    }
    if (operation.id === 'delete_team_in_org') return createThing(team, '/team', { name: 'To go', region: 'us' })
    const maker = operations.find(({ id }) => id === standing[operation.id])
    if (maker) ok(await send(team, maker, await valid(team, maker)))
    return team.team
  },
  env: () => Promise.resolve('sandbox'),
  environment: () => Promise.resolve('sandbox'),
  region: () => Promise.resolve('us'),
  session_id: (team) => furtherSession(team),
  passkey_id: (team) => passkeyOf(team),
  key_id: (team, operation) =>
    operation.id === 'rotate_management_key'
      ? ownKey(team)
      : createThing(team, '/management_key', { label: 'To go', team_id: team.team }),
  api_key_id: (team) => createThing(team, '/team_api_keys/sandbox/us', { label: 'To go', team_id: team.team }),
  credential_id: (team) =>
    createThing(team, '/team_custom_credentials/sandbox/us', {
      team_id: team.team,
      provider: 'oura',
      client_secret: 'fictional',
    }),
  webhook_id: async (team, operation, use) =>
    'message_id' in propertiesOf(operation.params)
      ? (await messageOf(team)).webhook_id
      : thing(team, use, 'endpoint', () => endpoint(team)),
  message_id: async (team, operation, use) =>
    operation.path.includes('/lab_message/') ? labMessageFor(team, operation, use) : (await messageOf(team)).message_id,
  issue_id: (team, operation, use) => labMessageFor(team, operation, use),
  event_id: async (team, operation, use) => {
    const order = await orderFor(team, operation, use)
    return ok(await team.api.get(`/v1/events?object_id=${String(order.id)}`)).body.data[0].id
  },
  event_type: () => Promise.resolve(EVENT_TYPE),
  collection_date: () => Promise.resolve('2030-01-02T09:30:00Z'),
  ehr_type: () => Promise.resolve('fhir'),
  integration_member_id: async (team, operation) => {
    const reference = randomUUID()
    if (operation.id !== CREATE_MEMBER) await embeddedMember(team, reference)
    return reference
  },
  member_id: async (team, operation) => {
    if (operation.path.includes('/ehr_integration/')) return embeddedMember(team, randomUUID())
    const token = await createInvite(team, { role: 'no_role' })
    return ok(await team.api.post('/v1/invite/accept', { token, name: 'Testa Fictional' })).body.id
  },
  invite_id: async (team) => {
    const token = await createInvite(team)
    const { rows } = await cells.control.pool.query<{ id: string }>('select id from invite where token_hash = $1', [
      hashKey(token),
    ])
    return rows[0]!.id
  },
  token: (team, { id }) => (id === 'validate_link_token' ? linkTokenOf(team) : createInvite(team)),
  link_token: (team) => linkTokenOf(team),
  code: linkCodeOf,
  grant_type: () => Promise.resolve('sign_in_token'),
  device_id: (team, _operation, use) => thing(team, use, 'device', () => deviceOf(team)),
  workout_id: (team, _operation, use) => thing(team, use, 'workout', () => createSummary(team, 'workouts')),
  sleep_id: (team, _operation, use) => thing(team, use, 'night', () => createSummary(team, 'sleep')),
  subject_token: async (team) => createSignInToken(team, await patientOf(team)),
  refresh_token: async (team) => (await signIn(team, await patientOf(team))).refresh_token,
  account_id: (team, { id, path }) =>
    id === 'upsert_lab_account'
      ? Promise.resolve(randomUUID())
      : id === 'start_lab_link_trial'
        ? createTriableLink(team)
        : path.includes('/lab_link/')
          ? linkedAccountOf(team)
          : accountOf(team),
  lab_account_id: async (team) => {
    const id = await accountOf(team)
    ok(await team.manage.patch(`/lab_account/sandbox/us/${id}`, { team_id_allowlist: [team.team] }))
    return id
  },
  team_id_allowlist: (team) => Promise.resolve(team.team),
  integration_team_id: async (team) => {
    ok(await team.manage.patch(`/team/${team.team}`, { integration_team_id: team.team }))
    return team.team
  },
}

/** The key that the tests ask with. A key rotates itself, and its text would stop working the second time: it gets it back. */
async function ownKey({ org_id, orgKey }: TestTeam): Promise<string> {
  const { rows } = await cells.control.pool.query<{ id: string }>(
    `update management_key set key_hash = $2, previous_hash = null where org_id = $1 and role = 'org_admin' returning id`,
    [org_id, hashKey(orgKey)],
  )
  return rows[0]!.id
}

/** Operations on tokens of a user, which change nothing else of the user. */
const signedIn = new Set(['get_user_sign_in_token', 'revoke_app_api_key'])

/** Operations on what is known of a user. */
const describedUsers = new Set(['get_user_demographics', 'create_insurance', 'get_latest_insurance', 'create_user_portal_url'])

async function describedUser(team: TestTeam, insured: boolean): Promise<string> {
  const user = await team.user()
  ok(await team.api.patch(`/v2/user/${user}/info`, bodies.create_user_demographics))
  if (insured) ok(await team.api.post(`/v2/user/${user}/insurance`, bodies.create_insurance))
  return user
}

/** The token of an invite of the organization, from its mail. */
export async function createInvite(team: TestTeam, body: Json = {}): Promise<string> {
  const email = `testa-${randomUUID()}@example.com`
  ok(await team.manage.post('/invite', { email, ...body }))
  const { rows } = await cells.control.pool.query<{ body: string }>(
    'select body from mail where recipient = $1 order by id desc limit 1',
    [body.email ?? email],
  )
  return /inv_[\w-]+/.exec(rows[0]!.body)![0]
}

/** What makes a team, a key, an endpoint or a member, and answers with its id. */
const createThing = async (team: TestTeam, path: string, body: Json): Promise<string> =>
  ok(await team.manage.post(path, body)).body.id

const PUT_EMBEDDING = 'upsert_ehr_integration_configuration'
const CREATE_MEMBER = 'create_integration_managed_member'
const embeddedMember = (team: TestTeam, integration_member_id: string): Promise<string> =>
  createThing(team, '/ehr_integration/member', { ...bodies[CREATE_MEMBER], integration_member_id })

const PROVIDER = 'apple_health_kit'
const NOTICE_SECRET = 'fictional-secret'

/** A notice of Oura about nobody, as Oura signs it. */
function notice(): Pick<Request, 'body' | 'headers'> {
  const body = '{"event_type":"update","data_type":"sleep","object_id":"fictional","user_id":"nobody"}'
  const time = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', NOTICE_SECRET).update(`${time}${body}`).digest('hex').toUpperCase()
  return { body, headers: { 'x-oura-timestamp': time, 'x-oura-signature': signature } }
}

async function profiledUser(team: TestTeam): Promise<string> {
  const user_id = await patientOf(team)
  ok(await team.api.post(`/v2/summary/profile/${user_id}`, bodies.post_profile))
  return user_id
}

/** A workout or a night of the team's patient. */
async function createSummary(team: TestTeam, kind: 'workouts' | 'sleep'): Promise<string> {
  const user_id = await patientOf(team)
  ok(await team.api.post(`/v2/summary/${kind}/${user_id}`, bodies[`post_${kind}`]))
  return ok(await team.api.get(`/v2/summary/${kind}/${user_id}?start_date=2026-01-01`)).body[kind][0].id
}

/** A device that recorded data of the team's patient. */
async function deviceOf(team: TestTeam): Promise<string> {
  const user_id = await patientOf(team)
  ok(await team.api.post(`/v2/timeseries/${user_id}/heartrate`, bodies.post_timeseries))
  return ok(await team.api.get(`/v2/user/${user_id}/device`)).body[0].id
}

/** The patient of a team that has an application at a provider. */
async function applicant(team: TestTeam): Promise<string> {
  // It has no notifications to subscribe to: no job asks the vendor.
  const application = { team_id: team.team, provider: 'dexcom_v3', client_id: 'fictional', client_secret: 'fictional' }
  ok(await team.manage.post('/team_custom_credentials/sandbox/us', application))
  return patientOf(team)
}

async function connectedUser(team: TestTeam): Promise<string> {
  const user_id = await team.user()
  ok(await team.api.post(`/v2/link/provider/manual/${PROVIDER}`, { user_id }))
  return user_id
}

const EVENT_TYPE = 'labtest.order.created'
const endpoint = (team: TestTeam): Promise<string> =>
  createThing(team, `/team/${team.team}/sandbox/webhook`, bodies.create_webhook!)

const continuousQuery = (team: TestTeam, use: Use): Promise<string> =>
  thing(team, use, 'continuous query', () => {
    const query = { ...bodies.create_continuous_query, slug: `query-${randomUUID()}` }
    return createThing(team, `/team/${team.team}/sandbox/continuous_query`, query)
  })

/** A message over a link that an operation can work on: one to the laboratory, for replays and issues one that failed. */
function labMessageFor(team: TestTeam, { id }: Operation, use: Use): Promise<string> {
  return thing(team, use, `message over a link for ${id}`, async () => {
    const account = await accountOf(team)
    await team.db.plainTx((tx) => saveLink(tx, account, profile))
    if (id === 'finish_lab_link_issue' || id === 'replay_lab_message')
      return (await receiveBytes(team, account, Buffer.from(randomUUID()))).message_id
    const { id: order_id } = await walkIn(team, false)
    const message = { link_account_id: account, order_id: order_id as string, control_id: randomUUID(), message_type: 'OML^O21' }
    return team.db.tx(team.tenant, (tx) => Promise.resolve(queueOutgoing(tx, { ...message, bytes: Buffer.from('MSH|^~\\&|') })))
  })
}

/** A message about an order that the laboratory has refused. */
async function refuseMessage(team: TestTeam, operation: Operation): Promise<void> {
  const id = await labMessageFor(team, operation, 'read')
  const refusal = { state: 'refused', isAwaited: false, answer: Buffer.from('MSH|^~\\&|'), error: 'Refused' } as const
  await team.db.tx(team.tenant, (tx) => Promise.resolve(saveAnswer(tx, { id, team_id: team.team }, refusal)))
}

const messages = new WeakMap<TestTeam, Promise<{ webhook_id: string; message_id: string }>>()
/** A message to an endpoint of the team: the two go together. */
function messageOf(team: TestTeam): Promise<{ webhook_id: string; message_id: string }> {
  const send = async () => {
    const webhook_id = await endpoint(team)
    const message_id = await createThing(team, `/team/${team.team}/sandbox/webhook/${webhook_id}/test`, {
      event_type: EVENT_TYPE,
    })
    return { webhook_id, message_id }
  }
  const message = messages.get(team) ?? send()
  messages.set(team, message)
  return message
}

const accounts = new WeakMap<TestTeam, Promise<string>>()
/** The lab account of a team's organization: one, since a team that is linked to several has to choose. */
function accountOf(team: TestTeam): Promise<string> {
  const account = accounts.get(team) ?? labAccount(team, { team_ids: [] })
  accounts.set(team, account)
  return account
}

const linkedAccounts = new WeakMap<TestTeam, Promise<string>>()
/** The same account, with a link that is off. */
function linkedAccountOf(team: TestTeam): Promise<string> {
  const create = async () => {
    const account = await accountOf(team)
    await team.db.plainTx((tx) => saveLink(tx, account, profile))
    ok(await team.manage.patch(`/lab_account/sandbox/us/${account}`, { team_id_allowlist: [team.team] }))
    return account
  }
  const account = linkedAccounts.get(team) ?? create()
  linkedAccounts.set(team, account)
  return account
}

/** A new account with a link in mode test, whose orders would go to a folder. No team may order under it. */
async function createTriableLink(team: TestTeam): Promise<string> {
  const account = await labAccount(team, { lab: 'quest', provider_account_id: `FICTIONAL-${randomUUID()}`, team_ids: [] })
  await team.db.plainTx(async (tx) => {
    await saveLink(tx, account, { ...profile, transport: { orders: 'folder' } })
    await setLinkMode(tx, account, 'test')
  })
  return account
}

/** Ids of what no team can have yet. */
const nobodys = new Set(['creator_member_id'])
/** Names that in the body of an operation mean something else than elsewhere: the number of a member of an insurance. */
const otherwise: Record<string, string> = { create_insurance: 'member_id' }
/** Names of what is not a team's own: the catalog is everybody's. */
const everybodys = new Set([
  'cell',
  'page',
  'verification_token',
  'challenge',
  'lab',
  'cancellation_reason_id',
  'cancellationReasonId',
  'collection_date',
  'grant_type',
  'lab_id',
  'provider',
  'resource',
  'start_date',
  'provider_id',
  'marker_id',
  'oauth_provider',
  'question_id',
  'zip_code',
  'insurance_name',
  'diagnosis_query',
  'offset',
])

const bodies = Object.fromEntries(operations.map((operation) => [operation.id, operation.example])) as Record<string, Json>

const FIRST_PART = Buffer.alloc(256 * 1024, ' ')
const imports = new WeakMap<TestTeam, string>()

/** An import of the patient of a team whose file has one part so far: a team may have only so many. */
async function importOf(team: TestTeam): Promise<string> {
  const path = `/v2/user/${await patientOf(team)}/file_import`
  const known = imports.get(team)
  const shown = known === undefined ? undefined : await team.api.get(`${path}/${known}`)
  if (known !== undefined && shown!.body.received_bytes === FIRST_PART.length) return known
  const { id } = ok(await team.api.post(`${path}?is_last=false`, FIRST_PART)).body
  imports.set(team, id as string)
  return id as string
}

const patients = new WeakMap<TestTeam, Promise<string>>()
/** A link token of a user, which any number of operations may use until it links a source. */
export async function linkTokenOf(team: TestTeam): Promise<string> {
  return ok(await team.api.post('/v2/link/token', { user_id: await patientOf(team) })).body.link_token as string
}

async function linkCodeOf(team: TestTeam): Promise<string> {
  return ok(await team.api.post(`/v2/link/code/create?user_id=${await patientOf(team)}`)).body.code as string
}

const linkTokens = new WeakMap<TestTeam, Promise<string>>()
/** The header of an operation that takes a link token; what asks without a team goes without one. */
async function linkHeader(caller: Caller, method: string, path: string): Promise<Record<string, string>> {
  const [plain = ''] = path.replace(/\/\/+/g, '/').split('?')
  if (typeof caller !== 'object' || !linking.some((link) => link.method === method && link.path.test(plain))) return {}
  const token = linkTokens.get(caller) ?? linkTokenOf(caller)
  linkTokens.set(caller, token)
  return { 'x-vital-link-token': await token }
}
const linking = operations
  .filter(({ auth }) => auth === 'link')
  .map(({ method, path }) => ({ method, path: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}/?$`) }))

/** The user that a team orders for: one, since a sandbox has room for few. */
export function patientOf(team: TestTeam): Promise<string> {
  const patient = patients.get(team) ?? team.user()
  patients.set(team, patient)
  return patient
}

async function placeOrder(team: TestTeam, fields: Json): Promise<Json> {
  const body = { ...bodies.create_order, user_id: await patientOf(team), lab_test_id: await team.test(), ...fields }
  return ok(await team.api.post('/v3/order', body)).body.order
}

/** An order of a collection method that the laboratory has taken. */
async function atStep(team: TestTeam, method: string, fields: Json = {}): Promise<Json> {
  const order = await placeOrder(team, { lab_test_id: await team.test(method), ...fields })
  ok(await team.api.post(`/v3/order/${String(order.id)}/test?final_status=received.${method}.requisition_created`))
  await team.settle()
  return order
}

const visitedOrders = new WeakMap<TestTeam, string>()
/**
 * An order whose patient is visited: with the visit that an operation changes, without one where it makes one. The patient has one at a
 * time, so that the one before is cancelled.
 */
async function atHomeOrder(team: TestTeam, { id: operation }: Operation): Promise<Json> {
  const before = visitedOrders.get(team)
  if (before) await team.api.post(`/v3/order/${before}/cancel`)
  const isAsked = ['request_phlebotomy_appointment', 'set_visit_date'].includes(operation)
  const order = await atStep(team, 'at_home_phlebotomy', { patient_address: isAsked ? avenue : street })
  visitedOrders.set(team, order.id as string)
  const visit = visitCalls(team, order.id as string)
  if (operation === 'set_visit_date') ok(await visit.request({ address: usAddress(avenue) }))
  else if (!/^(book|request)_/.test(operation)) ok(await visit.book(await windowOf(team)))
  return order
}

/** The key of a window in which the team's patients can be visited. */
async function windowOf(team: TestTeam): Promise<string> {
  return (await slots(team)).at(-1)!.booking_key!
}

/** A free time at a service center. */
async function bookingKey(team: TestTeam): Promise<string> {
  const { slots } = ok(await team.api.post('/v3/order/psc/appointment/availability?lab=quest&zip_code=85004'))
    .body as AvailableSlots
  return slots.find((day) => day.slots.length)!.slots[0]!.booking_key!
}

/** An order with a draw at a service center. */
async function walkIn(team: TestTeam, isBooked: boolean): Promise<Json> {
  const order = await atStep(team, 'walk_in_test')
  if (isBooked)
    ok(await team.api.post(`/v3/order/${String(order.id)}/psc/appointment/book`, { booking_key: await bookingKey(team) }))
  return order
}

async function kit(team: TestTeam, lab_test_id?: string): Promise<Json> {
  const body = { ...bodies.create_testkit_order, user_id: await patientOf(team), lab_test_id: lab_test_id ?? (await team.test()) }
  return ok(await team.api.post('/v3/order/testkit', body)).body.order
}

/** Steps of manual fulfillment before an operation: the collection method, and operations with their examples. */
const prerequisites: Record<string, [method: string, ...operations: (string | [id: string, body: Json])[]]> = {
  replace_order: ['testkit'],
  record_order_tracking: ['testkit', 'accept_order'],
  record_order_scan: ['testkit', 'accept_order', 'record_order_tracking'],
  report_order_kit_lost: ['testkit', 'accept_order', 'record_order_tracking', 'record_order_scan'],
  stop_order_processing: ['testkit', 'accept_order', 'record_order_tracking', 'record_order_scan'],
  record_order_visit: ['at_home_phlebotomy', 'accept_order'],
  record_order_draw: ['on_site_collection', 'accept_order'],
  reject_order_sample: ['on_site_collection', 'accept_order', 'record_order_draw'],
  block_order_processing: [
    'testkit',
    'accept_order',
    'record_order_tracking',
    ['record_order_scan', { direction: 'outbound', event: 'delivered' }],
    ['record_order_scan', { direction: 'inbound', event: 'delivered' }],
  ],
  enter_order_result: ['walk_in_test', 'accept_order'],
  upload_order_result_pdf: ['walk_in_test', 'accept_order'],
  get_order_abn: ['walk_in_test', ['accept_order', { has_abn: true }]],
}

/** The team's test of a method at the laboratory whose orders people work through. */
const testByHand = (team: TestTeam, method: string): Promise<string> =>
  thing(team, 'read', `test by hand of ${method}`, async () => {
    const test = { ...bodies.create_lab_test_for_team, method, lab_slug: 'manual', provider_ids: ['MAN-A1C'] }
    return ok(await team.api.post('/v3/lab_tests', test)).body.id as string
  })

/** An order at that laboratory, as far as the operation needs it. */
async function byHand(team: TestTeam, operation: string): Promise<Json> {
  const [method, ...before] = prerequisites[operation] ?? ['walk_in_test']
  const kitFirst = operation === 'assign_order_kit'
  const lab_test_id = await testByHand(team, kitFirst ? 'testkit' : method)
  const order = kitFirst ? await kit(team, lab_test_id) : await placeOrder(team, { lab_test_id })
  const path = { org_id: team.org_id, team_id: team.team, environment: 'sandbox', order_id: order.id as string }
  for (const step of before) {
    const [id, body] = typeof step === 'string' ? [step, { ...bodies[step] }] : step
    if ('sample_id' in body) body.sample_id = `FICTIONAL-${randomUUID()}`
    ok(
      await send(
        team,
        operations.find((operation) => operation.id === id)!,
        { path, query: {}, body },
      ),
    )
  }
  return order
}

/** A registered kit that has come back from the laboratory. */
async function createReportedOrder(team: TestTeam): Promise<Json> {
  const order = await kit(team)
  ok(await team.api.post('/v3/order/testkit/register', { ...bodies.register_testkit_order, sample_id: order.sample_id }))
  ok(await team.api.post(`/v3/order/${String(order.id)}/test`))
  await team.settle()
  return order
}

/** A document of the laboratory with the result of an order. */
async function saveDocument(team: TestTeam, { id }: Json): Promise<string> {
  const document = {
    report_number: 'F-1',
    test_code: '100',
    code: 'DOC',
    name: 'Report',
    bytes: Buffer.from('%PDF-1.4 fictional'),
  }
  const [saved] = await team.db.tx(team.tenant, (tx) => saveDocuments(tx, id as string, [document]))
  return saved!
}

const marker = async (team: TestTeam): Promise<Json> => ok(await team.api.get('/v3/lab_tests/markers?size=1')).body.markers[0]

function ok(reply: Reply): Reply {
  if (reply.status >= 300) throw new Error(`an arrangement was HTTP ${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply
}

/**
 * Results of orders are sent to a team's server, and that of the example cannot be reached. Each team has one of its own: a server that is
 * opened while this module is loaded is closed with the first file of the process that loads it.
 */
async function reachableEhr() {
  const { url, token } = await fhirServer()
  return { base_url: `${url}/fhir`, authentication: { type: 'api_key', api_key: token } }
}

/** A request of the team that the operation answers with success. */
export async function valid(team: TestTeam, operation: Operation): Promise<Request> {
  const request: Request = { path: {}, query: {}, body: await substituteIds(team, operation, operation.example) }
  for (const name in propertiesOf(operation.params)) request.path[name] = await belonging(team, operation, name)
  const required = (operation.query as { required?: string[] } | undefined)?.required ?? []
  for (const name of [...required, ...(queryFor[operation.id] ?? [])])
    request.query[name] = await belonging(team, operation, name)
  if (operation.id === 'sign_in_to_demo') await createDemoMember(team)
  if (operation.id === 'list_unplaced_lab_link_orders')
    request.path.account_id = (await refusedOrderOf(team)).lab_account_id as string
  if (operation.id === 'list_lab_messages') await labMessageFor(team, operation, 'read')
  if (operation.id === 'list_lab_link_issues') await refuseMessage(team, operation)
  if (operation.id === 'sign_in_with_password') request.body = await passwordSignIn(team)
  if (operation.id === 'sign_in_with_passkey') return { ...request, ...(await passkeySignInRequest(team)) }
  if (operation.id === 'add_passkey') return { ...request, ...(await newPasskeyRequest(team)) }
  if (operation.id === 'upsert_team_ehr_pipelines') request.body = { ...(request.body as object), ...(await reachableEhr()) }
  if (operation.id === 'create_lab_report_parser_job') return { ...request, ...reportForm(await patientOf(team)) }
  return operation.id === 'receive_provider_notification' ? { ...request, ...notice() } : request
}

/** A form with a lab report of a user. */
function reportForm(user_id: string): Pick<Request, 'body' | 'headers'> {
  const { body, type } = exampleReport(user_id)
  return { body: body.toString(), headers: { 'content-type': type } }
}

const reports = new WeakMap<TestTeam, Promise<string>>()
async function uploadedReport(team: TestTeam): Promise<string> {
  const { body, headers } = reportForm(await patientOf(team))
  return ok(await team.api.post('/lab_report/v1/parser/job', body, headers)).body.id as string
}
const reportOf = (team: TestTeam): Promise<string> => {
  const known = reports.get(team) ?? uploadedReport(team)
  reports.set(team, known)
  return known
}

/** Where an organization or a team stands in the path, so that a key gets as far as the body. */
const ownIds = (team: TestTeam): Record<string, string> => ({ org_id: team.org_id, team_id: team.team })

/** A valid request with unknown ids; with the organization and team of `team`, if given. */
export function unknownIds(operation: Operation, team?: TestTeam): Request {
  const path = Object.entries(propertiesOf(operation.params)).map(([name, { type, format, enum: allowed }]) => [
    name,
    (team && operation.auth === 'management' && ownIds(team)[name]) ||
      (allowed as string[] | undefined)?.[0] ||
      (name === 'event_type' && EVENT_TYPE) ||
      (format === 'uuid' ? randomUUID() : type === 'integer' ? '1' : 'nobody'),
  ])
  const form = operation.id === 'create_lab_report_parser_job' ? reportForm(randomUUID()) : { body: operation.example }
  return { path: Object.fromEntries(path) as Record<string, string>, query: {}, ...form }
}

const singular = (name: string): string => name.replace(/_ids$/, '_id')

/** Whether what a request names so has to be made first. The catalog is there. */
export const isOwnedByTeam = (name: string): boolean =>
  Object.hasOwn(belongings, singular(name)) && !everybodys.has(singular(name))

/** What the team has under a name, as `operation` needs it. @param use `read` where the operation will refuse the request as well */
export function belonging(team: TestTeam, operation: Operation, name: string, use = useOf(operation)): Promise<string> {
  const make = belongings[singular(name)]
  if (!make)
    throw new Error(`${operation.id} asks for ${name}: say in test/contract/operations/requests.ts where a team has one from`)
  return make(team, operation, use)
}

async function substituteIds(team: TestTeam, operation: Operation, value: unknown, name = ''): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => substituteIds(team, operation, item, name)))
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      async ([key, item]) => [key, await substituteIds(team, operation, item, key)] as const,
    )
    return Object.fromEntries(await Promise.all(entries))
  }
  if (name === 'client_user_id' || name === 'slug') return randomUUID()
  // A team has one payor of a name and of a code.
  if (operation.id === 'create_payor' && (name === 'name' || name === 'provider_payor_id'))
    return `${String(value)} ${randomUUID().slice(0, 8)}`
  if (otherwise[operation.id] === name) return value
  return Object.hasOwn(belongings, singular(name)) && !everybodys.has(singular(name)) ? belonging(team, operation, name) : value
}

/** Where a request names something that belongs to a team. */
export interface Place {
  part: keyof Request
  path: string[]
  name: string
  list: boolean
  /** Of a place in the query: the parameters that have to be there, too. */
  requiredNames: string[]
}

/** Every such place of an operation, whether its example uses it or not. */
export function places(operation: Operation): Place[] {
  return [
    ...placesIn('path', operation.params, []),
    ...placesIn('query', operation.query, []).map((place) => ({
      ...place,
      requiredNames: (operation.query as { required?: string[] }).required ?? [],
    })),
    // A reference that a body has is one that the request gives, not one that it looks for.
    ...placesIn('body', operation.body, []).filter(({ name }) => name !== 'client_user_id' && name !== otherwise[operation.id]),
  ]
}

function placesIn(part: keyof Request, schema: unknown, parentPath: string[]): Place[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    const path = [...parentPath, name]
    const shape = ((property.anyOf as Json[] | undefined)?.[0] ?? property) as Json
    if (shape.properties) return placesIn(part, shape, path)
    const list = shape.type === 'array'
    const known = Object.hasOwn(belongings, singular(name)) && !everybodys.has(singular(name))
    const { format } = (list ? shape.items : shape) as Json
    if (!known && format === 'uuid' && !nobodys.has(name) && !everybodys.has(name))
      throw new Error(`${part} ${path.join('.')} is an id: say in test/contract/operations/requests.ts where a team has one from`)
    return known ? [{ part, path, name, list, requiredNames: [] }] : []
  })
}

/** The request with `value` at a place. Of the query only what is required is kept. */
export function withValue(request: Request, { part, path, list, requiredNames }: Place, value: string): Request {
  const required = Object.fromEntries(Object.entries(request.query).filter(([name]) => requiredNames.includes(name)))
  const copy = structuredClone({ ...request, ...(part === 'query' && { query: required }) })
  let holder = copy[part] as Json
  for (const name of path.slice(0, -1)) holder = (holder[name] ??= {}) as Json
  holder[path.at(-1)!] = list ? [value] : value
  return copy
}

const percent = (text: string): string => encodeURIComponent(text.toWellFormed())

/** The path and query of a request. A rest parameter goes out as it is, like any other segment. */
export function target(path: string, request: Request): string {
  const filled = path.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) => percent(request.path[name] ?? '-'))
  const pairs = Object.entries(request.query).flatMap(([name, value]) =>
    [value].flat().map((item) => `${percent(name)}=${percent(item)}`),
  )
  return pairs.length ? `${filled}?${pairs.join('&')}` : filled
}

/** Who asks: a team with the key that the path wants, or a key. */
export type Caller = TestTeam | string | undefined

const isOfConsole = (path: string): boolean => /^\/*console\/+api(\/|$)/.test(path)
const findKey = (caller: Caller, path: string, manages: boolean): string | undefined => {
  if (isOfConsole(path)) return undefined
  return typeof caller === 'object' ? (manages ? caller.orgKey : caller.key) : caller
}
const isManagement = (path: string): boolean => /^\/*v1\/+org(\/|$)/.test(path)

/** The idempotency key of a request, where one cannot be left out. */
export const keyNeeded = ({ idempotency }: Operation, headers: Record<string, string> = {}): Record<string, string> => {
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === 'x-idempotency-key')
  return idempotency?.required && !isGiven ? { 'x-idempotency-key': randomUUID() } : {}
}

/** Send a request of an operation and hold the answer to what every answer promises. */
export async function send(
  caller: Caller,
  operation: Operation,
  request: Request,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return call(caller, operation.method, target(operation.path, request), request.body, {
    ...keyNeeded(operation, headers),
    ...request.headers,
    ...headers,
  })
}

export async function call(
  caller: Caller,
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<Reply> {
  const manages = isManagement(path)
  const key = findKey(caller, path, manages)
  const linked = await sessionHeader(caller, method, path)
  const reply = await client(key, manages ? 'x-management-key' : undefined).call(method, path, body, { ...linked, ...headers })
  const fault = invalidKey(reply)
  if (fault) throw new Error(`${method} ${path.slice(0, 200)} was HTTP ${reply.status}, ${fault}`)
  return reply
}

/** The headers of a session, for paths that need one. */
export function sessionHeader(caller: Caller, method: string, path: string): Promise<Record<string, string>> {
  const team = typeof caller === 'object' ? caller : undefined
  if (team && /^\/*console\/+api\/+launch\/*(\?|$)/.test(path))
    return thing(team, method === 'GET' ? 'read' : 'change', 'launched session', () => launchHeadersOf(team))
  return isOfConsole(path) ? consoleHeaders(team, method, path) : linkHeader(caller, method, path)
}

/** The headers of a new session that a launch URL has opened; of none for a team that was deleted. */
async function launchHeadersOf(team: TestTeam): Promise<Record<string, string>> {
  const { member } = await embedding(team)
  const { status, body } = await launch(team, createLaunchBody(team, member))
  return status === 404 ? CONSOLE_HEADERS : launchedHeaders((await getPage(body.url)).cookie!)
}

/** What is wrong with an answer, whatever the question was. */
function invalidKey({ status, body, headers }: Reply): string | undefined {
  if (status >= 500 && !isSwitchedOff({ status, body })) return `which is a fault of the server: ${JSON.stringify(body)}`
  // What is too long to be read never becomes a request.
  if (status !== 431 && !headers.get('x-request-id')) return 'without an id of the request'
  if (status < 400) return undefined
  if (Buffer.isBuffer(body)) return 'not in JSON'
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'not with an object'
  if (Object.keys(body).sort().join() === 'error,message,status_code') return undefined
  const { detail } = body
  if (typeof detail === 'string' && detail) return undefined
  if (Array.isArray(detail))
    return detail.length && detail.every(isFault) ? undefined : 'with a list of something else than faults'
  return typeof detail?.error_type === 'string' ? undefined : 'without detail'
}

/** The one refusal with a status of the server's, which clients of this interface know. */
const isSwitchedOff = ({ status, body }: Pick<Reply, 'status' | 'body'>): boolean =>
  status === 503 && isDeepStrictEqual(body, pscScheduling.refusal().body)

const isFault = ({ loc, msg, type }: Json): boolean => Array.isArray(loc) && typeof msg === 'string' && typeof type === 'string'
