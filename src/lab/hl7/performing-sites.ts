// The sites of a laboratory that performed tests: in OBX-23 to OBX-25, in OBX-15, or in segments ZPS that OBX-15 refers to. Pure.
import type { Observation } from '../links/link-message.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { readId, readName } from './field-limits.ts'
import type { Hl7Message, Hl7Segment } from './hl7-message.ts'

type Site = NonNullable<Observation['performing_laboratory']>

const CLIA = /(?<![\dA-Z])\d{2}D\d{7}(?!\d)/u

/** The number of a certificate in any field: senders place it differently. */
const findClia = (segment: Hl7Segment, first: number, last: number): string | undefined => {
  for (let field = first; field <= last; field++) {
    const clia = CLIA.exec(segment.raw(field))?.[0]
    if (clia) return clia
  }
  return undefined
}

/** The site that performed an observation; undefined if the message does not say. */
export type SiteFinder = (observation: Hl7Segment) => Site | undefined

/** Finds the sites of a message by the profile. Most observations have the same, which is read once. */
export function createSiteFinder(message: Hl7Message, { results }: LinkProfile): SiteFinder {
  const sites = readSites(message)
  const knownSites = new Map<string, Site | undefined>()
  const fields = results.performing_laboratory === 'OBX-23' ? [23, 24, 25] : [15]
  return (segment) => {
    const key = fields.map((field) => segment.raw(field)).join(segment.raw(0))
    if (!knownSites.has(key)) knownSites.set(key, findSite(segment, results, sites))
    return knownSites.get(key)
  }
}

/** The sites of ZPS segments by their code. */
function readSites({ segments }: Hl7Message): Map<string, Site> {
  const sites = segments.filter(({ id }) => id === 'ZPS').flatMap((segment) => readSite(segment) ?? [])
  return new Map(sites.map((site) => [site.code, site]))
}

/** Number, code, name, address, telephone, contact, director; some senders have the director in place of the telephone or the contact. */
function readSite(segment: Hl7Segment): Site | undefined {
  const name = readName(segment.get(3), segment, 3)
  if (name === '') return undefined
  const phone = segment.get(5)
  const isPhone = /^[\d\s()+./-]+$/u.test(phone)
  const director = [7, 6, 5].map((field) => personName(segment, field)).find((text) => /\p{L}/u.test(text) && !CLIA.test(text))
  return compact({
    code: readId(segment.get(2) || name.slice(0, 100), segment, 2),
    name: name.slice(0, 500),
    clia: findClia(segment, 4, segment.fieldCount),
    medical_director: director,
    phone_number: isPhone ? phone : undefined,
    address: readAddress(segment, 4),
  })
}

function findSite(segment: Hl7Segment, results: LinkProfile['results'], sites: Map<string, Site>): Site | undefined {
  if (results.performing_laboratory === 'OBX-23') return readOrganization(segment)
  const code = segment.get(15)
  const site = sites.get(code) ?? (code === '' && sites.size === 1 ? [...sites.values()][0] : undefined)
  if (site || results.performing_laboratory === 'ZPS') return site
  const name = readName(segment.get(15, 2), segment, 15) || code
  return name
    ? compact({ code: readId(code || name, segment, 15), name: name.slice(0, 500), clia: findClia(segment, 15, 15) })
    : undefined
}

function readOrganization(segment: Hl7Segment): Site | undefined {
  const name = readName(segment.get(23), segment, 23)
  if (name === '') return undefined
  const number = segment.get(23, 10) || segment.get(23, 3)
  return compact({
    code: readId(number || name.slice(0, 100), segment, 23),
    name: name.slice(0, 500),
    clia: findClia(segment, 23, 23),
    medical_director: personName(segment, 25) || undefined,
    address: readAddress(segment, 24),
  })
}

/** A name of the types XCN or XPN, or a text. XCN begins with a number. */
function personName(segment: Hl7Segment, field: number): string {
  const components = segment.components(field)
  if (components.length === 1) return components[0]!.trim()
  const [, family = '', given = '', middle = '', , prefix = ''] = components
  const parts = [prefix, given, middle, family.split('&')[0]!].map((part) => part.trim()).filter(Boolean)
  return readName(parts.join(' '), segment, field)
}

function readAddress(segment: Hl7Segment, field: number): Site['address'] {
  const [first_line = '', second_line = '', city = '', state = '', zip = '', country = ''] = segment.components(field)
  if (first_line === '' && city === '') return undefined
  return compact({
    first_line: first_line.split('&')[0]!,
    second_line: second_line || undefined,
    city,
    state,
    zip,
    country: country || undefined,
  })
}

/** A record without the fields that are undefined. */
function compact<T extends object>(record: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as never
}
