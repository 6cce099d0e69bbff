import type { Module } from '../../platform/module/module.ts'
import { EhrClient, type EhrClientOptions } from './ehr-client.ts'
import { resultsHook, sendHandler } from './send-observations.ts'
import { queryResultsHook, sendQueryResultHandler } from './send-query-results.ts'
import type { Vault } from '../../platform/crypto/vault.ts'

export const observations = ({ vault, targets, product }: EhrClientOptions & { vault: Vault }): Module => {
  const client = new EhrClient({ targets, product })
  return {
    name: 'ehr/observations',
    about: 'FHIR Observations, and their delivery',
    hooks: [resultsHook, queryResultsHook],
    jobs: [sendHandler({ vault, client }), sendQueryResultHandler({ vault, client })],
    services: [{ start: () => {}, stop: () => client.close() }],
  }
}
