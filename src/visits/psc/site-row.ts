// Parses a site in an operator's file: reports every error of a row, and none of its values. Pure.
import { milesBetween, isPoint } from '../geocoding/distance.ts'
import type { ZipTable } from '../geocoding/zip-codes.ts'
import { billingTypes } from '../../lab/catalog/enums.ts'
import { stateCode } from '../../people/person/countries.ts'
import { BOOKABLE_VIA_API, BOOKABLE_VIA_API_ALIAS } from './schema.ts'
import { capabilities, type SiteRecord } from './sites.ts'

/** Columns, or properties, that a file must have. */
export const requiredColumns = ['site_code', 'name', 'first_line', 'city', 'state', 'zip_code'] as const
export const optional = [
  'second_line',
  'phone_number',
  'fax_number',
  'website',
  'hours',
  'lat',
  'lng',
  'capabilities',
  'supported_bill_types',
  'active',
] as const

/** By column; absent values are empty. Values of JSON files may be other than text. */
export type SiteRow = Partial<Record<(typeof requiredColumns)[number] | (typeof optional)[number], unknown>>

const HOURS_MAX = 4000
/** A site farther than this from the center of its ZIP code is an error: coordinates or ZIP code are wrong. */
const ZIP_DISTANCE_MILES_MAX = 150

/** Returns the site of a row, or its errors. A site without coordinates gets the center of its ZIP code. */
export function readSite(raw: SiteRow, zips: ZipTable): SiteRecord | string[] {
  const faults: string[] = []
  const fault = <V>(text: string, instead: V): V => (faults.push(text), instead)
  const text = (name: keyof SiteRow, length_max: number): string | null => {
    const value = raw[name] ?? ''
    if (typeof value !== 'string' && typeof value !== 'number') return fault(`${name} is not text`, null)
    const trimmed = String(value).trim()
    if (trimmed.length > length_max || !trimmed.isWellFormed() || trimmed.includes('\0'))
      return fault(`${name} must be text of at most ${length_max} characters`, null)
    return trimmed || null
  }
  const requiredText = (name: (typeof requiredColumns)[number], length_max: number): string => {
    const before = faults.length
    const value = text(name, length_max)
    return value ?? (faults.length > before ? '' : fault(`${name} is missing`, ''))
  }
  const capabilityList = <const V extends string>(
    name: keyof SiteRow,
    allowedValues: readonly V[],
    spelling = (word: string) => word,
  ): V[] => {
    const value = raw[name] ?? ''
    const list = Array.isArray(value) ? value : String(value).split(/[\s;|,]+/)
    const given = list.filter((word) => word !== '').map((word) => spelling(String(word).toLowerCase()))
    if (given.some((word) => !allowedValues.includes(word as V)))
      return fault(`${name} must be one of ${allowedValues.join(', ')}`, [])
    return [...new Set(given as V[])]
  }

  const state = requiredText('state', 100)
  const zip_code = requiredText('zip_code', 10)
  const site: SiteRecord = {
    site_code: requiredText('site_code', 50),
    name: requiredText('name', 200),
    first_line: requiredText('first_line', 200),
    second_line: text('second_line', 200),
    city: requiredText('city', 200),
    state: state && (stateCode(state) ?? fault('state is not a US state', '')),
    zip_code,
    phone_number: text('phone_number', 50),
    fax_number: text('fax_number', 50),
    hours: parseHours(raw.hours, fault),
    website: website(text('website', 500), fault),
    ...point(text('lat', 30), text('lng', 30), zip_code, zips, fault),
    capabilities: capabilityList('capabilities', capabilities, (word) =>
      word === BOOKABLE_VIA_API_ALIAS ? BOOKABLE_VIA_API : word,
    ),
    supported_bill_types: capabilityList('supported_bill_types', billingTypes),
    active: parseFlag(text('active', 10), fault),
  }
  if (site.supported_bill_types.length === 0) site.supported_bill_types = ['client_bill']
  if (site.capabilities.includes(BOOKABLE_VIA_API) && site.capabilities.includes('appointment_scheduling_with_lab'))
    faults.push('capabilities must not contain both ways of booking')
  return faults.length ? faults : site
}

type AddError = <V>(text: string, instead: V) => V

function point(lat: string | null, lng: string | null, zip_code: string, zips: ZipTable, fault: AddError) {
  const nowhere = { lat: 0, lng: 0 }
  // The missing field was reported above.
  if (!zip_code) return nowhere
  if (!/^\d{5}(-\d{4})?$/.test(zip_code)) return fault('zip_code is not a ZIP code', nowhere)
  const middle = zips.get(zip_code.slice(0, 5))
  if (lat === null && lng === null)
    return middle
      ? { lat: middle.lat, lng: middle.lng }
      : fault('coordinates are missing and the ZIP code is not recognized', nowhere)
  const given = { lat: degrees(lat), lng: degrees(lng) }
  if (!isPoint(given) || (given.lat === 0 && given.lng === 0))
    return fault('lat and lng are not a point in decimal degrees', nowhere)
  const miles = middle ? milesBetween(given, middle) : 0
  if (miles > ZIP_DISTANCE_MILES_MAX) return fault(`lat and lng are ${Math.round(miles)} miles from the ZIP code`, nowhere)
  return given
}

const degrees = (text: string | null): number =>
  text !== null && /^[+-]?\d{1,3}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN

function parseFlag(text: string | null, fault: AddError): boolean {
  const word = text?.toLowerCase() ?? 'true'
  if (['true', 'yes', '1'].includes(word)) return true
  return ['false', 'no', '0'].includes(word) ? false : fault('active must be true or false', true)
}

function website(text: string | null, fault: AddError): string | null {
  if (text === null || (/^https?:\/\//i.test(text) && URL.canParse(text))) return text
  return fault('website must be an http or https URL', null)
}

function parseHours(value: unknown, fault: AddError): SiteRecord['hours'] {
  if (value === undefined || value === null || (typeof value === 'string' && value.trim() === '')) return null
  const refused = () => fault(`hours must be a JSON object of at most ${HOURS_MAX} characters`, null)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // PostgreSQL JSON rejects both.
  if (text.length > HOURS_MAX || !text.isWellFormed() || /\\u(0000|d[89a-f]..)/i.test(text)) return refused()
  try {
    const hours: unknown = JSON.parse(text)
    return typeof hours === 'object' && hours !== null && !Array.isArray(hours) ? (hours as Record<string, unknown>) : refused()
  } catch {
    return refused()
  }
}
