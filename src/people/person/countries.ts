// Countries and US states: accepted inputs and the stored form. Source: lab-testing.md 5.2.
import { RuleError, type Rule } from '../../platform/schema/request-validation.ts'

const stateNames: Record<string, string> = {
  AL: 'Alabama',
  AK: 'Alaska',
  AZ: 'Arizona',
  AR: 'Arkansas',
  CA: 'California',
  CO: 'Colorado',
  CT: 'Connecticut',
  DE: 'Delaware',
  FL: 'Florida',
  GA: 'Georgia',
  HI: 'Hawaii',
  ID: 'Idaho',
  IL: 'Illinois',
  IN: 'Indiana',
  IA: 'Iowa',
  KS: 'Kansas',
  KY: 'Kentucky',
  LA: 'Louisiana',
  ME: 'Maine',
  MD: 'Maryland',
  MA: 'Massachusetts',
  MI: 'Michigan',
  MN: 'Minnesota',
  MS: 'Mississippi',
  MO: 'Missouri',
  MT: 'Montana',
  NE: 'Nebraska',
  NV: 'Nevada',
  NH: 'New Hampshire',
  NJ: 'New Jersey',
  NM: 'New Mexico',
  NY: 'New York',
  NC: 'North Carolina',
  ND: 'North Dakota',
  OH: 'Ohio',
  OK: 'Oklahoma',
  OR: 'Oregon',
  PA: 'Pennsylvania',
  RI: 'Rhode Island',
  SC: 'South Carolina',
  SD: 'South Dakota',
  TN: 'Tennessee',
  TX: 'Texas',
  UT: 'Utah',
  VT: 'Vermont',
  VA: 'Virginia',
  WA: 'Washington',
  WV: 'West Virginia',
  WI: 'Wisconsin',
  WY: 'Wyoming',
}

/** Territories with residents that the API's enumeration of states does not contain. */
const otherNames: Record<string, string> = {
  DC: 'District of Columbia',
  PR: 'Puerto Rico',
  GU: 'Guam',
  VI: 'U.S. Virgin Islands',
  AS: 'American Samoa',
  MP: 'Northern Mariana Islands',
  AA: 'Armed Forces Americas',
  AE: 'Armed Forces Europe',
  AP: 'Armed Forces Pacific',
}

/** The 50 states of the API's enumeration. */
export const usStates: string[] = Object.keys(stateNames)

const states = new Map<string, string>()
for (const [code, name] of Object.entries({ ...stateNames, ...otherNames })) states.set(code, code).set(name.toUpperCase(), code)

/** Returns the two-letter code of a US state or territory given by code or name. */
export const stateCode = (text: string): string | undefined => states.get(text.trim().toUpperCase())

export const UNITED_STATES = 'United States'

interface Countries {
  /** Full names by code and by name, in capitals. */
  names: Map<string, string>
  /** Codes by full name. */
  codes: Map<string, string>
}
let cachedCountries: Countries | undefined

/** Read when first asked for: the data of all regions would be a fiftieth of each start. */
const getCountries = (): Countries => (cachedCountries ??= readCountries())

function readCountries(): Countries {
  const english = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const names = new Map<string, string>()
  const codes = new Map<string, string>()
  for (let a = 65; a <= 90; a++)
    for (let b = 65; b <= 90; b++) {
      const code = String.fromCharCode(a, b)
      const name = /^(X[A-Z]|Q[M-Z]|ZZ|AA|EU|EZ|UN)$/.test(code) ? undefined : english.of(code)
      if (name) {
        names.set(code, names.get(name.toUpperCase()) ?? name).set(name.toUpperCase(), name)
        // Withdrawn codes, such as DD, map to their successors.
        codes.set(name, new Intl.Locale(`und-${code}`).region ?? code)
      }
    }
  for (const spelling of ['U.S.', 'USA', 'U.S.A.', 'UNITED STATES OF AMERICA']) names.set(spelling, UNITED_STATES)
  return { names, codes }
}

const nameOf = (text: string): string | undefined => getCountries().names.get(text.trim().toUpperCase())

/** Returns the full name of a known country; otherwise the text itself. */
export const knownCountry: Rule = (text) => nameOf(text) ?? text

/** Accepts a country by two-letter code or English name; stores its full name. */
export const countryRule: Rule = (text) => nameOf(text) ?? new RuleError('not a country, give its two-letter code')

/** Returns the two-letter code of a country given by code or English name. */
export const countryCode = (text: string): string | undefined => getCountries().codes.get(nameOf(text) ?? '')
