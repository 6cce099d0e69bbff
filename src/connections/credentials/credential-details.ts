// Details of credentials besides id and secret: a shape for each provider that needs more, and the fields that are never shown. Pure.
// Source: management-auth.md 13; openapi-management.json.
import { unprocessable } from '../../platform/http/errors.ts'
import { valueFault, type Fault } from '../../platform/schema/fault.ts'
import { RuleError, type FinalizeObject } from '../../platform/schema/request-validation.ts'
import { isMask, MASK } from '../../platform/crypto/api-keys.ts'
import { Clearable, Email, Fields, OpenEnum, T, Text, type TSchema } from '../../platform/schema/schema.ts'

export type Details = Record<string, unknown>

const detailText = Text({ maxLength: 2000 })

const Fitbit = Fields(
  {
    fitbit: Fields({
      is_hr_enabled: T.Boolean({ default: false }),
      workout_verify_token: detailText,
      sleep_verify_token: detailText,
      body_verify_token: detailText,
      foods_verify_token: Clearable(detailText),
    }),
  },
  { title: 'FitbitTeamProviderDetails' },
)
const GoogleFit = Fields(
  { redirect_uri: detailText, data_scopes: T.Array(detailText, { maxItems: 100 }) },
  { title: 'GoogleFitTeamProviderDetails' },
)
const GoogleHealth = Fields(
  { project_number: detailText, service_account_email: detailText },
  { title: 'GoogleHealthTeamProviderDetails', additionalProperties: false },
)
const Polar = Fields({ webhook_secret: detailText }, { title: 'PolarTeamProviderDetails' })
const MyFitnessPal = Fields({ client: detailText }, { title: 'MyFitnessPalV2TeamProviderDetails' })
const GetLabs = Fields(
  { getlabs: Fields({ webhook_secret_key: detailText, webhook_secret_token: detailText }) },
  { title: 'GetLabsTeamProviderDetails' },
)
const PhlebFinders = Fields(
  {
    phlebfinders: Fields({
      account_id: detailText,
      account_name: detailText,
      team_id: detailText,
      team_name: detailText,
      webhook_token: detailText,
      email: Email,
    }),
  },
  { title: 'PhlebFindersTeamProviderDetails' },
)

const LEVELS_MAX = 6
const VALUES_MAX = 300

/** Whether an object with arbitrary content can be stored: limited depth and size, valid text. */
function isTrimmed(value: unknown): boolean {
  let left = VALUES_MAX
  const trimmed = (part: unknown, level: number): boolean => {
    if (--left < 0 || level > LEVELS_MAX) return false
    if (typeof part === 'string') return part.isWellFormed() && !part.includes('\0') && part.length <= 4000
    if (typeof part !== 'object' || part === null) return true
    return Object.entries(part).every(([key, item]) => key.length <= 200 && trimmed(key, level) && trimmed(item, level + 1))
  }
  return trimmed(value, 0)
}

const freeFormObject = (name: string): FinalizeObject => {
  const refusal = new RuleError(`must have at most ${LEVELS_MAX} levels and ${VALUES_MAX} values of valid text`)
  return (value) => (isTrimmed(value[name]) ? value : { field: name, refusal })
}

const ofLab = {
  sub_account_id: Clearable(detailText),
  sub_account_name: Clearable(detailText),
  allowed_billing_types: Clearable(
    T.Array(OpenEnum(['client_bill', 'commercial_insurance', 'patient_bill_passthrough', 'patient_bill']), { maxItems: 10 }),
  ),
  disallowed_billing_states: Clearable(T.Record(T.String(), T.Array(Text({ maxLength: 50 }), { maxItems: 100 }))),
}
const freeForm = T.Record(T.String(), T.Unknown())

const Labcorp = Fields(
  { ...ofLab, labcorp: Fields({ account_number: detailText, billing_method: OpenEnum(['CM', 'PT', 'PI']) }) },
  { title: 'LabCorpTeamProviderDetails' },
)
const LabcorpFacility = Fields(
  {
    ...ofLab,
    sending_facility: detailText,
    sending_application: detailText,
    receiving_facility: detailText,
    receiving_application: detailText,
  },
  { title: 'LabcorpProviderDetails' },
)
const Quest = Fields(
  { ...ofLab, quest: freeForm, allowed_business_units: Clearable(T.Array(detailText, { maxItems: 200 })) },
  { title: 'QuestProviderDetails', finish: freeFormObject('quest') },
)
const BioReference = Fields(
  { ...ofLab, bioreference: freeForm },
  { title: 'BioReferenceProviderDetails', finish: freeFormObject('bioreference') },
)

/** Provider → the shape of its details. A provider that is not listed has none. */
export const detailShapes: Readonly<Record<string, TSchema>> = {
  fitbit: Fitbit,
  google_fit: GoogleFit,
  google_health: GoogleHealth,
  polar: Polar,
  my_fitness_pal_v2: MyFitnessPal,
  getlabs: GetLabs,
  phlebfinders: PhlebFinders,
  labcorp: T.Union([Labcorp, LabcorpFacility]),
  quest: Quest,
  bioreference: BioReference,
}

export const Details = T.Union([
  Fitbit,
  GoogleFit,
  GoogleHealth,
  BioReference,
  Labcorp,
  Quest,
  Polar,
  GetLabs,
  PhlebFinders,
  LabcorpFacility,
  MyFitnessPal,
])

/** What is shown of the details of each provider; `*` is any name or index. All other texts and numbers are masked. */
const SHOWN = [
  'redirect_uri',
  'data_scopes.*',
  'project_number',
  'service_account_email',
  'client',
  'phlebfinders.account_id',
  'phlebfinders.account_name',
  'phlebfinders.team_id',
  'phlebfinders.team_name',
  'phlebfinders.email',
  'sub_account_id',
  'sub_account_name',
  'allowed_billing_types.*',
  'disallowed_billing_states.*.*',
  'allowed_business_units.*',
  'labcorp.account_number',
  'labcorp.billing_method',
  'sending_facility',
  'sending_application',
  'receiving_facility',
  'receiving_application',
  // Names that integrations with these laboratories use, of values that are printed on every requisition.
  ...['quest', 'bioreference'].flatMap((lab) =>
    ['account_number', 'account_name', 'business_unit', 'facility', 'sending_facility', 'receiving_facility'].map(
      (name) => `${lab}.${name}`,
    ),
  ),
].map((path) => path.split('.'))

const isShown = (path: readonly string[]): boolean =>
  SHOWN.some((pattern) => pattern.length === path.length && pattern.every((name, i) => name === '*' || name === path[i]))

/** A yes, a no or nothing is not a secret, whatever its name. */
const isSecret = (value: unknown, path: readonly string[]): boolean =>
  value !== null && typeof value !== 'boolean' && !isShown(path)

type Leaf = (value: unknown, path: readonly string[]) => unknown

function mapLeaves(value: unknown, leaf: Leaf, path: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((item, i) => mapLeaves(item, leaf, [...path, String(i)]))
  if (typeof value !== 'object' || value === null) return leaf(value, path)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapLeaves(item, leaf, [...path, key])]))
}

/** Returns the details with every value masked that is not known to be shown: the details of some laboratories may hold any names. */
export const maskSecrets = (details: Details): Details =>
  mapLeaves(details, (value, path) => (isSecret(value, path) ? MASK : value)) as Details

const valueAtPath = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (part, name) =>
      typeof part === 'object' && part !== null && Object.keys(part).includes(name) ? part[name as never] : undefined,
    value,
  )

/** Returns the details with every mask replaced by the stored value at its place. No mask is stored. Errors: 422 a mask without a stored value. */
export function restoreMasked(details: Details, storedDetails: Details | null): Details {
  const faults: Fault[] = []
  const result = mapLeaves(details, (value, path) => {
    if (!isMask(value)) return value
    const secret = valueAtPath(storedDetails, path)
    if (secret === undefined || secret === null)
      faults.push(valueFault(['body', 'details', ...path], 'is a mask, and nothing is stored here'))
    return secret
  })
  if (faults.length) throw unprocessable(faults)
  return result as Details
}
