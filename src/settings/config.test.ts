// Settings: defaults, values that depend on each other, and errors that name the setting and what is allowed, but no secret.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, readConfig } from './config.ts'
import { settings } from './settings.ts'

const errorsOf = (env: Record<string, string>): string[] => {
  try {
    readConfig(env)
  } catch (error) {
    assert(error instanceof ConfigError)
    return error.message.split('\n')
  }
  return []
}

test('without settings every value is its default', () => {
  const { port, operator_port, cells, demo, database_urls, requests_per_s, requests_burst, check, smtp, sms } = readConfig({})
  assert.deepEqual([port, operator_port, requests_per_s, requests_burst], [8080, undefined, 0, 200])
  assert.deepEqual(cells, ['sandbox-us', 'sandbox-eu', 'production-us', 'production-eu'])
  assert.deepEqual([demo, check, database_urls, smtp, sms], [true, false, {}, undefined, undefined])
  assert.deepEqual(readConfig({ PORT: ' ' }), readConfig({}))
})

test('limits are off while demo data is on, unless they are set', () => {
  const limits = (env: Record<string, string>) => {
    const { requests_per_s, wrong_keys_per_min, sandbox_users_max, invites_per_hour } = readConfig(env)
    return [requests_per_s, wrong_keys_per_min, sandbox_users_max, invites_per_hour]
  }
  assert.deepEqual(limits({}), [0, 0, 0, 100])
  assert.deepEqual(limits({ DEMO: 'off' }), [100, 20, 50, 100])
  assert.deepEqual(limits({ SANDBOX_USERS_MAX: '7' }), [0, 0, 7, 100])
  assert.equal(readConfig({ DATABASE_URL: 'postgres://user@/name?host=/run/postgresql' }).demo, false)
  assert.equal(readConfig({ CELLS: 'production-us' }).demo, false)
})

test('a team may hold half of the connections, unless it is set', () => {
  const of = (env: Record<string, string>) => readConfig(env).team_connections_max
  assert.deepEqual(
    ['1', '4', '11'].map((DATABASE_CONNECTIONS) => of({ DATABASE_CONNECTIONS })),
    [2, 2, 6],
  )
  assert.equal(of({ TEAM_DATABASE_CONNECTIONS: '3' }), 3)
})

test('files of lab reports are below the data folder, or in an object store that is described in full', () => {
  const { report_storage, report_folder, s3 } = readConfig({ DATA_DIR: '/srv/lab' })
  assert.deepEqual([report_storage, report_folder, s3], ['disk', '/srv/lab/report-files', undefined])
  assert.equal(readConfig({ REPORT_FOLDER: '/mnt/shared' }).report_folder, '/mnt/shared')
  const store = {
    S3_ENDPOINT: 'https://store.example/',
    S3_BUCKET: 'reports',
    S3_ACCESS_KEY_ID: 'id',
    S3_SECRET_ACCESS_KEY: 'fictional',
  }
  // Without REPORT_STORAGE it is read from alone.
  assert.equal(readConfig(store).report_storage, 'disk')
  assert.deepEqual(readConfig({ REPORT_STORAGE: 'S3', ...store }).s3, {
    endpoint: 'https://store.example',
    bucket: 'reports',
    region: 'us-east-1',
    prefix: '',
    access_key_id: 'id',
    secret_access_key: 'fictional',
    virtual_hosts: false,
  })
  const { S3_BUCKET: _, ...incomplete } = store
  assert.deepEqual(errorsOf({ REPORT_STORAGE: 's3', ...incomplete }), [
    'REPORT_STORAGE is s3, so S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set too.',
  ])
  assert.deepEqual(errorsOf({ ...store, S3_BUCKET: 'No_Bucket' }), ['S3_BUCKET must be the name of a bucket, not "No_Bucket".'])
})

test('values are normalized', () => {
  const { base_path, public_url, cells, domain_target, access_log, demo, trusted_proxies, hosts } = readConfig({
    BASE_PATH: '/lab/',
    PUBLIC_URL: 'https://lab.example/here//',
    CELLS: 'Sandbox-US, sandbox-us,',
    DOMAIN_TARGET: 'Lab.Example.com.',
    ACCESS_LOG: 'Strict',
    DEMO: 'NO',
    TRUSTED_PROXIES: '10.0.0.0/8, FD12::1',
    CELL_HOSTS: 'API.example = Sandbox-US, ::1=management',
  })
  assert.deepEqual([base_path, public_url, domain_target], ['/lab', 'https://lab.example/here', 'lab.example.com'])
  assert.deepEqual([cells, access_log, demo, trusted_proxies], [['sandbox-us'], 'strict', false, ['10.0.0.0/8', 'fd12::1']])
  assert.deepEqual(
    [...hosts],
    [
      ['api.example', 'sandbox-us'],
      ['::1', 'management'],
    ],
  )
  assert.equal(readConfig({ BASE_PATH: '/' }).base_path, '')
})

describe('an error', () => {
  const emailServer = { MAIL_FROM: 'clinic@example.com' }
  const gateway = { SMS_FROM: 'Harbor Clinic', SMS_URL: 'https://sms.example.com' }
  const CELLS = 'sandbox-us, sandbox-eu, production-us, production-eu'
  const cases: [Record<string, string>, string[]][] = [
    [{ PORT: 'abc' }, ['PORT must be a whole number from 0 to 65535, not "abc".']],
    [{ PORT: '65536' }, ['PORT must be a whole number from 0 to 65535, not "65536".']],
    [{ CELLS: 'moon' }, [`CELLS contains "moon", which must be one of ${CELLS}.`]],
    [{ LOG_LEVEL: 'loud' }, ['LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "loud".']],
    [{ DATABASE_URL: 'nonsense' }, ['DATABASE_URL must be a URL that starts with postgres:// or postgresql://.']],
    [
      { DOMAIN_TARGET: 'https://lab.example.com' },
      ['DOMAIN_TARGET must be a host name like lab.example.com, not "https://lab.example.com".'],
    ],
    [
      { DNS_SERVERS: '192.0.2.53,name.example' },
      ['DNS_SERVERS contains "name.example", which must be an address with or without a port.'],
    ],
    [
      { CELL_HOSTS: 'api.example=moon' },
      ['CELL_HOSTS binds api.example to "moon", which is not among the cells served (CELLS) nor "management".'],
    ],
    [
      { CELL_HOSTS: '*.example=sandbox-us' },
      ['CELL_HOSTS contains "*.example=sandbox-us", which must be a host name, "=" and a cell or "management".'],
    ],
    [{ CELL_HOSTS: 'a.example=sandbox-us,A.example=sandbox-eu' }, ['CELL_HOSTS contains a.example twice.']],
    [{ ROW_SECURITY: 'maybe' }, ['ROW_SECURITY must be one of on, required, off, not "maybe".']],
    [
      { DEMO: 'on', CELLS: 'production-us,production-eu' },
      ['DEMO is on, but CELLS has no sandbox. Production cells alone have no demo data: set DEMO=off.'],
    ],
    [{ DEMO: 'maybe' }, ['DEMO must be "on" or "off", not "maybe".']],
    [
      { HOST: '0.0.0.0' },
      [
        'HOST is 0.0.0.0, but demo data is on and its keys are for this machine only. ' +
          'Set DEMO=off to serve other machines, HOST=127.0.0.1 to keep the demo, or DEMO_ON_NETWORK=on to serve the demo to other machines.',
      ],
    ],
    [{ HOST: '0.0.0.0', DEMO_ON_NETWORK: 'on' }, []],
    ...['swordfish', 'sk_mars_swordfish_swordfish', 'sk_us_', 'sk_us_sword fish swordfish', `mg_${'x'.repeat(510)}`].map(
      (DEMO_KEYS): [Record<string, string>, string[]] => [{ DEMO_KEYS }, [`DEMO_KEYS must be ${settings.demo_keys.expected}.`]],
    ),
    [
      { DEMO_KEYS: 'sk_us_swordfish_1,pk_us_swordfish_1,sk_us_swordfish_2,mg_swordfish_0001,mg_swordfish_0002' },
      ['DEMO_KEYS contains more than one key of sandbox-us.', 'DEMO_KEYS contains more than one key of the Management API.'],
    ],
    [{ DEMO: 'off', DEMO_KEYS: 'sk_us_swordfish_1' }, ['DEMO_KEYS is set, but demo data is off. Set DEMO=on too.']],
    [{ REQUESTS_BURST: '0' }, ['REQUESTS_BURST must be a whole number from 1 to 1000000, not "0".']],
    [{ BASE_PATH: 'lab' }, ['BASE_PATH must be a path like /lab, not "lab".']],
    [{ CELLS: ',' }, [`CELLS must be ${settings.cells.expected}, not ",".`]],
    [
      { WEBHOOK_SCHEDULE: '5,,x' },
      ['', 'x'].map((text) => `WEBHOOK_SCHEDULE contains "${text}", which must be a number of seconds from 0 to 604800.`),
    ],
    [{ OPERATOR_PORT: '8080' }, ['OPERATOR_PORT is 8080, which is PORT already.']],
    [
      {
        DATABASE_URL_CONTROL: 'postgres://localhost/control',
        CELLS: 'sandbox-us,sandbox-eu',
        DATABASE_URL_SANDBOX_EU: 'postgres://localhost/eu',
      },
      [
        'DATABASE_URL_SANDBOX_US must be set too: without DATABASE_URL either all cells and the control plane have their own database, or none.',
      ],
    ],
    [{ SMTP_URL: 'smtp://mail.example' }, ['MAIL_FROM must be set when SMTP_URL is.']],
    [{ ...emailServer, MAIL_FROM: 'swordfish' }, ['MAIL_FROM must be an email address, as a@b or Name <a@b>.']],
    ...[
      'http://someone:swordfish@mail.example',
      'swordfish',
      'smtp://a:%zz@mail.example',
      'smtp://mail.example?tls=no',
      'smtps://mail.example?tls=off',
      'smtp://mail.example/path',
    ].map((SMTP_URL): [Record<string, string>, string[]] => [
      { ...emailServer, SMTP_URL },
      [`SMTP_URL must be ${settings.smtp_url.expected}.`],
    ]),
    [{ SMS_FROM: gateway.SMS_FROM }, []],
    [{ ...gateway, SMS_TOKEN: 'swordfish' }, []],
    [{ SMS_URL: gateway.SMS_URL }, ['SMS_FROM must be set when SMS_URL is.']],
    ...['ftp://swordfish', 'https://user:swordfish@sms.example.com'].map((SMS_URL): [Record<string, string>, string[]] => [
      { ...gateway, SMS_URL },
      ['SMS_URL must be a URL that starts with http:// or https://, without a user.'],
    ]),
    [{ ...gateway, SMS_FROM: '<swordfish>' }, ['SMS_FROM must be a number or a name of at most 40 characters.']],
    [{ ...gateway, SMS_TOKEN: 'sword fish' }, ['SMS_TOKEN must be printable ASCII without spaces.']],
    [{ ENCRYPTION_KEYS: 'swordfish,sword fish' }, [`ENCRYPTION_KEYS must be ${settings.encryption_keys.expected}.`]],
    [
      { PUBSUB_EMULATOR_HOST: 'localhost' },
      ['PUBSUB_EMULATOR_HOST must be a host and a port such as localhost:8085, not "localhost".'],
    ],
  ]
  for (const [env, sentences] of cases)
    test(`reports the allowed values without secrets: ${JSON.stringify(env)}`, () => {
      assert.deepEqual(errorsOf(env), sentences)
      assert.doesNotMatch(errorsOf(env).join(), /sword ?fish/)
    })

  test('is reported together with the others', () => {
    const errors = errorsOf({
      PORT: 'x',
      HOST: '0.0.0.0',
      CELLS: 'moon',
      CELL_HOSTS: 'a.example=management,a.example=management',
    })
    assert.deepEqual(
      errors.map((error) => error.split(' ', 1)[0]),
      ['PORT', 'CELLS', 'HOST', 'CELL_HOSTS'],
    )
  })
})
