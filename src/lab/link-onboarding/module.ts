import type { Module } from '../../platform/module/module.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import { LinkTrials } from './link-trials.ts'
import { linkOnboardingRoutes, type LinkOnboardingDependencies } from './routes.ts'

export function linkOnboarding(dependencies: Omit<LinkOnboardingDependencies, 'trials'> & { log: Log }): Module {
  const trials = new LinkTrials(dependencies.log)
  return {
    name: 'lab/link-onboarding',
    about: 'checks, lists of tests and trial orders of links',
    tag: 'labs',
    operations: linkOnboardingRoutes({ ...dependencies, trials }),
    tables: { others: ['lab_link_claim', 'lab_link_trial'] },
    services: [trials],
  }
}
