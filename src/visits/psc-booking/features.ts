import { IntendedProblem } from '../../platform/http/errors.ts'
import { feature, type Option } from '../../platform/http/feature-flags.ts'

export const pscScheduling = feature(
  'psc_scheduling',
  'appointments at service centers',
  () => new IntendedProblem(503, { detail: 'Feature not enabled' }),
)

/** Source: lab-testing.md 18. */
export const labConfirmedScheduling: Option = {
  name: 'lab_confirmed_scheduling',
  about: 'appointments at Sonora Quest are reserved until the laboratory confirms them',
}
