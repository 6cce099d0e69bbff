// Generates the fictional sites of the sandbox from the table of ZIP codes: the same ones each time, spread over the states by population
// and within a state by the density of ZIP codes. The output is checked in as src/visits/psc/data/sandbox-sites.csv.
import type { Place, ZipTable } from '../../src/visits/geocoding/zip-codes.ts'
import { BOOKABLE_VIA_API } from '../../src/visits/psc/schema.ts'

interface ZipPlace extends Place {
  zip: string
}

/** Residents in thousands, census of 2020. */
// prettier-ignore
const populationByState: Record<string, number> = {
  AL: 5024, AK: 733, AZ: 7152, AR: 3012, CA: 39538, CO: 5774, CT: 3606, DE: 990, FL: 21538, GA: 10712,
  HI: 1455, ID: 1839, IL: 12813, IN: 6786, IA: 3190, KS: 2938, KY: 4506, LA: 4658, ME: 1362, MD: 6177,
  MA: 7030, MI: 10077, MN: 5707, MS: 2961, MO: 6155, MT: 1084, NE: 1962, NV: 3105, NH: 1378, NJ: 9289,
  NM: 2118, NY: 20201, NC: 10439, ND: 779, OH: 11799, OK: 3959, OR: 4237, PA: 13003, RI: 1097, SC: 5118,
  SD: 887, TN: 6911, TX: 29146, UT: 3272, VT: 643, VA: 8631, WA: 7705, WV: 1794, WI: 5894, WY: 577,
}

interface Plan {
  lab: string
  prefix: string
  sites: number
  states: string[]
  /** The number of ten sites that can be booked here, or only with the lab. */
  bookable: number
  with_lab: number
}

const allStates = Object.keys(populationByState)
const plans: Plan[] = [
  { lab: 'quest', prefix: 'SBQ', sites: 1000, states: allStates, bookable: 7, with_lab: 1 },
  { lab: 'labcorp', prefix: 'SBL', sites: 900, states: allStates, bookable: 0, with_lab: 8 },
  { lab: 'bioreference', prefix: 'SBB', sites: 400, states: allStates, bookable: 0, with_lab: 3 },
  { lab: 'sonora_quest', prefix: 'SBS', sites: 60, states: ['AZ'], bookable: 6, with_lab: 1 },
]

/** ZIP codes of examples and tests. */
const ANCHORS = ['85004', '10001']

const nameWords = 'Pretend Imaginary Sample Placeholder Makebelieve Fictional Mock Example Invented Storybook'.split(' ')
const nameKinds = 'Plaza Meadow Harbor Orchard Junction Parkway Terrace Square Hollow Crossing Gardens'.split(' ')
const streets = ['Sample Street', 'Placeholder Avenue', 'Pretend Road', 'Specimen Lane', 'Test Tube Terrace', 'Example Boulevard']
const billings = [
  'client_bill patient_bill patient_bill_passthrough commercial_insurance',
  'client_bill patient_bill',
  'client_bill',
]
/** See `hoursOf` in load-sandbox-sites.ts; an empty letter means unknown hours. */
const hours = ['a', 'a', 'b', 'c', '']

/** Returns a repeatable pseudo-random generator of integers (mulberry32). */
function seededRandom(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % limit
  }
}

const COLUMNS =
  'lab,site_code,name,first_line,second_line,city,state,zip_code,phone_number,hours,lat,lng,capabilities,supported_bill_types'

/** Returns the sites as CSV text. No value contains a comma or a quote. */
export function sandboxSites(zips: ZipTable): string {
  const places = Array.from(zips, ([zip, place]) => ({ zip, ...place }))
  const byState = Map.groupBy(places, ({ state }) => state)
  const rows = plans.flatMap((plan, i) => createSites(plan, byState, seededRandom(i + 1)))
  return [COLUMNS, ...rows.map((row) => row.join())].map((line) => `${line}\n`).join('')
}

function createSites(plan: Plan, byState: Map<string, ZipPlace[]>, random: (limit: number) => number): string[][] {
  const all = plan.states.reduce((sum, state) => sum + populationByState[state]!, 0)
  const chosen = plan.states.flatMap((state) => {
    const count = Math.max(1, Math.round((plan.sites * populationByState[state]!) / all))
    return chooseZipCodes(byState.get(state)!, count, random)
  })
  return chosen.map((place, i) => siteAt(plan, place, i + 1, random))
}

/** Selects distinct places, denser ones with higher probability; anchors first. */
function chooseZipCodes(places: ZipPlace[], count: number, random: (limit: number) => number): ZipPlace[] {
  const squared = ({ lat, lng }: ZipPlace) => `${Math.round(lat * 5)} ${Math.round(lng * 5)}`
  const crowd = Map.groupBy(places, squared)
  const left = places.map((place) => ({ place, weight: crowd.get(squared(place))!.length }))
  const chosen = places.filter(({ zip }) => ANCHORS.includes(zip))
  while (chosen.length < count) {
    let at = random(left.reduce((sum, { weight }) => sum + weight, 0))
    const one = left.find(({ weight }) => (at -= weight) < 0)!
    one.weight = 0
    if (!chosen.includes(one.place)) chosen.push(one.place)
  }
  return chosen
}

function siteAt(plan: Plan, place: ZipPlace, number: number, random: (limit: number) => number): string[] {
  const jitter = () => (random(161) - 80) / 10_000
  const kind = random(10)
  const booking =
    kind < plan.bookable ? [BOOKABLE_VIA_API] : kind < plan.bookable + plan.with_lab ? ['appointment_scheduling_with_lab'] : []
  const pick = (list: readonly string[]) => list[random(list.length)]!
  return [
    plan.lab,
    `${plan.prefix}${String(number).padStart(4, '0')}`,
    `${pick(nameWords)} ${pick(nameKinds)} Draw Site (sandbox)`,
    `${1 + random(999)} ${pick(streets)}`,
    random(3) === 0 ? `Suite ${100 + random(900)}` : '',
    place.city,
    place.state,
    place.zip,
    random(8) === 0 ? '' : `+155501001${String(random(100)).padStart(2, '0')}`,
    pick(hours),
    (place.lat + jitter()).toFixed(4),
    (place.lng + jitter()).toFixed(4),
    [...(random(4) === 0 ? ['stat'] : []), ...booking].join(' '),
    pick(billings),
  ]
}
