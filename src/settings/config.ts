// Reads the settings from the environment once: checks each by its schema (settings.ts), then the ones that depend on each other. Each error is
// one sentence.
import { join } from 'node:path'
import { cellNames, isSandboxCell, type CellName, type KnownCell, placeOfKey } from './cells.ts'
import { parseSmtpUrl, type SmtpSettings } from '../platform/mail/smtp.ts'
import { readListenAddress } from '../platform/net/listen-address.ts'
import type { Fault } from '../platform/schema/fault.ts'
import { validate } from '../platform/schema/request-validation.ts'
import { T, type Static } from '../platform/schema/schema.ts'
import type { SmsSettings } from '../platform/sms/sms-gateway.ts'
import type { S3Settings } from '../platform/stored-files/s3-storage.ts'
import { cellVariable, settings } from './settings.ts'

type Name = keyof typeof settings
type Values = { [name in Name]: Static<(typeof settings)[name]> }
/** The settings that the program uses in combination only. */
const combined = [
  'control',
  ...cellNames,
  'cell_hosts',
  'projects',
  'provider_retention',
  'smtp_url',
  'mail_from',
  'sms_url',
  'sms_token',
  'sms_from',
  'report_folder',
  's3_endpoint',
  's3_bucket',
  's3_region',
  's3_prefix',
  's3_access_key_id',
  's3_secret_access_key',
  's3_virtual_hosts',
  'oidc_issuer',
  'oidc_client_id',
  'oidc_client_secret',
  'oidc_label',
  'oidc_allowed_domains',
  'oidc_role_claim',
  'oidc_roles',
] as const
type Combined = (typeof combined)[number]

/** Host name → the only cell or API whose credentials it accepts. */
export type HostBindings = ReadonlyMap<string, CellName | 'management'>

export interface OidcSettings {
  issuer: string
  client_id: string
  /** Undefined for a public client. */
  client_secret: string | undefined
  label: string
  /** Domains of email addresses; empty: all. */
  allowed_domains: readonly string[]
  /** The claim that names roles. */
  role_claim: string | undefined
  /** Value of that claim → role. */
  roles: ReadonlyMap<string, string>
}

/** The settings as the program uses them; settings.ts says what each means. */
export interface Config extends Omit<Values, Combined> {
  demo: boolean
  /** The server listens on loopback only: clients reach it through a process on this machine, such as a proxy. */
  loopback: boolean
  /** Connection strings by schema: cells and `control`. Empty with the embedded database. */
  database_urls: Partial<Record<CellName | 'control', string>>
  team_connections_max: number
  hosts: HostBindings
  /** The SMTP server; undefined: emails stay in the outbox, where the operator reads them. */
  smtp: SmtpSettings | undefined
  /** The SMS gateway; undefined: text messages are recorded and not sent. */
  sms: SmsSettings | undefined
  /** The folder for the files of lab reports. */
  report_folder: string
  /** The object store; undefined: none is configured. */
  s3: S3Settings | undefined
  /** Organization, or `*` for every organization → projects to which its teams may publish. */
  pubsub_projects: ReadonlyMap<string, ReadonlySet<string>>
  /** The OpenID issuer through which members sign in; undefined: none. */
  oidc: OidcSettings | undefined
  /** Provider → days that its data is kept at most. */
  provider_retention: ReadonlyMap<string, number>
}

/** One or more settings are invalid; the message names each. */
export class ConfigError extends Error {}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/
const schema = T.Object(settings)
const names = Object.keys(settings) as Name[]
const isUsedAlone = (name: Name): boolean => !combined.includes(name as Combined)

/** @throws ConfigError with a list of everything that is invalid */
export function readConfig(env: Record<string, string | undefined>): Config {
  const faults: string[] = []
  const isSet = (name: Name): boolean => Boolean(env[settings[name].name]?.trim())
  const values = readValues(env, names.filter(isSet), faults)
  const { cell_hosts, projects, provider_retention, smtp_url, mail_from, sms_url, sms_token, sms_from } = values
  const cells = [...new Set(values.cells)]
  const database_urls = combineDatabases(values, cells, faults)
  const servesSandbox = cells.some(isSandboxCell)
  const demo = values.demo ?? (servesSandbox && !database_urls.control)
  const unlimited = names.filter((name) => demo && settings[name].off_with_demo && !isSet(name)).map((name) => [name, 0])
  const loopback = LOOPBACK.test(values.host)
  if (demo && !loopback && !values.demo_on_network)
    faults.push(
      `HOST is ${values.host}, but demo data is on and its keys are for this machine only. Set DEMO=off to serve other machines, HOST=127.0.0.1 to keep the demo, or DEMO_ON_NETWORK=on to serve the demo to other machines.`,
    )
  if (demo && !servesSandbox)
    faults.push('DEMO is on, but CELLS has no sandbox. Production cells alone have no demo data: set DEMO=off.')
  if (values.demo_keys.length && !demo) faults.push('DEMO_KEYS is set, but demo data is off. Set DEMO=on too.')
  const places = values.demo_keys.map(placeOfKey)
  for (const place of new Set(places.filter((place, i) => places.indexOf(place) !== i)))
    faults.push(`DEMO_KEYS contains more than one key of ${place === 'management' ? 'the Management API' : place}.`)
  if (values.operator_port === values.port && values.port !== 0)
    faults.push(`OPERATOR_PORT is ${values.port}, which is PORT already.`)
  const listensWithTls = values.lab_listen.some((text) => readListenAddress(text)?.isTls)
  if (listensWithTls && !(isSet('lab_tls_certificate') && isSet('lab_tls_key')))
    faults.push('LAB_LISTEN contains an address with TLS, so LAB_TLS_CERTIFICATE and LAB_TLS_KEY must be set too.')
  if (isSet('smtp_url') && !isSet('mail_from')) faults.push('MAIL_FROM must be set when SMTP_URL is.')
  if (isSet('sms_url') && !isSet('sms_from')) faults.push('SMS_FROM must be set when SMS_URL is.')
  const s3 = combineS3(values)
  if (values.report_storage === 's3' && !s3)
    faults.push('REPORT_STORAGE is s3, so S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set too.')
  if (isSet('oidc_issuer') !== isSet('oidc_client_id')) faults.push('OIDC_ISSUER and OIDC_CLIENT_ID must be set together.')
  if (isSet('oidc_issuer') && !isSet('public_url'))
    faults.push('PUBLIC_URL must be set when OIDC_ISSUER is: the issuer sends browsers back to it.')
  if (isSet('oidc_roles') !== isSet('oidc_role_claim')) faults.push('OIDC_ROLES and OIDC_ROLE_CLAIM must be set together.')
  const hosts = combineHosts(cell_hosts, cells, faults)
  if (faults.length) throw new ConfigError([...new Set(faults)].join('\n'))
  return {
    ...(Object.fromEntries(names.filter(isUsedAlone).map((name) => [name, values[name]])) as Omit<Values, Combined>),
    ...Object.fromEntries(unlimited),
    demo,
    loopback,
    cells,
    database_urls,
    team_connections_max: values.team_connections_max ?? Math.max(2, Math.ceil(values.connections_max / 2)),
    hosts,
    smtp: smtp_url && mail_from ? { ...parseSmtpUrl(smtp_url)!, from: mail_from } : undefined,
    sms: sms_url && sms_from ? { url: sms_url, token: sms_token, from: sms_from } : undefined,
    report_folder: values.report_folder ?? join(values.data_dir, 'report-files'),
    s3,
    oidc: combineOidc(values),
    provider_retention: new Map(provider_retention.map((entry) => [entry.split('=')[0]!, Number(entry.split('=')[1])])),
    pubsub_projects: new Map(
      Object.entries(Object.groupBy(projects, (entry) => entry.split('=')[0]!)).map(([organization, entries]) => [
        organization,
        new Set(entries!.map((entry) => entry.split('=')[1]!)),
      ]),
    ),
  }
}

/** Appends an error for each invalid value; it is replaced by the default, so that what depends on it is checked too. */
function readValues(env: Record<string, string | undefined>, setNames: Name[], faults: string[]): Values {
  const texts = Object.fromEntries(
    setNames.map((name) => [name, splitList(settings[name].items, env[settings[name].name]!.trim())]),
  )
  const found: Fault[] = []
  const values = validate(schema, texts, [], found, 'text') as Values
  for (const { loc } of found) {
    const [key, index] = loc as [Name, number?]
    const { name, expected, items, secret } = settings[key]
    if (secret) faults.push(`${name} must be ${expected}.`)
    else if (index === undefined) faults.push(`${name} must be ${expected}, not "${env[name]!.trim()}".`)
    else faults.push(`${name} contains "${texts[key]![index]}", which must be ${items!.expected}.`)
    Object.assign(values, { [key]: settings[key].default })
  }
  return values
}

/** The entries of a list. Empty ones are dropped, unless they stand for numbers. */
function splitList(items: { type?: string } | undefined, text: string): string | string[] {
  if (!items) return text
  const entries = text.split(',').map((entry) => entry.trim())
  return items.type === 'number' ? entries : entries.filter(Boolean)
}

/** The connection string of each cell and of the control plane; none if the embedded database serves them. */
function combineDatabases(values: Values, cells: KnownCell[], faults: string[]): Config['database_urls'] {
  const all = (['control', ...cells] as const).map((name) => [name, values[name] ?? values.database_url] as const)
  const missing = all.filter(([, url]) => url === undefined).map(([name]) => cellVariable(name))
  if (missing.length === 0) return Object.fromEntries(all)
  if (missing.length < all.length)
    faults.push(
      `${missing.join(', ')} must be set too: without DATABASE_URL either all cells and the control plane have their own database, or none.`,
    )
  return {}
}

function combineS3(values: Values): S3Settings | undefined {
  const { s3_endpoint: endpoint, s3_bucket: bucket, s3_region: region, s3_prefix: prefix } = values
  const { s3_access_key_id: access_key_id, s3_secret_access_key: secret_access_key, s3_virtual_hosts: virtual_hosts } = values
  if (!endpoint || !bucket || !access_key_id || !secret_access_key) return undefined
  return { endpoint, bucket, region, prefix, access_key_id, secret_access_key, virtual_hosts }
}

function combineOidc(values: Values): OidcSettings | undefined {
  const { oidc_issuer: issuer, oidc_client_id: client_id, oidc_client_secret: client_secret, oidc_label: label } = values
  if (!issuer || !client_id) return undefined
  const { oidc_allowed_domains: allowed_domains, oidc_role_claim: role_claim, oidc_roles } = values
  const roles = new Map(
    oidc_roles.map((entry) => [entry.slice(0, entry.lastIndexOf('=')), entry.slice(entry.lastIndexOf('=') + 1)]),
  )
  return { issuer, client_id, client_secret, label, allowed_domains, role_claim, roles }
}

function combineHosts(entries: string[], cells: CellName[], faults: string[]): HostBindings {
  const hosts = new Map<string, CellName | 'management'>()
  for (const entry of entries) {
    const [host, place] = entry.split('=') as [string, CellName | 'management']
    if (place !== 'management' && !cells.includes(place))
      faults.push(`CELL_HOSTS binds ${host} to "${place}", which is not among the cells served (CELLS) nor "management".`)
    else if (hosts.has(host)) faults.push(`CELL_HOSTS contains ${host} twice.`)
    hosts.set(host, place)
  }
  return hosts
}
