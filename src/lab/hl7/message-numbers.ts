// The numbers by which a message names an order: ours, which the profile says where to find and how to cut, and the laboratory's. Pure.
import { NUMBERS_MAX, type LinkMessage } from '../links/link-message.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { readId } from './field-limits.ts'
import type { Hl7Segment } from './hl7-message.ts'
import type { OrderGroup, PatientGroup, TestGroup } from './message-groups.ts'

const ORDER_FILLER = 3

/** The laboratory's number of a test. */
export const fillerOf = ({ request, order }: Pick<TestGroup, 'request' | 'order'>): string =>
  numberAt(request, ORDER_FILLER) || (order ? numberAt(order, ORDER_FILLER) : '')

/** The first text of a component: other ones name who has given the number. */
const numberAt = (segment: Hl7Segment, field: number, component = 1): string =>
  readId(segment.get(field, component, { subcomponent: 1 }).trim(), segment, field)

/** Our numbers of a test in the order of the profile's fields, without what the laboratory adds. */
export function readOurNumbers(
  test: TestGroup,
  { patient }: Pick<PatientGroup, 'patient'>,
  { order_number }: LinkProfile,
): string[] {
  const segments: Record<string, (Hl7Segment | undefined)[]> = {
    ORC: [test.order],
    OBR: [test.request],
    SPM: test.specimens,
    SAC: test.containers,
    PID: [patient],
  }
  const numbers = order_number.fields.flatMap((path) => {
    const [id = '', field = '', component = '1'] = path.split(/[-.]/u)
    const hasPosition = order_number.per_test && (id === 'ORC' || id === 'OBR') && field === '2'
    return (segments[id] ?? []).flatMap((segment) => {
      const number = segment ? cutNumber(numberAt(segment, Number(field), Number(component)), order_number) : ''
      return hasPosition ? number.replace(POSITION, '') : number
    })
  })
  return [...new Set(numbers.filter(Boolean))]
}

/** Of the test in its order. */
const POSITION = /-\d{1,3}$/u

/** A number without what surrounds ours by the profile. One of another form stays, because it may be a number of another kind. */
function cutNumber(number: string, { pattern, prefix }: Pick<LinkProfile['order_number'], 'pattern' | 'prefix'>): string {
  const cut = pattern ? (compilePattern(pattern).exec(number)?.[1] ?? number) : number
  return prefix && cut.length > prefix.length && cut.startsWith(prefix) ? cut.slice(prefix.length) : cut
}

const compilePattern = (pattern: string): RegExp => {
  const parts = pattern.split(/(\{number\}|\*)/u)
  const sources = parts.map((part) =>
    part === '{number}' ? '(.+?)' : part === '*' ? '.*?' : part.replaceAll(/[\\^$.|?+()[\]{}/]/gu, String.raw`\$&`),
  )
  return new RegExp(`^${sources.join('')}$`, 'u')
}

type OrderNumberOptions = LinkProfile['order_number']

/** The longest number to which zeros are added that the laboratory may have left out. */
const PADDED_LENGTH_MAX = 12

/** The numbers, and behind them those that differ only in what the profile says to ignore. The patient is compared all the same. */
function withSpellings(numbers: readonly string[], { ignores_case, ignores_leading_zeros }: OrderNumberOptions): string[] {
  const plain = ignores_leading_zeros ? numbers.flatMap((number) => [number, withoutZeros(number)]) : numbers
  const cased = ignores_case ? plain.flatMap((number) => [number, number.toUpperCase(), number.toLowerCase()]) : plain
  const padded = ignores_leading_zeros ? [...new Set(cased.map(withoutZeros))].flatMap(padNumber) : []
  return [...new Set([...numbers, ...cased, ...padded])].slice(0, NUMBERS_MAX)
}

const withoutZeros = (number: string): string => number.replace(/^0+(?=.)/u, '')

const padNumber = (number: string): string[] =>
  Array.from({ length: Math.max(PADDED_LENGTH_MAX - number.length, 0) }, (_, i) => number.padStart(number.length + i + 1, '0'))

/** What two spellings of one number have in common by the profile. */
export function numberKey(number: string, { ignores_case, ignores_leading_zeros }: OrderNumberOptions): string {
  const cased = ignores_case ? number.toUpperCase() : number
  return ignores_leading_zeros ? withoutZeros(cased) : cased
}

/** All numbers of an order. */
export function readNumbers(group: OrderGroup, profile: LinkProfile): LinkMessage['numbers'] {
  const { tests } = group
  const isOurs = (path: string) => profile.order_number.fields.some((field) => field === path || field === `${path}.1`)
  const of = (read: (test: TestGroup) => string[]) => [...new Set(tests.flatMap(read).filter(Boolean))].slice(0, NUMBERS_MAX)
  return {
    placer: withSpellings(
      of((test) => readOurNumbers(test, group, profile)),
      profile.order_number,
    ),
    filler: of(({ request, order }) => [request, order].flatMap((segment) => (segment ? numberAt(segment, ORDER_FILLER) : []))),
    specimen: of(({ specimens }) =>
      specimens.flatMap((segment) => [
        readId(segment.get(2, 2, { subcomponent: 1 }).trim(), segment, 2),
        ...(isOurs('SPM-2') ? [] : [numberAt(segment, 2)]),
      ]),
    ),
    accession: of(({ specimens, containers }) => [
      ...specimens.map((segment) => numberAt(segment, 30)),
      ...containers.map((segment) => numberAt(segment, 2)),
    ]),
    group: isOurs('ORC-4') ? [] : of(({ order }) => (order ? [numberAt(order, 4)] : [])),
  }
}
