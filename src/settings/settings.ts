// Every setting, once: its name, what it may be, its default and the sentence that describes it. config.ts reads them, and the table of
// docs/operating/settings.md is generated from them.
import { accessLogModes } from '../platform/access-log/access-line.ts'
import { cellNames, type KnownCell } from './cells.ts'
import { rowSecurityModes } from '../platform/db/no-row-security.ts'
import { isSender, parseSmtpUrl } from '../platform/mail/smtp.ts'
import { storageKinds } from '../platform/stored-files/file-storage.ts'
import { hostName } from '../platform/net/host-name.ts'
import { logFormats } from '../platform/telemetry/terminal-log.ts'
import { readServiceAccount } from './service-account.ts'
import {
  anyText,
  base64Key,
  bucketName,
  choice,
  choices,
  daysOfProvider,
  demoKey,
  emailAddress,
  emailDomain,
  fieldOfForm,
  flag,
  hostBinding,
  issuerUrl,
  limit,
  limitWithoutDemo,
  list,
  listenAddress,
  matching,
  nameServer,
  network,
  networkOrHost,
  projectOfOrganization,
  providerUrl,
  roleOfClaim,
  seconds,
  secret,
  text,
  urlOf,
  webUrl,
  webUrlWithoutUser,
  whole,
  withoutFinalSlash,
  type Setting,
} from './setting-kinds.ts'

/** The variable that holds the connection string of a cell's database, or of the control plane's. */
export const cellVariable = (cell: string) => `DATABASE_URL_${cell.toUpperCase().replace('-', '_')}`

const smtpUrl =
  'a URL that starts with smtp:// or smtps://, with the user and the password in percent-encoding and, with smtp:// only, ?tls=off as its only parameter'
const postgres = urlOf('postgres:', 'postgresql:')

/** The settings, by the names that the program uses for them. */
export const settings = {
  port: whole('PORT', 8080, 0, 65_535).means('Port to listen on; `0` picks a free one.'),
  operator_port: whole('OPERATOR_PORT', undefined, 0, 65_535).means(
    'Separate port at `HOST` for `/healthz`, `/readyz`, `/databases`, and `/metrics`, which `PORT` then does not serve; `bin/drawbridge work` opens it too.',
  ),
  host: text('HOST', '127.0.0.1', anyText('an address')).means(
    'Address to listen on; with demo data a loopback address, unless `DEMO_ON_NETWORK` is on. On loopback, sandboxes deliver to loopback, too.',
  ),
  base_path: text(
    'BASE_PATH',
    '',
    withoutFinalSlash(matching('a path like /lab', (value) => /^(\/[\w.~-]+)*$/.test(value))),
  ).means('Serve everything below this path.'),
  public_url: secret('PUBLIC_URL', withoutFinalSlash(webUrl)).means(
    'Public base URL behind a proxy, for startup output, `demo.json`, and URLs shared with providers.',
  ),
  data_dir: text('DATA_DIR', './data', anyText('a folder')).means('Folder for the embedded database, its log, and `demo.json`.'),
  database_url: secret('DATABASE_URL', postgres).means(
    'PostgreSQL 15 or newer to use instead of the embedded one (`postgres://…`).',
  ),
  control: secret(cellVariable('control'), postgres, { default_text: '`DATABASE_URL`' }).means(
    'PostgreSQL of the control plane, or of the cell.',
  ),
  ...(Object.fromEntries(
    cellNames.map((cell) => [
      cell,
      secret(cellVariable(cell), postgres, { default_text: '`DATABASE_URL`' }).means(
        'PostgreSQL of the control plane, or of the cell.',
      ),
    ]),
  ) as Record<KnownCell, Setting<string | undefined>>),
  connections_max: whole('DATABASE_CONNECTIONS', 10, 1, 100).means(
    'Maximum connections per cell and process for transactions and lists; other work has [further ones](pooler.md#connections).',
  ),
  team_connections_max: whole('TEAM_DATABASE_CONNECTIONS', undefined, 1, 100, {
    default_text: 'half of `DATABASE_CONNECTIONS`, at least 2',
  }).means("Maximum of these connections for one team's requests and jobs; further ones wait."),
  row_security: choice('ROW_SECURITY', rowSecurityModes, 'on').means('Row-level security (operating/database.md).'),
  cells: choices('CELLS', cellNames).means('The cells this process serves.'),
  cell_hosts: list('CELL_HOSTS', hostBinding, 100).means(
    'Hosts that accept only credentials of one cell or of the Management API (operating/administer.md).',
  ),
  demo: flag('DEMO', undefined, { default_text: '`on` with a sandbox and without `DATABASE_URL`' }).means(
    'Create demo data at the first start. The server then answers only for `localhost`, IP addresses, and the hosts of `PUBLIC_URL` and `CELL_HOSTS`, with `DEMO_ON_NETWORK` also for names of one label and below `internal`; others get 421.',
  ),
  demo_keys: list('DEMO_KEYS', demoKey, 5, { secret: true, default_text: 'generated at the first start' }).means(
    'Keys of the demo data, at most one for each cell and the Management API. Earlier keys stay valid.',
  ),
  demo_on_network: flag('DEMO_ON_NETWORK', false).means(
    'Allow any `HOST` with demo data, as in a container. Everybody who reaches the port is an administrator without rate limits: publish it on loopback or in a private network, and use no real patients.',
  ),
  log_level: choice('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info').means(
    'Minimum level of log lines.',
  ),
  log_format: choice('LOG_FORMAT', logFormats, 'auto').means(
    '`json`: one object a line; `text`: readable lines, in color unless `NO_COLOR` is set; `auto`: `text` on a terminal, else `json`.',
  ),
  otlp_endpoint: secret('OTEL_EXPORTER_OTLP_ENDPOINT', withoutFinalSlash(webUrl)).means(
    'Base URL of an OpenTelemetry collector for traces (OTLP over HTTP, JSON), such as `http://127.0.0.1:4318`.',
  ),
  sandbox_users_max: limitWithoutDemo('SANDBOX_USERS_MAX', 50).means('Maximum users of a sandbox team.'),
  report_file_max_mb: whole('REPORT_FILE_MAX', 10, 1, 30).means(
    'Maximum MiB of a file of a lab report; several images together can have 30.',
  ),
  report_threads: whole('REPORT_THREADS', 1, 1, 64).means('Lab reports that a process reads at a time, each with up to 704 MB.'),
  report_files_days: whole('REPORT_FILES_DAYS', 30, 0, 3650).means(
    'Days for which files of a lab report are kept after it was parsed or reviewed.',
  ),
  report_ocr_models: text('REPORT_OCR_MODELS', undefined, anyText('a folder')).means(
    'Folder with other networks for text recognition (REPORTS.md).',
  ),
  report_storage: choice('REPORT_STORAGE', storageKinds, 'disk').means(
    'Storage of the files of new lab reports, encrypted, and of the access log (REPORTS.md).',
  ),
  report_folder: text('REPORT_FOLDER', undefined, anyText('a folder'), {
    default_text: '`DATA_DIR/report-files`',
  }).means('Folder for files with `REPORT_STORAGE=disk`; every process must reach it.'),
  s3_endpoint: text('S3_ENDPOINT', undefined, withoutFinalSlash(webUrlWithoutUser)).means(
    'Base URL of the object store. `REPORT_STORAGE=s3` requires it, the bucket, and both parts of the key.',
  ),
  s3_bucket: text('S3_BUCKET', undefined, bucketName).means('Bucket, which must not be public.'),
  s3_region: text(
    'S3_REGION',
    'us-east-1',
    matching('a region', (value) => /^[\w-]{1,64}$/.test(value)),
  ).means('Region for which requests are signed.'),
  s3_prefix: text(
    'S3_PREFIX',
    '',
    matching('a prefix of keys', (value) => /^[\w./-]{0,200}$/.test(value)),
  ).means('Text before the key of each object, such as `drawbridge/`.'),
  s3_access_key_id: text('S3_ACCESS_KEY_ID', undefined, anyText('a key ID')).means('Access key (rights: REPORTS.md).'),
  s3_secret_access_key: secret('S3_SECRET_ACCESS_KEY', anyText('a secret')).means('Secret of that access key.'),
  s3_virtual_hosts: flag('S3_VIRTUAL_HOSTS', false).means(
    'Put the bucket into the host name (`bucket.s3.example`) instead of the path.',
  ),
  document_fonts: list('DOCUMENT_FONTS', anyText('a font file'), 5).means(
    'TrueType or OpenType fonts for characters that the font of documents lacks (DOCUMENTS.md), in order.',
  ),
  abn_form: text('ABN_FORM', undefined, anyText('a file')).means(
    'Your form CMS-R-131 for advance beneficiary notices (DOCUMENTS.md).',
  ),
  abn_form_fields: list('ABN_FORM_FIELDS', fieldOfForm, 6).means('Fields of that form with other names: `notifier=A Notifier`.'),
  http_connections_max: whole('CONNECTIONS_MAX', 4000, 2, 1_000_000).means(
    'Maximum client connections of a process (operating/limits.md).',
  ),
  stop_delay_s: whole('STOP_DELAY', 1, 0, 300).means(
    'Seconds for which the server serves after a signal to stop, while `/readyz` returns 503 (operating/install.md).',
  ),
  requests_per_s: limitWithoutDemo('REQUESTS_PER_SECOND', 100).means(
    'Requests per second of a key in each process; more get 429.',
  ),
  requests_burst: whole('REQUESTS_BURST', 200, 1, 1_000_000).means('Burst size of the rate limit per key.'),
  wrong_keys_per_min: limitWithoutDemo('WRONG_KEYS_PER_MINUTE', 20).means(
    'Invalid keys, tokens, invites, or sessions a minute from one address (IPv6: one /64); then 429, except for keys that were valid within the last hour.',
  ),
  session_idle_minutes: whole('SESSION_IDLE_MINUTES', 60, 1, 1440).means(
    'Idle minutes after which a session of the console ends.',
  ),
  session_hours: whole('SESSION_HOURS', 12, 1, 720).means('Hours after which a session of the console ends.'),
  oidc_issuer: text('OIDC_ISSUER', undefined, issuerUrl).means(
    'OpenID Connect issuer through which members sign in, such as `https://login.example.com`. Redirect URI: `PUBLIC_URL` with `/console/api/sign-in/oidc/callback`.',
  ),
  oidc_client_id: text('OIDC_CLIENT_ID', undefined, anyText('a client id')).means(
    'Client of this server there; required with `OIDC_ISSUER`.',
  ),
  oidc_client_secret: secret('OIDC_CLIENT_SECRET', anyText('a secret')).means(
    'Secret of that client (HTTP Basic); without it the client is public.',
  ),
  oidc_label: text('OIDC_LABEL', 'Single sign-on', anyText('a name')).means('Name of the issuer on the sign-in page.'),
  oidc_allowed_domains: list('OIDC_ALLOWED_DOMAINS', emailDomain, 100).means(
    'Domains of email addresses that may sign in through the issuer; without it, all that the issuer has verified.',
  ),
  oidc_role_claim: text('OIDC_ROLE_CLAIM', undefined, anyText('the name of a claim')).means(
    'Claim with the roles of a person, such as `groups`.',
  ),
  oidc_roles: list('OIDC_ROLES', roleOfClaim, 100).means(
    'Roles by values of that claim: `org_admin`, `no_role`, or a role in all teams. The first that fits applies at each sign-in, and makes a new person a member.',
  ),
  invites_per_hour: limit('INVITES_PER_HOUR', 100).means('Invites of an organization an hour, in each process; more get 429.'),
  invites_per_address_per_day: limit('INVITES_PER_ADDRESS_PER_DAY', 5).means(
    'Invites of an organization to one address a day, in each process; more get 429.',
  ),
  trusted_proxies: list('TRUSTED_PROXIES', network, 1000).means(
    'Your proxies: the address of a caller is the last one of `X-Forwarded-For` that is not listed here. Callers behind other proxies share one address, and its limits.',
  ),
  support_email: text('SUPPORT_EMAIL', '', emailAddress).means('Support email address of teams that set none.'),
  enforce_delegated_physician: flag('ENFORCE_DELEGATED_PHYSICIAN', true).means(
    'Require a physician on orders at Labcorp, Quest, and Sonora Quest under lab accounts with delegated ordering.',
  ),
  sandbox_parity: flag('SANDBOX_PARITY', false).means(
    'Sandbox service centers use the time zone of New York, as in the API reference; `off`: time zone and opening hours of the site.',
  ),
  legacy_timeseries: flag('LEGACY_TIMESERIES', true).means(
    'Serve the deprecated lists and fields of WEARABLES.md; `off`: 404, and without the fields.',
  ),
  orders_without_integration: flag('ORDERS_WITHOUT_INTEGRATION', false).means(
    'Accept production orders at laboratories without an integration (FULFILLMENT.md).',
  ),
  lab_alert_email: text('LAB_ALERT_EMAIL', '', emailAddress).means(
    'Email address that gets a message when a link to a laboratory fails and when it works again, as the administrators of its organization do.',
  ),
  lab_listen: list('LAB_LISTEN', listenAddress, 20).means(
    'Addresses and ports to which laboratories send messages (MLLP), such as `10.1.2.3:2575` or, with TLS, `tls://0.0.0.0:2576`.',
  ),
  lab_tls_certificate: text('LAB_TLS_CERTIFICATE', undefined, anyText('a file')).means(
    'Certificate chain (PEM) of the `tls://` addresses, read again when the file changes.',
  ),
  lab_tls_key: text('LAB_TLS_KEY', undefined, anyText('a file')).means('Private key (PEM) of that certificate.'),
  lab_tls_authorities: text('LAB_TLS_AUTHORITIES', undefined, anyText('a file')).means(
    'Certificates (PEM) of authorities, one of which must have certified each laboratory that connects with TLS.',
  ),
  lab_folder: text('LAB_FOLDER', undefined, anyText('a folder')).means(
    'Folder with the drop folders of laboratories; without it no link can use folders.',
  ),
  smtp_url: secret(
    'SMTP_URL',
    matching(smtpUrl, (value) => parseSmtpUrl(value) !== undefined),
  ).means(
    'Mail server: `smtps://user:password@host` (port 465) or `smtp://…` (port 587, STARTTLS), with a trusted certificate; `smtp://…?tls=off` (port 25) sends plain text. Without it no mail is sent.',
  ),
  mail_from: secret('MAIL_FROM', matching('an email address, as a@b or Name <a@b>', isSender)).means(
    'Sender of mail; required with `SMTP_URL`.',
  ),
  sms_url: secret('SMS_URL', webUrlWithoutUser).means(
    'HTTP gateway for text messages to patients (MESSAGES.md); without it they are recorded only.',
  ),
  sms_token: secret(
    'SMS_TOKEN',
    matching('printable ASCII without spaces', (value) => /^[\x21-\x7e]{1,1000}$/.test(value)),
  ).means('Bearer token for the SMS gateway.'),
  sms_from: secret(
    'SMS_FROM',
    matching('a number or a name of at most 40 characters', (value) => /^[\w +.-]{1,40}$/.test(value)),
  ).means('Sender of text messages; required with `SMS_URL`.'),
  encryption_keys: list('ENCRYPTION_KEYS', base64Key, 1000, { secret: true, default_text: '`DATA_DIR/encryption.key`' }).means(
    'Keys that encrypt secrets and sign access tokens; the first encrypts, all decrypt. Without it a key file with mode 0600 is created.',
  ),
  webhook_schedule_s: seconds('WEBHOOK_SCHEDULE', [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000], 604_800, 20).means(
    'Seconds before each delivery attempt, from the previous failure, ±20 %.',
  ),
  webhook_allow: list('WEBHOOK_ALLOW', networkOrHost, 1000).means(
    'Non-public targets of deliveries: networks such as `10.1.0.0/16` or `fd12::/16`, addresses, host names, `*.internal.example`.',
  ),
  provider_retention: list('PROVIDER_RETENTION', daysOfProvider, 100).means(
    'Maximum days for which health data of a provider is kept.',
  ),
  projects: list('PUBSUB_PROJECTS', projectOfOrganization, 1000).means(
    'Google Cloud projects to which teams of an organization (`*`: of all) can publish with the credentials of the process.',
  ),
  pubsub_emulator_host: text(
    'PUBSUB_EMULATOR_HOST',
    undefined,
    matching('a host and a port such as localhost:8085', (value) => /^[\w.-]+:\d{1,5}$/.test(value)),
  ).means('Emulator to use instead of Google Cloud Pub/Sub, without TLS and credentials.'),
  domain_target: text('DOMAIN_TARGET', undefined, { expected: 'a host name like lab.example.com', read: hostName }).means(
    "Host name of this installation for the CNAME of organizations' domains (operating/administer.md).",
  ),
  access_log: choice('ACCESS_LOG', accessLogModes, 'batched').means(
    'When reads are written to the access log: `batched`, within a second, which a killed process loses; `strict`, before the response.',
  ),
  request_log_days: whole('REQUEST_LOG_DAYS', 7, 0, 90).means(
    'Days for which the console lists requests of teams, without bodies; `0`: none.',
  ),
  event_body_days: whole('EVENT_BODY_DAYS', 7, 1, 30).means(
    'Days for which bodies of events of health data and connections are stored (monitor.md).',
  ),
  access_log_days: whole('ACCESS_LOG_DAYS', 2192, 1, 100_000).means(
    'Days for which the access log is kept, by default six years. `migrate` and `start` store it in the database, which drops no younger day.',
  ),
  access_log_database_days: whole('ACCESS_LOG_DATABASE_DAYS', 90, 0, 100_000).means(
    'Days of the access log in the database; `migrate` and `start` store it there. Older days are in files at `REPORT_STORAGE` until `ACCESS_LOG_DAYS`; `0`: all stay in the database.',
  ),
  geocoder_url: secret('GEOCODER_URL', webUrl).means(
    'Geocoding service for postal codes that are not in the local tables (PSC_DIRECTORY.md).',
  ),
  provider_urls: list('PROVIDER_URLS', providerUrl, 100).means(
    "Gateways or sandboxes instead of vendors' addresses; those that are not public must be in `WEBHOOK_ALLOW`.",
  ),
  google_service_account: secret(
    'GOOGLE_SERVICE_ACCOUNT',
    matching(
      'the JSON key of a service account of Google Cloud, as it is or in base64',
      (value) => readServiceAccount(value) !== undefined,
    ),
  ).means(
    "Service account that subscribes teams' applications to notifications of Google Health, if they allow it; otherwise teams register the server's address.",
  ),
  provider_poll_hours: whole('PROVIDER_POLL_HOURS', 6, 1, 168).means(
    "Hours without a notification after which a vendor's cloud is polled, and the interval of polls.",
  ),
  dns_servers: list('DNS_SERVERS', nameServer, 10, { default_text: 'the system resolver' }).means(
    'DNS servers for domain verification, such as `192.0.2.53` or `[2001:db8::53]:5353`.',
  ),
  check: flag('DRAWBRIDGE_CHECK', false).means('Validate every row and response against its schema, for tests; slow.'),
}
