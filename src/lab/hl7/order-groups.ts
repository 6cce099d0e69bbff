// The tests of a message by patient and order. Every segment belongs to the test, the order or the patient that comes before it; segments that are not
// known are left out. Pure.
import { TESTS_MAX } from '../links/link-message.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'
import type { Hl7Message, Hl7Segment } from './hl7-message.ts'
import type { OrderGroup, PatientGroup, TestGroup } from './message-groups.ts'
import { fillerOf, numberKey, readOurNumbers } from './message-numbers.ts'

/** The tests of each patient, and among these of each order. */
export const collectOrders = (message: Hl7Message, profile: LinkProfile): OrderGroup[] =>
  collectPatients(message, profile).flatMap((patient) => splitByOrder(patient, profile))

function collectPatients(message: Hl7Message, profile: LinkProfile): PatientGroup[] {
  const collector = new Collector(message)
  const footer = new Set(profile.results.has_footer ? footerOf(message) : [])
  for (const segment of message.segments) if (!footer.has(segment)) collector.add(segment)
  for (const segment of footer) collector.current.notes.push(segment)
  return collector.patients.filter(({ tests, documents }) => tests.length > 0 || documents.length > 0)
}

/** The last NTE segments of a message; segments of the laboratory's own may follow. */
function footerOf({ segments }: Hl7Message): Hl7Segment[] {
  const end = segments.findLastIndex(({ id }) => id === 'NTE') + 1
  if (segments.slice(end).some(({ id }) => !id.startsWith('Z'))) return []
  return segments.slice(segments.findLastIndex(({ id }, i) => i < end && id !== 'NTE') + 1, end)
}

/** Reads segments one after the other. */
class Collector {
  readonly patients: PatientGroup[] = []
  current: PatientGroup = { patient: undefined, notes: [], tests: [], documents: [] }
  readonly #isSpecimenFirst: boolean
  readonly #hasResults: boolean
  #order: Hl7Segment | undefined
  /** Whether the order has been before a test, so that others may share it. */
  #notes: Hl7Segment[]
  /** Of an order, or a specimen, whose test follows. */
  #pending: Pick<TestGroup, 'notes' | 'specimens' | 'containers' | 'specimenObservations'> = emptyParts()
  #isOfSpecimen = false
  #tests = 0

  constructor(message: Hl7Message) {
    this.patients.push(this.current)
    this.#notes = this.current.notes
    // In OUL^R22 the specimen precedes its tests, and ORC follows OBR.
    this.#isSpecimenFirst = message.get('MSH-9') === 'OUL'
    this.#hasResults = message.get('MSH-9') === 'OUL' || message.get('MSH-9') === 'ORU'
  }

  add(segment: Hl7Segment): void {
    switch (segment.id) {
      case 'PID':
        return this.#addPatient(segment)
      case 'ORC':
        return this.#addOrder(segment)
      case 'OBR':
        return this.#addTest(segment)
      case 'OBX':
        return this.#hasResults ? this.#addObservation(segment) : undefined
      case 'SPM':
      case 'SAC':
        return this.#addSpecimen(segment)
      case 'NTE':
        this.#notes.push(segment)
        return undefined
      case 'ZEF':
        this.current.documents.push(segment)
        return undefined
      case 'ZPS':
        // Comments behind the sites are on the report.
        this.#notes = this.current.notes
        return undefined
    }
  }

  #addPatient(segment: Hl7Segment): void {
    this.current = { patient: segment, notes: [], tests: [], documents: [] }
    if (this.patients.length > TESTS_MAX) throw new UnreadableMessage(`The message has more than ${TESTS_MAX} patients`)
    this.patients.push(this.current)
    this.#order = undefined
    this.#pending = emptyParts()
    this.#isOfSpecimen = false
    this.#notes = this.current.notes
  }

  #addOrder(segment: Hl7Segment): void {
    const last = this.current.tests.at(-1)
    if (this.#isSpecimenFirst && last && !last.order && last.observations.length === 0) {
      last.order = segment
      this.#notes = last.notes
      return
    }
    this.#order = segment
    this.#isOfSpecimen = false
    this.#pending = { ...emptyParts(), ...(this.#isSpecimenFirst && this.#pending) }
    this.#notes = this.#pending.notes
  }

  #addTest(request: Hl7Segment): void {
    if (++this.#tests > TESTS_MAX) throw new UnreadableMessage(`The message has more than ${TESTS_MAX} tests`)
    const parts = this.#pending
    // In OUL the tests below a specimen share it.
    this.#pending = this.#isSpecimenFirst
      ? { ...emptyParts(), specimens: parts.specimens, containers: parts.containers }
      : emptyParts()
    const test = {
      request,
      order: this.#orderFor(request),
      observations: [],
      ...parts,
      specimens: [...parts.specimens],
      containers: [...parts.containers],
    }
    this.current.tests.push(test)
    this.#isOfSpecimen = false
    this.#notes = test.notes
  }

  /** An ORC is of all tests that follow, except for those that name another order. */
  #orderFor(request: Hl7Segment): Hl7Segment | undefined {
    if (this.#isSpecimenFirst || !this.#order) return undefined
    const [own, shared] = [request.get(2), this.#order.get(2)]
    return own && shared && own !== shared && this.current.tests.some(({ order }) => order === this.#order)
      ? undefined
      : this.#order
  }

  #addSpecimen(segment: Hl7Segment): void {
    const last = this.current.tests.at(-1)
    if (this.#isSpecimenFirst && segment.id === 'SPM') this.#pending = emptyParts()
    const parts = this.#isSpecimenFirst || !last ? this.#pending : last
    ;(segment.id === 'SPM' ? parts.specimens : parts.containers).push(segment)
    // Observations behind the specimen of a test without results are its results.
    this.#isOfSpecimen = this.#isSpecimenFirst || !last || last.observations.length > 0
    this.#notes = parts.notes
  }

  #addObservation(segment: Hl7Segment): void {
    const notes: Hl7Segment[] = []
    const last = this.current.tests.at(-1)
    this.#notes = notes
    if (this.#isOfSpecimen) (this.#isSpecimenFirst || !last ? this.#pending : last).specimenObservations.push({ segment, notes })
    else if (last) last.observations.push({ segment, notes })
    else if (segment.get(2) === 'ED') this.current.documents.push(segment)
    else throw new UnreadableMessage(`Line ${segment.number} is a result without an ordered test`)
  }
}

const emptyParts = () => ({ notes: [], specimens: [], containers: [], specimenObservations: [] })

/** The tests of a patient by order. A test without a number of ours belongs to the order of its filler number or its parent, or to the only one. */
function splitByOrder(patient: PatientGroup, profile: LinkProfile): OrderGroup[] {
  const groups = new Map<string, TestGroup[]>()
  const numbers = patient.tests.map((test) => numberKey(readOurNumbers(test, patient, profile)[0] ?? '', profile.order_number))
  const known = [...new Set(numbers.filter(Boolean))]
  for (const [i, test] of patient.tests.entries()) {
    const number = numbers[i] || findNumber(test, patient.tests, numbers) || (known.length === 1 ? known[0]! : '')
    groups.set(number, [...(groups.get(number) ?? []), test])
  }
  if (groups.size > 1 && patient.documents.length > 0)
    throw new UnreadableMessage(`The document in line ${patient.documents[0]!.number} does not belong to one of the orders`)
  if (groups.size === 0) groups.set('', [])
  return [...groups].map(([number, tests]) => ({ ...patient, tests, number }))
}

/** The number of the test that has the filler number of this one, or that is its parent. */
function findNumber(test: TestGroup, tests: readonly TestGroup[], numbers: readonly string[]): string | undefined {
  const fillers = [fillerOf(test), test.request.get(29, 2, { subcomponent: 1 })].filter(Boolean)
  const index = tests.findIndex((item, i) => numbers[i] && fillers.includes(fillerOf(item)))
  return numbers[index]
}
