// The modules of health records.
import type { Vault } from '../platform/crypto/vault.ts'
import type { Module } from '../platform/module/module.ts'
import type { EhrClientOptions } from './observations/ehr-client.ts'
import { observations } from './observations/module.ts'
import { pipelines } from './pipelines/module.ts'
import type { PipelineDependencies } from './pipelines/routes.ts'

export const ehr = (dependencies: PipelineDependencies & EhrClientOptions & { vault: Vault }): Module[] => [
  pipelines(dependencies),
  observations(dependencies),
]
