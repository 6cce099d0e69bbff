// Describes every setting; the table of docs/OPERATING.md is generated from it. config.ts reads and checks the settings.
import { cellNames } from '../db/cell-names.ts'

export interface Setting {
  name: string
  default: string
  meaning: string
}

/** The variable that holds the connection string of a cell's database. */
export const cellVariable = (cell: string) => `DATABASE_URL_${cell.toUpperCase().replace('-', '_')}`

/** Every setting, for the documentation. */
export const settings: Setting[] = [
  { name: 'PORT', default: '8080', meaning: 'Port to listen on; `0` picks a free one.' },
  {
    name: 'OPERATOR_PORT',
    default: '',
    meaning:
      'Port of its own, at `HOST`, for `/healthz`, `/readyz` and `/metrics`, which are then not served on `PORT`; `0` picks a free one. `bin/drawbridge work` opens it too.',
  },
  {
    name: 'HOST',
    default: '127.0.0.1',
    meaning:
      'Address to listen on. Must be a loopback address while demo data is enabled. While it is loopback, deliveries of the sandbox reach loopback too.',
  },
  { name: 'BASE_PATH', default: '', meaning: 'Serve everything below this path, for example `/lab`.' },
  {
    name: 'PUBLIC_URL',
    default: '',
    meaning:
      'Public base URL when the server runs behind a proxy. Used in startup output, `demo.json`, and URLs shared with providers.',
  },
  { name: 'DATA_DIR', default: './data', meaning: 'Folder for the embedded database, its log and `demo.json`.' },
  {
    name: 'DATABASE_URL',
    default: '',
    meaning: 'PostgreSQL to use instead of the embedded one (`postgres://…`), version 15 or newer.',
  },
  {
    name: 'DATABASE_URL_CONTROL',
    default: '`DATABASE_URL`',
    meaning: 'PostgreSQL of the control plane: organizations, teams, key hashes.',
  },
  ...cellNames.map((cell) => ({
    name: cellVariable(cell),
    default: '`DATABASE_URL`',
    meaning: `PostgreSQL of the cell ${cell}.`,
  })),
  {
    name: 'DATABASE_CONNECTIONS',
    default: '10',
    meaning:
      'Most connections per cell and process for transactions and lists, 1 to 100. Up to half as many again take writes of one statement, as many work on the whole cell with `ROW_SECURITY`, and four are for look-ups, bookkeeping and `/readyz`.',
  },
  {
    name: 'TEAM_DATABASE_CONNECTIONS',
    default: 'half of `DATABASE_CONNECTIONS`, at least 2',
    meaning: "Most of a cell's connections that one team's requests and jobs hold at once, 1 to 100; further ones wait.",
  },
  {
    name: 'ROW_SECURITY',
    default: 'on',
    meaning:
      'Row-level security, see "Roles": `on`, the database keeps teams apart where the login may take the roles; `required`, nothing is migrated or served without them; `off`, the database is not asked to.',
  },
  { name: 'CELLS', default: cellNames.join(','), meaning: 'The cells this process serves, separated by commas.' },
  {
    name: 'CELL_HOSTS',
    default: '',
    meaning:
      'Restrict hosts to the credentials of one cell or of the Management API: `host=cell` or `host=management`, separated by commas. Other credentials receive 401. Hosts that are not listed accept all credentials.',
  },
  {
    name: 'DEMO',
    default: '`on` without `DATABASE_URL`',
    meaning: 'Create demo data at the first start: an organization, two teams, keys, a catalog. `on` or `off`.',
  },
  {
    name: 'LOG_LEVEL',
    default: 'info',
    meaning: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Logs go to standard error, one JSON object a line.',
  },
  {
    name: 'SANDBOX_USERS_MAX',
    default: '`50`, `0` with demo data',
    meaning: 'Maximum number of users per sandbox team. `0` disables the limit.',
  },
  {
    name: 'CONNECTIONS_MAX',
    default: '4000',
    meaning:
      'Most connections of clients to one process; further ones are closed at once. One address (IPv6: one /64) may have half of them, an address of `TRUSTED_PROXIES` all.',
  },
  {
    name: 'STOP_DELAY',
    default: '1',
    meaning:
      'Seconds that the server keeps serving after it received a signal to stop, while `/readyz` returns 503 and every response has `connection: close`. Behind a load balancer set more than its detection time, for example 10.',
  },
  {
    name: 'REQUESTS_PER_SECOND',
    default: '`100`, `0` with demo data',
    meaning:
      'Rate limit per key and process, in requests per second. Requests over the limit receive 429. `0` disables the limit.',
  },
  { name: 'REQUESTS_BURST', default: '200', meaning: 'Burst size of the rate limit per key.' },
  {
    name: 'WRONG_KEYS_PER_MINUTE',
    default: '`20`, `0` with demo data',
    meaning:
      'Wrong keys, tokens, invites or sessions a minute from one address (IPv6: one /64) that are looked up. Further requests from there are answered 429 without a look-up, unless their key was valid within the last hour. `0` lifts the limit.',
  },
  {
    name: 'INVITES_PER_HOUR',
    default: '100',
    meaning:
      'Mails with invites that one organization may send in an hour, counted by each process; more are answered 429. `0` lifts the limit.',
  },
  {
    name: 'INVITES_PER_ADDRESS_PER_DAY',
    default: '5',
    meaning:
      'Mails with invites that one organization may send to one address in a day, counted by each process; more are answered 429. `0` lifts the limit.',
  },
  {
    name: 'TRUSTED_PROXIES',
    default: '',
    meaning:
      'Addresses or networks of your own proxies, separated by commas: the address of a caller is then the last one of `X-Forwarded-For` that is not among them. Without it every caller behind a proxy has the address of the proxy, and they share its limits.',
  },
  {
    name: 'SUPPORT_EMAIL',
    default: '',
    meaning: 'Default support email address for teams that set none.',
  },
  {
    name: 'ENFORCE_DELEGATED_PHYSICIAN',
    default: 'on',
    meaning:
      'Require a physician on orders at Labcorp, Quest and Sonora Quest under lab accounts with delegated ordering. `off` accepts orders without one.',
  },
  {
    name: 'SANDBOX_PARITY',
    default: 'off',
    meaning:
      'Sandbox service centers accept appointments at the same times in the zone `America/New_York` wherever they are, as the service of the API reference does. `off`: they use the time zone and the opening hours of the site.',
  },
  {
    name: 'ORDERS_WITHOUT_INTEGRATION',
    default: 'off',
    meaning:
      '`on` accepts production orders at laboratories without an integration. They stay pending with the detail `fulfillment_error` until they are replaced; `off` rejects them with 400.',
  },
  {
    name: 'SMTP_URL',
    default: '',
    meaning:
      'Server that mail is handed to: `smtps://user:password@host` (port 465) or `smtp://…` (port 587, STARTTLS required). TLS with a certificate that is trusted is required; `smtp://…?tls=off` (port 25) sends in plain text. Without it no mail is sent; `bin/drawbridge mail list` shows what waits.',
  },
  {
    name: 'MAIL_FROM',
    default: '',
    meaning: 'Sender of mail, `a@b` or `Name <a@b>`; required with `SMTP_URL`.',
  },
  {
    name: 'SMS_URL',
    default: '',
    meaning:
      'SMS gateway for text messages to patients, called over HTTP (docs/MESSAGES.md). Without it, text messages are recorded but not sent.',
  },
  { name: 'SMS_TOKEN', default: '', meaning: 'Bearer token for the SMS gateway.' },
  { name: 'SMS_FROM', default: '', meaning: 'Sender of text messages, a number or a name; required with `SMS_URL`.' },
  {
    name: 'ENCRYPTION_KEYS',
    default: '`DATA_DIR/encryption.key`',
    meaning:
      'Keys for encrypting secrets at rest and signing access tokens: base64-encoded 32-byte keys, separated by commas. The first key encrypts; all keys decrypt. Without it, a key file with mode 0600 is created.',
  },
  {
    name: 'WEBHOOK_SCHEDULE',
    default: '0,5,300,1800,7200,18000,36000,36000',
    meaning:
      'Retry schedule: delay in seconds before each delivery attempt, measured from the previous failure, separated by commas. The number of values is the number of attempts. Each delay has a jitter of ±20 %.',
  },
  {
    name: 'WEBHOOK_ALLOW',
    default: '',
    meaning:
      'Non-public targets that deliveries to endpoints and brokers may connect to: networks such as `10.1.0.0/16` or `fd12::/16`, addresses, host names, `*.internal.example`; separated by commas.',
  },
  {
    name: 'PUBSUB_PROJECTS',
    default: '',
    meaning:
      'Projects of Google Cloud that the teams of an organization may publish to, with the credentials of the process: `ORGANIZATION_ID=PROJECT`, or `*=PROJECT` for every organization, separated by commas. What is not named is refused, when a pipeline is configured and when it publishes.',
  },
  {
    name: 'PUBSUB_EMULATOR_HOST',
    default: '',
    meaning:
      'Host and port of an emulator that pipelines publish to instead of Google Cloud Pub/Sub, without TLS and credentials.',
  },
  {
    name: 'DOMAIN_TARGET',
    default: '',
    meaning:
      "Host name of this installation that `dashboard.` of organizations' domains has to point at with a CNAME; the proxy must have certificates for those names. Without it only ownership of a domain is checked.",
  },
  {
    name: 'ACCESS_LOG',
    default: 'batched',
    meaning:
      "When reads of patients' data are written to the access log: `batched`, at most a second later, so that a kill may lose that second of them; `strict`, before the answer leaves. Changes are written with what they change, either way.",
  },
  {
    name: 'ACCESS_LOG_DAYS',
    default: '400',
    meaning: 'How many days the access log is kept; older days are dropped whole. 1 to 100,000.',
  },
  {
    name: 'GEOCODER_URL',
    default: '',
    meaning:
      'Geocoding service for postal codes that are not in the local tables (PSC_DIRECTORY.md). Query parameters in the URL, such as a key, are preserved.',
  },
  {
    name: 'DNS_SERVERS',
    default: 'the system resolver',
    meaning: 'DNS servers for domain verification: addresses such as `192.0.2.53` or `[2001:db8::53]:5353`, separated by commas.',
  },
  {
    name: 'DRAWBRIDGE_CHECK',
    default: 'off',
    meaning: 'Validate every row and every reply against its schema and fail on a mismatch. `on` in tests; slow.',
  },
]
