// The plans of organizations, and what they include.
import type { ManagementPrincipal } from '../../platform/http/operation.ts'

/** The plans of an organization, from smallest to largest. */
export const plans = ['launch', 'grow', 'scale'] as const
export type Plan = (typeof plans)[number]

/**
 * The smallest plan that includes a group of operations; every plan includes the groups that are not listed. Source: management-auth.md 19.
 */
export const requiredPlan = {
  management: 'scale',
  webhooks: 'scale',
  custom_credentials: 'scale',
  custom_oauth: 'grow',
  etl: 'scale',
} as const satisfies Record<string, Plan>

/** A management key with the plan of its organization. */
export interface OrgPrincipal extends ManagementPrincipal {
  plan: Plan
}
