// Reads the settings from the environment once and checks them at start; each error is one sentence. settings.ts describes each setting.
import { isIP } from 'node:net'
import { accessLogModes, type AccessLogMode } from '../access-log/access-log.ts'
import { cellNames, type CellName } from '../db/cell-names.ts'
import { FormatError, formats } from '../schema/formats.ts'
import { hostName } from '../net/host-name.ts'
import { cellVariable } from './settings.ts'
import { rowSecurityModes, type RowSecurityMode } from '../db/row-security.ts'
import { parseSmsSettings, type SmsSettings } from '../sms/sms-gateway.ts'
import { parseSmtpSettings, type SmtpSettings } from '../mail/smtp.ts'

/** Host name → the only cell or API whose credentials it accepts. */
export type HostBindings = ReadonlyMap<string, CellName | 'management'>

export interface Config {
  port: number
  /** Port for health, readiness and metrics; undefined: they are served on `port`, if the process serves the API. */
  operator_port: number | undefined
  host: string
  /** The server listens on loopback only: clients reach it through a process on this machine, such as a proxy. */
  loopback: boolean
  http_connections_max: number
  /** Seconds between becoming unready and closing the port. */
  stop_delay_s: number
  base_path: string
  public_url: string | undefined
  data_dir: string
  database_url: string | undefined
  /** Connection strings by schema: cells and `control`. Empty with the embedded database. */
  database_urls: Partial<Record<CellName | 'control', string>>
  connections_max: number
  /** Maximum number of connections that the requests of one team hold in a cell. */
  team_connections_max: number
  /** Whether connections take the database roles to which row-level security policies apply. */
  row_security: RowSecurityMode
  cells: CellName[]
  hosts: HostBindings
  demo: boolean
  log_level: string
  sandbox_users_max: number
  /** Per key or team token; 0 for no limit. */
  requests_per_s: number
  requests_burst: number
  /** Failed authentications per address; 0 for no limit. */
  wrong_keys_per_min: number
  /** Invite emails: per organization, and per address; 0 for no limit. */
  invites_per_hour: number
  invites_per_address_per_day: number
  /** Networks (CIDR) of proxies whose `X-Forwarded-For` the server trusts. */
  trusted_proxies: string[]
  /** Contact address shown to patients of teams without an address of their own; empty for none. */
  support_email: string
  enforce_delegated_physician: boolean
  /** All sandbox sites use one time zone and ignore their opening hours. */
  sandbox_parity: boolean
  /** Orders are accepted at laboratories without an integration. */
  orders_without_integration: boolean
  /** The SMTP server; undefined: emails stay in the outbox, where the operator reads them. */
  smtp: SmtpSettings | undefined
  /** The SMS gateway; undefined: text messages are recorded and not sent. */
  sms: SmsSettings | undefined
  /** Keys for secrets at rest, in base64; empty: a key file in the data folder. */
  encryption_keys: string[]
  /** Seconds before each attempt of a delivery, counted from the previous attempt. */
  webhook_schedule_s: number[]
  /** Networks (CIDR) and host names that deliveries may reach although they are not public. */
  webhook_allow: string[]
  /** Name servers for domain checks, as addresses with or without a port; empty: those of the machine. */
  dns_servers: string[]
  access_log: AccessLogMode
  /** Retention of access log lines. */
  access_log_days: number
  /** The geocoding service for postal codes that Drawbridge does not know; undefined for none. */
  geocoder_url: string | undefined
  /** The host name that custom domains must point at; undefined: they need not point anywhere. */
  domain_target: string | undefined
  /** Organization, or `*` for every organization → projects to which its teams may publish. */
  pubsub_projects: ReadonlyMap<string, ReadonlySet<string>>
  /** Host and port. */
  pubsub_emulator_host: string | undefined
  check: boolean
}

/** One or more settings are invalid; the message names each. */
export class ConfigError extends Error {}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/

/** @throws ConfigError with a list of everything that is invalid */
export function readConfig(env: Record<string, string | undefined>): Config {
  const faults: string[] = []
  const parseText = (name: string, fallback: string) => env[name]?.trim() || fallback
  const parseInteger = (name: string, fallback: number, min: number, max: number) => {
    const value = parseText(name, String(fallback))
    if (/^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value)
    faults.push(`${name} must be a whole number from ${min} to ${max}, not "${value}".`)
    return fallback
  }
  const parseBoolean = (name: string, fallback: boolean) => {
    const value = parseText(name, fallback ? 'on' : 'off').toLowerCase()
    if (['on', 'true', '1', 'yes'].includes(value)) return true
    if (['off', 'false', '0', 'no'].includes(value)) return false
    faults.push(`${name} must be "on" or "off", not "${value}".`)
    return fallback
  }
  const oneOf = <V extends string>(name: string, values: readonly V[], fallback: V): V => {
    const value = parseText(name, fallback).toLowerCase()
    const found = values.find((each) => each === value)
    if (!found) faults.push(`${name} must be one of ${values.join(', ')}, not "${value}".`)
    return found ?? fallback
  }
  const parseUrl = (name: string, protocols: string[]) => {
    const value = env[name]?.trim()
    if (!value) return undefined
    // The value may contain a password, so the message does not repeat it. A database URL may omit the host and name the folder of a
    // socket: postgres://user@/name?host=/run/postgresql
    const parseInteger = value.replace('@/', '@localhost/')
    if (URL.canParse(parseInteger) && protocols.includes(new URL(parseInteger).protocol)) return value
    faults.push(`${name} must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}.`)
    return undefined
  }

  const database_url = parseUrl('DATABASE_URL', ['postgres:', 'postgresql:'])
  const cells = parseText('CELLS', cellNames.join(','))
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter(Boolean)
  for (const cell of cells)
    if (!cellNames.includes(cell as CellName))
      faults.push(`CELLS contains unrecognized cell "${cell}"; the cells are ${cellNames.join(', ')}.`)
  if (cells.length === 0) faults.push('CELLS must name at least one cell.')

  const database_urls: Config['database_urls'] = {}
  for (const name of ['control', ...cellNames] as const) {
    const own = parseUrl(cellVariable(name), ['postgres:', 'postgresql:']) ?? database_url
    if (own) database_urls[name] = own
  }
  const needed = ['control', ...cells] as (CellName | 'control')[]
  const missing = needed.filter((name) => !database_urls[name])
  if (missing.length && missing.length < needed.length)
    faults.push(
      `${missing.map(cellVariable).join(', ')} must be set too: without DATABASE_URL either all cells and the control plane have their own database, or none.`,
    )
  const external = missing.length === 0

  const log_level = parseText('LOG_LEVEL', 'info').toLowerCase()
  if (!LEVELS.includes(log_level)) faults.push(`LOG_LEVEL must be one of ${LEVELS.join(', ')}, not "${log_level}".`)
  const base_path = parseText('BASE_PATH', '').replace(/\/+$/, '')
  if (base_path && !/^(\/[\w.~-]+)+$/.test(base_path)) faults.push(`BASE_PATH must look like /lab, not "${base_path}".`)

  const support_email = parseText('SUPPORT_EMAIL', '')
  if (support_email && formats.email!(support_email) instanceof FormatError)
    faults.push(`SUPPORT_EMAIL must be an email address, not "${support_email}".`)
  const host = parseText('HOST', '127.0.0.1')
  const demo = parseBoolean('DEMO', !external)
  if (demo && !LOOPBACK.test(host))
    faults.push(
      `HOST is ${host}, but demo data is on and its keys are for this machine only. Set DEMO=off to serve other machines, or HOST=127.0.0.1 to keep the demo.`,
    )
  const connections_max = parseInteger('DATABASE_CONNECTIONS', 10, 1, 100)
  const config: Config = {
    port: parseInteger('PORT', 8080, 0, 65535),
    operator_port: env.OPERATOR_PORT?.trim() ? parseInteger('OPERATOR_PORT', 0, 0, 65535) : undefined,
    http_connections_max: parseInteger('CONNECTIONS_MAX', 4000, 2, 1_000_000),
    stop_delay_s: parseInteger('STOP_DELAY', 1, 0, 300),
    host,
    loopback: LOOPBACK.test(host),
    base_path,
    public_url: parseUrl('PUBLIC_URL', ['http:', 'https:'])?.replace(/\/+$/, ''),
    data_dir: parseText('DATA_DIR', './data'),
    database_url,
    database_urls: external ? database_urls : {},
    connections_max,
    team_connections_max: parseInteger('TEAM_DATABASE_CONNECTIONS', Math.max(2, Math.ceil(connections_max / 2)), 1, 100),
    row_security: oneOf('ROW_SECURITY', rowSecurityModes, 'on'),
    cells: [...new Set(cells)] as CellName[],
    hosts: parseHostBindings(env.CELL_HOSTS, cells, faults),
    demo,
    log_level,
    requests_per_s: parseInteger('REQUESTS_PER_SECOND', demo ? 0 : 100, 0, 1_000_000),
    requests_burst: parseInteger('REQUESTS_BURST', 200, 1, 1_000_000),
    wrong_keys_per_min: parseInteger('WRONG_KEYS_PER_MINUTE', demo ? 0 : 20, 0, 1_000_000),
    invites_per_hour: parseInteger('INVITES_PER_HOUR', 100, 0, 1_000_000),
    invites_per_address_per_day: parseInteger('INVITES_PER_ADDRESS_PER_DAY', 5, 0, 1_000_000),
    trusted_proxies: trustedProxies(env.TRUSTED_PROXIES, faults),
    support_email,
    enforce_delegated_physician: parseBoolean('ENFORCE_DELEGATED_PHYSICIAN', true),
    sandbox_parity: parseBoolean('SANDBOX_PARITY', false),
    orders_without_integration: parseBoolean('ORDERS_WITHOUT_INTEGRATION', false),
    sandbox_users_max: parseInteger('SANDBOX_USERS_MAX', demo ? 0 : 50, 0, 1_000_000),
    smtp: parseSmtpSettings(env.SMTP_URL, env.MAIL_FROM, faults),
    sms: parseSmsSettings(env, faults),
    encryption_keys: parseEncryptionKeys(env.ENCRYPTION_KEYS, faults),
    webhook_schedule_s: parseSchedule(parseText('WEBHOOK_SCHEDULE', WEBHOOK_SCHEDULE), faults),
    webhook_allow: parseAllowedTargets(env.WEBHOOK_ALLOW, faults),
    domain_target: parseDomainTarget(env.DOMAIN_TARGET, faults),
    access_log: oneOf('ACCESS_LOG', accessLogModes, 'batched'),
    access_log_days: parseInteger('ACCESS_LOG_DAYS', 400, 1, 100_000),
    geocoder_url: parseUrl('GEOCODER_URL', ['http:', 'https:']),
    dns_servers: parseNameServers(env.DNS_SERVERS, faults),
    pubsub_projects: pubSubProjects(env.PUBSUB_PROJECTS, faults),
    pubsub_emulator_host: parseHostAndPort('PUBSUB_EMULATOR_HOST', env.PUBSUB_EMULATOR_HOST?.trim(), faults),
    check: parseBoolean('DRAWBRIDGE_CHECK', false),
  }
  if (config.operator_port !== undefined && config.operator_port === config.port && config.port !== 0)
    faults.push(`OPERATOR_PORT is ${config.port}, which is PORT already.`)
  if (faults.length) throw new ConfigError(faults.join('\n'))
  return config
}

const WEBHOOK_SCHEDULE = '0,5,300,1800,7200,18000,36000,36000'
const ATTEMPTS_MAX = 20
const WEEK_S = 604_800

function parseSchedule(text: string, faults: string[]): number[] {
  const delays = text.split(',').map((part) => part.trim())
  if (delays.length > ATTEMPTS_MAX || delays.some((part) => !/^\d{1,6}(\.\d{1,3})?$/.test(part) || Number(part) > WEEK_S))
    faults.push(`WEBHOOK_SCHEDULE must be 1 to ${ATTEMPTS_MAX} numbers of seconds up to ${WEEK_S}, separated by commas.`)
  return delays.map(Number)
}

const HOST_NAME = /^(\*\.)?[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_-]{1,63})*$/i

const listOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter(Boolean)

/** Whether a text is an address, or a network in CIDR notation. */
function isNetwork(entry: string): boolean {
  const [address = '', bits, ...more] = entry.split('/')
  const width = isIP(address) === 4 ? 32 : 128
  return isIP(address) > 0 && !more.length && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width))
}

function parseAllowedTargets(text: string | undefined, faults: string[]): string[] {
  const entries = listOf(text)
  for (const entry of entries)
    if (!isNetwork(entry) && (entry.includes('/') || !HOST_NAME.test(entry) || /^[\d.]+$/.test(entry)))
      faults.push(`WEBHOOK_ALLOW contains "${entry}", which is not a network, an address or a host name.`)
  return entries
}

function trustedProxies(text: string | undefined, faults: string[]): string[] {
  const entries = listOf(text)
  for (const entry of entries)
    if (!isNetwork(entry)) faults.push(`TRUSTED_PROXIES names "${entry}", which is neither an address nor a network.`)
  return entries
}

function parseDomainTarget(text: string | undefined, faults: string[]): string | undefined {
  const given = text?.trim()
  if (!given) return undefined
  const name = hostName(given)
  if (name === undefined) faults.push(`DOMAIN_TARGET must be a host name like lab.example.com, not "${given}".`)
  return name
}

const SERVERS_MAX = 10
const WITH_PORT = /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/

function parseNameServers(text: string | undefined, faults: string[]): string[] {
  const entries = (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
  const isServer = (entry: string): boolean => {
    const [, six, four, port = '53'] = WITH_PORT.exec(entry) ?? []
    return isIP(entry) === 6 || (Number(port) > 0 && Number(port) < 65_536 && (isIP(six ?? '') === 6 || isIP(four ?? '') === 4))
  }
  if (entries.length > SERVERS_MAX || !entries.every(isServer))
    faults.push(`DNS_SERVERS must be at most ${SERVERS_MAX} addresses, each with or without a port, separated by commas.`)
  return entries
}

const PROJECTS_MAX = 1000

function pubSubProjects(text: string | undefined, faults: string[]): Map<string, Set<string>> {
  const projects = new Map<string, Set<string>>()
  const entries = (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
  for (const entry of entries) {
    const [, org = '', project = ''] = /^([^=]+)=([a-zA-Z0-9][a-zA-Z0-9.:_-]{0,99})$/.exec(entry) ?? []
    const id = org === '*' ? org : formats.uuid!(org)
    if (id instanceof FormatError || !project) {
      faults.push(`PUBSUB_PROJECTS has "${entry}", which is not the id of an organization or *, "=" and a project.`)
      continue
    }
    const known = projects.get(id) ?? new Set()
    projects.set(id, known.add(project))
  }
  if (entries.length > PROJECTS_MAX) faults.push(`PUBSUB_PROJECTS may name ${PROJECTS_MAX} projects at most.`)
  return projects
}

function parseHostAndPort(name: string, text: string | undefined, faults: string[]): string | undefined {
  if (!text) return undefined
  if (!/^[\w.-]+:\d{1,5}$/.test(text)) faults.push(`${name} must be a host and a port such as localhost:8085, not "${text}".`)
  return text
}

const HOSTS_MAX = 100

function parseHostBindings(text: string | undefined, cells: string[], faults: string[]): HostBindings {
  const hosts = new Map<string, CellName | 'management'>()
  for (const entry of (text ?? '').split(',').map((part) => part.trim().toLowerCase())) {
    if (!entry) continue
    const [host = '', place = '', ...more] = entry.split('=').map((part) => part.trim())
    if (more.length || !place || !(isIP(host) || HOST_NAME.test(host)) || host.startsWith('*'))
      faults.push(`CELL_HOSTS has "${entry}", which is not a host name, "=" and a cell or "management".`)
    else if (place !== 'management' && !cells.includes(place))
      faults.push(`CELL_HOSTS binds ${host} to "${place}", which is not among the cells served (CELLS) nor "management".`)
    else if (hosts.has(host)) faults.push(`CELL_HOSTS contains ${host} twice.`)
    hosts.set(host, place as CellName | 'management')
  }
  if (hosts.size > HOSTS_MAX) faults.push(`CELL_HOSTS may contain at most ${HOSTS_MAX} hosts.`)
  return hosts
}

/** The value is a secret, so the message does not repeat it. */
function parseEncryptionKeys(text: string | undefined, faults: string[]): string[] {
  const keys = (text ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter(Boolean)
  if (keys.some((key) => Buffer.from(key, 'base64').length !== 32))
    faults.push('ENCRYPTION_KEYS must be keys of 32 bytes in base64, separated by commas.')
  return keys
}
