import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { encryptedPipelineSecretsColumn } from './pipelines.ts'
import { pipelinesRoutes, type PipelineDependencies } from './routes.ts'

export const pipelines = (dependencies: PipelineDependencies): Module => ({
  name: 'ehr/pipelines',
  about: 'configuration of EHR systems',
  tag: 'ehr',
  tables: { others: ['ehr_pipeline'] },
  operations: pipelinesRoutes(dependencies),
  encryptedColumns: [encryptedPipelineSecretsColumn],
  erasers: { team: eraseTables('ehr_pipeline') },
})
