// The kinds of settings: schemas made of a name, a default and limits; `means` adds the sentence that describes the setting.
import { placeOfKey } from './cells.ts'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { TSchema, TUnsafe } from 'typebox'
import { FormatError, formats } from '../platform/schema/formats.ts'
import { readListenAddress } from '../platform/net/listen-address.ts'
import { RuleError } from '../platform/schema/request-validation.ts'
import { OpenEnum, T, Text } from '../platform/schema/schema.ts'

/** What the schema of a setting has besides the keywords of JSON Schema. */
interface Traits {
  /** The environment variable. */
  name: string
  /** What the value must be: the end of the sentence "PORT must be …". */
  expected: string
  /** The default as the documentation shows it, unless it is a plain value. */
  default_text?: string
  /** The default is 0 while demo data is on. */
  off_with_demo?: true
  /** Error messages do not repeat the value, because it may contain a password. */
  secret?: true
}
type More = Partial<Omit<Traits, 'name' | 'expected'>>

/** The schema of a setting. `V` includes undefined for a setting without a default. */
export type Setting<V = unknown> = TUnsafe<V> &
  Traits & { default?: unknown; meaning: string; items?: { expected: string; type?: string } }

const setting = <V>(schema: TSchema, fallback: V, traits: Traits) => ({
  means: (meaning: string): Setting<V> => {
    const described = { ...schema, ...traits, meaning, ...(fallback !== undefined && { default: fallback }) }
    return (fallback === undefined ? T.Optional(described) : described) as unknown as Setting<V>
  },
})

export const whole = <D extends number | undefined>(
  name: string,
  fallback: D,
  minimum: number,
  maximum: number,
  options: More = {},
) =>
  setting<number | (D & undefined)>(T.Integer({ minimum, maximum }), fallback, {
    name,
    expected: `a whole number from ${minimum} to ${maximum}`,
    ...options,
  })

/** A limit that 0 disables. */
export const limit = (name: string, fallback: number, options: More = {}) => whole(name, fallback, 0, 1_000_000, options)

/** A limit that 0 disables, and that does not apply while demo data is on. */
export const limitWithoutDemo = (name: string, fallback: number) =>
  limit(name, fallback, { default_text: `\`${fallback}\`, \`0\` with demo data`, off_with_demo: true })

export const flag = <D extends boolean | undefined>(name: string, fallback: D, options: More = {}) =>
  setting<boolean | (D & undefined)>(T.Boolean(), fallback, { name, expected: '"on" or "off"', ...options })

const oneOf = (words: readonly string[]): string => `one of ${words.join(', ')}`

/** One of some words, in any letter case. */
export const choice = <const W extends string>(name: string, words: readonly W[], fallback: W) =>
  setting<W>(OpenEnum(words), fallback, { name, expected: oneOf(words) })

/** How a text is checked: `read` returns its normal form, or undefined for a text that is not what is expected. */
export interface Check {
  expected: string
  read: (text: string) => string | undefined
}
const checkedText = ({ expected, read }: Check) => Text({ rule: (value) => read(value) ?? new RuleError(`must be ${expected}`) })

/** A text that is accepted unchanged if it matches. */
export const matching = (expected: string, matches: (text: string) => boolean): Check => ({
  expected,
  read: (value) => (matches(value) ? value : undefined),
})

export const text = <D extends string | undefined>(name: string, fallback: D, check: Check, options: More = {}) =>
  setting<string | (D & undefined)>(checkedText(check), fallback, { name, expected: check.expected, ...options })

/** A text that may contain a password; undefined if it is not set. */
export const secret = (name: string, check: Check, options: More = {}) =>
  text(name, undefined, check, { ...options, secret: true })

const createList = <V>(
  name: string,
  fallback: V[],
  items: TSchema,
  expected: string,
  [minItems, maxItems]: [number, number],
  options: More,
) =>
  setting<V[]>(T.Array({ ...items, expected } as TSchema, { minItems, maxItems }), fallback, {
    name,
    expected: `a list of ${minItems ? `${minItems} to` : 'at most'} ${maxItems}, separated by commas, each ${expected}`,
    ...options,
  })

/** Texts, separated by commas. */
export const list = (name: string, check: Check, maxItems: number, options: More = {}) =>
  createList<string>(name, [], checkedText(check), check.expected, [0, maxItems], options)

/** One or more of some words, separated by commas; if it is not set, all. */
export const choices = <const W extends string>(name: string, words: readonly W[]) =>
  createList<W>(name, [...words], OpenEnum(words), oneOf(words), [1, words.length], {})

/** Numbers of seconds, separated by commas. */
export const seconds = (name: string, fallback: number[], maximum: number, maxItems: number) =>
  createList(name, fallback, T.Number({ minimum: 0, maximum }), `a number of seconds from 0 to ${maximum}`, [1, maxItems], {})

export const anyText = (expected: string) => matching(expected, () => true)

/** A URL of some protocols, such as `https:`. A database URL may omit its host: postgres://user@/name?host=/run/postgresql */
export const urlOf = (...protocols: string[]): Check =>
  matching(`a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`, (value) => {
    const url = value.replace('@/', '@localhost/')
    return URL.canParse(url) && protocols.includes(new URL(url).protocol)
  })
export const webUrl = urlOf('http:', 'https:')
export const webUrlWithoutUser = matching(`${webUrl.expected}, without a user`, (value) => {
  const url = webUrl.read(value) === undefined ? undefined : new URL(value)
  return url !== undefined && !url.username && !url.password
})

/** Without slashes at its end. */
export const withoutFinalSlash = ({ expected, read }: Check): Check => ({
  expected,
  read: (value) => read(value.replace(/\/+$/, '')),
})
export const emailAddress = matching('an email address', (value) => !(formats.email!(value) instanceof FormatError))
export const emailDomain: Check = {
  expected: 'a domain of email addresses such as example.com',
  read: (value) => (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(value) ? value.toLowerCase() : undefined),
}
/** Over HTTP a name of this machine alone: what it answers decides who signs in. */
export const issuerUrl = matching('a URL that starts with https://, or with http:// on this machine', (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (!url || url.username || url.search || url.hash) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname))
})
const MEMBER_ROLES = 'org_admin|no_role|administrator|developer|staff|reviewer|viewer'
export const roleOfClaim = matching(`a value of the claim, "=" and one of ${MEMBER_ROLES.replaceAll('|', ', ')}`, (value) =>
  new RegExp(`^.{1,200}=(${MEMBER_ROLES})$`).test(value),
)
export const bucketName = matching('the name of a bucket', (value) => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value))
export const base64Key = matching('a key of 32 bytes in base64', (value) => Buffer.from(value, 'base64').length === 32)

const lowerCase = ({ expected, read }: Check): Check => ({ expected, read: (value) => read(value.toLowerCase()) })
const isHostName = (value: string): boolean => /^(\*\.)?[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_-]{1,63})*$/.test(value)
const isNetwork = (value: string): boolean => isIP(value) > 0 || (isIP(value.split('/', 1)[0]!) > 0 && ipaddr.isValidCIDR(value))

export const network = lowerCase(matching('an address or a network', isNetwork))
export const networkOrHost = lowerCase(
  matching('a network, an address or a host name', (value) => isNetwork(value) || (isHostName(value) && !/^[\d.]+$/.test(value))),
)
export const nameServer = matching('an address with or without a port', (value) => {
  const [, six = '', four = '', port = '53'] = /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(value) ?? []
  return isIP(value) === 6 || (Number(port) > 0 && Number(port) < 65_536 && (isIP(six) === 6 || isIP(four) === 4))
})
export const listenAddress = matching(
  'an address and a port such as 0.0.0.0:2575 or tls://[::]:2576',
  (value) => readListenAddress(value) !== undefined,
)
/** `host=place`. */
export const hostBinding = lowerCase({
  expected: 'a host name, "=" and a cell or "management"',
  read: (value) => {
    const [, host = '', place] = /^([^=]*?)\s*=\s*([^=]+)$/.exec(value) ?? []
    return place && !host.startsWith('*') && (isIP(host) || isHostName(host)) ? `${host}=${place}` : undefined
  },
})
/** A key with the prefix of its cell or of the Management API. */
export const demoKey = matching(
  'a key of 16 to 512 letters, digits and . _ ~ + / = - that begins with sk_us_, pk_us_, sk_eu_, pk_eu_ or mg_',
  (value) => placeOfKey(value) !== undefined,
)
/** `name=days`. */
export const daysOfProvider: Check = matching(
  'a provider and a number of days from 1 to 36500, such as whoop_v2=365',
  (value) => /^[a-z0-9_]{1,50}=[1-9]\d{0,4}$/.test(value) && Number(value.split('=')[1]) <= 36_500,
)

/** `part=name of a field`. */
export const fieldOfForm = matching(
  'one of notifier, patient, identification, tests, reasons and costs, "=" and the name of a field',
  (value) => /^(notifier|patient|identification|tests|reasons|costs)=.{1,200}$/.test(value),
)

/** `organization=project`. */
export const projectOfOrganization: Check = {
  expected: 'the id of an organization or *, "=" and a project',
  read: (value) => {
    const [, org = '', project] = /^([^=]+)=([a-zA-Z0-9][a-zA-Z0-9.:_-]{0,99})$/.exec(value) ?? []
    const id = org === '*' ? org : formats.uuid!(org)
    return project && typeof id === 'string' ? `${id}=${project}` : undefined
  },
}
/** `provider=url`. */
export const providerUrl: Check = {
  expected: 'the name of a provider, "=" and a URL that starts with http:// or https://, without a user and a query',
  read: (value) => {
    const [, provider = '', url = ''] = /^([a-z0-9_]{1,40})=(.+)$/.exec(value) ?? []
    if (webUrlWithoutUser.read(url) === undefined || /[?#]/.test(url)) return undefined
    return `${provider}=${url.replace(/\/+$/, '')}`
  },
}
