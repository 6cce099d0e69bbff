import type { Option } from '../../platform/http/feature-flags.ts'

/** Source: lab-testing.md 12. */
export const redraws: Option = {
  name: 'redraws',
  about: 'a new order when a laboratory fails to report what was ordered',
}
