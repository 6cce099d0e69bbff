// Secrets are shown once, to the caller that creates or may read them, and nowhere else. The test calls every operation that handles
// a secret on a server with all log lines on; then it searches its logs, responses, audit log, metrics and whole database.
import assert from 'node:assert/strict'
import { namesIn } from '../contract/operations/names.ts'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import { reportForm } from '../../src/lab-reports/parsing-jobs/example-report.ts'
import type { Operation } from '../../src/platform/http/operation.ts'
import { Vault } from '../../src/platform/crypto/vault.ts'
import { connectionOf, demoIn, stopAll, folder, onDatabase, outcome, serving, waitUntil } from '../support/program.ts'

const { operations, encryptedColumns } = contents

const closing: (() => void)[] = []
after(async () => {
  for (const close of closing) close()
  await stopAll()
})

/** Names of what is secret, or may be, in requests and answers. */
const SECRET =
  /^(key|secret|token|password|headers|authentication|client_secret|access_token|uri|connection_string)$|_(secret|token|key|password)$/
/** Named as if they were: which column of a query's groups; a time that is free, of use with the team's key only; the id of a user. */
const HARMLESS = new Set(['group_key', 'booking_key', 'user_key'])
/** Operations whose answer has a secret within something else, here an address. */
const alsoHandle = new Set(['create_dashboard_url'])
/** Operations that only a provider can call with success: it alone knows the token. */
const ofProviders = new Set(['confirm_provider_notifications'])
/** Where else a secret stands, and why. */
const kept: Record<string, string> = {
  'control.mail.body':
    'the mail itself, which waits to be sent; its token is worthless once the invite is used, repeated or revoked',
}

const handles = ({ id, body, reply, query }: Operation): boolean =>
  alsoHandle.has(id) || [body, reply, query].some((schema) => namesIn(schema).some(isSecret))
const isSecret = (name: string): boolean => SECRET.test(name) && !HARMLESS.has(name)

interface Exchange {
  operation: string
  status: number
  text: string
}

interface Secret {
  subject: string
  text: string
  /** The operations whose answers may have it. */
  shownBy: string[]
}

/** The ways in which a text could have been recorded. */
function forms(secret: string): string[] {
  const core = secret.replace(/^(mg_|sk_us_|whsec_|inv_|at_|dl_|ds_|Basic )/, '')
  const bytes = Buffer.from(core)
  return [core, bytes.toString('hex'), bytes.toString('base64').slice(0, -4), encodeURIComponent(core)]
}

test('a secret appears only in the responses that may show it', { timeout: 120_000 }, async (t) => {
  const receiver = createServer((request, response) => response.end(JSON.stringify(request.headers)))
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    receiver.closeAllConnections()
    receiver.close()
  })
  const dataDir = folder('secrecy')
  const server = await serving(dataDir, { CELLS: 'sandbox-us', LOG_LEVEL: 'trace', DRAWBRIDGE_CHECK: 'on' })
  const { org_id, management_key, teams, api_keys } = demoIn(dataDir)
  const exchanges: Exchange[] = []
  const secrets: Secret[] = []
  const hide = (subject: string, text: string, ...shownBy: string[]): string => {
    assert(text.length >= 20, `${subject} is too short to be looked for`)
    secrets.push({ subject, text, shownBy })
    return text
  }
  hide('the key of the organization', management_key)
  hide('the key of the demo', api_keys['sandbox-us']!)

  const places: Record<string, string> = { org_id, team_id: teams.us!, environment: 'sandbox', env: 'sandbox', region: 'us' }
  const link = { token: '' }
  /** Asks for an operation by its id; what is not given of the path is the demo's. */
  async function ask(
    id: string,
    overrides: { path?: Record<string, string>; query?: string; body?: unknown; headers?: Record<string, string> } = {},
  ) {
    const operation = operations.find((operation) => operation.id === id)!
    const path = operation.path.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) =>
      encodeURIComponent(overrides.path?.[name] ?? places[name] ?? 'x'),
    )
    const key = {
      management: { 'x-management-key': management_key },
      team: { 'x-service-api-key': api_keys['sandbox-us']! },
      link: { 'x-vital-link-token': link.token },
      session: {},
      none: {},
    }
    const response = await fetch(`${server.url}${path}${overrides.query ?? ''}`, {
      method: operation.method,
      headers: {
        ...key[operation.auth],
        ...(overrides.body !== undefined && { 'content-type': 'application/json' }),
        ...overrides.headers,
      } as Record<string, string>,
      ...(overrides.body !== undefined && {
        body: typeof overrides.body === 'string' ? overrides.body : JSON.stringify(overrides.body),
      }),
      signal: AbortSignal.timeout(30_000),
    })
    const text = await response.text()
    exchanges.push({ operation: id, status: response.status, text: `${text}\n${JSON.stringify([...response.headers])}` })
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, body: (isJson ? JSON.parse(text) : undefined) as never as Record<string, string> }
  }
  const asked = async (status: number, ...question: Parameters<typeof ask>) => {
    const reply = await ask(...question)
    assert.equal(reply.status, status, `${question[0]} HTTP ${reply.status}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }

  // Keys. What is repeated under an idempotency key is refused, since the first answer was not kept.
  const bound = { label: 'bound', role: 'team_admin', team_role_bindings: [{ team_id: teams.us }] }
  const once = { headers: { 'x-idempotency-key': 'the-same' } }
  const managementKey = await asked(200, 'create_management_key', { body: bound, ...once })
  hide('a management key', managementKey.key!, 'create_management_key')
  await asked(409, 'create_management_key', { body: bound, ...once })
  await asked(200, 'patch_management_key', { path: { key_id: managementKey.id! }, body: { label: 'Another' } })
  const ownKey = (await asked(200, 'list_management_key', { query: '?role=org_admin' })) as never as { data: { id: string }[] }
  const rotation = { path: { key_id: ownKey.data[0]!.id }, ...once }
  const rotatedKey = await asked(200, 'rotate_management_key', rotation)
  hide('a rotated management key', rotatedKey.key!, 'rotate_management_key')
  await asked(409, 'rotate_management_key', rotation)
  const teamKey = await asked(200, 'create_team_api_key', { body: { label: 'x', team_id: teams.us }, ...once })
  hide('a team key', teamKey.value!, 'create_team_api_key')
  await asked(409, 'create_team_api_key', { body: { label: 'x', team_id: teams.us }, ...once })
  await asked(200, 'get_teams_users', { headers: { 'x-service-api-key': teamKey.value! } })

  // Access tokens.
  for (const id of ['create_team_api_access_token', 'create_team_access_token']) {
    const { access_token } = await asked(200, id, { body: { env: 'sandbox' } })
    hide(`a token of ${id}`, access_token!, id)
    await asked(200, 'get_teams_users', { headers: { authorization: `Bearer ${access_token}`, 'x-service-api-key': '' } })
    await asked(401, 'get_teams_users', { headers: { authorization: `Bearer ${access_token}x`, 'x-service-api-key': '' } })
  }

  // Tokens of phones.
  const { user_id } = await asked(200, 'create_user', { body: { client_user_id: 'a-phone' } })
  const atUser = { path: { user_id: user_id! } }
  const { sign_in_token } = await asked(200, 'get_user_sign_in_token', atUser)
  hide('a sign-in token', sign_in_token!, 'get_user_sign_in_token')
  const { user_token } = JSON.parse(Buffer.from(sign_in_token!, 'base64').toString()) as { user_token: string }
  hide('what is in a sign-in token', user_token)
  const exchanged = { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', subject_token: user_token }
  let phone = await asked(200, 'exchange_token', {
    body: { ...exchanged, subject_token_type: 'urn:junction:sign-in-token' },
  })
  for (let i = 0; i < 2; i++) {
    hide(`access token ${i} of a phone`, phone.access_token!, 'exchange_token')
    const used = hide(`refresh token ${i} of a phone`, phone.refresh_token!, 'exchange_token')
    const bearer = { authorization: `Bearer ${phone.access_token}`, 'x-service-api-key': '' }
    await asked(200, 'get_user', { ...atUser, headers: bearer })
    await asked(403, 'get_teams_users', { headers: bearer })
    await asked(401, 'exchange_token', { body: { grant_type: 'refresh_token', refresh_token: `${used}x` } })
    phone = await asked(200, 'exchange_token', { body: { grant_type: 'refresh_token', refresh_token: used } })
  }
  await asked(200, 'revoke_app_api_key', atUser)
  await asked(401, 'exchange_token', { body: { grant_type: 'refresh_token', refresh_token: phone.refresh_token } })

  // Tokens and codes by which patients link providers, and the passwords that nothing keeps.
  const linking = await asked(200, 'generate_link_token', { body: { user_id, redirect_url: 'https://app.example/linked' } })
  link.token = hide('a link token', linking.link_token!, 'generate_link_token')
  await asked(200, 'validate_link_token', { body: { token: link.token } })
  await asked(200, 'start_link', { body: { link_token: link.token, provider: 'zwift' } })
  const patientPassword = hide('a password of a patient', 'an-invented-password-of-a-patient')
  const login = { username: 'fictitia', password: patientPassword }
  await asked(200, 'connect_password_provider', { path: { provider: 'zwift' }, body: login })
  await asked(200, 'link_password_auth', { body: { ...login, provider: 'zwift', auth_type: 'password' } })
  const { code } = await asked(200, 'create_link_code', { query: `?user_id=${user_id}` })
  const redeemed = await asked(200, 'exchange_link_code', { query: `?code=${code}&grant_type=sign_in_token` })
  hide('the sign-in token of a link code', redeemed.sign_in_token!, 'exchange_link_code')

  // Links by which patients open the portal, of which one is opened.
  const demographics = operations.find(({ id }) => id === 'create_user_demographics')!.example
  await asked(200, 'create_user_demographics', { ...atUser, body: demographics })
  for (const context of ['launch', 'communications']) {
    const { url } = await asked(200, 'create_user_portal_url', { ...atUser, body: { context } })
    hide(`a portal link for ${context}`, /(?:token=|\/p\/)(.+)$/.exec(url!)![1]!, 'create_user_portal_url')
    assert.equal((await fetch(url!)).status, 200)
  }

  // What is in a file of a patient, of which a first part has come.
  const content = hide('a value in a file', 'an-invented-value-in-a-file')
  await asked(202, 'create_file_import', {
    ...atUser,
    query: '?is_last=false',
    headers: { 'content-type': 'application/octet-stream' },
    body: content.repeat(15_000),
  })

  // What is in a report of a patient besides its results.
  const written = hide('a text in a lab report', 'an-invented-text-in-a-lab-report')
  const { body: form, type } = reportForm(user_id!)
  await asked(200, 'create_lab_report_parser_job', {
    headers: { 'content-type': type },
    body: form.toString().replace('%%EOF', `%%EOF ${written}`),
  })

  // Tokens of a grant, stored as after a consent, for which a provider would be needed.
  const grantId = randomUUID()
  const vault = new Vault(() => [readFileSync(join(dataDir, 'encryption.key'), 'utf8').trim().split('\n')[0]!])
  await onDatabase(connectionOf(dataDir), (client) =>
    client.query(
      `insert into sandbox_us.provider_grant (team_id, id, user_id, provider, connection_id, access_token, refresh_token, version, created_at, updated_at)
       values ($1, $2, $3, 'oura', $2, $4, $5, 1, now(), now())`,
      [
        teams.us,
        grantId,
        user_id,
        vault.encrypt('an-invented-access-token', `access token of grant ${grantId}`),
        vault.encrypt('an-invented-refresh-token', `refresh token of grant ${grantId}`),
      ],
    ),
  )

  // Tokens of grants that are imported, and exported again; and some of an import that is in progress.
  const { user_id: other } = await asked(200, 'create_user', { body: { client_user_id: 'an-import' } })
  const oura = await asked(200, 'upsert_team_custom_credentials', {
    body: {
      team_id: teams.us,
      provider: 'oura',
      client_id: 'fictional-client',
      client_secret: hide('a secret at Oura', 'fictional-client-secret-at-oura'),
    },
  })
  const tokens = {
    access_token: hide('an imported access token', 'an-imported-access-token-of-a-user', 'bulk_export_connections'),
    refresh_token: hide('an imported refresh token', 'an-imported-refresh-token-of-a-user', 'bulk_export_connections'),
    provider_id: '',
    expires_at: 4_102_444_800,
  }
  await asked(200, 'bulk_import_connections', {
    body: { provider: 'oura', connections: [{ user_id: other, ...tokens }], wait_for_completion: true },
  })
  await asked(200, 'bulk_export_connections', { body: { provider: 'oura', user_ids: [other] } })
  const bulkId = randomUUID()
  await onDatabase(connectionOf(dataDir), async (client) => {
    await client.query(
      `insert into sandbox_us.bulk_operation (team_id, id, type, provider, status, total, started_at)
       values ($1, $2, 'link_bulk_import', 'oura', 'in_progress', 1, now())`,
      [teams.us, bulkId],
    )
    await client.query(
      `insert into sandbox_us.bulk_operation_user (team_id, operation_id, position, user_id, recipe) values ($1, $2, 0, $3, $4)`,
      [teams.us, bulkId, other, vault.encrypt(JSON.stringify(tokens), `recipe 0 of bulk operation ${bulkId}`)],
    )
  })

  // Secrets and headers of endpoints; the receiver answers with what it was sent.
  const whsec = (letter: string) => `whsec_${letter.repeat(40)}`
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const given = hide('a secret that was given', whsec('G'), 'get_webhook_secret')
  const hook = await asked(200, 'create_webhook', { body: { url, secret: given } })
  const path = { webhook_id: hook.id! }
  assert.deepEqual(await asked(200, 'get_webhook_secret', { path }), { key: given })
  await asked(204, 'rotate_webhook_secret', { path, body: {} })
  hide('a secret that was made', (await asked(200, 'get_webhook_secret', { path })).key!, 'get_webhook_secret')
  await asked(204, 'rotate_webhook_secret', {
    path,
    body: { key: hide('a secret that was rotated to', whsec('R'), 'get_webhook_secret') },
  })
  await asked(400, 'rotate_webhook_secret', { path, body: { key: whsec('R') } })
  const headers = {
    authorization: hide('a sensitive header', `Basic ${'QWxhZGRpbjpvcGVu'.repeat(2)}`),
    'x-clinic': hide('another header', 'a-value-of-a-custom-header', 'get_webhook_headers'),
  }
  await asked(204, 'update_webhook_headers', { path, body: { headers } })
  await asked(200, 'get_webhook_headers', { path })
  const message = await asked(200, 'test_webhook', { path, body: { event_type: 'labtest.order.created' } })
  const messageAt = { ...path, message_id: message.id! }
  const delivered = async () => (await asked(200, 'get_webhook_message', { path: messageAt })).state === 'delivered'
  await waitUntil(delivered)
  const attempts = JSON.stringify(await asked(200, 'list_webhook_attempts', { path: messageAt }))
  assert.match(attempts, /x-clinic.*\[header value\]/, 'the answer of the receiver is not there')

  // Invites: the token is in the mail.
  const invite = async (email: string): Promise<string> => {
    await asked(200, 'create_or_resend_invite_in_org', { body: { email } })
    const inviteToken = await onDatabase(connectionOf(dataDir), async (client) => {
      const { rows } = await client.query<{ body: string }>('select body from control.mail where recipient = $1', [email])
      return /inv_[\w-]+/.exec(rows[0]!.body)![0]
    })
    return hide(`the token of an invite of ${email}`, inviteToken)
  }
  const token = await invite('testa@clinic.example')
  await asked(200, 'accept_invite', { body: { token, name: 'Testa Fictional' } })
  await asked(404, 'accept_invite', { body: { token, name: 'Testa Fictional' } })

  // Passwords of members, and the cookies of their sessions.
  const browser = { 'x-drawbridge-console': '1', origin: server.url }
  const email = 'tessa@clinic.example'
  const [memberPassword, newPassword] = ['seven fictional tulips', 'eight fictional tulips'].map((text) =>
    hide(`password ${text}`, text),
  )
  const hideCookie = (operation: string): string => {
    const [, sessionToken] = /drawbridge_session=([\w-]+)/.exec(exchanges.at(-1)!.text)!
    return `drawbridge_session=${hide(`the cookie of ${operation}`, sessionToken!, operation)}`
  }
  const invitation = { token: await invite(email) }
  await asked(200, 'inspect_one_time_link', { body: invitation, headers: browser })
  await asked(200, 'use_one_time_link', {
    body: { ...invitation, name: 'Tessa Fictional', password: memberPassword },
    headers: browser,
  })
  hideCookie('use_one_time_link')
  await asked(200, 'sign_in_with_password', { body: { email, password: memberPassword }, headers: browser })
  const cookie = hideCookie('sign_in_with_password')
  await asked(200, 'change_password', {
    body: { current_password: memberPassword, password: newPassword },
    headers: { ...browser, cookie },
  })

  // Credentials for providers: what is sent back masked stays.
  const verify = (kind: string) => hide(`a token for ${kind}`, `fictional-token-for-events-of-${kind}`)
  const fitbit = {
    is_hr_enabled: true,
    workout_verify_token: verify('workouts'),
    sleep_verify_token: verify('sleep'),
    body_verify_token: verify('bodies'),
    foods_verify_token: verify('foods'),
  }
  const credential = await asked(200, 'upsert_team_custom_credentials', {
    body: {
      team_id: teams.us,
      provider: 'fitbit',
      client_id: 'fictional-client',
      client_secret: hide('a client secret', 'fictional-client-secret-of-a-team'),
      details: { fitbit },
    },
  })
  await asked(200, 'upsert_team_custom_credentials', {
    body: { team_id: teams.us, provider: 'fitbit', details: credential.details },
  })
  await asked(200, 'prepare_team_custom_credentials', { body: { team_id: teams.us, provider: 'fitbit' } })

  // EHR pipelines, with both kinds of secrets.
  const ehr = { team_ids: [teams.us], base_url: 'https://ehr.example.com/fhir' }
  const client = { type: 'client_credentials', client_id: 'fictional-clinic', token_url: 'https://ehr.example.com/token' }
  const clientSecret = hide('a secret of an EHR pipeline', 'fictional-secret-of-an-ehr-pipeline')
  await asked(200, 'upsert_team_ehr_pipelines', {
    body: { ...ehr, ehr_type: 'fhir', authentication: { ...client, client_secret: clientSecret } },
  })
  const ehrKey = hide('a key of an EHR pipeline', 'fictional-key-of-an-ehr-pipeline')
  await asked(200, 'upsert_team_ehr_pipelines', {
    body: { ...ehr, ehr_type: 'hint_health', authentication: { type: 'api_key', api_key: ehrKey } },
  })

  // The link of a lab account, whose file is read by the command: no operation takes its secrets.
  const linkPassword = hide('a password of a lab link', 'fictional-password-of-a-lab-link')
  const account_id = randomUUID()
  Object.assign(places, { account_id })
  await asked(200, 'upsert_lab_account', { body: { lab: 'quest', provider_account_id: 'FICTIONAL-1' } })
  const sftp = { host: 'sftp.lab.example', user: 'clinic', host_key: 'SHA256:fictional', results: '/out', password: linkPassword }
  const profile = { preset: 'us-23', text: { time_zone: 'UTC' }, results: { reports: 'incremental' } }
  const linkFile = `${dataDir}-link.json`
  writeFileSync(linkFile, JSON.stringify({ ...profile, transport: { results: 'sftp', sftp } }))
  for (const words of [
    ['import', account_id, linkFile],
    ['show', account_id, '--whole'],
    ['export', account_id],
  ]) {
    const { code, stdout, err } = await outcome('links', { DATA_DIR: dataDir, CELLS: 'sandbox-us' }, ...words)
    assert.deepEqual([code, err], [0, ''])
    assert(!stdout.includes(linkPassword), words.join(' '))
  }
  rmSync(linkFile)

  // Pipelines to unreachable brokers, so that every failure is reported; and an event for them.
  const nobody = '127.0.0.1:9'
  const password = hide('a password of RabbitMQ', 'fictional-password-of-a-broker')
  const shared = (key: string) =>
    `Endpoint=sb://${nobody};SharedAccessKeyName=events;SharedAccessKey=${key};UseDevelopmentEmulator=true`
  const account = (key: string) =>
    `DefaultEndpointsProtocol=http;AccountName=clinic;AccountKey=${key};BlobEndpoint=http://${nobody}/clinic`
  await asked(200, 'upsert_team_etl_pipelines', {
    body: {
      team_ids: [teams.us],
      preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq', 'azure_amqp', 'svix'] },
      rabbitmq: { uri: `amqp://events:${password}@${nobody}/clinic`, exchange: 'events' },
      azure_amqp: {
        connection_string: shared(hide('a key of Event Hubs', 'ZmljdGlvbmFsLWtleS1vZi1hLWh1Yg==')),
        default_event_hub: 'events',
        event_hub_matchers: [
          {
            event_type_prefix: 'labtest.',
            blob_storage: {
              connection_string: account(hide('a key of a storage account', 'ZmljdGlvbmFsLWtleS1vZi1hLWJsb2I=')),
              container_name: 'events',
            },
          },
        ],
      },
    },
  })

  const user = await asked(200, 'create_user', { body: { client_user_id: 'fictional-patient' } })
  const [labTest] = (await asked(200, 'get_lab_tests_for_team')) as never as { id: string }[]
  const order = operations.find(({ id }) => id === 'create_order')!.example as object
  await asked(200, 'create_order', { body: { ...order, user_id: user.user_id, lab_test_id: labTest!.id } })
  const notReached = (destination: string) => new RegExp(`"destination":"${destination}"[^\\n]*broker unreachable`)
  await waitUntil(() => ['rabbitmq', 'azure_amqp'].every((name) => notReached(name).test(server.err() + server.stdout())))

  // The dashboard: the launch token is in the address, the session's in a cookie.
  const reference = 'your-own-reference-1'
  await asked(200, 'upsert_ehr_integration_configuration', {
    body: {
      slug: 'fictional-clinic',
      modalities: ['link_out'],
      origin_configs: [{ origin: 'https://app.example.com', session_continuation_url: 'https://app.example.com/continue' }],
    },
  })
  await asked(200, 'create_integration_managed_member', {
    body: { integration_member_id: reference, name: 'Testa Fictional', email: 'testa@example.com' },
  })
  const { url: launchUrl } = await asked(200, 'create_dashboard_url', {
    body: {
      integration_member_id: reference,
      team_id: teams.us,
      feature: 'team_panels',
      modality: 'link_out',
      environment: 'sandbox',
    },
  })
  const launchToken = new URL(launchUrl!).searchParams.get('token')!
  hide('a launch token', launchToken, 'create_dashboard_url')
  /** Opens a page as a browser does, which takes cookies. */
  async function visit(page: string, status: number, address: string, cookie = ''): Promise<Headers> {
    const response = await fetch(new URL(address, server.url), { redirect: 'manual', headers: { cookie } })
    assert.equal(response.status, status, page)
    exchanges.push({ operation: page, status, text: `${await response.text()}\n${JSON.stringify([...response.headers])}` })
    return response.headers
  }
  const launch = `/auth/launch?token=${launchToken}`
  const launched = await visit('a launch', 303, launch)
  const session = launched.get('set-cookie')!.split(';')[0]!
  hide("a session's token", session.slice(session.indexOf('=') + 1), 'a launch')
  await visit('a session', 200, launched.get('location')!, session)
  await visit('a launch that is used', 410, launch)

  // What is refused is neither repeated nor recorded.
  const wrong = (subject: string, letter: string) => hide(`${subject} that was refused`, letter.repeat(40))
  await asked(401, 'get_org', { headers: { 'x-management-key': `mg_${wrong('a management key', 'a')}` } })
  await asked(401, 'get_teams_users', { headers: { 'x-service-api-key': `sk_us_${wrong('a team key', 'b')}` } })
  await asked(401, 'get_teams_users', {
    headers: { authorization: `Bearer at_${wrong('a token', 'c')}.x.y`, 'x-service-api-key': '' },
  })
  await asked(422, 'create_webhook', { body: { url, secret: `!${wrong('a secret', 'd')}` } })
  await asked(422, 'create_webhook', { body: { url, secret: [wrong('a secret in a list', 'e')] } })
  await asked(422, 'rotate_webhook_secret', { path, body: { key: `!${wrong('a new secret', 'f')}` } })
  await asked(422, 'rotate_webhook_secret', { path, body: `{"key": "${wrong('a secret in a broken body', 'g')}` })
  await asked(422, 'update_webhook_headers', { path, body: { headers: { 'x-a': `${wrong('a header', 'h')}\n` } } })
  await asked(422, 'update_webhook_headers', { path, body: { headers: { 'x-a': [wrong('a header in a list', 'i')] } } })
  await asked(404, 'accept_invite', { body: { token: wrong('an unknown token of an invite', 'j'), name: 'Testa' } })
  await asked(422, 'accept_invite', { body: { token: { text: wrong('a token in an object', 'k') }, name: 'Testa' } })
  await asked(404, 'get_webhook', { path: { webhook_id: wrong('an id that was a secret', 'l') } })
  await asked(422, 'create_or_resend_invite_in_org', { body: { email: wrong('an address that was a secret', 'm') } })
  await asked(422, 'upsert_team_custom_credentials', {
    body: { team_id: teams.us, provider: 'oura', client_secret: [wrong('a client secret in a list', 'n')] },
  })
  await asked(422, 'upsert_team_custom_credentials', {
    body: { team_id: teams.us, provider: 'polar', details: { webhook_secret: [wrong('a secret of details in a list', 'o')] } },
  })
  await asked(422, 'upsert_team_ehr_pipelines', {
    body: { ...ehr, ehr_type: 'fhir', authentication: { ...client, client_secret: [wrong('an EHR secret in a list', 'p')] } },
  })
  await asked(422, 'upsert_team_etl_pipelines', {
    body: {
      team_ids: [teams.us],
      preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq'] },
      rabbitmq: { uri: `http://events:${wrong('a password in a bad address', 'q')}@${nobody}/`, exchange: 'events' },
    },
  })
  await asked(422, 'upsert_team_etl_pipelines', {
    body: {
      team_ids: [teams.us],
      azure_amqp: { connection_string: `SharedAccessKey=${wrong('a key in a bad string', 'r')}`, default_event_hub: 'events' },
    },
  })
  await visit('an unknown launch', 404, `/auth/launch?token=${wrong('an unknown launch token', 's')}`)
  await visit('an unknown session', 401, '/auth/session', `drawbridge_link_out=${wrong('an unknown session', 't')}`)

  // Everything that can be read is read, in every list the newest and the audit logs to the end.
  Object.assign(places, { ...messageAt, key_id: managementKey.id! })
  for (const operation of operations) if (operation.method === 'GET') await ask(operation.id, { query: '?limit=100' })
  for (const id of ['list_org_audit', 'list_cell_audit', 'list_team_audit']) await asked(200, id, { query: '?limit=250' })
  await asked(200, 'list_management_key')
  await asked(200, 'list_team_api_keys')
  await t.test('secrets are encrypted or hashed in the database', async () => {
    const [vaultKey] = readFileSync(join(dataDir, 'encryption.key'), 'utf8').trim().split('\n')
    const [keyId] = new Vault(() => [vaultKey!]).keyIds()
    const declared = new Set(
      encryptedColumns.flatMap(({ plane, table, column }) =>
        plane === 'control' ? [`control.${table}.${column}`] : [`sandbox_us.${table}.${column}`],
      ),
    )
    const found = new Set<string>()
    const searched = secrets.flatMap(({ subject, text }) => forms(text).map((form) => ({ what: subject, form })))
    await onDatabase(connectionOf(dataDir), async (client) => {
      const { rows: tables } = await client.query<{ schema: string; name: string }>(
        `select table_schema as schema, table_name as name from information_schema.tables
         where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
      )
      assert(tables.length > 50, 'the tables are not all there')
      for (const { schema, name } of tables) {
        const { rows } = await client.query<{ row: Record<string, unknown> }>(
          `select to_jsonb(t) as row from "${schema}"."${name}" t`,
        )
        // A column at a time: each of its texts by itself takes ten times as long.
        const columns = new Map<string, string[]>()
        for (const { row } of rows)
          for (const [column, value] of Object.entries(row)) {
            const text = typeof value === 'string' ? value : JSON.stringify(value)
            const texts = columns.get(column) ?? []
            texts.push(text)
            columns.set(column, texts)
          }
        for (const [column, texts] of columns) {
          const place = `${schema}.${name}.${column}`
          if (place in kept) continue
          const all = texts.join('\n')
          for (const { what, form } of searched) assert(!all.includes(form), `${what}: ${place}`)
        }
        for (const { row } of rows)
          for (const [column, value] of Object.entries(row)) {
            const place = `${schema}.${name}.${column}`
            const text = typeof value === 'string' ? value : JSON.stringify(value)
            if (!text.includes(`${keyId}.`)) continue
            assert(declared.has(place), `${place} holds an encrypted text: declare it as an EncryptedColumn`)
            assert.match(text, /^[0-9a-f]{8}\.[\w-]+$/, `${place} holds more than an encrypted text`)
            found.add(place)
          }
      }
    })
    assert.deepEqual(found, declared, 'a declared column has nothing in it: keep a secret there above')
  })

  // What ends is answered without it, too.
  await asked(200, 'delete_team_api_keys', { query: `?api_key_id=${teamKey.id}` })
  await asked(200, 'remove_management_key', { path: { key_id: managementKey.id! } })
  await asked(204, 'delete_webhook', { path })
  for (const { id } of [credential, oura]) await asked(200, 'delete_team_custom_credentials', { query: `?credential_id=${id}` })
  await asked(200, 'delete_team_ehr_pipelines', { query: `?ehr_type=fhir&team_id=${teams.us}` })
  await asked(200, 'delete_team_etl_pipelines', { query: `?team_id=${teams.us}` })

  await t.test('every operation with a secret in its request or answer took part', () => {
    const seen = new Set(exchanges.filter(({ status }) => status < 300).map(({ operation }) => operation))
    assert.deepEqual(
      operations
        .filter((operation) => handles(operation) && !ofProviders.has(operation.id) && !seen.has(operation.id))
        .map(({ id }) => id),
      [],
    )
  })

  await t.test('an answer has it only where it is shown', () => {
    for (const { subject, text, shownBy } of secrets)
      for (const { operation, text: answer } of exchanges)
        if (!shownBy.includes(operation))
          for (const form of forms(text)) assert(!answer.includes(form), `${subject}: ${operation}`)
    for (const { subject, text, shownBy } of secrets)
      for (const id of shownBy)
        assert(
          exchanges.some(({ operation, text: answer }) => operation === id && answer.includes(forms(text)[0]!)),
          `${subject} is not shown by ${id}`,
        )
  })

  await t.test('metrics, logs and CLI output contain no secrets', async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    assert.match(metrics, /rotate_webhook_secret/)
    assert.equal(await server.end('SIGTERM'), 0)
    const said = server.err() + server.stdout() + (await outcome('operations')).stdout
    assert.match(said, /"operation":"accept_invite"/)
    assert.match(said, /delivery attempted/)
    const demo = [api_keys['sandbox-us']!]
    for (const { subject, text } of secrets)
      for (const form of forms(text)) {
        assert(!metrics.includes(form), `${subject}: metrics`)
        // The greeting shows the key of the demo, which is for this machine only.
        assert(!(demo.includes(text) ? server.err() : said).includes(form), `${subject}: logs`)
      }
  })
})
