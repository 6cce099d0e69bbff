// Results of a laboratory as FHIR R4 Observations. Pure. Source: https://hl7.org/fhir/R4/observation.html. Unsourced: the systems of identifiers.
import { isDay } from '../../lab/links/diagnostic-report.ts'
import type { Order } from '../../lab/orders/schema.ts'
import type { BiomarkerResult, ResultDocument } from '../../lab/results/schema.ts'
import { resultKeys, type WithdrawnResult } from '../../lab/results/withdrawn-results.ts'
import { measurementOf, ucumCodeOf, type Measurement } from '../../lab-values/measurement.ts'
import { patientReference } from '../../people/users/fhir-patient.ts'
import type { UserIdentity } from '../../people/users/users.ts'
import { interpretationOf } from './result-interpretation.ts'
import { instantIn } from '../../platform/runtime/zoned-time.ts'
import type { Observation } from './transactions.ts'

/** The systems of our identifiers. */
const RESULT_SYSTEM = 'urn:drawbridge:result'
const ORDER_SYSTEM = 'urn:drawbridge:order'
const LOINC = 'http://loinc.org'
/** The identifier of laboratories in US Core. */
const CLIA = 'urn:oid:2.16.840.1.113883.4.7'
const CATEGORIES = 'http://terminology.hl7.org/CodeSystem/observation-category'
const UCUM = 'http://unitsofmeasure.org'

export interface SentResult {
  order: Order
  document: ResultDocument
  /** What earlier reports had and the present one has not. */
  withdrawnResults: readonly WithdrawnResult[]
  subject: UserIdentity
  /** Time zone of the place of collection; null if the place is unknown. */
  time_zone: string | null
}

/** The Observations of a result, and the withdrawals of results that only an earlier report had. */
export function observationsOfResult(sentResult: SentResult): Observation[] {
  const { order, document, withdrawnResults } = sentResult
  const keys = resultKeys(document.results)
  const status = observationStatus(order, document)
  return [
    ...document.results.map((result, i) => ({
      ...createObservation(result, { ...sentResult, status: result.state ?? status, key: keys[i]! }),
      ...createMembers(result, sentResult, keys),
    })),
    ...withdrawnResults.map((result) => createFrame(result, { ...sentResult, status: 'entered-in-error', key: result.key })),
  ]
}

function observationStatus({ events }: Order, { metadata }: ResultDocument): string {
  if (metadata.status === 'partial') return 'preliminary'
  return events.some(({ status }) => status.endsWith('.corrected')) ? 'corrected' : 'final'
}

/** The Observations of the results that specify a result: of an organism, its susceptibilities. */
function createMembers(organism: BiomarkerResult, { order, document }: SentResult, keys: readonly string[]) {
  const members = document.results.flatMap(({ parent }, i) =>
    parent && parent.code === organism.provider_id && parent.sub_id === (organism.sub_id ?? null) ? [keys[i]!] : [],
  )
  if (members.length === 0) return {}
  return { hasMember: members.map((key) => ({ type: 'Observation', identifier: resultIdentifier(order, key) })) }
}

const resultIdentifier = ({ id }: Order, key: string) => ({ system: RESULT_SYSTEM, value: `${id}/${key}` })

interface Context extends SentResult {
  status: string
  /** Tells the results of an order apart. */
  key: string
}

/** What every Observation has: which one it is, of whom, and of what. */
function createFrame(
  { name, loinc }: Pick<BiomarkerResult, 'name' | 'loinc'>,
  { order, subject, status, key }: Context,
): Observation {
  const coding = loinc === null ? {} : { coding: [{ system: LOINC, code: loinc, display: name }] }
  return {
    resourceType: 'Observation',
    identifier: [resultIdentifier(order, key)],
    basedOn: [{ type: 'ServiceRequest', identifier: { system: ORDER_SYSTEM, value: order.id } }],
    status,
    category: [{ coding: [{ system: CATEGORIES, code: 'laboratory', display: 'Laboratory' }] }],
    code: { ...coding, text: name },
    subject: patientReference(subject),
  }
}

function createObservation(result: BiomarkerResult, context: Context): Observation {
  const { metadata } = context.document
  const { date_collected: collected } = metadata
  const { time_zone } = context
  const issued = result.timestamp ?? metadata.date_reported
  return {
    ...createFrame(result, context),
    ...(collected !== null && {
      effectiveDateTime: time_zone === null || isDay(collected) ? collected : instantIn(new Date(collected), time_zone),
    }),
    ...(issued && { issued }),
    ...createPerformer(result, context.document),
    ...valueOf(result),
    ...interpretationOf(result),
    ...rangeOf(result),
    ...(result.notes !== null && result.notes !== '' && { note: [{ text: result.notes }] }),
  }
}

/** The laboratory that performed the test, with its CLIA number; nothing if it is unknown. */
function createPerformer({ performing_laboratory }: BiomarkerResult, { metadata, sample_information }: ResultDocument) {
  const [sample] = Object.values(sample_information)
  const performing = performing_laboratory === null ? undefined : sample?.performing_laboratories?.[performing_laboratory]
  const display = performing?.name ?? metadata.laboratory
  if (display === null) return {}
  const clia = performing ? performing.clia_number : metadata.clia_number
  const identifier = clia && { identifier: { system: CLIA, value: clia } }
  return { performer: [{ type: 'Organization', ...identifier, display }] }
}

/** A number or a bound as a quantity, two bounds as a range, and everything else as text. */
function valueOf(result: BiomarkerResult): Record<string, unknown> {
  const measurement = toMeasurement(result)
  if (!measurement) return { valueString: result.result }
  const { min, max } = measurement
  const unit = measurement.unit ?? result.unit
  if (min !== null && max !== null && min !== max) return { valueRange: { low: quantity(min, unit), high: quantity(max, unit) } }
  const comparator = comparatorOf(measurement)
  const { value, ...rest } = quantity((min ?? max)!, unit)
  return { valueQuantity: { value, ...(comparator && { comparator }), ...rest } }
}

/** The measured value. A comment is one only if a comparator or a unit shows it; a text with the unit of another quantity is none. */
function toMeasurement({ type, result, unit }: BiomarkerResult): Measurement | undefined {
  const measurement = type === 'coded_value' ? undefined : measurementOf(result)
  if (!measurement) return undefined
  const { unit: own } = measurement
  if (type === 'comment' && own === null && comparatorOf(measurement) === undefined) return undefined
  return own !== null && unit && !isSameUnit(own, unit) ? undefined : { ...measurement, unit: unit || own }
}

const isSameUnit = (first: string, second: string): boolean =>
  first.toLowerCase() === second.toLowerCase() || (ucumCodeOf(first) ?? first) === (ucumCodeOf(second) ?? second)

function comparatorOf({ min, max, isMinOpen, isMaxOpen }: Measurement): string | undefined {
  if (min !== null && max !== null) return undefined
  return min === null ? (isMaxOpen ? '<' : '<=') : isMinOpen ? '>' : '>='
}

/** With the code of the unit in UCUM, if the unit has one. */
function quantity(value: number, unit: string | null) {
  const code = unit ? ucumCodeOf(unit) : undefined
  return { value, ...(unit && { unit }), ...(code && { system: UCUM, code }) }
}

function rangeOf({ reference_range: text, min_range_value: min, max_range_value: max, unit }: BiomarkerResult) {
  if (text === null && min === null && max === null) return {}
  return {
    referenceRange: [
      {
        ...(min !== null && { low: quantity(min, unit) }),
        ...(max !== null && { high: quantity(max, unit) }),
        ...(text !== null && { text }),
      },
    ],
  }
}
